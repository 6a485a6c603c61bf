"""Events that deployments bring by themselves, now and later, and the cost until then. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from slipway.cloud.clusters import PersistentResource
from slipway.cluster import CurrentCluster
from slipway.deployment.plan import Plan
from slipway.deployment.season_quota import prepared
from slipway.formatting import join, span
from slipway.generations.action import DELETE, Action, What, Why
from slipway.generations.dormant import idle_since
from slipway.live import Live
from slipway.prices import Price, dollars, per_hour, price_in_words, total
from slipway.quota.seasons import Readiness
from slipway.season import moment_in_words

Event = Literal["create", "take-back", "delete", "retire", "unfinished", "season-begins", "season-ends", "idle-limit"]
_BY_ITSELF = {
    "create": "is made",
    "take-back": "is taken back",
    "delete": "is deleted",
    "retire": "retires",
    "unfinished": "is unfinished",
    "season-begins": "season begins",
    "season-ends": "season ends",
    "idle-limit": "is given up",
}


@dataclass(frozen=True)
class Due:
    """An event of a cluster that people call `name`. `at` is None where nobody knows when it is due, and past only
    for who looks at what was published before that. `now`: the next deployment does it. `per_hour` is what the cluster
    costs until then. `readiness`: of a season that is to begin, whether there is quota for it. `why` is for people."""

    name: str
    id: str
    what: Event
    why: str
    at: datetime | None = None
    now: bool = False
    per_hour: Price = field(default_factory=Price)
    overdue: bool = False
    readiness: Readiness | None = None

    @property
    def does(self) -> str:
        """`season ends`"""
        return _BY_ITSELF[self.what]

    def until(self, now: datetime) -> Price | None:
        """USD in all until it is due; None where nobody knows when that is."""
        if self.at is None:
            return None
        return self.per_hour * (Decimal(max(0.0, (self.at - now).total_seconds())) / 3600)

    def words(self, now: datetime) -> str:
        """`season ends 2026-12-20, in 29 days: $101.14/h, $70,392.00 until then`"""
        if self.at is None:
            return f"{self.does}: {self.why}"
        late, begins = self.at <= now, self.what == "season-begins"
        away = span(abs(self.at - now).total_seconds())
        when = f"{self.does}, due {away} ago" if late else f"{self.does} {moment_in_words(self.at)}, in {away}"
        if begins:
            return f"{when}: {'made with the next deployment' if late else self.why}"
        cost = dollars(self.until(now) or Price(), per="")
        then = "goes with the next deployment that finds no job on it" if late else f"{cost} until then"
        return f"{when}: {dollars(self.per_hour)}, {then}{f' ({self.why})' if self.why else ''}"


def schedule(plan: Plan, live: Live, region: str, now: datetime) -> tuple[Due, ...]:
    """Events in order: of the next deployment, then those that wait for jobs, then the rest by date."""
    ready = prepared(plan.actions, live, region, now)
    found = [due for action in plan.actions for due in _due(action, live, region, now, ready)]
    order = {True: 0, False: 1}
    return tuple(sorted(found, key=lambda one: (order[one.now], one.at is not None, one.at or now, one.id, one.what)))


def costs(cluster: PersistentResource, region: str) -> Price:
    """USD an hour of the machines that are up, in the cluster's own region; `region` where it does not say that."""
    return per_hour(cluster.machines, cluster.region or region)


def _due(action: Action, live: Live, region: str, now: datetime, ready: Mapping[str, Readiness]) -> Iterator[Due]:
    name, id_ = action.cluster, action.id
    price = costs(action.living, region) if action.living else Price()
    if action.what is What.CREATE:
        assert action.current, "what is made is declared"
        why = f"{price_in_words(total((action.current.spec,), region))} from then on"
        yield Due(name, id_, "create", why, now=True)
    elif action.what is What.TAKE and action.why in (Why.SEASON, Why.AWAITED):
        yield Due(name, id_, "take-back", action.why.words, now=True)
    elif action.what is What.RETIRE:
        yield _retiring(action, price)
    elif action.what is What.CLEAR:
        yield Due(name, id_, "delete", (action.living and action.living.error) or action.why.words, now=True)
    elif action.what in DELETE:
        why = action.dormant.words if action.dormant else Why.IDLE.words
        yield Due(name, id_, "delete", why, now=True, per_hour=price)
    elif action.dormant and action.what is What.REST and action.when and action.when > now:
        one = ready.get(name)
        why = f"{price_in_words(total((action.dormant.spec,), region))} from then on"
        why = f"{one}; {why}" if one else why
        yield Due(name, id_, "season-begins", why, action.when, readiness=one)
    if action.current:
        yield from dates(action.current, action.living, live, region, now)


def dates(
    current: CurrentCluster, cluster: PersistentResource | None, live: Live, region: str, now: datetime
) -> Iterator[Due]:
    """The end of a cluster's season, and of its `idleLimit` if that is earlier. `cluster` is the living one."""
    name, season = current.spec.name, current.spec.season
    price = costs(cluster, region) if cluster else total((current.spec,), region).floor
    if season.ends:
        yield Due(name, current.id, "season-ends", "", season.ends, per_hour=price)
    since = idle_since(current, cluster, live, now) if cluster and season.idle_limit else None
    if since and season.idle_limit and not (season.ends and season.ends <= since + season.idle_limit):
        why = f"no job for {span((now - since).total_seconds())}, unless one comes"
        yield Due(name, current.id, "idle-limit", why, since + season.idle_limit, per_hour=price)


def _retiring(one: Action, price: Price) -> Due:
    state = one.living.state if one.living else ""
    if one.why is Why.BUSY_STATE and state == "PROVISIONING":
        # What is published does not name it yet, or not any more.
        why = "still being made; a deployment that asks for it takes it over, any other deletes it when idle"
        return Due(one.cluster, one.id, "unfinished", why, per_hour=price)
    if one.jobs:
        why = f"when {join(job.typed for job in one.jobs)} {'has' if len(one.jobs) == 1 else 'have'} ended"
    elif one.why in (Why.UNPUBLISHED, Why.DAMAGED):
        why = f"with the deployment after the next one ({one.why.words})"
    elif one.why is Why.BUSY_STATE:
        why = f"can't be deleted while it is {state}"
    else:
        why = one.why.words
    return Due(one.cluster, one.id, "retire", why, per_hour=price, overdue=one.overdue)

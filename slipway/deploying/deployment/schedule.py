"""Events that deployments bring by themselves: their times, costs until then, and quota. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from slipway.base.formatting import join, span
from slipway.deploying.deployment.plan import Plan, Waits
from slipway.deploying.generations.action import DELETE, Action, What, Why
from slipway.deploying.generations.dormant import idle_since
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.google.quota.request import QuotaRequest, more
from slipway.google.quota.seasons import Readiness, by_season, readiness
from slipway.google.quota.usage import usage
from slipway.model.cluster import CurrentCluster
from slipway.model.prices import Price, dollars, exact_text, per_hour, price_in_words, total
from slipway.model.season import moment_in_words

if TYPE_CHECKING:
    from slipway.authoring.stack.stack import Stack  # whose pydantic a thin install lacks

_MOST_NAMED = 4
"""The most holders of a quota that a message names."""
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
    #: The cluster's name in the stack file.
    name: str
    id: str
    what: Event
    why: str
    #: None for an unknown time; past only for a reader of an older catalog.
    at: datetime | None = None
    now: bool = False
    #: The cluster's cost until then.
    per_hour: Price = field(default_factory=Price)
    overdue: bool = False
    #: For a coming season, whether there is quota for it.
    readiness: Readiness | None = None

    @property
    def does(self) -> str:
        """The event as text: `season ends`"""
        return _BY_ITSELF[self.what]

    def until(self, now: datetime) -> Price | None:
        """Return USD in all until it is due; None for an unknown time."""
        if self.at is None:
            return None
        return self.per_hour * (Decimal(max(0.0, (self.at - now).total_seconds())) / 3600)

    def document(self, now: datetime) -> Mapping[str, Any]:
        """Return the event for JSON, with its cost from `now` on."""
        lacking = self.readiness.lacking if self.readiness else ()
        return {
            "cluster": self.name,
            "clusterId": self.id,
            "what": self.what,
            "nextDeployment": self.now,
            "time": self.at,
            "why": self.why or None,
            "overdue": self.overdue,
            "pricePerHour": exact_text(self.per_hour),
            "priceUntilThen": exact_text(self.until(now)),
            "priceComplete": self.per_hour.complete,
            "ready": self.readiness.ready if self.readiness else None,
            "lacks": [
                {
                    "metric": shortage.metric,
                    "region": shortage.region,
                    "short": shortage.short,
                    "request": shortage.requested,
                }
                for shortage in lacking
            ],
        }

    def words(self, now: datetime) -> str:
        """Return `season ends 2026-12-20, in 29 days: $101.14/h as it is, $70,392.00 until then`."""
        if self.at is None:
            return f"{self.does}: {self.why}"
        late, begins = self.at <= now, self.what == "season-begins"
        away = span(abs(self.at - now).total_seconds())
        when = f"{self.does}, due {away} ago" if late else f"{self.does} {moment_in_words(self.at)}, in {away}"
        if begins:
            return f"{when}: {'made with the next deployment' if late else self.why}"
        cost = dollars(self.until(now) or Price(), per="")
        then = ", goes with the next deployment that finds no job on it" if late else f" as it is, {cost} until then"
        return f"{when}: {dollars(self.per_hour)}{then}{f' ({self.why})' if self.why else ''}"


def schedule(plan: Plan, live: Live, region: str, now: datetime) -> tuple[Due, ...]:
    """Return events in order: of the next deployment, then those that wait for jobs, then the rest by date."""
    ready = prepared(plan.actions, live, region, now)
    events = [due for action in plan.actions for due in _due(action, live, region, now, ready)]
    return tuple(sorted(events, key=lambda due: (not due.now, due.at is not None, due.at or now, due.id, due.what)))


def costs(cluster: PersistentResource, region: str) -> Price:
    """Return USD an hour of the machines that are up, in the cluster's own region; in `region` where it has none."""
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
        outlook = ready.get(name)
        why = f"{price_in_words(total((action.dormant.spec,), region))} from then on"
        why = f"{outlook}; {why}" if outlook else why
        yield Due(name, id_, "season-begins", why, action.when, readiness=outlook)
    if action.current:
        yield from dates(action.current, action.living, live, region, now)


def dates(
    current: CurrentCluster, cluster: PersistentResource | None, live: Live, region: str, now: datetime
) -> Iterator[Due]:
    """Yield the end of a cluster's season, and of its `idleLimit` if that is earlier. `cluster` is the living one."""
    name, season = current.spec.name, current.spec.season
    price = costs(cluster, region) if cluster else total((current.spec,), region).floor
    if season.ends:
        yield Due(name, current.id, "season-ends", "", season.ends, per_hour=price)
    since = idle_since(current, cluster, live, now) if cluster and season.idle_limit else None
    if since and season.idle_limit and not (season.ends and season.ends <= since + season.idle_limit):
        why = f"no job for {span((now - since).total_seconds())}, unless one comes"
        yield Due(name, current.id, "idle-limit", why, since + season.idle_limit, per_hour=price)


def _retiring(action: Action, price: Price) -> Due:
    state = action.living.state if action.living else ""
    if action.why is Why.BUSY_STATE and state == "PROVISIONING":
        # The published catalog does not name it yet, or no longer.
        why = "still being made; a deployment that asks for it takes it over, any other deletes it when idle"
        return Due(action.cluster, action.id, "unfinished", why, per_hour=price)
    if action.jobs:
        why = f"when {join(job.typed for job in action.jobs)} {'has' if len(action.jobs) == 1 else 'have'} ended"
    elif action.why in (Why.UNPUBLISHED, Why.DAMAGED):
        why = f"with the deployment after the next one ({action.why.words})"
    elif action.why is Why.BUSY_STATE:
        why = f"can't be deleted while it is {state}"
    else:
        why = action.why.words
    return Due(action.cluster, action.id, "retire", why, per_hour=price, overdue=action.overdue)


def wait_for_quota(decided: Plan, live: Live, stack: Stack, again: Callable[[Waits], Plan]) -> Plan:
    """Return the plan without the clusters that a season brings and that lack quota, the last declared first, until the
    others fit; then with each of them that fits after all. `again` plans with some that wait.

    A new season has no users yet, and may need the quota that another one gives back when its jobs have ended; that
    would never happen if the deployment stopped before the other is withdrawn. Nor may a season stop an edit.
    """
    waits: dict[str, Mapping[str, str]] = {}
    while lacking := _lacking(decided, live, stack):
        # The last declared waits first: the others may need its quota.
        last = list(lacking)[-1]
        waits[last] = lacking[last]
        decided = again(waits)
    if not waits:
        return decided
    # A cluster may have been left out before another one that took its room and does not fit by itself.
    for name in [cluster.name for cluster in stack.clusters if cluster.name in waits]:
        others = {other: lacks for other, lacks in waits.items() if other != name}
        if lacking := _lacking(again(others), live, stack):
            waits[name] = lacking.get(name, waits[name])
        else:
            waits = others
    return again(waits)


def with_seasons(
    asked: Iterable[QuotaRequest], plan: Plan, now: datetime, at: Callable[[tuple[CurrentCluster, ...]], QuotaReport]
) -> tuple[QuotaRequest, ...]:
    """Return the requests that are `asked` for, and those for clusters of coming seasons, each beside the others that
    are wanted then. `at` reports on these clusters, and none of the stack's others."""
    by_metric = {request.metric: request for request in asked}
    for report in by_season(plan.current, _coming(plan.actions), now, at).values():
        for request in report.requests:
            if request.metric not in by_metric or more(request.value, by_metric[request.metric].value):
                by_metric[request.metric] = request
    return tuple(by_metric.values())


def prepared(
    actions: Collection[Action],
    live: Live,
    region: str,
    now: datetime,
    *,
    strict: bool = False,
    asked: Mapping[str, int] | None = None,
) -> Mapping[str, Readiness]:
    """Return the readiness of clusters of coming seasons, by name. `asked`: the stack's own limits, by metric."""
    return readiness(
        [action.current for action in actions if action.current],
        _coming(actions),
        live,
        region=region,
        now=now,
        old={action.id for action in actions if action.what in (What.RETIRE, *DELETE)},
        strict=strict,
        asked=asked or {},
    )


def _coming(actions: Iterable[Action]) -> tuple[CurrentCluster, ...]:
    rest = (action.dormant for action in actions if action.what is What.REST)
    return tuple(
        CurrentCluster(dormancy.spec, dormancy.id, "", import_=False)
        for dormancy in rest
        if dormancy and dormancy.comes
    )


def _lacking(decided: Plan, live: Live, stack: Stack) -> Mapping[str, Mapping[str, str]]:
    """Return the missing quota, as text by metric, for each cluster whose season begins, by its name."""
    come = [cluster for cluster in decided.current if cluster.id in decided.seasons]
    if not come or stack.quota.mode == "warn":
        return {}
    then = live.without(decided.deleted_by_program)
    report = assess(decided.current, then, region=stack.region, preview=True, old=decided.superseded_ids)
    lacks_by_name = {
        cluster.spec.name: {
            line.metric: _shortage(line, by, then)
            for line in report.lines
            if line.drawn_by(cluster.spec.name) and (by := line.lacks(strict=stack.quota.strict))
        }
        for cluster in come
    }
    return {name: lacks for name, lacks in lacks_by_name.items() if lacks}


def _shortage(line: QuotaRow, by: int, live: Live) -> str:
    """Return `quota X in us-central1 is short by 8 (limit 8; drawn by first-1a2b3c4 8)`."""
    holders = sorted(_holders(line, live), key=lambda holder: (-holder[1], holder[0]))
    named = [f"{name} {amount:,}" for name, amount in holders[:_MOST_NAMED]]
    if len(holders) > _MOST_NAMED:
        named.append(f"{len(holders) - _MOST_NAMED} others")
    return line.shortage(by, f"drawn by {join(named)}" if holders else "")


def _holders(line: QuotaRow, live: Live) -> Iterator[tuple[str, int]]:
    regional = live.at(line.region, home=not line.elsewhere)
    if isinstance(regional.clusters, Unknown) or isinstance(regional.jobs, Unknown):
        return
    for cluster in regional.clusters:
        if amount := usage((cluster,), ()).total(line.metric):
            yield cluster.id, amount
    if amount := usage((), regional.jobs).total(line.metric):
        yield "jobs on machines of their own", amount

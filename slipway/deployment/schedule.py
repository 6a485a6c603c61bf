"""What deployments do by themselves, now and later: what goes, retires, is made or given up, and the cost until then.

Pure: the plan of a deployment, and what it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

from slipway.catalog import clusters
from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import CurrentCluster
from slipway.deployment.plan import Plan
from slipway.formatting import join, span
from slipway.generations.dormant import DormantCluster, idle_since
from slipway.generations.retiring import RetiringCluster, Why
from slipway.labels import NAME_LABEL
from slipway.live import Live, Unknown
from slipway.prices import Price, dollars, hourly, price_in_words, total
from slipway.season import moment_in_words

What = Literal["create", "take-back", "delete", "retire", "unfinished", "season-begins", "season-ends", "idle-limit"]
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
_CAME: Mapping[What, str] = {
    "season-begins": "season began",
    "season-ends": "season ended",
    "idle-limit": "was to be given up",
}
"""Of what has a date, when that has come and nobody has deployed since."""


@dataclass(frozen=True)
class Due:
    """What becomes of a cluster that people call `name`. `at` is None where nobody knows when it is due, and past only
    for who looks at what was published before that. `now`: the next deployment does it. `per_hour` is what the cluster
    costs until then. `why` is for people."""

    name: str
    id: str
    what: What
    why: str
    at: datetime | None = None
    now: bool = False
    per_hour: Price = field(default_factory=Price)
    overdue: bool = False

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
        if self.at <= now:
            return self._late(now, self.at)
        when = f"{self.does} {moment_in_words(self.at)}, in {span((self.at - now).total_seconds())}"
        if self.what == "season-begins":
            return f"{when}: {self.why}"
        cost = dollars(self.until(now) or Price(), per="")
        return f"{when}: {dollars(self.per_hour)}, {cost} until then{f' ({self.why})' if self.why else ''}"

    def _late(self, now: datetime, at: datetime) -> str:
        came = f"{_CAME[self.what]} {span((now - at).total_seconds())} ago"
        if self.what == "season-begins":
            return f"{came}: made with the next deployment"
        price = f"{came}: {dollars(self.per_hour)}, goes with the next deployment that finds no job on it"
        return f"{price}{f' ({self.why})' if self.why else ''}"


def schedule(plan: Plan, live: Live, region: str, now: datetime) -> tuple[Due, ...]:
    """What the next deployment does comes first, then what waits for jobs, then the rest by its date."""
    there = {} if isinstance(live.clusters, Unknown) else {one.id: one for one in live.clusters}
    found: list[Due] = []
    for current in plan.current:
        found += _current(current, there.get(current.id), live, region, now)
    for retiring in plan.retiring:
        found.append(_retiring(retiring, region, now))
    words = {one.spec.name: one.words for one in plan.dormant}
    for id_ in plan.deleted:
        name = there[id_].labels[NAME_LABEL]
        why = words.get(name, "idle and not asked for any more")
        found.append(Due(name, id_, "delete", why, now=True, per_hour=costs(there[id_], region)))
    for failed in plan.cleared:
        found.append(Due(failed.labels[NAME_LABEL], failed.id, "delete", failed.error or "it failed", now=True))
    for dormant in plan.dormant:
        found += _begins(dormant, region, now)
    order = {True: 0, False: 1}
    return tuple(sorted(found, key=lambda one: (order[one.now], one.at is not None, one.at or now, one.id, one.what)))


def costs(cluster: PersistentResource, region: str) -> Price:
    """USD an hour of the machines that are up, in the cluster's own region; `region` where it does not say that."""
    place = cluster.region or region
    return sum((hourly(pool.machine, place) * pool.replicas for pool in cluster.pools), Price())


def _current(
    current: CurrentCluster, cluster: PersistentResource | None, live: Live, region: str, now: datetime
) -> Iterator[Due]:
    if not current.import_:
        why = f"{price_in_words(total((current.spec,), region))} from then on"
        yield Due(current.spec.name, current.id, "create", why, now=True)
    elif was := _was_out_of_season(current, live):
        why = "it was made since then" if was.awaited else "it is in its season again, and still lives"
        yield Due(current.spec.name, current.id, "take-back", why, now=True)
    yield from dates(current, cluster, live, region, now)


def _was_out_of_season(current: CurrentCluster, live: Live) -> clusters.DormantCluster | None:
    """As it is published, also where it had yet to be made then."""
    whole = live.catalog.whole if isinstance(live.catalog, PublishedCatalog) else None
    was = whole.dormant.get(current.spec.name) if whole else None
    return was if was is not None and was.why == "season" else None


def dates(
    current: CurrentCluster, cluster: PersistentResource | None, live: Live, region: str, now: datetime
) -> Iterator[Due]:
    """When a cluster's season ends, and when it will have idled for too long, unless its season ends by then anyway.
    `cluster` is the living one."""
    name, season = current.spec.name, current.spec.season
    price = costs(cluster, region) if cluster else total((current.spec,), region).floor
    if season.ends:
        yield Due(name, current.id, "season-ends", "", season.ends, per_hour=price)
    since = idle_since(current, cluster, live, now) if cluster and season.idle_limit else None
    if since and season.idle_limit and not (season.ends and season.ends <= since + season.idle_limit):
        why = f"no job for {span((now - since).total_seconds())}, unless one comes"
        yield Due(name, current.id, "idle-limit", why, since + season.idle_limit, per_hour=price)


def _retiring(retiring: RetiringCluster, region: str, now: datetime) -> Due:
    price = costs(retiring.cluster, region)
    if retiring.why is Why.BUSY_STATE and retiring.cluster.state == "PROVISIONING":
        # What is published does not name it yet, or not any more.
        why = "still being made; a deployment that asks for it takes it over, any other deletes it when idle"
        return Due(retiring.name, retiring.id, "unfinished", why, per_hour=price)
    if retiring.jobs:
        why = f"when {join(job.typed for job in retiring.jobs)} {'has' if len(retiring.jobs) == 1 else 'have'} ended"
    elif retiring.why in (Why.UNPUBLISHED, Why.DAMAGED):
        why = f"with the deployment after the next one ({retiring.why.words})"
    elif retiring.why is Why.BUSY_STATE:
        why = f"can't be deleted while it is {retiring.cluster.state}"
    else:
        why = retiring.why.words
    return Due(retiring.name, retiring.id, "retire", why, per_hour=price, overdue=retiring.overdue)


def _begins(dormant: DormantCluster, region: str, now: datetime) -> Iterator[Due]:
    begins = dormant.spec.season.begins
    if dormant.why == "season" and begins is not None and begins > now:
        why = f"{price_in_words(total((dormant.spec,), region))} from then on"
        yield Due(dormant.spec.name, dormant.id, "season-begins", why, begins)

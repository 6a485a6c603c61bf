"""`ClusterChange`: all that is known of the clusters under one name, before and after, computed once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from slipway.base.formatting import exact_span
from slipway.deploying.generations.action import Action, What, Why
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.cluster import CREATE_WITHIN_S, IN_PLACE
from slipway.model.cluster_fields import compare, machines_in_words, renamed_pools
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Subject
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import Price, dollars
from slipway.model.season import moment_in_words
from slipway.reviewing.change.change import Change, once
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules import declared
from slipway.reviewing.rules.clusters.engine import destroyed, undeclared
from slipway.reviewing.rules.table import RowName, by_row, say
from slipway.reviewing.rules.words import have_ended

DATED = ("until", "idleLimit", "from")
"""The settings of a season."""
USUAL_WAIT = timedelta(seconds=CREATE_WITHIN_S)
TOO_LONG = timedelta(hours=2, minutes=30)
"""A wait that the run of a workflow, which ends after three hours, hardly outlives."""


@dataclass(frozen=True)
class ClusterChange:
    """The deployed cluster under a name, `old`, and the declared one, `new`. Adopted clusters are none of these."""

    name: str
    old: Cluster | None
    new: Cluster | None
    edits: tuple[Edit, ...] = ()
    #: The action by which the old one stays for now; None where the engine deletes it, or the program does not keep it.
    retires: Action | None = None
    old_in_cloud: PersistentResource | None = None
    new_in_cloud: PersistentResource | None = None
    #: The jobs on the old one that have not ended.
    jobs: tuple[VertexJob, ...] = ()
    #: The cloud was read, so that None for `old_in_cloud` means that it has none.
    read: bool = True
    #: The new one is an earlier generation.
    returns: bool = False
    dormant_before: DormantCluster | None = None
    dormant_after: DormantCluster | None = None

    @property
    def key(self) -> str:
        """The place of the first edit, below the cluster's entry."""
        if self.reordered:
            return "alternatives"
        keys = [edit.key for edit in self.edits]
        several_dates = len(keys) > 1 and {*keys} <= {*DATED}  # Any of them may be the cause.
        return "" if several_dates else next(iter(keys), "")

    @property
    def reordered(self) -> bool:
        """Tell whether another one of its alternatives stands: no value of its entry needs to differ."""
        return bool(self.old and self.new and self.old.alternative != self.new.alternative)

    @property
    def edits_of_entry(self) -> tuple[Edit, ...]:
        """The edits but for those that another alternative stands for, whose region its entry has as well."""
        return tuple(edit for edit in self.edits if edit.key == "region" or not self.reordered)

    @property
    def stays(self) -> bool:
        return self.old is not None and self.new is not None and self.old.id == self.new.id

    @property
    def gone(self) -> bool:
        return self.read and self.old_in_cloud is None

    @property
    def failed(self) -> bool:
        return self.old_in_cloud is not None and self.old_in_cloud.failed

    @property
    def made(self) -> bool:
        return self.new is not None and not (self.stays or self.new_in_cloud)

    @property
    def is_replaced(self) -> bool:
        """Tell whether a new one is made while the old one holds machines."""
        return self.made and self.old is not None and not (self.gone or self.failed)

    @property
    def in_place(self) -> bool:
        return self.is_replaced and self.new is not None and self.new.replacement == IN_PLACE

    @property
    def held(self) -> tuple[MachineGroup, ...]:
        """The old one's machines: those that are up, or the minimum where they were not read."""
        if self.gone or self.failed or self.old is None:
            return ()
        return self.old_in_cloud.machines if self.old_in_cloud else self.old.minimum_machines

    @property
    def held_price(self) -> Price:
        """USD an hour of the old cluster's machines while they exist, at the pools' prices."""
        prices = {pool.machine: pool.price_per_hour for pool in (self.old.pools if self.old else ())}
        return sum((prices.get(group.machine, Price(complete=False)) * group.count for group in self.held), Price())

    @property
    def scarce(self) -> bool:
        return any(cluster.scarce for cluster in (self.old, self.new) if cluster)


@once
def cluster_changes(change: Change) -> tuple[ClusterChange, ...]:
    """Return a value for each name, also for unchanged clusters; none where a side is unknown."""
    if change.unknown:
        return ()
    before, after, compared = change.old, change.new, []
    # By these keys the stack itself moves, with all clusters.
    sides = {"gcp:project": (before.project, after.project), "gcp:region": (before.region, after.region)}
    moved = tuple(Edit(key, *side) for key, side in sides.items() if side[0] != side[1])
    living, stay, doomed = change.living or {}, staying(change), {*destroyed(change), *undeclared(change)}
    for name in dict.fromkeys((*before.clusters, *after.clusters)):
        of_name = (side.clusters.get(name) for side in (before, after))
        old, new = (None if cluster is None or cluster.adopted else cluster for cluster in of_name)
        if old is None and new is None:
            continue
        id_ = old.id if old else ""
        was, becomes = (side.dormant.get(name, living) for side, living in ((before, old), (after, new)))
        edited: tuple[Edit, ...] = ()
        if was and becomes and not (old and new):
            sides_of_dates = declared.compare(dates(was), dates(becomes))
            edited = tuple(Edit(key, setting(date), setting(other)) for key, date, other in sides_of_dates)
        if old and new:
            regions = (old.region or before.region, new.region or after.region)
            far = (Edit("region", *regions),) if (old.region or new.region) and regions[0] != regions[1] else ()
            edited = (*moved, *far, *edits(old, new))
        # Where the stack moves, its old project or region was not read: nothing is known of the clusters there.
        both = ClusterChange(
            name=name,
            old=old,
            new=new,
            edits=edited,
            retires=None if id_ in doomed else stay.get(id_),
            old_in_cloud=None if moved else living.get(id_),
            new_in_cloud=living.get(new.id) if new else None,
            jobs=change.jobs_on(id_) if old and not moved else (),
            read=change.living is not None and not moved,
            returns=new is not None and new.id in change.retiring and new.id in living,
            dormant_before=before.dormant.get(name),
            dormant_after=after.dormant.get(name),
        )
        compared.append(both)
    return tuple(compared)


def made_of(change: Change, line: QuotaLine) -> list[ClusterChange]:
    """Return the clusters to be made that draw on a line."""
    drawers = {name.partition("/")[0] for name in line.drawn}
    return [each for each in cluster_changes(change) if each.made and each.name in drawers]


@once
def held_up(change: Change) -> frozenset[str]:
    """Return the names of clusters that a deployment fails to make beside the old ones, as they lack quota. Of several
    that share too little some may be made, and so may an alternative."""
    lines = change.after.quota.lines.values() if change.after.quota.mode == "warn" else ()
    made = [made_of(change, line) for line in lines if line.short]
    alone = [some[0] for some in made if len(some) == 1 and some[0].is_replaced and not some[0].in_place]
    return frozenset(each.name for each in alone if each.new and not each.new.alternatives)


@once
def staying(change: Change) -> Mapping[str, Action]:
    """Return the old generations that stay for now, by id: as decided here from what lives, or, where clusters or jobs
    were not read, as the program's own preview says."""
    if change.living is not None and not isinstance(change.live.jobs, Unknown):
        return {action.id: action for action in change.of(What.RETIRE)}
    actions = {}
    for kept in change.after.kept.values():
        if kept.kind == "cluster":
            jobs = tuple(job for job in change.jobs if job.name in kept.jobs)
            why = next((why for why in Why if why == kept.retiring), Why.UNREAD)
            actions[kept.id] = Action(kept.role, kept.id, What.RETIRE, why, jobs, overdue=kept.overdue)
    return actions


def price(cluster: Cluster | PricedAlternative, *, most: bool = False) -> Price:
    """Return USD an hour, idle or with every pool at its maximum."""
    return sum((pool.price_per_hour * (pool.max if most else pool.min) for pool in cluster.pools), Price())


def costs(cluster: Cluster) -> str:
    """Return `with nothing running it costs $2.35/h, $1,719 a month`."""
    hourly, limit = price(cluster), None if cluster.season.stays_idle else cluster.season.idle_limit
    month = "" if limit else f"{hourly.known * HOURS_OF_A_MONTH:,.0f}"
    idle = "" if hourly.unknown else dollars(Price(hourly.known))
    return say("cluster-costs", idle=idle, month=month, more=not hourly.complete, limit=setting(limit))


def pools_of(cluster: Cluster) -> tuple[str, ...]:
    return tuple(f"`pools.{pool.name}`: {machines_in_words(pool)}" for pool in cluster.pools)


def dates(cluster: Cluster) -> Mapping[str, Any]:
    season = cluster.season
    return dict(zip(DATED, (season.ends, season.idle_limit, season.begins), strict=True))


def setting(value: Any) -> str:
    """Return a setting's value in words."""
    if isinstance(value, datetime):
        return moment_in_words(value)
    return exact_span(value.total_seconds()) if isinstance(value, timedelta) else value or ""


def ends(action: Action) -> str:
    """Return the end of a cluster that stays for now, after its name."""
    return say("cluster-ends", ended=have_ended(action.jobs) if action.jobs else "", why=action.why.words)


def edits(old: Cluster, new: Cluster) -> Iterator[Edit]:
    """Yield the fields in which two clusters differ, in the stack file's spelling; a pool's new name as one edit."""
    renamed = renamed_pools(old, new)
    of_pools = {f"pools.{name}" for name in (*renamed, *renamed.values())}
    differing = (field for field in compare(old, new) if field.key not in of_pools)
    yield from (Edit(field.key, field.before, field.after) for field in differing)
    yield from (Edit("pools", before, after) for before, after in renamed.items())


def key_of(name: str, key: str) -> str:
    return key if key.startswith("gcp:") else f"slipway:persistentResources.{name}.{key}".rstrip(".")


def of_cluster(row: RowName, name: str, *, part: str = "", key: str | None = None, **parts: Any) -> Consequence:
    """Return a row's consequence for a cluster. `key`, below its entry, caused it; empty for the whole entry."""
    field = "" if key is None else key_of(name, key)
    return by_row(row, Subject("cluster", name, part), field=field, **parts)

"""What follows what under a cluster's name: the deployed generation, the declared one, and what becomes of the old."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Catalog
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import IN_PLACE
from slipway.cluster_fields import compare_pools
from slipway.facts import Facts, Kept
from slipway.generations.action import Why
from slipway.generations.published_clusters import declared, differences
from slipway.machines.spec import MachineGroup
from slipway.review.change import Change
from slipway.review.clusters.engine import destroyed
from slipway.review.words import Edit, have_ended

REGION = "region"
"""Of a cluster that is there as an alternative: no key of its own in the stack file."""


@dataclass(frozen=True)
class Succession:
    """`old` is deployed and `new` declared, either may lack. `kept`: what the program says of an old one that stays.

    `left` and `there` are the old and the new one in the cloud; `read` says whether an absence there means anything.
    `jobs` are those on the old one that have not ended. `returns`: the new one is an earlier generation. `doomed`: the
    engine takes the old one away, whatever the program says of it.
    """

    name: str
    old: Cluster | None
    new: Cluster | None
    edits: tuple[Edit, ...] = ()
    kept: Kept | None = None
    left: PersistentResource | None = None
    there: PersistentResource | None = None
    jobs: tuple[VertexJob, ...] = ()
    read: bool = True
    returns: bool = False
    doomed: bool = False

    @property
    def stays(self) -> bool:
        return self.old is not None and self.new is not None and self.old.id == self.new.id

    @property
    def gone(self) -> bool:
        """The old one is not in the cloud any more, so nothing can happen to it."""
        return self.read and self.left is None and self.kept is None

    @property
    def failed(self) -> bool:
        """The old one holds nothing."""
        return self.left is not None and self.left.state == "ERROR"

    @property
    def is_made(self) -> bool:
        """Whether a cluster is made beside one that holds machines."""
        return (
            self.old is not None and self.new is not None and not (self.stays or self.there or self.gone or self.failed)
        )

    @property
    def in_place(self) -> bool:
        return self.is_made and self.new is not None and self.new.replacement == IN_PLACE

    @property
    def held(self) -> tuple[MachineGroup, ...]:
        """The old one's machines: those that are up, or where nobody could look those that are always there."""
        if self.gone or self.failed or self.old is None:
            return ()
        return self.left.machines if self.left else always(self.old)


def successions(change: Change) -> Iterator[Succession]:
    """One for each name, those that stay as they are too; none where the program told nothing. Clusters that somebody
    else made are none's: nothing follows them, and nothing is made in their place."""
    if change.after is None:
        return
    old, new = _own(change.old.clusters if change.old else {}), _own(change.after.catalog.clusters)
    for name in dict.fromkeys((*old, *new)):
        yield _succession(name, old.get(name), new.get(name), change, change.after)


def _own(clusters: Mapping[str, Cluster]) -> Mapping[str, Cluster]:
    return {name: one for name, one in clusters.items() if not one.adopted}


def _succession(name: str, old: Cluster | None, new: Cluster | None, change: Change, after: Facts) -> Succession:
    living, old_id = change.living or {}, old.id if old else ""
    # Of what is deployed in another project or region, where nobody looked, nothing is known.
    moved = tuple(_moves(change))
    return Succession(
        name,
        old,
        new,
        edits=(*moved, *_elsewhere(old, new, change.old or after.catalog, after.catalog), *edits(old, new))
        if old and new
        else (),
        kept=after.kept.get(old_id),
        left=None if moved else living.get(old_id),
        there=living.get(new.id) if new else None,
        jobs=change.jobs_on(old_id) if old and not moved else (),
        read=change.living is not None and not moved,
        returns=new is not None and new.id in change.retiring and new.id in living,
        doomed=old_id in destroyed(change),
    )


def always(cluster: Cluster) -> tuple[MachineGroup, ...]:
    """The machines that it never has fewer of."""
    return tuple(MachineGroup(pool.machine, pool.min) for pool in cluster.pools.values() if pool.min)


def fate(one: Succession, change: Change) -> str:
    """Say what becomes of the old generation, after its name: `retires when … has ended`."""
    if one.failed:
        return "failed, holds nothing and is deleted"
    if one.jobs and (one.doomed or one.kept is None):
        return "is deleted by this deployment, with what runs on it"
    if one.kept is None:
        return "is idle and goes with this deployment" if one.read else "goes if nothing runs on it"
    if one.jobs:
        return f"retires when {have_ended(one.jobs, change.now)}"
    if one.kept.jobs:
        listed = len(one.kept.jobs)
        return f"retires when its {'job has' if listed == 1 else f'{listed} jobs have'} ended"
    return later(one.kept)


def later(kept: Kept) -> str:
    known = {why.value: why.words for why in Why}
    return f"retires with a later deployment ({known.get(kept.retiring, kept.retiring)})"


def edits(old: Cluster, new: Cluster) -> Iterator[Edit]:
    """Fields that make another cluster of one, as the stack file spells them."""
    renamed = renames(old, new)
    told = {f"pools.{name}" for name in (*renamed, *renamed.values())}
    yield from (Edit(one.key, one.before, one.after) for one in differences(old, declared(new)) if one.key not in told)
    yield from (Edit("pools", before, after) for before, after in renamed.items())


def renames(old: Cluster, new: Cluster) -> dict[str, str]:
    """Pools that have another name and are the same else: new names by old ones."""
    gone = [pool for name, pool in old.pools.items() if name not in new.pools]
    come = [pool for name, pool in new.pools.items() if name not in old.pools]
    found: dict[str, str] = {}
    for pool in gone:
        same = next((one for one in come if one.name not in found.values() and not compare_pools("", pool, one)), None)
        if same:
            found[pool.name] = same.name
    return found


def _elsewhere(old: Cluster, new: Cluster, was: Catalog, becomes: Catalog) -> Iterator[Edit]:
    if old.region or new.region:
        yield from _edit(REGION, old.region or was.region, new.region or becomes.region)


def _moves(change: Change) -> Iterator[Edit]:
    if change.old and change.new:
        for key, field in (("gcp:project", "project"), ("gcp:region", "region")):
            yield from _edit(key, getattr(change.old, field), getattr(change.new, field))


def _edit(key: str, before: object, after: object) -> Iterator[Edit]:
    if before != after:
        yield Edit(key, str(before), str(after))

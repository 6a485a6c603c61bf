"""Successions under a cluster's name: the deployed generation, the declared one, and the fate of the old one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slipway.deploying.generations.action import Action, What, Why
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster import IN_PLACE
from slipway.model.cluster_fields import compare, compare_pools
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import Price
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.rules.clusters.engine import destroyed, undeclared
from slipway.reviewing.rules.words import have_ended

_REGION = "region"
"""The key of a cluster's edited region. The stack file has no such key: an alternative brings its region along."""
_MOVES = ("gcp:project", "gcp:region")
"""The keys by which the stack itself moves, with all clusters."""


@dataclass(frozen=True)
class Succession:
    """A succession. `old` is deployed and `new` declared, either may be missing. `retires`: the action by which the old
    one stays for now; None where the engine deletes it, or the program does not keep it.

    `left` and `there` are the old and the new one in the cloud; `read` tells whether the cloud was read, so that None
    means that it has none. `jobs` are those on the old one that have not ended. `returns`: the new one is an earlier
    generation.
    """

    name: str
    old: Cluster | None
    new: Cluster | None
    edits: tuple[Edit, ...] = ()
    retires: Action | None = None
    left: PersistentResource | None = None
    there: PersistentResource | None = None
    jobs: tuple[VertexJob, ...] = ()
    read: bool = True
    returns: bool = False

    @property
    def key(self) -> str:
        """The place of the first edit, below the cluster's entry."""
        key = next((edit.key for edit in self.edits), "")
        return "alternatives" if key == _REGION else key

    @property
    def old_id(self) -> str:
        return self.old.id if self.old else ""

    @property
    def stays(self) -> bool:
        return self.old is not None and self.new is not None and self.old.id == self.new.id

    @property
    def gone(self) -> bool:
        """Whether the old one is no longer in the cloud."""
        return self.read and self.left is None

    @property
    def failed(self) -> bool:
        """Whether the old one failed and holds nothing."""
        return self.left is not None and self.left.failed

    @property
    def is_made(self) -> bool:
        """Whether a cluster is made beside one that holds machines."""
        another, holds = not (self.stays or self.there), not (self.gone or self.failed)
        return self.old is not None and self.new is not None and another and holds

    @property
    def in_place(self) -> bool:
        return self.is_made and self.new is not None and self.new.replacement == IN_PLACE

    @property
    def of_machines(self) -> bool:
        """Whether some edit asks for other machines, another number of them, or another region."""
        return any(edit.key.startswith(("pools.", _REGION, *_MOVES)) for edit in self.edits)

    @property
    def held(self) -> tuple[MachineGroup, ...]:
        """The old one's machines: those that are up, or the minimum where they were not read."""
        if self.gone or self.failed or self.old is None:
            return ()
        return self.left.machines if self.left else always(self.old)


def successions(change: Change) -> Iterator[Succession]:
    """Yield a succession for each name, also for unchanged clusters; none without a program's publication, and none for
    adopted clusters."""
    if change.after is None:
        return
    before, after = change.old or change.after.catalog, change.after.catalog
    sides = ((before.project, after.project), (before.region, after.region))
    moved = tuple(Edit(key, *side) for key, side in zip(_MOVES, sides, strict=True) if side[0] != side[1])
    living, stay, doomed = change.living or {}, staying(change), {*destroyed(change), *undeclared(change)}
    deployed = before.clusters if change.old else {}
    for name in dict.fromkeys((*deployed, *after.clusters)):
        old, new = (
            None if one is None or one.adopted else one for one in (deployed.get(name), after.clusters.get(name))
        )
        if old is None and new is None:
            continue
        id_, edited = old.id if old else "", list(moved)
        if old and new:
            regions = (old.region or before.region, new.region or after.region)
            if (old.region or new.region) and regions[0] != regions[1]:
                edited.append(Edit(_REGION, *regions))
            edited += edits(old, new)
        # Of a stack that moves the old place was not read: nothing is known of the clusters there.
        yield Succession(
            name,
            old,
            new,
            tuple(edited) if old and new else (),
            retires=None if id_ in doomed else stay.get(id_),
            left=None if moved else living.get(id_),
            there=living.get(new.id) if new else None,
            jobs=change.jobs_on(id_) if old and not moved else (),
            read=change.living is not None and not moved,
            returns=new is not None and new.id in change.retiring and new.id in living,
        )


def staying(change: Change) -> Mapping[str, Action]:
    """Return the old generations that stay for now, by id: as this version decides, or as the program says where
    clusters or jobs were not read."""
    if change.living is not None and not isinstance(change.live.jobs, Unknown):
        return {one.id: one for one in change.of(What.RETIRE)}
    found = {}
    for one in change.after.kept.values() if change.after else ():
        if one.kind == "cluster":
            jobs = tuple(job for job in change.jobs if job.name in one.jobs)
            why = next((why for why in Why if why == one.retiring), Why.UNREAD)
            found[one.id] = Action(one.role, one.id, What.RETIRE, why, jobs, overdue=one.overdue)
    return found


def always(cluster: Cluster) -> tuple[MachineGroup, ...]:
    """Return the minimum machines of a cluster."""
    return tuple(MachineGroup(pool.machine, pool.min) for pool in cluster.pools if pool.min)


def held_price(one: Succession) -> Price:
    """Return USD an hour of the old cluster's machines while they exist, at the pools' prices."""
    prices = {pool.machine: pool.price_per_hour for pool in (one.old.pools if one.old else ())}
    return sum((prices.get(held.machine, Price(complete=False)) * held.count for held in one.held), Price())


def fate(one: Succession, when: str = "at once") -> str:
    """Return the fate of the old cluster, after its name: `is deleted when … has ended`."""
    if one.failed:
        return "failed, holds nothing and is deleted"
    if one.jobs and one.retires is None:
        return f"is deleted {when}, with what runs on it"
    if one.retires is None:
        return f"is idle and is deleted {when}" if one.read else "is deleted if nothing runs on it"
    return ends(one.retires)


def ends(one: Action) -> str:
    """Return the end of a cluster that stays for now, after its name."""
    if one.jobs:
        return f"is deleted when {have_ended(one.jobs)}"
    return f"is deleted by a later deployment ({one.why.words})"


def edits(old: Cluster, new: Cluster) -> Iterator[Edit]:
    """Yield the fields in which two clusters differ, in the stack file's spelling; a pool's new name as one edit."""
    renamed = renames(old, new)
    told = {f"pools.{name}" for name in (*renamed, *renamed.values())}
    yield from (Edit(one.key, one.before, one.after) for one in compare(old, new) if one.key not in told)
    yield from (Edit("pools", before, after) for before, after in renamed.items())


def renames(old: Cluster, new: Cluster) -> dict[str, str]:
    """Return pools that changed only their name: new names by old ones."""
    gone = [pool for pool in old.pools if new.pool(pool.name) is None]
    come = [pool for pool in new.pools if old.pool(pool.name) is None]
    found: dict[str, str] = {}
    for pool in gone:
        same = next((one for one in come if one.name not in found.values() and not compare_pools("", pool, one)), None)
        if same:
            found[pool.name] = same.name
    return found

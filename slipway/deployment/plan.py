"""`plan`: which clusters to declare, given what is asked for and what lives.

No edit kills a job and no edit gives machines away: a cluster that must change is made beside the old one, and the old
one is let go when nothing runs on it any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import RUNNING_STATES, PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import ClusterSpec, CurrentCluster
from slipway.deployment.dormant import DormantCluster, given_up, out_of_season, undecided
from slipway.deployment.retiring import RetiringCluster, Why
from slipway.deployment.workspace_plan import WorkspacePlan, plan_workspace
from slipway.fingerprint import LONGEST_ID, cluster_id, fingerprint_of
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Live, Unknown
from slipway.state import State

SPENT_STATES = frozenset({"ERROR", "STOPPING"})
# The API deletes a cluster in these states; in the others it refuses.
DELETABLE_STATES = RUNNING_STATES | {"ERROR"}
# Which one is current, should there be several of one generation.
_PREFERENCE = {"RUNNING": 0, "UPDATING": 0, "REBOOTING": 1, "PROVISIONING": 2}


@dataclass(frozen=True)
class Plan:
    """What to declare. With `problems` nothing may be declared: they are to be shown, and the run stops.

    `waiting`: current clusters still being made; `up` waits for their end and plans again. `deleted`: ids of ours that
    are not declared, so that Pulumi deletes them. `cleared`: failed ones that no catalog lists, which `up` itself
    deletes before it makes their successor. `dormant` are named by the stack file and not declared for now.
    `workspace` are the accounts and buckets. `notes` are for the person's eyes.
    """

    current: tuple[CurrentCluster, ...] = ()
    retiring: tuple[RetiringCluster, ...] = ()
    waiting: tuple[PersistentResource, ...] = ()
    deleted: tuple[str, ...] = ()
    cleared: tuple[PersistentResource, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dormant: tuple[DormantCluster, ...] = ()
    workspace: WorkspacePlan = field(default_factory=WorkspacePlan)

    @property
    def old(self) -> frozenset[str]:
        """Ids of the stack's generations that live and are not asked for any more."""
        return frozenset((*(item.cluster.id for item in self.retiring), *self.deleted))


def plan(
    declared: tuple[ClusterSpec, ...],
    live: Live,
    *,
    stack: str,
    project: str,
    region: str,
    now: datetime | None = None,
    known: State | None = None,
    workspace: Mapping[str, str] | None = None,
) -> Plan:
    """What becomes of each cluster that is asked for or that lives. Pure: the same arguments give the same plan.

    `known` is what the engine knows, `workspace` what is asked for by role: buckets' names and the trainer's address.
    A cluster is ours when its labels say stack, name and hash, and its id is one that these give. Without `now` every
    cluster is in its season and none is late.
    """
    named = [(spec, fingerprint_of(stack, project, region, spec)) for spec in declared]
    dormant = [rests for spec, fingerprint in named if (rests := out_of_season(spec, fingerprint, now))]
    wanted = [(spec, fingerprint) for spec, fingerprint in named if all(spec is not one.spec for one in dormant)]
    if live.skipped:
        return Plan(
            dormant=tuple(dormant),
            current=tuple(
                CurrentCluster(spec, cluster_id(spec.name, fingerprint), fingerprint, import_=False)
                for spec, fingerprint in wanted
            ),
            notes=("live clusters, jobs and quota were not read: what is asked for is shown as if nothing existed",),
            workspace=plan_workspace(known or State(), workspace or {}, (), Why.UNREAD),
        )
    if isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown):
        parts = {"clusters": live.clusters, "jobs": live.jobs}
        unread = (f"can't read the {what} from {part}" for what, part in parts.items() if isinstance(part, Unknown))
        return Plan(problems=tuple(unread))

    clusters = {cluster.id: cluster for cluster in live.clusters}
    ours = {cluster.id: cluster for cluster in live.clusters if is_ours(cluster, stack)}
    problems = _taken_ids(wanted, live.clusters, ours, live.catalog)
    current: list[CurrentCluster] = []
    for spec, fingerprint in wanted:
        one = _current(spec, fingerprint, clusters, ours, live.catalog)
        gone = given_up(one, clusters, live, now)
        if isinstance(gone, Unknown):
            decides = f"the published catalog, which tells whether {spec.name} was given up,"
            problems.append(f"can't read {decides} from {gone}")
        elif gone:
            dormant.append(gone)
        else:
            current.append(one)
    problems += [
        f"{item.id} is longer than {LONGEST_ID} characters; shorten {item.spec.name!r}, or delete spent clusters"
        for item in current
        if len(item.id) > LONGEST_ID
    ]
    jobs = {id_: tuple(job for job in live.jobs if job.persistent_resource_id == id_ and not job.ended) for id_ in ours}

    retiring: list[RetiringCluster] = []
    deleted: list[str] = []
    cleared: list[PersistentResource] = []
    for cluster in sorted(ours.values(), key=lambda cluster: cluster.id):
        if any(item.id == cluster.id for item in current):
            continue
        why = _why_keep(cluster, jobs[cluster.id], current, live.catalog)
        if isinstance(why, Unknown):
            decides = f"the published catalog, which decides about idle cluster {cluster.id},"
            problems.append(f"can't read {decides} from {why}")
        elif why == Why.UNPUBLISHED and cluster.state == "ERROR" and _successor_is_new(cluster, current):
            cleared.append(cluster)
        elif why:
            overdue = _overdue(cluster, current, dormant, clusters, now)
            retiring.append(RetiringCluster(cluster, cluster.labels[NAME_LABEL], jobs[cluster.id], why, overdue))
        else:
            deleted.append(cluster.id)
    if problems:
        return Plan(problems=tuple(problems))
    unlisted = any(cluster.in_use and not jobs[id_] for id_, cluster in ours.items())
    return Plan(
        current=tuple(current),
        retiring=tuple(retiring),
        waiting=tuple(clusters[item.id] for item in current if item.state == "PROVISIONING"),
        deleted=tuple(deleted),
        cleared=tuple(cleared),
        notes=(*_damaged(live.catalog), *undecided(current, live)),
        dormant=tuple(dormant),
        workspace=plan_workspace(known or State(), workspace or {}, live.jobs, Why.IN_USE if unlisted else None),
    )


def is_ours(cluster: PersistentResource, stack: str) -> bool:
    """Whether a stack made it: its labels say so, and its id is one that they give."""
    name, fingerprint = cluster.labels.get(NAME_LABEL, ""), cluster.labels.get(HASH_LABEL, "")
    named = bool(name and fingerprint) and cluster.labels.get(STACK_LABEL) == stack
    return named and _is_id_of(cluster.id, cluster_id(name, fingerprint))


def _is_id_of(id_: str, base: str) -> bool:
    return id_ == base or (id_.startswith(f"{base}-") and id_.removeprefix(f"{base}-").isdecimal())


def _taken_ids(
    wanted: list[tuple[ClusterSpec, str]],
    clusters: tuple[PersistentResource, ...],
    ours: dict[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
) -> list[str]:
    bases = [cluster_id(spec.name, fingerprint) for spec, fingerprint in wanted]
    published = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    return [
        f"cluster {cluster.id} has an id of this stack but not its labels ({STACK_LABEL}, {NAME_LABEL}, {HASH_LABEL}): "
        "somebody else made it, so it is left alone; delete it by hand, or raise `generation` to get another id"
        for cluster in clusters
        if cluster.id not in ours
        and (published.lists(cluster.id) or any(_is_id_of(cluster.id, base) for base in bases))
    ]


def _current(
    spec: ClusterSpec,
    fingerprint: str,
    clusters: dict[str, PersistentResource],
    ours: dict[str, PersistentResource],
    catalog: PublishedCatalog | Unknown | None,
) -> CurrentCluster:
    base = cluster_id(spec.name, fingerprint)
    published = catalog.clusters.get(spec.name) if isinstance(catalog, PublishedCatalog) else None
    usable = [item for item in ours.values() if _is_id_of(item.id, base) and item.state not in SPENT_STATES]
    if usable:
        best = min(
            usable,
            key=lambda item: (_PREFERENCE.get(item.state, 9), item.id != published, len(item.id), item.id),
        )
        return CurrentCluster(spec, best.id, fingerprint, import_=True, state=best.state)
    n = 1
    while cluster_id(spec.name, fingerprint, n) in clusters:
        n += 1
    return CurrentCluster(spec, cluster_id(spec.name, fingerprint, n), fingerprint, import_=False)


def _why_keep(
    cluster: PersistentResource,
    jobs: tuple[VertexJob, ...],
    current: list[CurrentCluster],
    catalog: PublishedCatalog | Unknown | None,
) -> Why | Unknown | None:
    """Why a cluster that is not asked for stays declared; None when it goes."""
    if jobs:
        return Why.JOBS
    if cluster.state == "STOPPING":
        return None  # It is going already: importing it would race with its end.
    if cluster.in_use:
        return Why.IN_USE
    if cluster.state not in DELETABLE_STATES:
        return Why.BUSY_STATE
    successor = _successor(cluster, current)
    # One that is made by this `up` needs no rule: the engine deletes last, and nothing when a create failed.
    if successor is not None and successor.import_ and successor.state not in RUNNING_STATES:
        return Why.SUCCESSOR
    if isinstance(catalog, Unknown):
        return catalog
    if catalog is not None and catalog.damage:
        return Why.DAMAGED  # It may be offered to submitters: the catalog of this deployment ends that.
    return None if catalog is not None and catalog.lists(cluster.id) else Why.UNPUBLISHED


def _successor_is_new(cluster: PersistentResource, current: list[CurrentCluster]) -> bool:
    """Whether this deployment creates its successor: only then does the program itself run in the engine's midst."""
    successor = _successor(cluster, current)
    return successor is not None and not successor.import_


def _successor(cluster: PersistentResource, current: list[CurrentCluster]) -> CurrentCluster | None:
    return next((item for item in current if item.spec.name == cluster.labels[NAME_LABEL]), None)


def _overdue(
    cluster: PersistentResource,
    current: list[CurrentCluster],
    dormant: list[DormantCluster],
    clusters: dict[str, PersistentResource],
    now: datetime | None,
) -> bool:
    """Counted from its successor's creation, or from when it was not asked for any more."""
    follows = _successor(cluster, current)
    rests = next((one for one in dormant if one.spec.name == cluster.labels[NAME_LABEL]), None)
    if follows is not None:
        within, since = follows.spec.retire_within, clusters[follows.id].create_time if follows.id in clusters else None
    else:
        within, since = (rests.spec.retire_within, rests.since) if rests is not None else (None, None)
    return now is not None and since is not None and within is not None and now - since > within


def _damaged(catalog: PublishedCatalog | Unknown | None) -> tuple[str, ...]:
    damage = catalog.damage if isinstance(catalog, PublishedCatalog) else ""
    return (f"the published catalog is damaged; pulumi up publishes it anew ({damage})",) if damage else ()

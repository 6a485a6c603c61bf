"""`plan`: which clusters to declare, given what is asked for and what lives.

No edit kills a job and no edit gives machines away: a cluster that must change is made beside the old one, and the old
one is let go when nothing runs on it any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import ClusterSpec, CurrentCluster
from slipway.deployment.workspace_plan import WorkspacePlan, exchanged, plan_workspace
from slipway.fingerprint import LONGEST_ID, cluster_id, fingerprint_of
from slipway.generations.adoption import adopted, obstacles
from slipway.generations.current_generation import as_deployed, current_generation, is_ours, taken_ids, unlike
from slipway.generations.dormant import DormantCluster, awaiting_quota, given_up, out_of_season, undecided
from slipway.generations.old_generations import (
    goes_ahead,
    goes_first,
    not_withdrawable,
    overdue,
    removed,
    successor,
    why_keep,
)
from slipway.generations.protection import Refusal, in_the_way, protected
from slipway.generations.retiring import RetiringCluster, Why
from slipway.labels import NAME_LABEL
from slipway.live import Live, Unknown
from slipway.state import State

Waits = Mapping[str, Mapping[str, str]]
"""By the name of a cluster whose season has begun, what quota is missing for it, in words by metric."""
_NONE: Waits = {}


@dataclass(frozen=True)
class Plan:
    """What to declare. With `problems` nothing may be declared: they are to be shown, and the run stops.

    `waiting`: current clusters still being made; `up` waits for their end and plans again. `deleted`: ids of ours that
    are not declared, so that Pulumi deletes them. `cleared`: failed ones that no catalog lists, which `up` itself
    deletes before it makes their successor. `replaced` (their ids are in `deleted`) it deletes first as well, for their
    successors are made in place of them. So it does with those `ahead` (in `deleted` too): nobody needs them, and what
    is made may take days; there are none where nothing is made. `dormant` are named by the stack file and not declared
    for now. `left`: ids by name of clusters that were adopted and are not offered any more, which live on as they are.
    `workspace` are the accounts and buckets. `notes` are for the person's eyes. `refusals` say what may not be done to
    a cluster: with some, `up` changes nothing.
    """

    current: tuple[CurrentCluster, ...] = ()
    retiring: tuple[RetiringCluster, ...] = ()
    waiting: tuple[PersistentResource, ...] = ()
    deleted: tuple[str, ...] = ()
    cleared: tuple[PersistentResource, ...] = ()
    replaced: tuple[PersistentResource, ...] = ()
    ahead: tuple[PersistentResource, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dormant: tuple[DormantCluster, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    workspace: WorkspacePlan = field(default_factory=WorkspacePlan)

    @property
    def creates(self) -> bool:
        return any(not one.import_ for one in self.current)

    @property
    def first(self) -> frozenset[str]:
        """Ids of what `up` itself deletes before it makes anything, but for what failed; also of what is in use yet, as
        it makes nothing before that has ended."""
        held = (one.then_goes for one in self.refusals if one.then_goes)
        return frozenset((*(one.id for one in (*self.ahead, *self.replaced)), *held))

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
    waits: Waits = _NONE,
) -> Plan:
    """What becomes of each cluster that is asked for or that lives. Pure: the same arguments give the same plan.

    `known` is what the engine knows, `workspace` what is asked for by role: buckets' names and the trainer's address.
    A cluster is ours when its labels say stack, name and hash, and its id is one that these give. Without `now` every
    cluster is in its season and none is late. `waits`: those that are left dormant for want of quota.
    """

    def identify(spec: ClusterSpec) -> str:
        return fingerprint_of(stack, project, region, spec)

    others = [(spec, spec.adopted) for spec in declared if spec.adopted]
    made = [spec for spec in declared if not spec.adopted]
    dormant = [rests for spec in made if (rests := out_of_season(spec, identify(spec), now))]
    wanted = [spec for spec in made if all(spec is not one.spec for one in dormant)]
    if live.skipped:
        return Plan(
            dormant=tuple(dormant),
            current=(
                *(current_generation(spec, identify, {}, {}, None) for spec in wanted),
                *(adopted(spec, adoption, None) for spec, adoption in others),
            ),
            notes=("live clusters, jobs and quota were not read: what is asked for is shown as if nothing existed",),
            workspace=plan_workspace(known or State(), workspace or {}, (), Why.UNREAD),
        )
    if isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown):
        parts = {"clusters": live.clusters, "jobs": live.jobs}
        unread = (f"can't read the {what} from {part}" for what, part in parts.items() if isinstance(part, Unknown))
        return Plan(problems=tuple(unread))

    foreign = {adoption.id for _, adoption in others}
    # Somebody may have made one by hand in another region, of the same request: then that at home is the stack's. What
    # is adopted is in the stack's own region, and another may have a cluster of that id.
    living = sorted(live.clusters, key=lambda one: one.region in ("", region))
    clusters = {one.id: one for one in living if one.id not in foreign or one.region in ("", region)}
    ours = {one.id: one for one in living if is_ours(one, stack)}
    own = [cluster for cluster in live.clusters if cluster.id not in foreign]
    problems = taken_ids(wanted, identify, own, ours, live.catalog)
    bases = [cluster_id(spec.name, identify(option)) for spec in made for option in spec.options]
    kept, place = {one.name for one in known.clusters} if known else set(), f"{region} of {project}"
    for spec, adoption in others:
        problems += obstacles(spec, adoption, clusters, bases, stack=stack, place=place, kept=kept)
    current: list[CurrentCluster] = []
    for spec in wanted:
        one = current_generation(spec, identify, clusters, ours, live.catalog, region)
        if spec.name in waits and not one.import_:
            dormant.append(awaiting_quota(spec, identify(spec), waits[spec.name]))
            continue
        asleep = given_up(one, clusters, live, now)
        if isinstance(asleep, Unknown):
            decides = f"the published catalog, which tells whether {spec.name} was given up,"
            problems.append(f"can't read {decides} from {asleep}")
        elif asleep:
            dormant.append(replace(asleep, spec=spec))  # With its alternatives, also where it was one of them.
        else:
            current.append(one)
    problems += [
        f"{item.id} is longer than {LONGEST_ID} characters; shorten {item.spec.name!r}, or delete spent clusters"
        for one in current
        for item in (one, *one.alternatives)
        if len(item.id) > LONGEST_ID
    ]
    problems += [wrong for one in current if one.import_ and (wrong := unlike(one, clusters[one.id]))]
    jobs = {id_: tuple(job for job in live.jobs if job.persistent_resource_id == id_ and not job.ended) for id_ in ours}

    retiring: list[RetiringCluster] = []
    deleted: list[str] = []
    cleared: list[PersistentResource] = []
    replaced: list[PersistentResource] = []
    ahead: list[PersistentResource] = []
    current += (adopted(spec, adoption, clusters.get(adoption.id)) for spec, adoption in others)
    named = [(spec, "") if spec.adopted else as_deployed(spec, identify, ours, live.catalog) for spec in declared]
    refusals = list(protected(named, ours, live.catalog, stack, (known or State()).protected))
    for cluster in sorted(ours.values(), key=lambda cluster: cluster.id):
        if any(item.id == cluster.id for item in current):
            continue
        follows = successor(cluster, current)
        why = why_keep(cluster, jobs[cluster.id], follows, live.catalog)
        first = goes_first(cluster, follows)
        if isinstance(why, Unknown):
            decides = f"the published catalog, which decides about idle cluster {cluster.id},"
            problems.append(f"can't read {decides} from {why}")
        elif why == Why.UNPUBLISHED and cluster.state == "ERROR" and follows is not None and not follows.import_:
            cleared.append(cluster)
        elif first and why in (None, Why.UNPUBLISHED, Why.DAMAGED):
            replaced.append(cluster)
            deleted.append(cluster.id)
        elif why:
            gone = removed(cluster, declared, live.catalog, now)
            late = overdue(cluster, follows, dormant, clusters, now, gone)
            retiring.append(RetiringCluster(cluster, cluster.labels[NAME_LABEL], jobs[cluster.id], why, late, gone))
            if first and follows is not None and not _retired_before(cluster, live.catalog):
                refusals.append(in_the_way(retiring[-1], follows, stack))
        else:
            deleted.append(cluster.id)
            if goes_ahead(cluster, follows, live.catalog, ours, dormant):
                ahead.append(cluster)
    problems += not_withdrawable(replaced, live.catalog)
    if problems:
        return Plan(problems=tuple(problems))
    unlisted = any(cluster.in_use and not jobs[id_] for id_, cluster in ours.items())
    return Plan(
        current=tuple(current),
        retiring=tuple(retiring),
        waiting=tuple(clusters[item.id] for item in current if item.state == "PROVISIONING"),
        deleted=tuple(deleted),
        cleared=tuple(cleared),
        replaced=tuple(replaced),
        ahead=tuple(ahead) if any(not one.import_ for one in current) else (),
        refusals=(*refusals, *exchanged(known or State(), workspace or {}, stack)),
        notes=(*_damaged(live.catalog), *undecided(current, live)),
        dormant=tuple(dormant),
        left=_left(live.catalog, current),
        workspace=plan_workspace(
            known or State(),
            workspace or {},
            live.jobs,
            Why.IN_USE if unlisted else None,
            live.by_hand,
            None if isinstance(live.buckets, Unknown) else live.buckets,
        ),
    )


def _retired_before(cluster: PersistentResource, catalog: PublishedCatalog | Unknown | None) -> bool:
    """Whether it was another's predecessor already: its machines are not those that are to be replaced."""
    return isinstance(catalog, PublishedCatalog) and cluster.id in catalog.retiring


def _left(catalog: PublishedCatalog | Unknown | None, current: list[CurrentCluster]) -> Mapping[str, str]:
    if not isinstance(catalog, PublishedCatalog):
        return {}
    here = {one.id for one in current}
    return {name: id_ for name, id_ in catalog.clusters.items() if id_ in catalog.adopted - here}


def _damaged(catalog: PublishedCatalog | Unknown | None) -> tuple[str, ...]:
    damage = catalog.damage if isinstance(catalog, PublishedCatalog) else ""
    return (f"the published catalog is damaged; pulumi up publishes it anew ({damage})",) if damage else ()


def former_regions(live: Live, now: Collection[str]) -> tuple[str, ...]:
    """Regions that the catalog has so far and the next one, of the regions `now`, would not have any more."""
    whole = live.catalog.whole if isinstance(live.catalog, PublishedCatalog) else None
    return tuple(one for one in whole.regions_ever if one not in now) if whole else ()


def regions_of_old(plan: Plan, live: Live, known: State | Unknown) -> Iterator[str]:
    """Where clusters are, after this deployment, that are not asked for: those that retire, and those that should go
    and that the engine does not know, as its state was lost. The next deployment finds these there and takes them over.
    """
    yield from (one.cluster.region for one in plan.retiring)
    engine = set() if isinstance(known, Unknown) else {one.name for one in known.clusters}
    for cluster in () if isinstance(live.clusters, Unknown) else live.clusters:
        if cluster.id in plan.deleted and cluster.id not in engine and cluster.state != "STOPPING":
            yield cluster.region

"""`plan`: the clusters to declare, from the declared and the living ones.

No edit kills a job and no edit gives machines away: a cluster that must change is made beside the old one, and the old
one goes when nothing runs on it any more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from slipway.deploying.deployment.actions import by_id, decide, of_current, resting
from slipway.deploying.deployment.workspace_plan import WorkspacePlan, plan_workspace, renamed
from slipway.deploying.generations.action import DELETE, Action, What, Why
from slipway.deploying.generations.adoption import adopted, obstacles
from slipway.deploying.generations.dormant import Dormancy, given_up, out_of_season, undecided
from slipway.deploying.generations.generations import (
    as_deployed,
    current_generation,
    not_withdrawable,
    taken_ids,
    unlike,
)
from slipway.deploying.generations.protection import Refusal, protected, refusal
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live, Unknown
from slipway.model.cluster import ClusterSpec, CurrentCluster
from slipway.model.fingerprint import LONGEST_ID, cluster_id, fingerprint_of
from slipway.model.season import MACHINES
from slipway.model.state import State

Waits = Mapping[str, Mapping[str, str]]
"""Missing quota for each cluster whose season has begun, as text by metric, by the cluster's name."""
_NONE: Waits = {}


@dataclass(frozen=True)
class Plan:
    """Actions, cluster by cluster, in the order of display. With `problems` nothing may be declared: they are shown,
    and the run stops. `workspace` has the accounts and buckets. `notes` are for people. `refusals` name forbidden
    changes: with some, `up` changes nothing."""

    actions: tuple[Action, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    workspace: WorkspacePlan = field(default_factory=WorkspacePlan)

    def of(self, *what: What) -> tuple[Action, ...]:
        return tuple(one for one in self.actions if one.what in what)

    def ids(self, *what: What) -> frozenset[str]:
        return frozenset(one.id for one in self.of(*what))

    @property
    def current(self) -> tuple[CurrentCluster, ...]:
        """The clusters that are declared as in the stack file."""
        return tuple(one.current for one in self.actions if one.current)

    @property
    def dormant(self) -> tuple[Dormancy, ...]:
        """The clusters that the stack file names and that are not declared for now."""
        return tuple(one.dormant for one in self.of(What.REST) if one.dormant)

    @property
    def seasons(self) -> frozenset[str]:
        """The ids of those that are made because their seasons have begun."""
        return frozenset(one.id for one in self.of(What.CREATE) if one.why is Why.SEASON)

    @property
    def retiring(self) -> tuple[Action, ...]:
        return self.of(What.RETIRE)

    @property
    def first(self) -> frozenset[str]:
        """The ids that `up` itself deletes before it makes anything, without failed clusters; also of those still in
        use, as it makes nothing before that has ended."""
        held = (one.id for one in self.of(What.REFUSE) if one.why is not Why.PROTECTED)
        return self.ids(What.DELETE_FIRST) | frozenset(held)

    @property
    def old(self) -> frozenset[str]:
        """The ids of the stack's generations that live and are no longer declared."""
        return self.ids(What.RETIRE, *DELETE)

    def with_clusters(self, current: Iterable[CurrentCluster], dormant: Iterable[Dormancy]) -> Plan:
        """Return the plan with these clusters present, and those dormant."""
        there = {one.id: one for one in current}
        others = (one for one in self.actions if not one.current and one.what is not What.REST)
        old = (one for one in others if one.what is not What.RETIRE or one.id not in there)
        return replace(self, actions=(*map(of_current, there.values()), *map(resting, dormant), *old))


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
    """Decide about each cluster that is declared or that lives. Pure: the same arguments give the same plan.

    `known` is the engine's state of the stack, `workspace` the declared names by role: buckets' names and the trainer's
    address. A cluster is the stack's when its labels name stack, name and hash, and its id follows from these. Without
    `now` every cluster is in its season and none is late. `waits`: those that stay dormant for want of quota.
    """

    def identify(spec: ClusterSpec) -> str:
        return fingerprint_of(stack, project, region, spec)

    others = [(spec, spec.adopted) for spec in declared if spec.adopted]
    made, before, asked = [spec for spec in declared if not spec.adopted], known or State(), workspace or {}
    dormant = [rests for spec in made if (rests := out_of_season(spec, identify(spec), now))]
    wanted = [spec for spec in made if all(spec is not one.spec for one in dormant)]
    if live.skipped:
        unread = (current_generation(spec, identify, {}, {}, None) for spec in wanted)
        theirs = (adopted(spec, adoption, None) for spec, adoption in others)
        return Plan(
            (*map(of_current, (*unread, *theirs)), *map(resting, dormant)),
            refusals=tuple(renamed(before, asked, stack)),
            notes=("live clusters, jobs and quota were not read: what is asked for is shown as if nothing existed",),
            workspace=plan_workspace(before, asked, (), Why.UNREAD),
        )
    if isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown):
        parts = (live.clusters, live.jobs)
        return Plan(problems=tuple(f"can't read what lives: {one}" for one in parts if isinstance(one, Unknown)))

    foreign = {adoption.id for _, adoption in others}
    clusters, ours = by_id(live, foreign, region, stack)
    own = [cluster for cluster in live.clusters if cluster.id not in foreign]
    problems = taken_ids(wanted, identify, own, ours, live.catalog)
    bases = [cluster_id(spec.name, identify(option)) for spec in made for option in spec.options]
    kept, place = {one.name for one in before.clusters}, f"{region} of {project}"
    for spec, adoption in others:
        problems += obstacles(spec, adoption, clusters, bases, stack=stack, place=place, kept=kept)
    current: list[CurrentCluster] = []
    for spec in wanted:
        one = current_generation(spec, identify, clusters, ours, live.catalog, region)
        if spec.name in waits and not one.import_:
            would_be = cluster_id(spec.name, identify(spec))
            dormant.append(Dormancy(spec, would_be, "season", lacks=waits[spec.name]))
            continue
        asleep = given_up(one, clusters, live, now)
        if isinstance(asleep, Unknown):
            problems.append(f"can't read the published catalog, which tells whether {spec.name} was given up: {asleep}")
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
    current += (adopted(spec, adoption, clusters.get(adoption.id)) for spec, adoption in others)
    named = [(spec, "") if spec.adopted else as_deployed(spec, identify, ours, live.catalog) for spec in declared]
    refused = tuple(protected(named, ours, live.catalog, before.protected))
    actions = (*decide(current, dormant, live, stack=stack, region=region, now=now), *refused)
    problems += (
        f"can't read the published catalog, which decides about idle cluster {one.id}: {live.catalog}"
        for one in actions
        if one.why is Why.UNREAD
    )
    problems += not_withdrawable([one.id for one in actions if one.why is Why.IN_PLACE], live.catalog)
    if problems:
        return Plan(problems=tuple(problems))
    damage = live.catalog.damage if isinstance(live.catalog, PublishedCatalog) else ""
    damaged = (f"the published catalog is damaged; pulumi up publishes it anew ({damage})",) if damage else ()
    busy = {job.persistent_resource_id for job in live.jobs if not job.ended}
    unlisted = any(cluster.in_use and id_ not in busy for id_, cluster in ours.items())
    return Plan(
        actions,
        refusals=(
            *(refusal(one, stack) for one in actions if one.what is What.REFUSE),
            *renamed(before, asked, stack),
        ),
        notes=(*damaged, *undecided(current, live)),
        workspace=plan_workspace(
            before,
            asked,
            live.jobs,
            Why.IN_USE if unlisted else None,
            live.by_hand,
            None if isinstance(live.buckets, Unknown) else live.buckets,
        ),
    )


def former_regions(live: Live, now: Collection[str]) -> tuple[str, ...]:
    """Return the regions in the present catalog that the next one, with the regions `now`, would lack."""
    return tuple(one for one in live.deployed.regions_ever if one not in now) if live.deployed else ()


def regions_of_old(plan: Plan, known: State | Unknown) -> Iterator[str]:
    """Yield the regions of clusters that are not declared after this deployment: of those that retire, and of those
    that should go and that the engine does not know, as its state was lost. The next deployment finds these there and
    takes them over."""
    engine = set() if isinstance(known, Unknown) else {one.name for one in known.clusters}
    for one in plan.of(What.RETIRE, *DELETE):
        if one.living and (one.what is What.RETIRE or (one.id not in engine and one.living.state != "STOPPING")):
            yield one.living.region


def as_made(plan: Plan, made: Mapping[str, str], *, last: bool = False) -> Plan:
    """Return the plan once its clusters run: `made` are their ids, by the first ids. At `last` a season's cluster that
    does not run is dormant, for want of machines."""

    def settled(one: CurrentCluster) -> CurrentCluster:
        other = next((other for other in one.alternatives if made.get(one.id) == other.id), None)
        return replace(other, import_=True, state="RUNNING") if other else one

    missing = [one for one in plan.current if last and one.id in plan.seasons and one.id not in made]
    waits = (Dormancy(one.spec, one.id, "season", lacks={MACHINES: ""}) for one in missing)
    return plan.with_clusters((settled(one) for one in plan.current if one not in missing), (*plan.dormant, *waits))


def chosen(declared: Iterable[ClusterSpec], plan: Plan) -> tuple[ClusterSpec, ...]:
    """Return the declared clusters as they are, or are to be made, and the other existing ones."""
    now = {one.spec.name: one.spec for one in plan.current}
    return (*(now.pop(spec.name, spec) for spec in declared), *now.values())


def absent(declared: Iterable[ClusterSpec], there: Iterable[ClusterSpec]) -> tuple[ClusterSpec, ...]:
    """Return the configurations that the clusters do not have."""
    now = {one.name: (one.pools, one.region) for one in there}
    return tuple(
        option for spec in declared for option in spec.options if (option.pools, option.region) != now[spec.name]
    )

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
from slipway.google.live import Live, Unknown
from slipway.model.cluster import ClusterSpec, CurrentCluster
from slipway.model.fingerprint import LONGEST_ID, cluster_id, fingerprint_of
from slipway.model.origin import Origin
from slipway.model.season import MACHINES
from slipway.model.state import State

Waits = Mapping[str, Mapping[str, str]]
"""Missing quota for each cluster whose season has begun, as text by metric, by the cluster's name."""
_NONE: Waits = {}


@dataclass(frozen=True)
class Plan:
    """The decisions of a deployment, before anything is declared."""

    #: The steps, cluster by cluster, in the order of display.
    actions: tuple[Action, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    #: The reasons why nothing can be decided: with some, nothing is declared, and the run stops.
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    workspace: WorkspacePlan = field(default_factory=WorkspacePlan)

    def of(self, *what: What) -> tuple[Action, ...]:
        return tuple(action for action in self.actions if action.what in what)

    def ids(self, *what: What) -> frozenset[str]:
        return frozenset(action.id for action in self.of(*what))

    @property
    def current(self) -> tuple[CurrentCluster, ...]:
        """The clusters that are declared as in the stack file."""
        return tuple(action.current for action in self.actions if action.current)

    @property
    def dormant(self) -> tuple[Dormancy, ...]:
        """The clusters that the stack file names and that are not declared for now."""
        return tuple(action.dormant for action in self.of(What.REST) if action.dormant)

    @property
    def seasons(self) -> frozenset[str]:
        """The ids of those that are made because their seasons have begun."""
        return frozenset(action.id for action in self.of(What.CREATE) if action.why is Why.SEASON)

    @property
    def retiring(self) -> tuple[Action, ...]:
        return self.of(What.RETIRE)

    @property
    def declared(self) -> Mapping[str, str]:
        """The clusters that the deployment declares, by id, with its effect on each."""
        draining = {action.id: "keeps it until its last job has ended" for action in self.retiring}
        return {**draining, **{cluster.id: "offers it" for cluster in self.current if not cluster.spec.adopted}}

    @property
    def deleted_by_program(self) -> frozenset[str]:
        """The ids that `up` itself deletes before it makes anything, without failed clusters; also of those still in
        use, as it makes nothing before that has ended."""
        held = (action.id for action in self.of(What.REFUSE) if action.why is not Why.PROTECTED)
        return self.ids(What.DELETE_FIRST) | frozenset(held)

    @property
    def superseded_ids(self) -> frozenset[str]:
        """The ids of the stack's generations that live and are no longer declared."""
        return self.ids(What.RETIRE, *DELETE)

    def with_clusters(self, current: Iterable[CurrentCluster], dormant: Iterable[Dormancy]) -> Plan:
        present = {cluster.id: cluster for cluster in current}
        others = (cluster for cluster in self.actions if not cluster.current and cluster.what is not What.REST)
        old = (action for action in others if action.what is not What.RETIRE or action.id not in present)
        return replace(self, actions=(*map(of_current, present.values()), *map(resting, dormant), *old))


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
    origin: Origin | None = None,
) -> Plan:
    """Decide about each cluster that is declared or that lives. Pure: the same arguments give the same plan.

    `known` is the engine's state of the stack, `workspace` the declared names by role: buckets' names and the trainer's
    address. A cluster is the stack's when its labels name stack, name and hash, and its id follows from these. Without
    `now` every cluster is in its season and none is late. `waits`: those that stay dormant for want of quota.
    `origin`: the stack file by default.
    """

    origin = origin or Origin(stack)

    def identify(spec: ClusterSpec) -> str:
        return fingerprint_of(stack, project, region, spec)

    adoptions = [(spec, spec.adopted) for spec in declared if spec.adopted]
    made = [spec for spec in declared if not spec.adopted]
    before, asked = known or State(), workspace or {}
    dormant = [rests for spec in made if (rests := out_of_season(spec, identify(spec), now))]
    wanted = [spec for spec in made if all(spec is not dormancy.spec for dormancy in dormant)]
    if live.skipped:
        unread = (current_generation(spec, identify, {}, {}, None) for spec in wanted)
        theirs = (adopted(spec, adoption, None) for spec, adoption in adoptions)
        return Plan(
            (*map(of_current, (*unread, *theirs)), *map(resting, dormant)),
            refusals=tuple(renamed(before, asked, origin)),
            notes=("live clusters, jobs and quota were not read: what is asked for is shown as if nothing existed",),
            workspace=plan_workspace(before, asked, (), Why.UNREAD),
        )
    if isinstance(live.clusters, Unknown) or isinstance(live.jobs, Unknown):
        parts = (live.clusters, live.jobs)
        return Plan(problems=tuple(f"can't read what lives: {part}" for part in parts if isinstance(part, Unknown)))

    foreign = {adoption.id for _, adoption in adoptions}
    clusters, ours = by_id(live, foreign, region, stack)
    own = [cluster for cluster in live.clusters if cluster.id not in foreign]
    problems = taken_ids(wanted, identify, own, ours, live.catalog)
    bases = [cluster_id(spec.name, identify(option)) for spec in made for option in spec.options]
    kept, place = {cluster.name for cluster in before.clusters}, f"{region} of {project}"
    for spec, adoption in adoptions:
        problems += obstacles(spec, adoption, clusters, bases, stack=stack, place=place, kept=kept, origin=origin)
    current: list[CurrentCluster] = []
    for spec in wanted:
        generation = current_generation(spec, identify, clusters, ours, live.catalog, region)
        if spec.name in waits and not generation.import_:
            would_be = cluster_id(spec.name, identify(spec))
            dormant.append(Dormancy(spec, would_be, "season", lacks=waits[spec.name]))
            continue
        asleep = given_up(generation, clusters, live, now)
        if isinstance(asleep, Unknown):
            problems.append(f"can't read the published catalog, which tells whether {spec.name} was given up: {asleep}")
        elif asleep:
            dormant.append(replace(asleep, spec=spec))  # With its alternatives, also where it was one of them.
        else:
            current.append(generation)
    problems += [
        f"{option.id} is longer than {LONGEST_ID} characters; shorten {option.spec.name!r}, or delete spent clusters"
        for cluster in current
        for option in (cluster, *cluster.alternatives)
        if len(option.id) > LONGEST_ID
    ]
    problems += [wrong for cluster in current if cluster.import_ and (wrong := unlike(cluster, clusters[cluster.id]))]
    current += (adopted(spec, adoption, clusters.get(adoption.id)) for spec, adoption in adoptions)
    named = [(spec, "") if spec.adopted else as_deployed(spec, identify, ours, live.catalog) for spec in declared]
    refused = tuple(protected(named, ours, live.deployed, before.protected))
    actions = (*decide(current, dormant, live, stack=stack, region=region, now=now), *refused)
    problems += (
        f"can't read the published catalog, which decides about idle cluster {action.id}: {live.catalog}"
        for action in actions
        if action.why is Why.UNREAD
    )
    problems += not_withdrawable([action.id for action in actions if action.why is Why.IN_PLACE], live.catalog)
    if problems:
        return Plan(problems=tuple(problems))
    doubts: tuple[str, ...] = ()
    if isinstance(live.catalog, Unknown):
        doubts = (f"the published catalog can't be read, so all is told as if it were new: {live.catalog}",)
    elif live.catalog and live.catalog.damage:
        doubts = (f"the published catalog is damaged; a deployment publishes it anew ({live.catalog.damage})",)
    busy = {job.persistent_resource_id for job in live.jobs if not job.ended}
    unlisted = any(cluster.in_use and id_ not in busy for id_, cluster in ours.items())
    return Plan(
        actions,
        refusals=(
            *(refusal(action, origin) for action in actions if action.what is What.REFUSE),
            *renamed(before, asked, origin),
        ),
        notes=(*doubts, *undecided(current, live)),
        workspace=plan_workspace(
            before,
            asked,
            live.jobs,
            doubt=Why.IN_USE if unlisted else None,
            by_hand=live.by_hand,
            there=None if isinstance(live.buckets, Unknown) else live.buckets,
        ),
    )


def former_regions(live: Live, now: Collection[str]) -> tuple[str, ...]:
    """Return the regions in the present catalog that the next one, with the regions `now`, would lack."""
    return tuple(region for region in live.deployed.regions_ever if region not in now) if live.deployed else ()


def regions_of_old(plan: Plan, known: State | Unknown) -> Iterator[str]:
    """Yield the regions of clusters that are not declared after this deployment: of those that retire, and of those
    that should go and that the engine does not know, as its state was lost. The next deployment finds these there and
    takes them over."""
    engine = set() if isinstance(known, Unknown) else {cluster.name for cluster in known.clusters}
    for action in plan.of(What.RETIRE, *DELETE):
        if action.living and (
            action.what is What.RETIRE or (action.id not in engine and action.living.state != "STOPPING")
        ):
            yield action.living.region


def as_made(plan: Plan, made: Mapping[str, str], *, last: bool = False) -> Plan:
    """Return the plan once its clusters run: `made` are their ids, by the first ids. At `last` a season's cluster that
    does not run is dormant, for want of machines."""

    def settled(cluster: CurrentCluster) -> CurrentCluster:
        for alternative in cluster.alternatives:
            if made.get(cluster.id) == alternative.id:
                return replace(alternative, import_=True, state="RUNNING")
        return cluster

    missing = [cluster for cluster in plan.current if last and cluster.id in plan.seasons and cluster.id not in made]
    waits = (Dormancy(cluster.spec, cluster.id, "season", lacks={MACHINES: ""}) for cluster in missing)
    return plan.with_clusters(
        (settled(cluster) for cluster in plan.current if cluster not in missing), (*plan.dormant, *waits)
    )


def chosen(declared: Iterable[ClusterSpec], plan: Plan) -> tuple[ClusterSpec, ...]:
    """Return the declared clusters as they are, or are to be made, and the other existing ones."""
    now = {cluster.spec.name: cluster.spec for cluster in plan.current}
    return (*(now.pop(spec.name, spec) for spec in declared), *now.values())


def absent(declared: Iterable[ClusterSpec], there: Iterable[ClusterSpec]) -> tuple[ClusterSpec, ...]:
    """Return the configurations that the clusters do not have."""
    now = {cluster.name: (cluster.pools, cluster.region) for cluster in there}
    return tuple(
        option for spec in declared for option in spec.options if (option.pools, option.region) != now[spec.name]
    )

"""The proof that a template can run where it says: exact machine and disk per worker pool, replicas within bounds.

Vertex AI accepts a job on a persistent resource only when each worker pool equals a resource pool field by field
(vertex-rules 2). Here that is known before anything is deployed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from slipway.authoring.stack.config import TeamEntry
from slipway.authoring.stack.stack import machines
from slipway.authoring.template.case import Case, cases
from slipway.authoring.template.declaration import file_of
from slipway.authoring.template.job_template import JobTemplate, StackTemplate
from slipway.authoring.template.pool_matching import PoolMismatch, WorkerPoolDemand, fitting_pools, mismatches
from slipway.authoring.template.template_error import TemplateError
from slipway.authoring.template.worker_pool import ANY_RESERVATION, TaskPool
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import join
from slipway.model.capacity import POOL, RESERVATION
from slipway.model.cluster import ClusterSpec, PoolSpec, Reservation
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.machines.table import lacks
from slipway.model.origin import Origin
from slipway.model.rules.reservations import misfits_of, undeclared, zone
from slipway.model.season import ALWAYS


@dataclass(frozen=True)
class Placement:
    """A place where a template can run: by one capacity type, as one kind, in one case of its parameters."""

    capacity_type: str
    cluster: ClusterSpec | None = None
    #: On a cluster, the resource pools of the template's worker pools, in their order.
    pools: tuple[PoolSpec, ...] = ()
    kind: str = CUSTOM_JOB.name
    case: Case = field(default_factory=Case)
    #: The reason why it can't run there in this stack, whatever the quota; empty when it can.
    refusal: str = ""
    #: Shape, case and kind as text, where the template has several.
    qualifier: str = ""
    #: The reason why its cluster does not exist for now; empty where it does.
    dormant: str = ""

    @property
    def label(self) -> str:
        """The text that tells it from the template's other placements."""
        where = self.cluster.name if self.cluster and self.dormant else ""
        return " ".join(word for word in (self.capacity_type, where, self.qualifier) if word)


class NoPoolError(TemplateError):
    """A template that fits no pool. `of_team`: the team, with the key of its machine, that does not fit; else None.
    `lack`: the reason as it is told of several templates."""

    def __init__(
        self, template: str, where: str, *, why: str, fix: str, of_team: tuple[str, str] | None = None, lack: str = ""
    ) -> None:
        super().__init__(template, ("fits", "fit"), f"no pool{where}", why=why, fix=fix)
        self.of_team = of_team
        self.lack = lack or why


_FILE = Origin("")


@dataclass(frozen=True)
class StackResources:
    """The places of a stack's jobs."""

    clusters: tuple[ClusterSpec, ...]
    region: str = ""
    #: The reservations, by the names that templates use.
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    #: The configurations that the clusters do not have for now; None for all their alternatives.
    absent: tuple[ClusterSpec, ...] | None = None
    teams: Mapping[str, TeamEntry] = field(default_factory=dict)
    #: By template, the names of the clusters that it may run on; all of them for others.
    offered_on: Mapping[str, frozenset[str]] = field(default_factory=dict)
    origin: Origin = _FILE

    def for_team(self, team: str) -> StackResources:
        """Return the resources without the clusters that take other teams' jobs alone; all of them for no team."""
        listed = {name for its in self.teams.values() for name in its.clusters}
        shut = listed.difference(self.teams[team].clusters) if team else ()
        return self._with(lambda name: name not in shut)

    def for_template(self, template: str) -> StackResources:
        """Return the resources that a template may use."""
        some = self.offered_on.get(template)
        return self if some is None else self._with(lambda name: name in some)

    def _with(self, may: Callable[[str], bool]) -> StackResources:
        def open_to(clusters: tuple[ClusterSpec, ...]) -> tuple[ClusterSpec, ...]:
            return tuple(cluster for cluster in clusters if may(cluster.name))

        return replace(self, clusters=open_to(self.clusters), absent=self.absent and open_to(self.absent))


def place_all(
    templates: Iterable[JobTemplate], here: StackResources
) -> tuple[Mapping[str, tuple[Placement, ...]], tuple[ConfigError, ...]]:
    """Return the placements of each template by its name, by `place`, and the errors of those that fit nowhere."""
    placed = {template.name: place(template, here) for template in templates}
    errors = tuple(error for _, error in placed.values() if error)
    return {name: placements for name, (placements, _) in placed.items()}, errors


def refuse(errors: Sequence[SlipwayError]) -> None:
    """Raise the errors of templates, and of what else can't be deployed, as one. What several templates have in common
    is told once."""
    if len(errors) == 1:
        raise errors[0]
    alike: dict[str, dict[str, list[SlipwayError]]] = {}
    for error in errors:
        lack = error.lack if isinstance(error, NoPoolError) else error.why
        alike.setdefault(_does(error), {}).setdefault(lack, []).append(error)
    if errors:
        noun = "templates" if all(isinstance(error, ConfigError) for error in errors) else "the stack and its templates"
        if all(isinstance(error, TemplateError) for error in errors):
            noun = _templates(errors)
        every = [some for by_reason in alike.values() for some in by_reason.values()]
        raise ConfigError(
            f"{noun} can't be deployed" if len(alike) > 1 else _what(errors),
            why="\n".join(f"{_whose(some, alike)}{_why(some)}" for some in every),
            fix="\n".join(dict.fromkeys(_fix(error, some) for some in every for error in some)),
        )


def _does(error: SlipwayError) -> str:
    """Return what is wrong, by which several are told together."""
    return error.of_several if isinstance(error, TemplateError) else error.what


def _templates(errors: Iterable[SlipwayError]) -> str:
    """Return `templates lora and digits`."""
    names = list(dict.fromkeys(error.template for error in errors if isinstance(error, TemplateError)))
    return f"template{'s' * (len(names) > 1)} {join(names)}"


def _what(alike: Sequence[SlipwayError]) -> str:
    """Return `templates lora and digits fit no pool`."""
    first, *others = alike
    return f"{_templates(alike)} {_does(first)}" if others and isinstance(first, TemplateError) else first.what


def _whose(some: Sequence[SlipwayError], alike: Mapping[str, Mapping[str, object]]) -> str:
    """Return what a reason is of, where there are others."""
    if len(alike) > 1 or not isinstance(some[0], TemplateError):
        return f"{_what(some)}: "
    return f"{_templates(some)}: " if len(alike[_does(some[0])]) > 1 else ""


def _why(alike: Sequence[SlipwayError]) -> str:
    return alike[0].lack if isinstance(alike[0], NoPoolError) and alike[1:] else alike[0].why


def _fix(error: SlipwayError, alike: Sequence[SlipwayError]) -> str:
    if isinstance(error, TemplateError) and alike[1:]:
        return error.fix.replace(f"templates/{file_of(error.template)}", "them")
    return error.fix


def prove(template: JobTemplate, here: StackResources) -> tuple[Placement, ...]:
    """Return where the template can run. Raises the ConfigError of `place`."""
    placements, error = place(template, here)
    if error:
        raise error
    return placements


def place(template: JobTemplate, here: StackResources) -> tuple[tuple[Placement, ...], ConfigError | None]:
    """Return where the template can run, in its order of preference; on every cluster that fits, in the stack's order.

    The result covers every kind and every case of its parameters, the first kind first. A template that fits only a
    configuration that a cluster does not have for now is dormant there.

    The error has the fields side by side when it asks for a pool and fits none in any case, and the same for each team
    on its own machines, which has the clusters that it may use.
    """
    here = here.for_template(template.name)
    placed: list[Placement] = []
    refused: dict[str, list[tuple[PoolMismatch, ...]]] = {}
    for kind in template.kinds:
        for case in cases(template):
            for capacity_type in case.capacity_types(template):
                placements, unfit = _placements(template, kind, case, capacity_type, here.for_team(case.team))
                placed += placements
                refused.setdefault(case.team, []).extend(unfit)
    for team, mismatched in refused.items():
        on_pools = [each for each in placed if each.capacity_type == POOL and each.case.team == team]
        if on_pools and all(placement.refusal for placement in on_pools):
            closed = _closed_to(template, team, here) if team else None
            return tuple(placed), closed or _no_pool(template, team, mismatched, here.for_team(team))
    return tuple(placed), None


def _placements(
    template: JobTemplate, kind: str, case: Case, capacity_type: str, here: StackResources
) -> tuple[list[Placement], list[tuple[PoolMismatch, ...]]]:
    qualifier = " ".join(
        word
        for word in (
            f"on {case.shape_name}" if case.shape else "",
            f"({case})" if case.when else "",
            f"as {kind}" if kind != template.kind else "",
        )
        if word
    )
    plain = Placement(capacity_type, kind=kind, case=case, qualifier=qualifier)
    if case.variant is not None and case.variant.refusal:
        return [replace(plain, refusal=case.variant.refusal)], []
    if capacity_type != POOL:
        why = next(_refusals(template, case, capacity_type, here), "")
        return [replace(plain, refusal=why)], []
    asked = _demands(template, kind, case)
    fitting = [(cluster, fitting_pools(asked, cluster)) for cluster in here.clusters]
    placements = [replace(plain, cluster=cluster, pools=pools) for cluster, pools in fitting if pools is not None]
    if placements:
        return placements, []
    alternatives = (option for cluster in here.clusters for option in cluster.options[1:])
    for option in alternatives if here.absent is None else here.absent:
        pools = fitting_pools(asked, option)
        if pools is not None:
            why = f"fits cluster {option.name} only {option.called}, which it is not for now"
            return [replace(plain, cluster=option, pools=pools, dormant=why)], []
    refused = [mismatches(asked, cluster) for cluster in here.clusters]
    why = "; ".join(map(str, _nearest(refused, here))) if refused else "the stack has no cluster"
    return [replace(plain, refusal=f"fits no pool of {here.origin.whole('this')}: {why}")], refused


def _demands(template: JobTemplate, kind: str, case: Case) -> tuple[WorkerPoolDemand, ...]:
    """Return demands with the machines of all concurrent trials, at the usual numbers."""
    trials, demands = template.trials_at_once(kind), []
    for worker in case.worker_pools(template):
        # Tasks of a pipeline wait for a cluster's machines one by one: one does for all, whatever they need.
        machines = 0 if isinstance(worker, TaskPool) else template.usual_replicas(worker) * trials
        demands.append(WorkerPoolDemand(template, worker, machines))
    return tuple(demands)


def _refusals(template: JobTemplate, case: Case, capacity_type: str, here: StackResources) -> Iterator[str]:
    for worker in case.worker_pools(template):
        shape = worker.shape
        if lacking := lacks(here.region, shape.accelerator):
            yield "; ".join(lacking)
        if capacity_type == RESERVATION and worker.reservation == ANY_RESERVATION:
            asked = template.usual_replicas(worker)
            if why := undeclared(here.reservations.values(), here.region, worker.spec, shape, asked):
                yield why
        elif capacity_type == RESERVATION and worker.reservation:
            known = here.reservations.get(worker.reservation)
            if known is None and zone(worker.reservation) is None:
                yield f"the stack declares no reservation {worker.reservation!r}"
            elif known is not None:
                yield from misfits_of(known, here.region, shape, template.usual_replicas(worker))


def _nearest(
    refused: list[tuple[PoolMismatch, ...]], here: StackResources, own: Sequence[str] = ()
) -> tuple[PoolMismatch, ...]:
    """Return the mismatches of the nearest cluster. Of equally near ones a team's `own` come first, then those that are
    there all the time, then those whose machines are alike; then they are ordered by name: a stack file keeps its
    order, Pulumi's configuration does not, and `slipway check` and preview agree."""
    lasting = {cluster.name for cluster in here.clusters if cluster.season == ALWAYS}
    return min(
        refused,
        key=lambda mismatches: (
            len(mismatches),
            sum(mismatch.differences for mismatch in mismatches),
            mismatches[0].nearest.partition("/")[0] not in own,
            mismatches[0].nearest.partition("/")[0] not in lasting,
            sum(mismatch.distance for mismatch in mismatches),
            [mismatch.nearest for mismatch in mismatches],
        ),
    )


def _no_pool(
    template: JobTemplate, team: str, refused: list[tuple[PoolMismatch, ...]], here: StackResources
) -> ConfigError:
    file = f"templates/{file_of(template.name)}"
    if not refused:
        clusters = here.origin.key("slipway:persistentResources")
        return NoPoolError(
            template.name,
            f": the stack has no cluster{f' for team {team}' if team else ''}",
            why="its capacity type 'pool' needs one",
            fix=f"declare one ({clusters}), or take 'pool' out of capacity_types in {file}",
        )
    nearest = _nearest(refused, here, here.teams[team].clusters if team else ())
    cluster = next(cluster for cluster in here.clusters if cluster.name == nearest[0].nearest.partition("/")[0])
    unlike = [each for mismatch in nearest for each in mismatch.fields if not each[-1]]
    fields, pools = (
        join(dict.fromkeys(some)) for some in ((each[0] for each in unlike), (of.nearest for of in nearest))
    )
    # A key's machine, and its disk, hold over what the file says.
    keys = template.keys if isinstance(template, StackTemplate) else {}
    keyed_by = dict.fromkeys(keys[mismatch.role] for mismatch in nearest if mismatch.role in keys)
    asking = join(here.origin.key(f"slipway:machines.{key}") for key in keyed_by) or file
    fix = f"let {asking} ask for what a pool has, or declare a pool that has all it asks for"
    if all(has == "none" for *_, has, _ in unlike):
        fix = f"take the {fields}, and what needs it, out of {asking}, or declare a pool that has all it asks for"
    if fields == "replicas":
        fix = f"let {file} ask for fewer machines{'' if cluster.adopted else f', or give {pools} more'}"
    # A pool that another worker pool takes can't have this one's machines as well.
    if "machine" in fields and len(cluster.pools) <= len(template.worker_pools) - len(nearest):
        fix = f"add a pool for {join(mismatch.role for mismatch in nearest)} to cluster {cluster.name}"
    if template.pipeline:
        fix = "let the pipeline's tasks ask for less, or declare a pool that has what they need"
    # That it takes no job of a template is a difference of each worker pool: if there is no other, this is the mend.
    if cluster.closed and all(mismatch.differences == 1 for mismatch in nearest):
        _, fix = cluster.closed
    if team:
        keyed_machines = here.origin.key(f"slipway:teams.{team}.machines")
        fix = f"name a machine of such a pool under {keyed_machines}, or declare a pool like it"
    theirs = template.teams[team].all_pools if team and isinstance(template, StackTemplate) else ()
    asked = {pool.machine for pool in theirs if pool.role in {mismatch.role for mismatch in nearest}}
    keyed = machines(here.teams[team].machines) if team else {}
    others = template.teams if isinstance(template, StackTemplate) else {}
    fitting = [name for name in others if _fits(template, name, here.for_team(name))]
    outside = f" outside team {join(fitting)}" if fitting else ""
    own = [key for key, entry in keyed.items() if entry.machine in asked]
    return NoPoolError(
        template.name,
        f" of {here.origin.whole('this')}{f' on the machines of team {team}' if team else outside}",
        why="\n".join(_needs(nearest)),
        fix=fix,
        of_team=(team, own[0]) if own else None,
        lack="\n".join(dict.fromkeys(f"each needs {mismatch.lack}" for mismatch in nearest)),
    )


def _fits(template: JobTemplate, team: str, here: StackResources) -> bool:
    """Tell whether a template fits a cluster on a team's own machines."""
    every = ((asked, cluster) for asked in _demands_of(template, team) for cluster in here.clusters)
    return any(fitting_pools(*each) for each in every)


def _demands_of(template: JobTemplate, team: str) -> list[tuple[WorkerPoolDemand, ...]]:
    its = [case for case in cases(template) if case.team == team]
    return [_demands(template, kind, case) for kind in template.kinds for case in its]


def _needs(nearest: Sequence[PoolMismatch]) -> Iterator[str]:
    """Yield the reasons, those of several worker pools once."""
    alike: dict[str, list[PoolMismatch]] = {}
    for mismatch in nearest:
        alike.setdefault(mismatch.lack, []).append(mismatch)
    for lack, (first, *others) in alike.items():
        roles = join(mismatch.role for mismatch in (first, *others))
        yield f"{first.noun}s {roles} need {lack}" if others else str(first)


def _closed_to(template: JobTemplate, team: str, here: StackResources) -> ConfigError | None:
    """Return the error of a template that fits other teams' clusters alone on a team's own machines; None where it fits
    none."""
    for cluster in here.clusters:
        owners = [name for name, its in here.teams.items() if cluster.name in its.clusters]
        pools = next(filter(None, (fitting_pools(asked, cluster) for asked in _demands_of(template, team))), ())
        if owners and team not in owners and pools:
            listed = [here.origin.key(f"slipway:teams.{name}.clusters") for name in (team, *owners)]
            return NoPoolError(
                template.name,
                f" that team {team} may use",
                why=f"the pool that fits, {cluster.name}/{pools[0].name}, takes jobs of team {join(owners)} alone",
                fix=f"list {cluster.name} under {listed[0]} too, or leave it out of {join(listed[1:])}",
            )
    return None


def misfits(templates: Iterable[JobTemplate], cluster: ClusterSpec) -> Mapping[int, Mapping[str, str]]:
    """Return, by alternative (0 is the first configuration), the templates that fit another alternative and not this
    one, each with the reason. Templates that fit none are no matter of alternatives."""
    if not cluster.alternatives:
        return {}
    by_alternative: dict[int, dict[str, str]] = {}
    # Jobs of a case may take any of its shapes.
    shapes: dict[tuple[str, str, str], list[tuple[WorkerPoolDemand, ...]]] = {}
    every = ((template, kind, case) for template in templates for kind in template.kinds for case in cases(template))
    for template, kind, case in every:
        if POOL in case.capacity_types(template) and not (case.variant and case.variant.refusal):
            shapes.setdefault((template.name, kind, str(case)), []).append(tuple(_demands(template, kind, case)))
    for (name, _, values), asked in shapes.items():
        unfit = [option for option in cluster.options if all(fitting_pools(one, option) is None for one in asked)]
        for option in unfit if len(unfit) < len(cluster.options) else ():
            why = (f"({values}) " if values else "") + "; ".join(map(str, mismatches(asked[0], option)))
            by_alternative.setdefault(option.alternative, {}).setdefault(name, why)
    return by_alternative

"""The play of a case through the decisions of a real preview, without the engine: from the files to the review."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

from slipway.answers.comparison import Comparison
from slipway.answers.comparison import World as Asked
from slipway.base.errors import ResourceError, SlipwayError
from slipway.deploying.deployment.deployment import Deployment, Packages, ProvenStack, plan_deployment
from slipway.deploying.deployment.live_plan import as_it_stays, asked_for, refuse
from slipway.deploying.deployment.plan import Plan, as_made, plan
from slipway.deploying.deployment.workspace_plan import CATALOG, TRAINER, WORK, other_logical
from slipway.deploying.engine.preview import REFUSED, Preview
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, QuotaLimit, Unknown
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.labels import Revision
from slipway.model.state import BUCKETS_ELSEWHERE, State, StateResource
from slipway.model.state_refusals import refuse_move
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.files import Files, Sides, is_code
from slipway.reviewing.change.reading import as_declared
from slipway.reviewing.review import Review
from slipway.reviewing.reviewer import review
from tests.review.case import Case, Edit, World
from tests.review.checkout import BASE, proven, text
from tests.review.world import METRIC, NOW, alive, limits, live, since_then, submitted, theirs
from tests.slipway.reviewing.recordings import recorded

OLD, NEW = Revision("3f9c2e1", dirty=False), Revision("81c0ff3", dirty=False)
_CODE = tuple(sorted(file.relative_to(BASE).as_posix() for file in BASE.rglob("*.py")))
_NOTHING = Live(clusters=(), jobs=(), limits={}, catalog=None)
_AS_ASKED: Mapping[str, int] = {}
_UNREAD = Unknown("denied", "aiplatform.googleapis.com", "roles/aiplatform.viewer")
Built = tuple[ProvenStack, Packages]


@dataclass(frozen=True)
class _Deployed:
    """The live resources, the engine's knowledge of them, and the declaration."""

    live: Live
    known: State
    facts: Facts
    ended: tuple[VertexJob, ...]


def play(case: Case) -> Review:
    return review(change_of(case))


def catalogs(case: Case) -> tuple[Catalog, Catalog]:
    """Return the catalogs by which people submit before a change that is not refused, and after it."""
    sides = _deployed(case.given, case.world).facts, _declared(case.given, case.edits, case.world)[0]
    assert sides[1]
    return sides[0].with_submitters, sides[1].with_submitters


def change_of(case: Case) -> Change:
    if case.recorded:
        return recorded(case.recorded, files=_files(case))
    deployed = _read(case.given, case.edits, case.world)
    after, failed = _declared(case.given, case.edits, case.world)
    there = replace(deployed.live, recent=deployed.ended)
    steps = case.steps(deployed.facts.catalog) if case.steps else None
    preview = case.preview if steps is None else Preview(tuple(steps))
    if case.world.unread:
        there = replace(there, clusters=_UNREAD, jobs=_UNREAD)
    before = None if case.world.first else deployed.facts
    comparison = Comparison.between("prod", before, after, Asked(there, NOW, case.policies), preview=failed or preview)
    return Change(comparison, _files(case))


def _files(case: Case) -> Files:
    every = (*case.given, *case.edits)
    edited = frozenset(edit.file for edit in case.edits)
    code = {file: text(file, every) for file in (*_CODE, *(edit.file for edit in every)) if is_code(file)}
    return Files(
        touched=edited | frozenset(case.files),
        removed=frozenset(edit.file for edit in case.edits if edit.new is None),
        texts={file: Sides(text(file, case.given), text(file, every)) for file in edited},
        code={file: content for file, content in code.items() if content},
    )


@cache
def _deployed(given: tuple[Edit, ...], world: World) -> _Deployed:
    """Return the base as it was deployed into a world, by which its jobs were submitted."""
    built, others = _built(given), theirs(world)
    first = _first(given, world)
    before = _first((*given, *world.earlier), world) if world.earlier else None
    jobs = [submitted(job, (before if job.earlier and before else first).catalog) for job in world.jobs]
    # Earlier jobs on that generation still run, and the catalog lists it.
    clusters = {
        cluster.id: cluster
        for each in (before, first)
        if each
        for cluster in alive(each.plan, each.catalog, jobs)
        if each is first or any(job.persistent_resource_id == cluster.id for job in jobs)
    }
    limited = limits(built[0].metrics, built[0].stack.region, world)
    there = live((*clusters.values(), *others), jobs, (before or first).catalog, limited)
    known = _state(first, clusters)
    there = replace(there, limits_elsewhere=_elsewhere(built, world))
    deployment = _deployment(built, there, known, OLD, since=world.deployed)
    if world.first:
        return _Deployed(_NOTHING, State(), _as_told(deployment), ())
    since = since_then(clusters.values(), first.catalog, world)
    there = live((*since, *others), jobs, deployment.catalog, limited)
    ended = tuple(job for job in jobs if job.ended)
    return _Deployed(there, known, _as_told(deployment), ended)


@cache
def _first(edits: tuple[Edit, ...], world: World) -> Deployment:
    """Return the first deployment, without any before it."""
    nothing = replace(_NOTHING, clusters=tuple(theirs(world)))
    return _deployment(_built(edits), nothing, State(), OLD, since=world.deployed, made_as=world.made_as)


def _read(given: tuple[Edit, ...], edits: tuple[Edit, ...], world: World) -> _Deployed:
    """Return the live resources, with the limits of the edited program's metrics, too."""
    deployed, sides = _deployed(given, world), (proven(given), proven((*given, *edits)))
    metrics = {metric for side in sides if not isinstance(side, SlipwayError) for metric in side[0].metrics}
    assert {f"{METRIC}{name}" for name in (*world.limits, *world.increase)} <= metrics, sorted(metrics)
    read = limits(metrics, _built(given)[0].stack.region, world)
    away = [_elsewhere(side, world) for side in sides if not isinstance(side, SlipwayError)]
    there = {pool: limits(metrics, pool, world) for cluster in away for pool in cluster}
    return replace(deployed, live=replace(deployed.live, limits=read, limits_elsewhere=there))


def _elsewhere(built: Built, world: World) -> Mapping[str, Mapping[str, QuotaLimit]]:
    """Return the limits of the other regions where the stack's clusters may come to be."""
    return {region: limits(built[0].metrics, region, world) for region in built[0].stack.other_regions}


@cache
def _declared(given: tuple[Edit, ...], edits: tuple[Edit, ...], world: World) -> tuple[Facts | None, Preview | None]:
    """Return the program's declaration, and its preview where it refuses."""
    built, deployed = proven((*given, *edits)), _read(given, edits, world)
    if isinstance(built, SlipwayError):
        return None, _failed(built)
    stack = built[0].stack
    stays, errors = as_it_stays(stack, deployed.known)
    try:
        refuse_move(
            deployed.known, stack=stack.name, project=stack.project, region=stack.region, others=stack.other_regions
        )
        deployment = _deployment((replace(built[0], stack=stays), built[1]), deployed.live, deployed.known, NEW)
    except SlipwayError as error:
        return None, _failed(error)
    try:
        deployment.refuse(errors)
    except SlipwayError as error:
        return _as_told(deployment), _failed(error)
    return _as_told(deployment), None


def _failed(error: SlipwayError) -> Preview:
    return Preview(errors=(f"error: {error}",), why=REFUSED, refused=True)


def _built(edits: tuple[Edit, ...]) -> Built:
    found = proven(edits)
    assert not isinstance(found, SlipwayError), found
    return found


def _deployment(
    built: Built, there: Live, known: State, revision: Revision, since: int = 0, made_as: Mapping[str, int] = _AS_ASKED
) -> Deployment:
    """Return what was deployed `since` days ago, or is to be deployed now."""
    proven_stack, packages = built
    now = NOW - timedelta(days=since)
    stack = proven_stack.stack
    decided = plan(
        stack.clusters,
        there,
        stack=stack.name,
        project=stack.project,
        region=stack.region,
        now=now,
        known=known,
        workspace=asked_for(stack),
    )
    _refuse(decided)
    asked = ((cluster, made_as.get(cluster.spec.name, 0)) for cluster in decided.current)
    decided = as_made(decided, {action.id: action.alternatives[number - 1].id for action, number in asked if number})
    return plan_deployment(proven_stack, packages, revision, there, decided, preview=True, now=now)


def _refuse(decided: Plan) -> None:
    if decided.problems:
        raise ResourceError("what to deploy can't be decided", why="\n".join(decided.problems), fix="mend it")
    refuse(decided.refusals, preview=True)


def _state(of: Deployment, clusters: Mapping[str, PersistentResource]) -> State:
    catalog, stack = of.catalog, of.stack
    place = (stack.project, stack.region)
    return State(
        clusters=tuple(
            StateResource(id_, id_, stack.project, cluster.region or stack.region) for id_, cluster in clusters.items()
        ),
        buckets=(
            StateResource(CATALOG, catalog.catalog_bucket, *place),
            StateResource(WORK, catalog.work_bucket, *place),
            *(
                StateResource(f"{BUCKETS_ELSEWHERE}{bucket}", bucket, stack.project)
                for bucket in stack.work_elsewhere.values()
            ),
        ),
        accounts=(
            StateResource(TRAINER, catalog.trainer, stack.project),
            *(StateResource(other_logical(trainer), trainer, stack.project) for trainer in catalog.trainers.values()),
        ),
        catalog_bucket=catalog.catalog_bucket,
        creations=frozenset({"creation"}),
        submitters=stack.submitters,
    )


def _as_told(deployment: Deployment) -> Facts:
    return replace(deployment.facts, catalog=as_declared(deployment.catalog))

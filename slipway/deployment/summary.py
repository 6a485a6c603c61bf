"""What preview and `up` say: what happens to each cluster and template, in a few lines. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import CurrentCluster, PoolSpec
from slipway.cluster_fields import size
from slipway.deployment.alternatives import MayBecome, going_back
from slipway.deployment.plan import Plan
from slipway.deployment.schedule import Due
from slipway.deployment.workspace_plan import others_accounts
from slipway.formatting import join, span
from slipway.generations.dormant import DormantCluster
from slipway.generations.retiring import CATALOG, WORK, RetiringCluster, RetiringWorkspaceResource
from slipway.labels import STACK_LABEL, USER_LABEL, Revision
from slipway.live import Live, Unknown
from slipway.prices import price_in_words, total
from slipway.quota.report import QuotaReport
from slipway.state import State, is_adopted_bucket
from slipway.template.proof import Placement

_NONE: Mapping[str, tuple[MayBecome, ...]] = {}


def summary(
    stack: str,
    revision: Revision,
    plan: Plan,
    placements: Mapping[str, tuple[Placement, ...]],
    report: QuotaReport,
    region: str,
    now: datetime,
    catalog: str,
    due: Iterable[Due] = (),
    instead: Mapping[str, tuple[MayBecome, ...]] = _NONE,
) -> str:
    """Clusters, those that retire or go, and templates, a line or two each. `plan.notes` come first.

    `catalog` is the bucket where people find it from now on; `due` is what later deployments do by themselves;
    `instead`: by cluster, what may be made in its place.
    """
    dated = [one for one in due if one.at is not None]
    lines = [*plan.notes, f"{stack} @ {revision}"]
    for current in plan.current:
        lines += [*_current(current, region), *_instead(current, instead.get(current.spec.name, ()), region)]
        lines += [f"  {one.words(now)}" for one in dated if one.id == current.id]
    lines += [f"cluster {name}: {id_} is kept, as it was adopted, and not offered" for name, id_ in plan.left.items()]
    lines += [_dormant(one, region) for one in plan.dormant]
    lines += [_retiring(item, now) for item in plan.retiring]
    lines += [
        f"cluster {failed.id} {_failure(failed)}: it holds nothing, and goes before its successor is made"
        for failed in plan.cleared
    ]
    replaced, ahead = {one.id for one in plan.replaced}, {one.id for one in plan.ahead}
    lines += [f"cluster {id_} is idle and goes before its successor is made, in its place" for id_ in sorted(replaced)]
    comes = [one.id for one in plan.current if not one.import_]
    before = f", before {join(comes)} {'is' if len(comes) == 1 else 'are'} made"
    lines += [
        f"cluster {id_} is idle and not asked for any more: it will be deleted{before if id_ in ahead else ''}"
        for id_ in plan.deleted
        if id_ not in replaced
    ]
    lines += workspace(plan, now, catalog)
    for name, some in placements.items():
        lines += _template(name, report, some)
    return "\n".join(lines)


def workspace(plan: Plan, now: datetime, catalog: str) -> Iterator[str]:
    """What becomes of accounts and buckets that are not asked for any more, and what to type about it."""
    for resource in plan.workspace.retiring:
        yield _retiring_resource(resource, now)
        yield from _new_catalog(resource, catalog)
    for resource in plan.workspace.released:
        yield from (*_released(resource), *_new_catalog(resource, catalog))


def overdue(retiring: RetiringCluster) -> str:
    """The warning for a generation that is still there after the stack's `retireWithin`."""
    jobs = join(job.display_name for job in retiring.jobs)
    late = f"cluster {retiring.cluster.id} should have retired by now"
    if not jobs:
        return f"{late}: {retiring.why.words}"
    return f"{late}: {jobs} still on it\n  fix: slipway jobs show {retiring.jobs[0].typed}, or go on waiting"


def neighbours(stack: str, live: Live) -> tuple[str, ...]:
    """A warning where clusters of another stack live in the project: the submitters' roles are the project's, so what
    one stack takes back is gone for the other as well."""
    if isinstance(live.clusters, Unknown):
        return ()
    others = sorted({label for one in live.clusters if (label := one.labels.get(STACK_LABEL, stack)) != stack})
    if not others:
        return ()
    warning = (
        f"stack {join(others)} lives in this project as well: removing a submitter here, or this stack, takes away the "
        "roles on the project that the other needs too\n  fix: give each stack a project of its own; until then, run "
        f"pulumi up --stack {others[0]} afterwards"
    )
    return (warning,)


def outliving(known: State) -> str:
    """What a destruction leaves on purpose, and how to delete it; empty where there is nothing of the kind."""
    theirs = [one.name for one in known.buckets if is_adopted_bucket(one.logical)]
    buckets = (one.name for one in known.buckets if one.logical.startswith(WORK) and one.name not in theirs)
    results = (f"bucket gs://{name} stays, with people's results\n{_removal(name)}" for name in buckets)
    catalogs = (one.name for one in known.buckets if one.logical.startswith(CATALOG) and one.name in known.spared)
    stay = dict.fromkeys((*theirs, *catalogs))
    kept = (f"cluster {id_} is kept, as it was adopted: it was there before the stack" for id_ in known.adopted)
    others = (*(f"bucket gs://{name}" for name in stay), *(f"account {name}" for name in others_accounts(known)))
    return "\n".join((*results, *kept, *(f"{what} stays: it was there before the stack" for what in others)))


def pool_in_words(pool: PoolSpec) -> str:
    """`n1-standard-8 × 1–4, pd-ssd 100 GB`"""
    machine = pool.machine
    gpus = f" with {machine.accelerator} × {machine.accelerator_count}" if machine.accelerator else ""
    return f"{machine.type}{gpus} × {size(pool)}, {machine.disk}"


def _current(current: CurrentCluster, region: str) -> Iterator[str]:
    state = current.state.lower() if current.import_ else "to be created"
    if current.spec.adopted:
        state = state if state.startswith("adopted") else f"adopted, {state}"
        yield f"cluster {current.spec.name}: {current.id}, {state}; no deployment changes or deletes it"
    else:
        yield f"cluster {current.spec.name}: {current.id}, {state} · {price_in_words(total((current.spec,), region))}"
    for pool in current.spec.pools:
        yield f"  pool {pool.name}: {pool_in_words(pool)}"


def _instead(current: CurrentCluster, options: Iterable[MayBecome], region: str) -> Iterator[str]:
    if current.spec.alternative:
        yield f"  {current.spec.called}: {going_back(current.spec)}"
    for one in options:
        yield f"  or, where that can't be had, {one.words(current.spec, region)}"
        yield from (f"    pool {pool.name}: {pool_in_words(pool)}" for pool in one.current.spec.pools)
        yield from (f"    not for template {name}: {why}" for name, why in one.unfit.items())


def _dormant(dormant: DormantCluster, region: str) -> str:
    begins = dormant.why == "season" and dormant.since is None and not dormant.lacks
    price = price_in_words(total((dormant.spec,), region))
    return f"{dormant.words}{f' · {price} from then on' if begins else ''}"


def _retiring(retiring: RetiringCluster, now: datetime) -> str:
    who = f"cluster {retiring.name}: {retiring.cluster.id} retires"
    if retiring.cluster.state == "ERROR" and not retiring.jobs:
        words = f"cluster {retiring.name}: {retiring.cluster.id} {_failure(retiring.cluster)}"
        return f"{words}: it holds nothing; this deployment takes it over, and the next one deletes it"
    if not retiring.jobs:
        return f"{who} with a later deployment ({retiring.why.words})"
    ends = "its job has" if len(retiring.jobs) == 1 else f"its {len(retiring.jobs)} jobs have"
    return f"{who} when {ends} ended: {join(_job(job, now) for job in retiring.jobs)}"


def _failure(cluster: PersistentResource) -> str:
    return f"failed ({cluster.error})" if cluster.error else "failed"


def _retiring_resource(resource: RetiringWorkspaceResource, now: datetime) -> str:
    if not resource.jobs:
        return f"{resource.words} retires with a later deployment ({resource.why.words})"
    need = (
        "the job that needs it has" if len(resource.jobs) == 1 else f"the {len(resource.jobs)} jobs that need it have"
    )
    return f"{resource.words} retires when {need} ended: {join(_job(job, now) for job in resource.jobs)}"


def _released(resource: RetiringWorkspaceResource) -> Iterator[str]:
    if resource.adopted:
        yield f"{resource.words} is not asked for any more: it is kept as it is, as it was adopted"
        return
    if resource.role != WORK:
        yield f"{resource.words} is not asked for any more and no job needs it: it will be deleted"
        return
    stays = "it stays, with people's results, and no longer belongs to this stack"
    yield f"{resource.words} is not asked for any more: {stays}"
    yield _removal(resource.name)


def _removal(bucket: str) -> str:
    return f"  to delete it and all in it: gcloud storage rm --recursive gs://{bucket}"


def _new_catalog(resource: RetiringWorkspaceResource, catalog: str) -> Iterator[str]:
    """People remember the catalog's address, and lose the old one with this deployment."""
    if resource.role == CATALOG:
        yield f"  the catalog is in gs://{catalog}: whoever submits types slipway use gs://{catalog}"


def _job(job: VertexJob, now: datetime) -> str:
    since = job.start_time or job.create_time
    state = job.state.split("_STATE_")[-1].lower()
    user = job.labels.get(USER_LABEL)
    words = [f"by {user}"] if user else []
    words.append(f"{state} {span((now - since).total_seconds())}" if since else state)
    return f"{job.display_name} ({', '.join(words)})"


def _template(name: str, report: QuotaReport, placements: tuple[Placement, ...]) -> Iterator[str]:
    """A line for each kind, the usual one first, and under it one for each case of the parameters. What the template
    itself refuses is left out."""
    by_kind: dict[str, dict[str, list[str]]] = {}
    for placement in placements:
        verdict = report.offers[name][placement.label]
        cases = by_kind.setdefault(placement.kind, {})
        if not verdict.intended:
            words = [placement.capacity_type, *([placement.cluster.name] if placement.cluster else [])]
            words += [] if verdict.available else ["dormant" if placement.dormant else "unavailable"]
            cases.setdefault(str(placement.case) if placement.case.when else "", []).append(" ".join(words))
    for number, (kind, cases) in enumerate(by_kind.items()):
        head = f"  as {kind}" if number else f"template {name}"
        always = cases.pop("", [])
        yield f"{head}: {' · '.join(always)}" if always else f"{head}:"
        yield from (f"{'  ' * (1 + bool(number))}{case}: {' · '.join(some)}" for case, some in cases.items())

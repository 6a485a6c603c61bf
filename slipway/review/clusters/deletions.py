"""Clusters that the engine deletes or replaces, whatever else says otherwise: what runs on them is cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.generations.action import What
from slipway.labels import NAME_LABEL
from slipway.live import Unknown
from slipway.prices import per_hour
from slipway.review.change import Change
from slipway.review.preview import Step
from slipway.review.words import jobs, machines, named, summed, told_jobs

CLUSTER_TYPE = "gcp:vertex/aiPersistentResource:"
DESTROYING = frozenset({"delete", "replace", "create-replacement", "delete-replaced", "delete-before-replace"})
"""The engine's words for steps after which what was there is gone."""


def deletions(change: Change) -> Iterator[Finding]:
    steps = destroyed(change)
    live = _living(change)
    for id_ in dict.fromkeys((*steps, *_undeclared(change))):
        step, there = steps.get(id_), live.get(id_) if live is not None else None
        on_it = tuple(job for job in change.jobs if job.persistent_resource_id == id_)
        if on_it or (there and there.in_use):
            yield _cancelled(id_, on_it, step, change)
        if live is None or there:
            yield from _destruction(id_, step, there, change)
    yield from _forgotten(change)


def destroyed(change: Change) -> Mapping[str, Step]:
    """By the cluster's id, one step of those that take it away."""
    found: dict[str, Step] = {}
    for step in change.preview.steps if change.preview else ():
        if step.type.startswith(CLUSTER_TYPE) and step.op in DESTROYING and step.old and not _stays(step):
            id_ = _id(step)
            if id_ not in found or step.replaces:
                found[id_] = step
    return found


def _id(step: Step) -> str:
    assert step.old is not None, "what goes was there"
    return step.old.id.rsplit("/", 1)[-1] or str(step.old.inputs.get("name", step.name))


def _stays(step: Step) -> bool:
    """It leaves the engine's state, and not the cloud."""
    return step.old is not None and (step.old.retained or step.old.inputs.get("deletionPolicy") == "ABANDON")


def _forgotten(change: Change) -> Iterator[Finding]:
    for step in change.preview.steps if change.preview else ():
        if step.type.startswith(CLUSTER_TYPE) and step.op in DESTROYING and step.old and _stays(step):
            id_ = _id(step)
            there = (_living(change) or {}).get(id_)
            holds = machines(summed(there.machines)) if there else ""
            words = f"`{id_}` leaves the stack and stays in the cloud{f' with its {holds}' if holds else ''}"
            yield KINDS["resource-forgotten"].of(
                Subject("cluster", _name(id_, change)),
                f"{words}, paid, and nothing tends it",
                cost=_cost((), id_, change),
            )


def _undeclared(change: Change) -> Iterator[str]:
    """Those that were declared and are not any more, where the engine has not told all deletions."""
    if change.after is None or change.before is None or (change.preview and change.preview.complete):
        return
    declared = {*change.after.kept, *(one.id for one in change.after.catalog.clusters.values())}
    if (change.before.catalog.project, change.before.catalog.region) == (
        change.after.catalog.project,
        change.after.catalog.region,
    ):
        ours = (one.id for one in change.before.catalog.clusters.values() if not one.adopted)
        was = (*ours, *_kept(change))
        yield from (id_ for id_ in was if id_ not in declared)


def _cancelled(id_: str, on_it: tuple[VertexJob, ...], step: Step | None, change: Change) -> Finding:
    does = "replaces" if step and step.op != "delete" else "deletes"
    cause = f" because of {named(f'`{path}`' for path in step.replaces)}" if step and step.replaces else ""
    listed = jobs(on_it, change.now)
    if not listed:
        words = f"This deployment {does} `{id_}`{cause}, whose machines a job is using that no list shows yet"
    else:
        are = "is" if len(listed) == 1 else "are"
        words = f"This deployment {does} `{id_}`{cause}, and {told_jobs(on_it, change.now)} {are} cancelled with it"
    return KINDS["jobs-cancelled"].of(
        Subject("cluster", _name(id_, change)), words, details=listed, cost=_cost(on_it, id_, change)
    )


def _cost(on_it: tuple[VertexJob, ...], id_: str, change: Change) -> float:
    """USD an hour of what is lost: all that the cluster has, else what the jobs have."""
    catalog, there = change.old or change.new, (_living(change) or {}).get(id_)
    if catalog is None:
        return 0.0
    held = [(there.region, there.machines)] if there else [(job.region, job.machines) for job in on_it]
    return float(sum(per_hour(groups, region or catalog.region).known for region, groups in held))


def _destruction(id_: str, step: Step | None, there: PersistentResource | None, change: Change) -> Iterator[Finding]:
    """Of a cluster that is wanted; or of one that nobody offers any more, which goes as it was said that it would."""
    kept_before, name = id_ in _kept(change), _name(id_, change)
    declared = change.after is not None and (
        id_ in change.after.kept or change.after.catalog.cluster_named(id_) is not None
    )
    holds = machines(summed(there.machines)) if there else ""
    back = f", and its {holds} may not come again" if holds else ""
    if declared and step:
        does = "deleted" if step.op == "delete" else "deleted and made anew"
        cause = f" because of {named(f'`{path}`' for path in step.replaces)}" if step.replaces else ""
        words = f"`{id_}`, which the stack still asks for, is {does}{cause}{back}"
        yield KINDS["cluster-deleted"].of(
            Subject("cluster", name), words, field=step.replaces[0] if step.replaces else ""
        )
    elif there and there.state == "ERROR" and kept_before:
        yield KINDS["cluster-cleared"].of(Subject("cluster", id_), f"`{id_}` failed, holds nothing and is deleted")
    elif kept_before and not declared:
        words = f"`{id_}`, an old generation of `{name}`, is idle and goes with this deployment"
        more = f"{before_creates(id_, change)}, as was announced"
        yield KINDS["cluster-deleted"].of(Subject("cluster", id_), words, more=more, grade=Grade.NOTE)
    elif step and (change.old is None or change.old.cluster_named(id_) is None):
        words = f"`{id_}`, which no catalog has, goes with this deployment{back}"
        gpus = there is None or any(one.machine.accelerator for one in there.machines)
        yield KINDS["cluster-deleted"].of(Subject("cluster", id_), words, grade=None if gpus else Grade.WARNING)


def before_creates(id_: str, change: Change) -> str:
    """Of one that need not wait for what is made: `, before `h100-4c57032` is made`; empty for all others."""
    if id_ not in change.ids(What.DELETE_FIRST):
        return ""
    made = change.of(What.CREATE)
    return f", before {named(f'`{one.id}`' for one in made)} {'is' if len(made) == 1 else 'are'} made"


def _kept(change: Change) -> frozenset[str]:
    """Ids of what was kept so far."""
    if change.before is None:
        return frozenset()
    clusters = (id_ for id_, one in change.before.kept.items() if one.kind == "cluster")
    return frozenset((*clusters, *change.before.catalog.retiring))


def _name(id_: str, change: Change) -> str:
    """What people call it; its id where nothing tells."""
    for catalog in (change.old, change.new):
        if catalog and (one := catalog.cluster_named(id_)):
            return one.name
    if change.before and id_ in change.before.kept:
        return change.before.kept[id_].role
    there = (_living(change) or {}).get(id_)
    return there.labels.get(NAME_LABEL, id_) if there else id_


def _living(change: Change) -> Mapping[str, PersistentResource] | None:
    """By id; None where they could not be read."""
    if change.live.skipped or isinstance(change.live.clusters, Unknown):
        return None
    return {one.id: one for one in change.live.clusters}

"""Clusters that the engine deletes or replaces, whatever else says otherwise: what runs on them is cancelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.cloud.clusters import PersistentResource
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.generations.action import What
from slipway.labels import NAME_LABEL
from slipway.prices import per_hour
from slipway.review.change import Change
from slipway.review.touched import Fate, Touched
from slipway.review.words import jobs, machines, named, summed, told_jobs

CLUSTER_TYPE = "gcp:vertex/aiPersistentResource:"


def deletions(change: Change) -> Iterator[Finding]:
    gone = destroyed(change)
    for id_ in dict.fromkeys((*gone, *_undeclared(change))):
        there = (change.living or {}).get(id_)
        if change.jobs_on(id_) or (there and there.in_use):
            yield _cancelled(id_, gone.get(id_), there, change)
        if change.living is None or there:
            yield from _destruction(id_, gone.get(id_), there, change)


def destroyed(change: Change) -> Mapping[str, Touched]:
    return {one.physical: one for one in change.touched if one.type.startswith(CLUSTER_TYPE) and one.destroyed}


def before_creates(id_: str, change: Change) -> str:
    """Return `, before `h100-4c57032` is made` for one that need not wait for that; empty for all others."""
    if id_ not in change.ids(What.DELETE_FIRST):
        return ""
    made = change.of(What.CREATE)
    return f", before {named(f'`{one.id}`' for one in made)} {'is' if len(made) == 1 else 'are'} made"


def _undeclared(change: Change) -> Iterator[str]:
    old, new = change.old, change.new
    if old is None or new is None or change.after is None or (change.preview and change.preview.complete):
        return
    if (old.project, old.region) == (new.project, new.region):
        declared = {*change.after.kept, *(one.id for one in new.clusters.values())}
        ours = (one.id for one in old.clusters.values() if not one.adopted)
        yield from (id_ for id_ in (*ours, *change.retiring) if id_ not in declared)


def _cancelled(id_: str, gone: Touched | None, there: PersistentResource | None, change: Change) -> Finding:
    on_it = change.jobs_on(id_)
    listed, catalog = jobs(on_it, change.now), change.old or change.new
    does = "replaces" if gone and gone.fate is Fate.REPLACED else "deletes"
    words = f"This deployment {does} `{id_}`{_cause(gone)}"
    who = f"{told_jobs(on_it, change.now)} {'is' if len(listed) == 1 else 'are'} cancelled with it"
    # All that the cluster has is lost, or as far as is known what the jobs have.
    held = [(there.region, there.machines)] if there else [(job.region, job.machines) for job in on_it]
    lost = sum(per_hour(some, region or catalog.region).known for region, some in held) if catalog else 0
    return KINDS["jobs-cancelled"].of(
        Subject("cluster", _name(id_, change)),
        f"{words}, and {who}" if listed else f"{words}, whose machines a job is using that no list shows yet",
        details=listed,
        cost=float(lost),
    )


def _destruction(id_: str, gone: Touched | None, there: PersistentResource | None, change: Change) -> Iterator[Finding]:
    retired, name = id_ in change.retiring, _name(id_, change)
    after, deleted = change.after, KINDS["cluster-deleted"].of
    declared = after is not None and (id_ in after.kept or after.catalog.cluster_named(id_) is not None)
    holds = machines(summed(there.machines)) if there else ""
    back = f", and its {holds} may not come again" if holds else ""
    if declared and gone:
        does = "deleted" if gone.fate is Fate.DELETED else "deleted and made anew"
        words = f"`{id_}`, which the stack still asks for, is {does}{_cause(gone)}{back}"
        yield deleted(Subject("cluster", name), words, field=next(iter(gone.replaces), ""))
    elif there and there.failed and retired:
        yield KINDS["cluster-cleared"].of(Subject("cluster", id_), f"`{id_}` failed, holds nothing and is deleted")
    elif retired and not declared:
        words = f"`{id_}`, an old generation of `{name}`, is idle and goes with this deployment"
        more = f"{before_creates(id_, change)}, as was announced"
        yield deleted(Subject("cluster", id_), words, more=more, grade=Grade.NOTE)
    elif gone and (change.old is None or change.old.cluster_named(id_) is None):
        words = f"`{id_}`, which no catalog has, goes with this deployment{back}"
        gpus = there is None or any(one.machine.accelerator for one in there.machines)
        yield deleted(Subject("cluster", id_), words, grade=None if gpus else Grade.WARNING)


def _cause(gone: Touched | None) -> str:
    return f" because of {named(f'`{path}`' for path in gone.replaces)}" if gone and gone.replaces else ""


def _name(id_: str, change: Change) -> str:
    for catalog in (change.old, change.new):
        if catalog and (one := catalog.cluster_named(id_)):
            return one.name
    if change.before and id_ in change.before.kept:
        return change.before.kept[id_].role
    there = (change.living or {}).get(id_)
    return there.labels.get(NAME_LABEL, id_) if there else id_

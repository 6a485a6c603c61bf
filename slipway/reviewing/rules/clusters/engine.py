"""Clusters as the engine would have them: deleted under their jobs, or different from the program's publication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import distinct
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.cluster_fields import NAMES
from slipway.model.findings.finding import Grade, Subject
from slipway.model.labels import NAME_LABEL
from slipway.model.machines.table import regions
from slipway.model.prices import Price, per_hour
from slipway.reviewing.change.change import Change, once
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row, say
from slipway.reviewing.rules.words import jobs, machines, owned


def deletions(change: Change) -> Iterator[Consequence]:
    gone, old = destroyed(change), change.old
    for id_ in dict.fromkeys((*gone, *undeclared(change))):
        there, step = (change.living or {}).get(id_), gone.get(id_)
        known = there or step or change.living is None  # Else somebody deleted it already.
        if known and (change.jobs_on(id_) or (there and there.in_use)):
            yield _cancelled(id_, step, there, change)
        if change.living is None or there:
            yield from _destruction(id_, step, there, change)
        elif step:
            project, region = step.was.get("project") or old.project, step.was.get("location") or old.region
            # Elsewhere reviews don't read clusters.
            if old.project not in ("", project) or region not in (old.region, *regions()):
                yield by_row("deleted-unread", Subject("cluster", id_), where=f"{region} of project {project}")


@once
def destroyed(change: Change) -> Mapping[str, Touched]:
    return {step.physical: step for step in change.touched if step.type.startswith(CLUSTER_TYPE) and step.destroyed}


def undeclared(change: Change) -> Iterator[str]:
    """Yield deployed clusters that the program does not declare, where the engine did not say what becomes of them."""
    old, new = change.old, change.new
    told = change.preview is not None and change.preview.complete
    if not told and (old.project, old.region) == (new.project, new.region):
        declared = {*change.after.kept, *(cluster.id for cluster in new.clusters.values())}
        ours = (cluster.id for cluster in old.clusters.values() if not cluster.adopted)
        left = () if change.unknown else sorted(change.live.in_state)  # Of a deployment that was killed late.
        deployed = (*ours, *change.retiring, *left)
        yield from (id_ for id_ in deployed if id_ not in declared)


def _cancelled(id_: str, gone: Touched | None, there: PersistentResource | None, change: Change) -> Consequence:
    on_it, name = distinct(change.jobs_on(id_)), _name(id_, change)
    # All of the cluster's machines are lost, or, where they are unknown, those of its jobs.
    held = [(there.region, there.machines)] if there else [(job.region, job.machines) for job in on_it]
    lost = [say("cluster-scarce", held=scarce)] if (scarce := _scarce(there)) else []
    return by_row(
        "jobs-cancelled",
        Subject("cluster", name),
        jobs=owned(on_it, ""),
        details=(f"`{id_}`", *lost, *_causes(gone), *jobs(on_it, change.now)),
        cost=sum((per_hour(some, region or change.old.region) for region, some in held), Price()),
    )


def _destruction(
    id_: str, gone: Touched | None, there: PersistentResource | None, change: Change
) -> Iterator[Consequence]:
    name, was, after = _name(id_, change), change.old.cluster_named(id_), change.after
    if was and not was.adopted and was.name not in after.catalog.clusters:
        return  # It is reported as a removal.
    retired, itself = id_ in change.retiring, Subject("cluster", id_)
    declared = id_ in after.kept or after.catalog.cluster_named(id_) is not None
    scarce = _scarce(there)
    if declared and gone:
        field, itself, anew = next(iter(gone.replaces), ""), Subject("cluster", name), gone.fate is not Fate.DELETED
        yield by_row("deleted-declared", itself, details=_causes(gone), field=field, scarce=scarce, anew=anew)
    elif retired:
        yield by_row("retired-idle", itself, name=there.labels.get(NAME_LABEL, name) if there else name)
    elif was is None and (gone or id_ in change.live.in_state):
        yield by_row("deleted-unknown", itself, scarce=scarce, grade=Grade.WARNING if there and not scarce else None)


def _scarce(there: PersistentResource | None) -> str:
    """Return its machines; empty where all of them can be had any day."""
    held = there.machines if there else ()
    return machines(held) if any(group.machine.accelerator for group in held) else ""


def _causes(gone: Touched | None) -> tuple[str, ...]:
    return tuple(f"because of `{path}`" for path in gone.replaces) if gone else ()


def _name(id_: str, change: Change) -> str:
    if cluster := change.old.cluster_named(id_) or change.new.cluster_named(id_):
        return cluster.name
    return id_


def unsaid_clusters(change: Change) -> Iterator[Consequence]:
    for step in change.touched:
        if not step.type.startswith(CLUSTER_TYPE):
            continue
        itself = Subject("cluster", step.physical)
        if step.fate is Fate.FORGOTTEN or (step.goes and not step.destroyed):
            yield by_row("cluster-forgotten", itself)
        if step.fate in (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED):
            yield from _made(step, change)
        elif step.fate is Fate.CHANGED and step.diffs:
            # The service can't change a living cluster, so the provider's update fails, or ends its jobs.
            details = (*jobs(change.jobs_on(step.physical), change.now), *(f"`{path}`" for path in step.diffs))
            yield by_row("updated-alive", itself, details=details)


def _made(step: Touched, change: Change) -> Iterator[Consequence]:
    id_, catalog = str(step.becomes.get("name", step.name)), change.new
    cluster = catalog.cluster_named(id_)
    said = cluster and not cluster.adopted and _as_said(step, cluster, catalog)
    if not said and id_ not in change.after.kept:
        yield by_row("cluster-unsaid", Subject("cluster", id_), listed=cluster)


def _as_said(step: Touched, cluster: Cluster, catalog: Catalog) -> bool:
    try:
        asked = PersistentResource.read(step.becomes).spec
    except MISREAD:
        return False
    place = (cluster.region or catalog.region, catalog.project)
    # A cluster that it takes over keeps its names.
    kept = NAMES if step.fate is Fate.ADOPTED else ()
    differing = [each for each in departures(cluster, asked, catalog.identity.label) if not each.key.startswith(kept)]
    return not differing and place == (step.becomes.get("location"), step.becomes.get("project"))

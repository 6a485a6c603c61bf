"""Findings about Pulumi's steps on clusters that the plan of the deployment does not have. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from slipway.answers.cluster_texts import job_lines, jobs_text, machines_text, phrase, phrases, scarce, users
from slipway.answers.comparison import Comparison, Side
from slipway.base.formatting import few
from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched
from slipway.deploying.generations.action import REMOVALS
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import distinct
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster_fields import NAMES
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.table import regions


def findings(comparison: Comparison) -> Iterator[Finding]:
    """Yield the findings about steps, and about the jobs that they cancel."""
    for step in _cluster_steps(comparison):
        yield from _of_step(comparison, step)
    yield from _cancelled(comparison)


def _cluster_steps(comparison: Comparison) -> list[Touched]:
    return [step for step in comparison.touched if step.type.startswith(CLUSTER_TYPE)]


def deleted_by_engine(comparison: Comparison) -> frozenset[str]:
    """Return the ids of clusters that Pulumi deletes, or that the program leaves out if the preview is incomplete."""
    removed = frozenset(step.physical for step in _cluster_steps(comparison) if step.destroyed)
    is_complete = comparison.preview is not None and comparison.preview.complete
    if is_complete or comparison.unknown or comparison.is_moved:
        return removed
    declared = {*comparison.after.kept, *(cluster.id for cluster in comparison.new.clusters.values())}
    own = {cluster.id for cluster in comparison.old.clusters.values() if not cluster.adopted}
    earlier = {*comparison.old.retiring, *comparison.before.kept, *comparison.world.live.in_state}
    return removed | ((own | earlier) - declared)


def _cancelled(comparison: Comparison) -> Iterator[Finding]:
    """Yield the jobs on clusters that are deleted under them."""
    clusters = comparison.world.live_clusters or {}
    for id_ in sorted(deleted_by_engine(comparison)):
        jobs = comparison.world.jobs_on(id_)
        who = jobs_text(jobs)
        if id_ in clusters and clusters[id_].in_use:
            who = who or "unlisted work"
        if who:
            sentence = f"cancels {who}: Pulumi deletes `{id_}` without waiting"
            fix = "deploy after the jobs end, or keep the cluster declared until then"
            found = KINDS["jobs-cancelled"].of(_subject(comparison, id_), sentence, fix)
            facts = {"jobs": len(distinct(jobs)), "users": users(jobs)}
            yield replace(found, details=job_lines(jobs, comparison.world.now), facts=facts)


def _of_step(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a step of Pulumi that the plan does not have."""
    id_ = step.physical
    subject = _subject(comparison, id_)
    if step.destroyed:
        yield from _deleted_unplanned(comparison, step)
    elif step.fate is Fate.FORGOTTEN or step.goes:
        sentence = f"`{id_}` leaves Pulumi's state and keeps running: it is billed, and no deployment deletes it"
        yield KINDS["cluster-orphaned"].of(subject, sentence, grade=Grade.BLOCKING)
    elif step.fate is Fate.CHANGED and step.diffs:
        paths = few(f"`{path}`" for path in step.diffs)
        sentence = f"Vertex AI can't update {paths} of a running cluster: the deployment fails, or ends its jobs"
        found = KINDS["cluster-rejected"].of(subject, sentence, "change it by an edit that replaces the cluster")
        yield replace(found, details=job_lines(comparison.world.jobs_on(id_), comparison.world.now))
    if step.fate in (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED) and Side.AFTER not in comparison.unknown:
        yield from _created_unplanned(comparison, step)


def _deleted_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi deletes although it is declared, or that no catalog has."""
    id_ = step.physical
    live = comparison.world.live_clusters
    # A review does not read the clusters of a region that has no machines.
    is_read = live is not None and step.was.get("location") in (None, comparison.old.region, *regions())
    clusters = live or {}
    is_gone = is_read and id_ not in clusters
    if is_gone or _is_planned_removal(comparison, id_):
        return
    held = clusters[id_].machines if id_ in clusters else ()
    is_declared = id_ in comparison.after.kept or comparison.new.cluster_named(id_) is not None
    although = ""
    if is_declared:
        although = ", although the program declares it"
    sentence = phrases(
        f"delete: Pulumi deletes `{id_}`{phrase(' because of ', few(step.replaces))}{although}",
        f"gives back {machines_text(held) or 'unknown machines'}",
    )
    is_minor = held and not is_declared and not scarce(held)
    grade = Grade.WARNING if is_minor else Grade.BLOCKING
    fix = "find what in the program deletes it"
    field = "".join(step.replaces[:1])
    yield KINDS["cluster-deleted"].of(_subject(comparison, id_), sentence, fix, grade=grade, field=field)


def _is_planned_removal(comparison: Comparison, id_: str) -> bool:
    """Return whether the plan deletes the cluster, or its entry is removed: both have a finding of their own."""
    cluster = comparison.old.cluster_named(id_)
    if cluster is not None and cluster.name not in comparison.new.clusters and not cluster.adopted:
        return True
    return id_ in comparison.planned(*REMOVALS)


def _created_unplanned(comparison: Comparison, step: Touched) -> Iterator[Finding]:
    """Yield a cluster that Pulumi creates or imports, and that the catalog does not offer as such."""
    id_ = str(step.becomes.get("name", step.name))
    subject = _subject(comparison, id_)
    if id_ in comparison.after.kept:
        return
    cluster = comparison.new.cluster_named(id_)
    if cluster is None or cluster.adopted:
        kind = "cluster-orphaned" if step.fate is Fate.ADOPTED else "cluster-created"
        sentence = f"Pulumi creates or imports `{id_}`, which the catalog does not offer: submissions can't use it"
        yield KINDS[kind].of(subject, sentence, grade=Grade.BLOCKING)
        return
    keys = _differing_requests(comparison, step, cluster)
    if keys:
        sentence = f"Pulumi creates `{id_}` with other {few(keys)} than the catalog publishes"
        yield KINDS["cluster-updated"].of(subject, sentence, grade=Grade.BLOCKING)


def _differing_requests(comparison: Comparison, step: Touched, cluster: Cluster) -> list[str]:
    """Return the fields in which Pulumi's request differs from the published cluster."""
    catalog = comparison.new
    try:
        requested = PersistentResource.read(step.becomes).spec
    except MISREAD:
        return ["fields"]
    # An imported cluster keeps its names.
    ignored = NAMES if step.fate is Fate.ADOPTED else ()
    departing = departures(cluster, requested, catalog.identity.label)
    keys = [f"`{each.key}`" for each in departing if not each.key.startswith(ignored)]
    place = (cluster.region or catalog.region, catalog.project)
    if place != (step.becomes.get("location"), step.becomes.get("project")):
        keys.append("`location`")
    return keys


def _subject(comparison: Comparison, id_: str) -> Subject:
    cluster = comparison.old.cluster_named(id_) or comparison.new.cluster_named(id_)
    return Subject("cluster", cluster.name if cluster else id_)

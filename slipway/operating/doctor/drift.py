"""Drift: manual changes to a deployed stack, field by field, as text. The autoscaler's changes are none.

The engine's refresh tells the differences from its own state; for clusters, which no deployment changes in place, the
catalog tells the declared values; and the policies tell added grants, which the engine never sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from slipway.base.codec import from_json
from slipway.deploying.engine.drift import NextDeployment, changed, drift, grant_of, hand_edits, subject
from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.deploying.engine.touched import BUCKET, BY_ITSELF, CLUSTER_TYPE, top
from slipway.deploying.generations.published_clusters import departures
from slipway.google.answers import MISREAD
from slipway.google.clusters import STEADY, PersistentResource
from slipway.google.permissions import living
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import unfinished
from slipway.model.cluster_fields import AUTOMATIC_LABELS, FieldDifference, as_asked, compare
from slipway.model.findings.finding import Finding, Subject, shape
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.state import is_adopted_bucket
from slipway.operating.doctor.picture import Policy

PROVIDER = "pulumi:providers:gcp"
_KNOWN_BY = tuple(f"labels.{key}" for key in (STACK_LABEL, NAME_LABEL, HASH_LABEL))
_BY_ITSELF = re.compile(BY_ITSELF)
_OF_PROJECT = ("projectOwner:", "projectEditor:", "projectViewer:")
_DONE = ("same", "refresh", "read", "discard")


def shape_of(findings: Iterable[Finding], unread: Iterable[str] = ()) -> str:
    """Return a hash that changes only with a person's next change, also back."""
    changes = [(finding.subject, finding.field, finding.sentence) for finding in findings]
    return shape([*changes, *(("unread", part) for part in unread)])


def together(engine: Iterable[Finding], live: Iterable[Finding]) -> tuple[Finding, ...]:
    """Keep each field once: as the cloud tells it, where engine and cloud both do."""
    # To the engine the successor of a deleted cluster is another resource, and the old one is gone for good.
    once = {(finding.subject, finding.field): finding for finding in (*engine, *live)}
    return tuple(sorted(once.values(), key=lambda finding: (finding.subject, finding.field)))


def of_engine(preview: Preview) -> Iterator[Finding]:
    doing = {step.urn for step in preview.steps if step.op not in _DONE}
    for step in preview.standing.values():
        if step.op != "refresh" or step.component or step.old is None:
            continue
        if step.new and step.type.startswith(CLUSTER_TYPE):
            yield from _of_cluster(step, step.old, step.new)
        elif not (step.new and step.type == BUCKET and is_adopted_bucket(step.name)):  # Its settings are its owner's.
            yield from _by_people(hand_edits(step, again=step.urn in doing))


def _by_people(edits: Iterable[Finding]) -> Iterator[Finding]:
    return (edit for edit in edits if not _BY_ITSELF.fullmatch(top(edit.field)))


def by_hand(findings: Iterable[Finding], published: Catalog) -> Iterator[Finding]:
    """Leave out the changes of an unfinished deployment: it writes the catalog, and deletes unneeded clusters, before
    it makes others."""
    if not unfinished(published):
        yield from findings
        return
    dormant = (cluster.id for cluster in published.dormant.values())
    gone = {Subject("cluster", id_) for id_ in (*published.retiring, *dormant)}
    for finding in findings:
        if finding.subject not in gone and not (finding.subject.what == "catalog" and finding.field == "content"):
            yield finding


def of_clusters(catalog: Catalog, clusters: Iterable[PersistentResource]) -> Iterator[Finding]:
    """Compare the clusters on offer with the catalog's declaration. No deployment changes a living cluster: a
    difference stays, except that a deleted cluster is made again. An adopted cluster is its owner's."""
    there = {(cluster.region or catalog.region, cluster.id): cluster for cluster in clusters}
    for name, published in catalog.clusters.items():
        on, live = Subject("cluster", published.id), there.get((catalog.region_of(name), published.id))
        if live is None:
            then = NextDeployment.REFUSES if published.adopted else NextDeployment.MADE_ANEW
            yield drift(on, "", "somebody deleted it", then)
            continue
        differences = departures(published, live.spec, catalog.identity.label, steady=live.state == STEADY)
        yield from _of_fields(on, differences, NextDeployment.REFUSES if published.adopted else NextDeployment.STAYS)


def _of_cluster(step: EngineStep, old: Resource, new: Resource) -> Iterator[Finding]:
    """Compare a cluster without labels, which its inputs may lack; whether it grows or shrinks now is not known."""
    try:
        was, now = (PersistentResource.read(resource.inputs).spec for resource in (old, new))
    except MISREAD:
        yield from _by_people(changed(step, old, new, NextDeployment.STAYS))
        return
    differences = compare(was, replace(as_asked(now, was, steady=False), labels=was.labels))
    yield from _of_fields(subject(step, old), differences, NextDeployment.STAYS)


def _of_fields(on: Subject, differences: Iterable[FieldDifference], then: NextDeployment) -> Iterator[Finding]:
    for difference in differences:
        known = "; by it the cluster was known as the stack's" if difference.key in _KNOWN_BY else ""
        before, after = difference.before or "none", difference.after or "none"
        yield drift(on, difference.key, f"{difference.key} is {after}, and was deployed with {before}{known}", then)


def of_policies(preview: Preview, policies: Iterable[Policy]) -> Iterator[Finding]:
    """Find grants that the stack did not make: the engine knows its own alone. The other users of an adopted bucket are
    its owner's business."""
    granted = {key for step in preview.standing.values() if (key := grant_of(step))}
    buckets = (step for step in preview.standing.values() if step.type == BUCKET and is_adopted_bucket(step.name))
    theirs = {subject(step, step.old) for step in buckets if step.old}
    for policy in policies:
        if policy.on in theirs:
            continue
        for grant in sorted(policy.bound):
            who = living(grant.member)
            not_ours = policy.ours and who not in policy.ours
            # Every bucket begins with these, or Google grants them to its own agents.
            googles = grant.member.startswith(_OF_PROJECT) or "@gcp-sa-" in grant.member
            if not_ours or googles or (policy.on, grant.role, grant.member) in granted:
                continue
            words = f"{grant.member} has {grant.role}{grant.under}, which the stack did not grant"
            if who != grant.member:
                words = (
                    f"{who} was deleted, and {grant.role}{grant.under} is still noted for it; one that was made again "
                    "under its name does not have it"
                )
            yield drift(policy.on, f"{grant.role} {grant.member}", words, NextDeployment.STAYS, policy.revoke(grant))


def of_labels(preview: Preview, labels: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    """Find labels that somebody added to a bucket, by its name: the provider hides labels that it did not write. An
    adopted bucket's labels are its owner's."""
    olds = [(step, step.old) for step in preview.standing.values() if step.old]
    of_all = set[str]()
    for provider in (old for step, old in olds if step.type == PROVIDER):
        defaults = provider.inputs.get("defaultLabels") or {}
        of_all |= {*(from_json(defaults) if isinstance(defaults, str) else defaults)}
    for step, old in olds:
        if step.type != BUCKET or is_adopted_bucket(step.name):
            continue
        name = subject(step, old).name
        known = {*(old.inputs.get("labels") or {}), *of_all}
        for key in sorted(labels.get(name, {}).keys() - known):
            if not key.startswith(AUTOMATIC_LABELS):
                words = f"label {key} {labels[name][key]!r} was added"
                mend = f"gcloud storage buckets update gs://{name} --remove-labels={key}"
                yield drift(Subject("bucket", name), f"labels.{key}", words, NextDeployment.STAYS, mend)

"""Drift: what a person did to what a stack deployed, field by field, in words. What the autoscaler does is none.

The engine's refresh tells what differs from its own state; of clusters, which no deployment changes in place, the
catalog tells what was asked for; and of grants that somebody added, which the engine never sees, the policies.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from slipway.catalog.model import Catalog
from slipway.catalog.withdrawal import replacing
from slipway.cloud.answers import MISREAD
from slipway.cloud.clusters import STEADY, PersistentResource
from slipway.cloud.permissions import Bound
from slipway.cluster_fields import GOOGLES, Difference, as_asked, compare
from slipway.doctor.commands import revoke, unlabel
from slipway.doctor.picture import Policy
from slipway.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.findings.finding import Finding, Subject, shape
from slipway.findings.kinds import KINDS
from slipway.generations.published_clusters import departures
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.review.clusters.deletions import CLUSTER_TYPE
from slipway.review.preview import Preview, Resource, Step
from slipway.review.resources.bucket_fields import FIELDS
from slipway.review.resources.grants import form, place
from slipway.review.resources.inputs import differences, top
from slipway.review.resources.touched import ACCOUNT, BUCKET, OBJECT, overwritten
from slipway.state import is_adopted_bucket

_BY_ITSELF = re.compile(r"(?i).*(etag|fingerprint|generation|updated|time|timestamp|version|selflink|status|state)")
PROVIDER = "pulumi:providers:gcp"
_KNOWN_BY = tuple(f"labels.{key}" for key in (STACK_LABEL, NAME_LABEL, HASH_LABEL))
_DONE = ("same", "refresh", "read", "discard")


class Then(StrEnum):
    """What the next deployment does about it."""

    PUT_BACK = "puts it back"
    MADE_ANEW = "makes it anew"
    STAYS = "leaves it as it is"
    REFUSES = "stops until the stack file says so too"


def drift(on: Subject, field: str, sentence: str, then: Then, fix: str = "") -> Finding:
    """`on` is whose it is, `field` which of its fields, empty for all of it. `sentence` has no amount that moves by
    itself. `fix`: a command that undoes what no deployment does; empty where there is none."""
    return KINDS["drift"].of(on, sentence, fix, f"the next deployment {then.value}", field=field, then=then)


def shape_of(found: Iterable[Finding], unread: Iterable[str] = ()) -> str:
    """The same until a person changes something else, or back."""
    return shape([*((one.subject, one.field, one.sentence) for one in found), *(("unread", one) for one in unread)])


def together(engine: Iterable[Finding], live: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each field once. What lives tells more: the successor of a deleted cluster is another resource to the engine,
    which takes the old one for gone for good."""
    once = {(one.subject, one.field): one for one in (*engine, *live)}
    return tuple(sorted(once.values(), key=lambda one: (one.subject, one.field)))


def of_engine(preview: Preview) -> Iterator[Finding]:
    """What the refresh found."""
    doing = {step.urn for step in preview.steps if step.op not in _DONE}
    for step in preview.standing.values():
        if step.op != "refresh" or step.component or step.old is None:
            continue
        if step.new is not None and step.type == BUCKET and is_adopted_bucket(step.name):
            continue  # Its settings are its owner's business.
        if step.new is None:
            yield _gone(step, step.old, again=step.urn in doing)
        elif step.type == OBJECT:
            if overwritten(step.old, step.new):
                words = "somebody overwrote it: it has other contents than were deployed"
                yield drift(_on(step, step.old), "content", words, Then.PUT_BACK)
        elif step.type.startswith(CLUSTER_TYPE):
            yield from _of_cluster(step, step.old, step.new)
        elif not form(step.type):
            yield from _changed(step, step.old, step.new, Then.PUT_BACK if step.urn in doing else Then.STAYS)


def by_hand(found: Iterable[Finding], published: Catalog) -> Iterator[Finding]:
    """Without what a deployment did that did not come to its end: it writes the catalog, and deletes what nobody needs,
    or what is replaced in place, before it makes others."""
    if not (published.under_way or replacing(published)):
        yield from found
        return
    gone = {Subject("cluster", id_) for id_ in (*published.retiring, *(one.id for one in published.dormant.values()))}
    for one in found:
        if one.subject not in gone and not (one.subject.what == "catalog" and one.field == "content"):
            yield one


def of_clusters(catalog: Catalog, clusters: Iterable[PersistentResource]) -> Iterator[Finding]:
    """Of those that are offered, against what the catalog says was asked for. No deployment changes a living cluster:
    what differs stays until there is a new one, but for one that is gone. Of one that is adopted its owner's word
    counts."""
    there = {(cluster.region or catalog.region, cluster.id): cluster for cluster in clusters}
    for name, published in catalog.clusters.items():
        on, live = Subject("cluster", published.id), there.get((catalog.region_of(name), published.id))
        if live is None:
            yield drift(on, "", "somebody deleted it", Then.REFUSES if published.adopted else Then.MADE_ANEW)
            continue
        found = departures(published, live.spec, catalog.stack, steady=live.state == STEADY)
        yield from _of_fields(on, found, Then.REFUSES if published.adopted else Then.STAYS)


def _of_cluster(step: Step, old: Resource, new: Resource) -> Iterator[Finding]:
    """As its inputs tell, which may lack labels; whether it grows or shrinks now is not known."""
    try:
        was, now = (PersistentResource.read(one.inputs).spec for one in (old, new))
    except MISREAD:
        yield from _changed(step, old, new, Then.STAYS)
        return
    found = compare(was, replace(as_asked(now, was, steady=False), labels=was.labels))
    yield from _of_fields(_on(step, old), found, Then.STAYS)


def _of_fields(on: Subject, found: Iterable[Difference], then: Then) -> Iterator[Finding]:
    for one in found:
        known = "; by it the cluster was known as the stack's" if one.key in _KNOWN_BY else ""
        words = f"{one.key} is {one.after or 'none'}, and was deployed with {one.before or 'none'}{known}"
        yield drift(on, one.key, words, then)


def of_policies(preview: Preview, policies: Iterable[Policy]) -> Iterator[Finding]:
    """Grants beside those that the stack made: the engine knows its own alone. Who else may use an adopted bucket is
    its owner's to say."""
    granted = {key for step in preview.standing.values() if (key := _grant(step))}
    buckets = (step for step in preview.standing.values() if step.type == BUCKET and is_adopted_bucket(step.name))
    theirs = {Subject("bucket", _name(step, step.old)) for step in buckets if step.old}
    for policy in policies:
        if policy.on in theirs:
            continue
        for one in sorted(policy.bound, key=lambda one: (one.role, one.member, one.condition)):
            others = policy.ours and one.member not in policy.ours
            if others or (policy.on, one.role, one.member) in granted or _googles(one):
                continue
            under = f" under condition {one.condition}" if one.condition else ""
            words = f"{one.member} has {one.role}{under}, which the stack did not grant"
            mend = revoke(policy.on, one, policy.bound)
            yield drift(policy.on, f"{one.role} {one.member}", words, Then.STAYS, mend)


def of_labels(preview: Preview, labels: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    """Labels that somebody added to a bucket, by its name: the provider keeps those that it did not write to itself.
    Those of an adopted one are its owner's."""
    steps = [step for step in preview.standing.values() if step.old is not None]
    of_all = {key for step in steps if step.old and step.type == PROVIDER for key in _default_labels(step.old)}
    for step in steps:
        if step.type != BUCKET or step.old is None or is_adopted_bucket(step.name):
            continue
        name = _name(step, step.old)
        known = {*(step.old.inputs.get("labels") or {}), *of_all}
        for key in sorted(labels.get(name, {}).keys() - known):
            if not key.startswith(GOOGLES):
                words = f"label {key} {labels[name][key]!r} was added"
                yield drift(Subject("bucket", name), f"labels.{key}", words, Then.STAYS, unlabel(name, (key,)))


def _default_labels(provider: Resource) -> Iterable[str]:
    found = provider.inputs.get("defaultLabels") or {}
    try:
        found = json.loads(found) if isinstance(found, str) else found
    except ValueError:
        return ()
    return found if isinstance(found, Mapping) else ()


def _googles(one: Bound) -> bool:
    """What every bucket begins with, and what Google grants its own agents."""
    return one.member.startswith(("projectOwner:", "projectEditor:", "projectViewer:")) or "@gcp-sa-" in one.member


def _grant(step: Step) -> tuple[Subject, str, str] | None:
    is_form = form(step.type)
    if is_form is None or step.old is None or "member" not in step.old.inputs:
        return None
    on = _on_of_grant(step, step.old)
    return on, str(step.old.inputs.get("role", "")), str(step.old.inputs["member"])


def _on_of_grant(step: Step, resource: Resource) -> Subject:
    is_form = form(step.type)
    assert is_form is not None
    _, name = place(is_form, resource.inputs)
    return Subject(is_form.what, name) if is_form.what else Subject("project", resource.inputs.get("project", ""))


def _gone(step: Step, old: Resource, *, again: bool) -> Finding:
    then = Then.MADE_ANEW if again else Then.STAYS
    if form(step.type):
        role, member = str(old.inputs.get("role", "")), str(old.inputs.get("member", ""))
        words = f"{member} does not have {role} any more, which the stack granted"
        return drift(_on_of_grant(step, old), f"{role} {member}", words, Then.PUT_BACK if again else then)
    if step.type == OBJECT and step.parent == TEMPLATE:
        return drift(
            Subject("package", _name(step, old)), "", "it is not there any more, deleted by hand or by its age", then
        )
    empty = ", and comes back empty" if step.type == BUCKET and again else ""
    return drift(_on(step, old), "", f"somebody deleted it{empty}", then)


def _changed(step: Step, old: Resource, new: Resource, then: Then) -> Iterator[Finding]:
    on = _on(step, old)
    if step.type == BUCKET:
        for key, told in FIELDS.items():
            was, now = _value(old, key), _value(new, key)
            for _, words, _ in told(was, now) if was != now else ():
                yield drift(on, key, f"it {words}", then if key in old.inputs else Then.STAYS)
    for one in differences(old.inputs, new.inputs):
        if not (step.type == BUCKET and top(one.path) in FIELDS) and not _BY_ITSELF.fullmatch(top(one.path)):
            yield drift(on, one.path, str(one).replace("`", ""), then)


def _value(resource: Resource, key: str) -> Any:
    """What the program leaves to the cloud is not among its inputs."""
    return resource.inputs.get(key, resource.outputs.get(key))


def _on(step: Step, resource: Resource) -> Subject:
    if step.type == OBJECT:
        what = "catalog" if step.parent == CATALOG else "list of clusters" if step.parent == WORKSPACE else "object"
        bucket = resource.inputs.get("bucket") or resource.outputs.get("bucket") or ""
        return Subject(what, f"gs://{bucket}/{_name(step, resource)}")
    if step.type == BUCKET:
        return Subject("bucket", _name(step, resource))
    if step.type == ACCOUNT:
        return Subject("account", resource.outputs.get("email") or resource.inputs.get("accountId") or step.name)
    kind = "cluster" if step.type.startswith(CLUSTER_TYPE) else step.type.rpartition(":")[2]
    return Subject(kind, _name(step, resource))


def _name(step: Step, resource: Resource) -> str:
    found = _text(resource.inputs, "name") or _text(resource.outputs, "name") or step.name
    return found if step.type == OBJECT else found.rsplit("/", 1)[-1]


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""

"""Drift of a resource: a person's changes since its deployment, field by field, from the engine's refresh.

The doctor tells each field, a review in one sentence what the deployment reverts.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from slipway.base.formatting import last_part
from slipway.deploying.engine.fields import FIELDS
from slipway.deploying.engine.grants import form, place
from slipway.deploying.engine.preview import EngineStep, Resource
from slipway.deploying.engine.touched import ACCOUNT, BUCKET, CLUSTER_TYPE, OBJECT, differences, overwritten, top
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS

_COMES_BACK = {BUCKET: ", and it comes back empty", ACCOUNT: ", and it comes back without what others granted it"}


class NextDeployment(StrEnum):
    """The next deployment's answer to a drift, as the end of a sentence."""

    PUT_BACK = "puts it back"
    MADE_ANEW = "makes it anew"
    STAYS = "leaves it as it is"
    REFUSES = "stops until it is declared so too"


def drift(on: Subject, field: str, sentence: str, then: NextDeployment, fix: str = "", **facts: Any) -> Finding:
    """Return a finding of drift.

    `field` is empty for a whole resource. `sentence` has no amounts that move by themselves: findings are compared by
    it. `fix`: a command that undoes what no deployment does.
    """
    means = f"the next deployment {then.value}"
    return KINDS["drift"].of(on, sentence, fix, means, field=field, then=then, **facts)


def hand_edits(step: EngineStep, *, again: bool) -> Iterator[Finding]:
    """Compare a resource as it was deployed (`step.old`) with its present state (`step.new`).

    `again`: whether the deployment changes the resource, and so puts it back. The fact `short` is the sentence for
    little room, in Markdown.
    """
    old, new, then = step.old, step.new, NextDeployment.PUT_BACK if again else NextDeployment.STAYS
    if old is None:
        return
    if new is None:
        yield _gone(step, old, again=again)
    elif step.type == OBJECT:
        if overwritten(old, new):
            words = "somebody overwrote it"
            more = f"{words}: it has other contents than were deployed"
            yield drift(subject(step, old), "content", more, NextDeployment.PUT_BACK, short=words)
    elif not form(step.type):
        yield from changed(step, old, new, then)


def changed(step: EngineStep, old: Resource, new: Resource, then: NextDeployment) -> Iterator[Finding]:
    on = subject(step, old)
    if step.type == BUCKET:
        for key, rule in FIELDS.items():
            # A value that the program leaves to the cloud is not among its inputs.
            was, now = (resource.inputs.get(key, resource.outputs.get(key)) for resource in (old, new))
            for effect in rule(was, now) if was != now else ():
                stays = then if key in old.inputs else NextDeployment.STAYS
                yield drift(on, key, f"it {effect}", stays, short=f"it {effect.does}")
    for edit in differences(old.inputs, new.inputs):
        if not (step.type == BUCKET and top(edit.path) in FIELDS):
            yield drift(on, edit.path, str(edit).replace("`", ""), then, short=str(edit))


def grant_of(step: EngineStep) -> tuple[Subject, str, str] | None:
    iam_form, inputs = form(step.type), step.old.inputs if step.old else {}
    if iam_form is None:
        return None
    named = Subject(iam_form.what, place(iam_form, inputs)[1]) if iam_form.what else None
    on = named or Subject("project", inputs.get("project", ""))
    return on, str(inputs.get("role", "")), str(inputs.get("member", ""))


def _gone(step: EngineStep, old: Resource, *, again: bool) -> Finding:
    if grant := grant_of(step):
        on, role, member = grant
        words = f"{member} does not have {role} any more, which the stack granted"
        return drift(on, f"{role} {member}", words, NextDeployment.PUT_BACK if again else NextDeployment.STAYS)
    on, words = subject(step, old), f"somebody deleted it{_COMES_BACK.get(step.type, '') if again else ''}"
    if on.what == "package":
        words = "it is not there any more, deleted by hand or by its age"
    return drift(on, "", words, NextDeployment.MADE_ANEW if again else NextDeployment.STAYS)


_OBJECTS = {CATALOG: "catalog", WORKSPACE: "list of clusters"}


def subject(step: EngineStep, resource: Resource) -> Subject:
    named = (values.get("name") for values in (resource.inputs, resource.outputs))
    name = next((value for value in named if isinstance(value, str) and value), step.name)
    if step.type == OBJECT and step.parent == TEMPLATE:
        return Subject("package", name)
    if step.type == OBJECT:
        bucket = resource.inputs.get("bucket") or resource.outputs.get("bucket") or ""
        return Subject(_OBJECTS.get(step.parent, "object"), f"gs://{bucket}/{name}")
    if step.type == BUCKET:
        return Subject("bucket", last_part(name))
    if step.type == ACCOUNT:
        return Subject("account", resource.outputs.get("email") or resource.inputs.get("accountId") or step.name)
    kind = "cluster" if step.type.startswith(CLUSTER_TYPE) else step.type.rpartition(":")[2]
    return Subject(kind, last_part(name))

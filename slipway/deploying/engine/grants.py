"""Grants: member, role and resource, read from IAM resources of any kind, additive or authoritative."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.base.codec import from_json
from slipway.deploying.engine.preview import SECRET, UNKNOWN, Resource
from slipway.deploying.engine.touched import Touched
from slipway.model.facts import WORKSPACE

_IAM = re.compile(r"gcp:(?P<service>\w+)/\w+:(?P<what>\w*?)I(?:AM|am)(?P<form>Member|Binding|Policy)$")
_NOT_ON = frozenset({"role", "member", "members", "condition", "policyData", "project", "location", "region", "zone"})
_WORDS: Mapping[str, str] = {
    "projects": "",
    "serviceaccount": "account",
    "organizations": "organisation",
    "folder": "folder",
    "billing": "billing account",
}
"""The word for the resource, where the type itself does not tell; the project needs no word."""


@dataclass(frozen=True)
class Form:
    """The form of an IAM resource: the resource that it grants roles on, and the members that it leaves alone."""

    #: The resource's word, empty for the project.
    what: str
    #: `Binding` where all members of a role are set, `Policy` where all roles are: unlisted members lose theirs, unseen
    #: by the engine. Empty where a grant is added.
    whole: str = ""


@dataclass(frozen=True)
class Grant:
    #: The member; until the deployment an unknown one is UNKNOWN with the grant's logical name.
    member: str
    role: str
    #: The resource as text: "bucket `results`".
    on: str
    #: The resource's word, as in `Form`; empty for a project.
    what: str = ""
    place: str = ""
    condition: str = ""
    #: Whether the workspace grants it.
    ours: bool = field(default=False, compare=False)

    @property
    def words(self) -> str:
        """The grant as text: `roles/logging.viewer` on project `acme`"""
        under = f", under condition `{self.condition}`" if self.condition else ""
        return f"`{self.role}` on {self.on}{under}"


def form(type_: str) -> Form | None:
    """Return the form; None for a type that grants nothing."""
    match = _IAM.match(type_)
    if match is None:
        return None
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", match["what"]).lower()
    what = spelled or _WORDS.get(match["service"], match["service"])
    return Form(what, "" if match["form"] == "Member" else match["form"])


def grants(touched: Touched, resource: Resource | None) -> Iterator[Grant]:
    """Yield the grants of a resource in one of its states; none for none, or for an unreadable policy."""
    iam_form = form(touched.type)
    if resource is None or iam_form is None:
        return
    on, name = place(iam_form, resource.inputs)
    for role, members, condition in _bindings(resource.inputs):
        for member in members:
            yield Grant(
                member=f"{UNKNOWN} {touched.name}" if member == UNKNOWN else str(member),
                role=role,
                on=on,
                what=iam_form.what,
                place=name,
                condition=condition,
                ours=touched.parent == WORKSPACE,
            )


def place(on: Form, inputs: Mapping[str, Any]) -> tuple[str, str]:
    """Return the resource that roles are granted on, as text and by name."""
    if not on.what:
        project = inputs.get("project")
        return (f"project `{project}`" if project else "the project"), ""
    key = next((key for key in inputs if key not in _NOT_ON), "")
    value = str(inputs.get(key, "")) if key else ""
    name = "" if value == UNKNOWN else value.rstrip("/").rsplit("/", 1)[-1]
    return (f"{on.what} `{name}`", name) if name else (f"a new {on.what}", UNKNOWN)


def unreadable(resource: Resource | None) -> bool:
    """Tell whether it sets a policy that is known only later, or kept secret."""
    return resource is not None and resource.inputs.get("policyData") in (SECRET, UNKNOWN)


def _bindings(inputs: Mapping[str, Any]) -> Iterator[tuple[str, list[Any], str]]:
    if "policyData" in inputs:
        for binding in _policy(str(inputs["policyData"])):
            yield str(binding.get("role", "")), list(binding.get("members", ())), _condition(binding)
    elif "members" in inputs:
        members = inputs["members"]
        yield str(inputs.get("role", "")), members if isinstance(members, list) else [members], _condition(inputs)
    else:
        yield str(inputs.get("role", "")), [inputs.get("member", "")], _condition(inputs)


def _policy(text: str) -> list[Mapping[str, Any]]:
    try:
        policy = from_json(text)
    except ValueError:
        return []
    bindings = policy.get("bindings", []) if isinstance(policy, Mapping) else []
    return [binding for binding in bindings if isinstance(binding, Mapping)] if isinstance(bindings, list) else []


def _condition(inputs: Mapping[str, Any]) -> str:
    condition = inputs.get("condition")
    return str(condition.get("title") or condition.get("expression", "")) if isinstance(condition, Mapping) else ""

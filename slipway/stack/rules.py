"""What types can't say about a stack: names, and what must fit together."""

from __future__ import annotations

import re
from collections.abc import Mapping

from slipway.formatting import nearest
from slipway.machines import regions
from slipway.stack.cluster_rules import check_cluster
from slipway.stack.document import Document
from slipway.stack.findings import Finding
from slipway.stack.members import invalid_member, is_address
from slipway.stack.part import DocumentPart
from slipway.stack.pool_rules import check_reservation
from slipway.stack.schema import OWN_KEYS
from slipway.stack.secrets import shown

LONGEST_TEMPLATE = 50
LONGEST_STACK = 63
# Provider settings that would take effect behind Slipway's back.
_REFUSED: Mapping[str, tuple[str, str]] = {
    "gcp:defaultLabels": (
        "labels of the provider reach every cluster, and a change of them replaces it",
        "leave it out; give clusters their own `labels`",
    ),
}
_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_PROJECT = re.compile(r"([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9_.-]{1,61}[a-z0-9]")
_ACCOUNT = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]")


def check_rules(document: Document, stack: str) -> tuple[Finding, ...]:
    """Everything that is wrong among the well-formed parts of a document."""
    root = DocumentPart(document)
    config = root["config"]
    _stack_name(root, stack)
    _keys(config)
    _place(config)
    region = config["gcp:region"].of(str)
    for name, cluster in config["slipway:persistentResources"].items():
        check_cluster(name, cluster, region if region in regions() else None)
    for name, reservation in config["slipway:reservations"].items():
        if not _NAME.fullmatch(name):
            reservation.wrong(f"{name!r} can't be a reservation's name", "lowercase letters, digits and dashes: h100")
        check_reservation(reservation, region if region in regions() else None)
    _templates(config["slipway:templates"])
    email = config["slipway:quota"]["contactEmail"]
    if email.of(str) and not is_address(email.value):
        email.wrong(f"is not an e-mail address: {shown(email.value)}", "for example ml-platform@acme.example")
    project = config["gcp:project"].of(str) or ""
    _workspace(config["slipway:workspace"], project if _PROJECT.fullmatch(project) else "", stack)
    return tuple(root.findings)


def default_buckets(project: str, stack: str) -> tuple[str, str]:
    """Names of the catalog's and the work bucket. A domain's projects have a colon that buckets can't have."""
    base = project.split(":")[-1]
    return f"{base}-{stack}-catalog", f"{base}-{stack}-work"


def default_trainer(stack: str) -> str:
    return f"slipway-{stack}-trainer"


def _stack_name(root: DocumentPart, stack: str) -> None:
    if not _NAME.fullmatch(stack) or len(stack) > LONGEST_STACK:
        root.wrong(
            f"the stack is named {stack!r}, which can't be in a label or an id",
            "name it with lowercase letters, digits and dashes: Pulumi.<stack>.yaml",
        )


def _keys(config: DocumentPart) -> None:
    for key, part in config.items():
        if key.startswith("slipway:") and key not in OWN_KEYS:
            near = nearest(key, OWN_KEYS)
            own = ", ".join(item for item in OWN_KEYS if item.startswith("slipway:"))
            part.wrong("unknown key", f"did you mean `{near}`?" if near else f"one of {own}")
        elif key.startswith("gcp:") and key.lower().endswith("customendpoint"):
            part.wrong(
                "endpoints come from the environment, so that provider, program and CLI agree",
                f"leave it out and export {_variable(key)}",
            )
        elif key in _REFUSED:
            part.wrong(*_REFUSED[key])
        elif key.startswith("gcp:") and key not in OWN_KEYS and nearest(key, OWN_KEYS) in OWN_KEYS[:3]:
            near = nearest(key, OWN_KEYS)
            if near is not None and config[near].value is None:
                part.wrong("unknown key", f"did you mean `{near}`?")


def _variable(key: str) -> str:
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.removeprefix("gcp:"))
    return f"GOOGLE_{words.upper()}"


def _place(config: DocumentPart) -> None:
    project = config["gcp:project"]
    if project.of(str) is not None and not _PROJECT.fullmatch(project.value):
        project.wrong(
            f"is not a project id: {shown(project.value)}", "6–30 lowercase letters, digits, dashes: acme-ml-prod"
        )
    region = config["gcp:region"]
    if region.of(str) is not None and region.value not in regions():
        near = nearest(region.value, regions())
        region.wrong(
            f"{region.value!r} is not a region with custom training",
            f"did you mean `{near}`?" if near else "for example us-central1 or europe-west4",
        )
    label = config["gcp:addPulumiAttributionLabel"]
    if (
        "gcp:addPulumiAttributionLabel" in (config.of(dict) or {})
        and label.value is not False
        and label.value != "false"
    ):
        label.wrong(
            f"is {shown(label.value)}: that label can't change on a living cluster, which would be replaced",
            'gcp:addPulumiAttributionLabel: "false"',
        )


def _templates(templates: DocumentPart) -> None:
    seen: set[str] = set()
    for template in templates.entries():
        name = template.of(str)
        if name is None:
            continue
        if not _NAME.fullmatch(name) or len(name) > LONGEST_TEMPLATE:
            fix = f"1–{LONGEST_TEMPLATE} lowercase letters, digits and dashes, a letter first: dask-digits"
            template.wrong(f"{name!r} can't be a template's name", fix)
        if name in seen:
            template.wrong(f"{name} is listed twice", "keep one of them")
        seen.add(name)


def _submitters(submitters: DocumentPart) -> None:
    seen: set[str] = set()
    for member in submitters.entries():
        name = member.of(str)
        wrong = None if name is None else invalid_member(name)
        if wrong:
            member.wrong(*wrong)
        elif name in seen:
            member.wrong(f"{name} is listed twice", "keep one of them")
        elif name is not None:
            seen.add(name)


def _workspace(workspace: DocumentPart, project: str, stack: str) -> None:
    _submitters(workspace["submitters"])
    names = [workspace[key].of(str) for key in ("catalogBucket", "workBucket")]
    for key, given, usual in zip(("catalogBucket", "workBucket"), names, default_buckets(project, stack), strict=True):
        if not _BUCKET.fullmatch(given or usual) and (given is not None or (project and _NAME.fullmatch(stack))):
            workspace[key].wrong(
                f"{given or usual!r} can't be a bucket's name", "3–63 lowercase letters, digits, dashes"
            )
    if names[0] is not None and names[0] == names[1]:
        workspace["workBucket"].wrong("is the catalog's bucket as well", "two buckets: no job may rewrite the catalog")
    trainer = workspace["trainer"].of(str)
    if not _ACCOUNT.fullmatch(trainer or default_trainer(stack)) and (trainer is not None or _NAME.fullmatch(stack)):
        start = (trainer or "").removeprefix("serviceAccount:").partition("@")[0]
        whole = "@" in (trainer or "") and _ACCOUNT.fullmatch(start)
        workspace["trainer"].wrong(
            f"{trainer or default_trainer(stack)!r} can't be a service account's id",
            f"the part before the @ alone: `trainer: {start}`, which is made in the stack's project"
            if whole
            else "6–30 lowercase letters, digits and dashes; with a long stack name set `trainer`",
        )

"""Pinned packages, actions, images and indexes that differ: those of the deployment, and those of templates. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.answers.comparison import Comparison
from slipway.base.formatting import few, first_lines
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change import pins
from slipway.reviewing.change.files import Files, Sides, deploys, has_pins
from slipway.reviewing.change.leaves import LeafEdit, leaf_edits
from slipway.reviewing.change.pins import REMARKS, Pin

LISTS = ("pyproject.toml", "uv.lock", "poetry.lock")
_PINNED = re.compile(r"uses|image|rev|.*-version")
_NAME = re.compile(r"[^@:]*")
_IMAGE = re.compile(r'"(?:executorImageUri|imageUri)": "([^"]+)"')
_MOST_DETAILS = 60


def changed_dependencies(comparison: Comparison, files: Files) -> Iterator[Finding]:
    packages: list[Pin] = []
    actions: list[Pin] = []
    for path in sorted(filter(deploys, files.texts)):
        packages += _packages(path, files.texts[path])
        actions += _actions(files.texts[path]) if path.endswith((".yaml", ".yml")) else ()
    yield from _finding(Subject("program", "packages"), packages)
    yield from _finding(Subject("program", "actions"), actions)
    for name in comparison.new.templates.keys() & comparison.old.templates.keys():
        old = comparison.old.templates[name]
        new = comparison.new.templates[name]
        required = pins.compared(old.requirements, new.requirements)
        yield from _finding(Subject("template", name, "requirements"), map(_of_job, required))
        yield from _finding(Subject("template", name, "image"), _images(old, new))


def _packages(path: str, sides: Sides) -> Iterable[Pin]:
    if has_pins(path):
        return pins.changed(sides.before, sides.after)
    if path.endswith(LISTS):
        return pins.compared(pins.locked(sides.before), pins.locked(sides.after))
    return ()


def _of_job(pin: Pin) -> Pin:
    """Return a job's requirement: a new one is often not pinned."""
    return pin if pin.before else replace(pin, before=pins.ANY)


def is_version(edit: LeafEdit) -> bool:
    """Return whether a value of a workflow is another version of the same dependency."""
    names = [_NAME.match(side) for side in (edit.before, edit.after)]
    is_same = names[0] is not None and names[1] is not None and names[0][0] == names[1][0]
    return _PINNED.fullmatch(edit.key) is not None and (is_same or edit.key not in ("uses", "image"))


def _actions(sides: Sides) -> Iterator[Pin]:
    """Yield actions, images and tools of a workflow. Local actions have no version."""
    for edit in leaf_edits(sides) or ():
        name = _NAME.sub("", edit.after, count=1)
        if _PINNED.fullmatch(edit.key) and edit.after and not edit.after.startswith((".", "$")):
            before = _NAME.sub("", edit.before, count=1).lstrip("@:") or edit.before
            after = name.lstrip("@:") or edit.after
            label = edit.after.removesuffix(name) if name else edit.key
            yield Pin(label, before, after, needs_digest=edit.key in ("uses", "image"))


def _images(old: Template, new: Template) -> Iterator[Pin]:
    before = {*_IMAGE.findall(json.dumps([dict(offer.request) for offer in old.offers]))}
    after = {*_IMAGE.findall(json.dumps([dict(offer.request) for offer in new.offers]))}
    if after - before:
        yield Pin("image", few(sorted(before - after)), few(sorted(after - before)), needs_digest=True)


def _finding(subject: Subject, listed: Iterable[Pin]) -> Iterator[Finding]:
    found = sorted(dict.fromkeys(listed), key=lambda pin: -REMARKS.index(pin.remark))
    if not found:
        return
    worst = found[0].remark
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    grade = Grade.BLOCKING if worst in REMARKS[2:] else Grade.WARNING
    fix = "pin an exact version" if worst == REMARKS[2] else ""
    finding = KINDS["dependency-changed"].of(subject, f"{found[0]}{more}", fix, grade=grade, dependencies=len(found))
    yield replace(finding, details=tuple(first_lines(map(str, found), _MOST_DETAILS)))

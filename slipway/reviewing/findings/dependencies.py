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
from slipway.reviewing.change.files import Files, Sides, deploys, has_pins, is_list
from slipway.reviewing.change.leaves import LeafEdit, leaf_edits
from slipway.reviewing.change.pins import Pin

_PINNED = re.compile(r"^(?:uses|image): (?![.$])([^@:]+)[@:]?(.*)$|^(rev|[\w-]+-version): (.*)$")
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
    """Return the packages of a list that differ; none if the file is no list."""
    read = pins.lines if has_pins(path) else pins.locked
    return pins.compared(read(sides.before), read(sides.after)) if is_list(path) else ()


def _of_job(pin: Pin) -> Pin:
    """Return a job's requirement: a new one is often not pinned."""
    return replace(pin, before=pin.before or pins.ANY)


def _reference(edit: LeafEdit, value: str) -> tuple[str, str]:
    """Return the name and version of an action, image or tool; the name is empty for another value."""
    found = (*_PINNED.findall(f"{edit.key}: {value}"), ("", "", "", ""))[0]
    return f"{found[0]}{found[2]}", f"{found[1]}{found[3]}"


def is_version(edit: LeafEdit) -> bool:
    """Return whether a value of a workflow is another version of the same dependency."""
    name, _ = _reference(edit, edit.after)
    return name != "" and name == _reference(edit, edit.before)[0]


def _actions(sides: Sides) -> Iterator[Pin]:
    """Yield actions, images and tools of a workflow. Local actions have no version."""
    for edit in leaf_edits(sides):
        name, version = _reference(edit, edit.after)
        if name:
            yield Pin(name, _reference(edit, edit.before)[1], version, needs_digest=edit.key in ("uses", "image"))


def _images(old: Template, new: Template) -> list[Pin]:
    sides = [{*_IMAGE.findall(json.dumps([dict(offer.request) for offer in side.offers]))} for side in (old, new)]
    gone = few(sorted(sides[0] - sides[1]))
    come = few(sorted(sides[1] - sides[0]))
    return [Pin("image", gone, come, needs_digest=True)] if come else []


def _finding(subject: Subject, listed: Iterable[Pin]) -> Iterator[Finding]:
    order = [*pins.REMARKS, ""]
    found = sorted(dict.fromkeys(listed), key=lambda pin: order.index(pin.remark))
    for worst in found[:1]:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        grade = {pins.FOREIGN: Grade.BLOCKING, pins.UNPINNED: Grade.BLOCKING}.get(worst.remark, Grade.WARNING)
        fix = {pins.UNPINNED: "pin an exact version"}.get(worst.remark, "")
        finding = KINDS["dependency-changed"].of(subject, f"{worst}{more}", fix, grade=grade, dependencies=len(found))
        yield replace(finding, details=tuple(first_lines(map(str, found), _MOST_DETAILS)))

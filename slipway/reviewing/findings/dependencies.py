"""Pinned packages, actions, images and indexes that differ: those of the deployment, and those of templates. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.answers.comparison import Comparison
from slipway.base.formatting import few, first_lines, last_part
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change import pins
from slipway.reviewing.change.files import Files, Sides, deploys, has_pins, is_list
from slipway.reviewing.change.leaves import LeafEdit, leaf_edits
from slipway.reviewing.change.pins import Pin

_PINNED = re.compile(r"^(?:uses|image): (?![.$])([^@:]+)[@:]?(.*)$|^(rev|[\w-]+-version): (.*)$")
_IMAGE = re.compile(r'"(?:executorImageUri|imageUri)": "([^"]+)"')
_PACKAGES = Subject("program", "packages")
_SERVING = "serving image"
_MOST_DETAILS = 60
_LONG_DIGEST = re.compile(r"(sha256:[0-9a-f]{7})[0-9a-f]+")
_FIXES = {pins.UNPINNED: "pin an exact version", pins.NO_HASH: "run `make lock`"}


def changed_dependencies(comparison: Comparison, files: Files) -> Iterator[Finding]:
    packages: list[Pin] = []
    actions: list[Pin] = []
    for path in sorted(filter(deploys, files.texts)):
        packages += _packages(path, files.texts[path])
        actions += _actions(path, files.texts[path])
    yield from _finding(_PACKAGES, packages)
    yield from _finding(Subject("program", "actions"), actions)
    for name in comparison.new.templates.keys() & comparison.old.templates.keys():
        old = comparison.old.templates[name]
        new = comparison.new.templates[name]
        yield from _finding(
            Subject("template", name, "requirements"), pins.compared(old.requirements, new.requirements)
        )
        yield from _finding(Subject("template", name, "image"), _image(_worker_images(old), _worker_images(new)))
        yield from _finding(Subject("template", name, _SERVING), _image(_serving_images(old), _serving_images(new)))


def _packages(path: str, sides: Sides) -> Iterable[Pin]:
    """Return the packages of a list that differ; none if the file is no list."""
    read = pins.lines if has_pins(path) else pins.locked
    return pins.compared(read(sides.before), read(sides.after)) if is_list(path) else ()


def _reference(edit: LeafEdit, value: str) -> tuple[str, str]:
    """Return the name and version of an action, image or tool; the name is empty for another value."""
    found = (*_PINNED.findall(f"{edit.key}: {value}"), ("", "", "", ""))[0]
    return f"{found[0]}{found[2]}", f"{found[1]}{found[3]}"


def is_version(edit: LeafEdit) -> bool:
    """Return whether a value of a workflow is another version of the same dependency."""
    name, _ = _reference(edit, edit.after)
    return name != "" and name == _reference(edit, edit.before)[0]


def _actions(path: str, sides: Sides) -> Iterator[Pin]:
    """Yield actions, images and tools of a workflow. Local actions have no version."""
    if not path.endswith((".yaml", ".yml")):
        return
    for edit in leaf_edits(sides):
        name, version = _reference(edit, edit.after)
        if name:
            yield Pin(name, _reference(edit, edit.before)[1], version, needs_digest=edit.key in ("uses", "image"))


def _worker_images(template: Template) -> list[str]:
    requests = [{**offer.request, "modelToUpload": None} for offer in template.offers]
    return sorted({*_IMAGE.findall(json.dumps(requests))})


def _serving_images(template: Template) -> list[str]:
    """Return the images that will serve an uploaded model, which no job runs."""
    uploads = [offer.request.get("modelToUpload") for offer in template.offers]
    return sorted({*_IMAGE.findall(json.dumps(uploads))})


def _image(old: list[str], new: list[str]) -> list[Pin]:
    removed = few(map(_short, sorted({*old} - {*new})))
    added = few(map(_short, sorted({*new} - {*old})))
    return [Pin("image", removed, added, needs_digest=True)] if added else []


def _short(image: str) -> str:
    """Return `judge@sha256:1111111`."""
    return _LONG_DIGEST.sub(r"\1", last_part(image))


def _finding(subject: Subject, listed: Iterable[Pin]) -> Iterator[Finding]:
    """Yield the worst of these pins, with all of them in its details."""
    graded = {pin: _grade(subject, pin) for pin in listed}
    if not graded:
        return
    order = [*pins.REMARKS, ""]
    found = sorted(graded, key=lambda pin: (-graded[pin], order.index(pin.remark)))
    worst = found[0]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    fix = _FIXES.get(worst.remark, "")
    finding = KINDS["dependency-changed"].of(
        subject, f"{worst}{more}".removeprefix(f"`{subject.part}` "), fix, grade=graded[worst], dependencies=len(found)
    )
    yield replace(finding, details=tuple(first_lines(map(str, found), _MOST_DETAILS)))


def _grade(subject: Subject, pin: Pin) -> Grade:
    # A package with a name like another one's (typosquatting) runs with the rights of whoever deploys.
    is_listed_anew = subject == _PACKAGES and not (pin.before and pin.after)
    # New requirements of jobs are often not pinned.
    is_loose = pin.remark == pins.UNPINNED and not (pin.is_new and subject.part == "requirements")
    is_risky = pin.remark in (pins.NO_HASH, pins.FOREIGN, pins.OLD_HASHES) or is_loose or is_listed_anew
    # No job runs an image that serves a model.
    return Grade.BLOCKING if is_risky and subject.part != _SERVING else Grade.WARNING

"""Pinned packages, actions, images and indexes that differ: those of the deployment, and those of templates. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.answers.comparison import Comparison
from slipway.base.formatting import first_lines
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change import pins
from slipway.reviewing.change.files import Files, Sides, deploys, has_pins
from slipway.reviewing.change.leaves import leaf_edits
from slipway.reviewing.change.pins import Pin

_LISTS = ("pyproject.toml", "uv.lock", "poetry.lock")
_MOST_DETAILS = 60


def changed_dependencies(comparison: Comparison, files: Files) -> Iterator[Finding]:
    found: dict[str, list[Pin]] = {}
    for path in sorted(files.texts):
        if has_pins(path) or (deploys(path) and path not in files.links):
            name = "actions" if path.endswith((".yaml", ".yml")) else "packages"
            found.setdefault(name, []).extend(_pins(path, files.texts[path]))
    for name in sorted(found):
        yield from _finding(Subject("program", name), found[name])
    for name, template in comparison.new.templates.items():
        old = comparison.old.templates.get(name)
        if old is not None:
            required = pins.compared(old.requirements, template.requirements)
            # Most requirements of jobs have no exact version.
            new = [pin for pin in required if pin.before or not pin.is_unpinned]
            loose = [replace(pin, before="none") for pin in required if pin not in new]
            yield from _finding(Subject("template", name, "requirements"), [*new, *loose])
            yield from _finding(Subject("template", name, "image"), _images(old, template))


def _pins(path: str, sides: Sides) -> Iterable[Pin]:
    if has_pins(path):
        return pins.changed(sides.before, sides.after)
    if path.endswith(_LISTS):
        return pins.compared(pins.locked(path, sides.before), pins.locked(path, sides.after))
    if path.endswith((".yaml", ".yml")):
        return _actions(sides)
    return ()


def _actions(sides: Sides) -> Iterator[Pin]:
    """Yield actions, images and tools of a workflow. Local actions have no version."""
    for edit in leaf_edits(sides) or ():
        before = edit.before.partition("@")[2] or edit.before
        name, _, after = edit.after.partition("@")
        if edit.key == "uses" and edit.after and not name.startswith((".", "$")):
            yield Pin(name, before, after or "any version", needs_hash=True)
        elif edit.key == "image":
            yield Pin("image", edit.before, edit.after, needs_hash=True)
        elif edit.key == "rev" or edit.key.endswith("-version"):
            yield Pin(edit.key, edit.before, edit.after)


def _images(old: Template, new: Template) -> list[Pin]:
    before = _image_names(old)
    after = _image_names(new)
    gone = [image for image in before if image not in after]
    found = []
    for number, image in enumerate(image for image in after if image not in before):
        was = gone[number] if number < len(gone) else ""
        name = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
        found.append(Pin(name, was, image, needs_hash=True))
    return found


def _image_names(template: Template) -> list[str]:
    """Return the images that the template's machines run, each once."""
    found: dict[str, None] = {}
    for offer in template.offers:
        for pool in offer.worker_pools:
            package = pool.get("pythonPackageSpec") or {}
            container = pool.get("containerSpec") or {}
            image = str(package.get("executorImageUri") or container.get("imageUri") or "")
            if image:
                found[image] = None
    return list(found)


def _finding(subject: Subject, listed: Iterable[Pin]) -> Iterator[Finding]:
    found = list(dict.fromkeys(listed))
    if not found:
        return
    worst = max(found, key=_weight)
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    grade = Grade.BLOCKING if worst.is_foreign or worst.is_unpinned else Grade.WARNING
    sentence = f"{worst}{_remark(worst)}{more}"
    finding = KINDS["dependency-changed"].of(subject, sentence, grade=grade, pins=len(found))
    fix = "pin an exact version" if worst.is_unpinned else ""
    yield replace(finding, fix=fix, details=tuple(first_lines(map(str, found), _MOST_DETAILS)))


def _weight(pin: Pin) -> int:
    if pin.is_foreign:
        return 3
    if pin.is_unpinned:
        return 2
    return 1 if pin.is_major else 0


def _remark(pin: Pin) -> str:
    if pin.is_foreign:
        return " (another source)"
    if pin.is_unpinned:
        return " (not pinned)"
    return " (major version)" if pin.is_major else ""

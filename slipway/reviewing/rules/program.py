"""The program itself: files that deploy and approve, a preview that fails, and keys of a stack file that no resource
has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from slipway.base.errors import Fault
from slipway.base.formatting import short
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change, Files, Side
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.files import deploys, is_pipeline
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named

GUARD = "slipway-guard-v1"
"""The hook that asks again before a deletion. Frozen: living stacks have it."""
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_LATER = {
    r"slipway:persistentResources\.(?P<name>.+)\.pools\.(?P<pool>.+)\.replicas\.initial": "used-later-initial",
    r"slipway:reservations\.(?P<name>.+)\.machines": "used-later-machines",
}
"""By a key that neither the catalog nor a resource has: the row of what follows at the next deployment."""
_PROVIDERS, _DECLARED = ("gcp:", "pulumi:"), ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")
_SAFEGUARDS = re.compile(r"\b(?:environment|permissions|needs|when):|--gate|slipway review|pulumi preview")
_LONGEST, _MOST_LINES = 300, 8
_UNCHANGED, _UNDECIDED = ", so nothing was changed", "what to deploy can't be decided"
"""Words of a fault that a reader of its cause does not need."""


def program(change: Change) -> Iterator[Consequence]:
    yield from _failed(change)
    preview = change.preview
    if preview and preview.complete and preview.hooks is not None and GUARD not in preview.hooks:
        yield by_row("guard-removed", Subject("guard"), guard=GUARD)
    yield from _stacks_gone(change)
    yield from _edited(change.files)


def _edited(files: Files) -> Iterator[Consequence]:
    edited = [f"`{file}`" for file in sorted(files.touched - files.pins.keys()) if deploys(file) or file in files.links]
    if edited:
        lines = [edit for file in sorted(filter(is_pipeline, files.lines)) for edit in files.lines[file]]
        gone = [f"`{word}`" for edit in lines for word in _safeguards(edit.before) - _safeguards(edit.after)]
        yield by_row(
            "safeguards-gone" if gone else "program-edited",
            Subject("program"),
            gone=named(dict.fromkeys(gone)),
            files=named(edited),
            edits=sorted(lines, key=lambda edit: not _safeguards(edit.before))[:_MOST_LINES],
            details=edited if len(edited) > 1 else (),
        )
    if pins := tuple(dict.fromkeys(edit for file in sorted(files.pins) for edit in files.pins[file])):
        subject, words = Subject("program", "packages"), named(map(str, pins))
        row = (
            "pins-major"
            if any(_major(pin.before) < _major(pin.after) for pin in pins if pin.before)
            else "pins-changed"
        )
        yield by_row(row, subject, pins=words, file=min(files.pins), edits=pins)


def _major(version: str) -> int:
    """Return the first number of a version; 0 where it begins with none."""
    return int(found[0]) if (found := re.match(r"\d{1,9}", version)) else 0


def _safeguards(line: str) -> frozenset[str]:
    return frozenset(_SAFEGUARDS.findall(line))


def _stacks_gone(change: Change) -> Iterator[Consequence]:
    for file in sorted(change.files.removed):
        if match := STACK_FILE.fullmatch(file):
            here = match[1] == change.stack and not change.first
            row, subject = "this-stack-gone" if here else "stack-gone", Subject("stack", match[1])
            yield by_row(row, subject, file=file, stack=match[1])


def refusal(fault: Fault, details: Iterable[str] = (), edits: Iterable[Edit] = ()) -> Consequence:
    what = short(fault.what, _LONGEST).removesuffix(_UNCHANGED)
    return by_row(
        "preview-undecided" if what == _UNDECIDED else "preview-failed",
        Subject("preview"),
        what=what,
        why=short(fault.why, _LONGEST),
        fix=short(fault.fix, _LONGEST),
        edits=edits,
        details=details,
    )


def _failed(change: Change) -> Iterator[Consequence]:
    if change.preview is None or not change.preview.errors:
        return
    first, *others = (error.removeprefix("error: ").strip() for error in change.preview.errors)
    what, *below = first.splitlines() or ["the engine does not say why"]
    fault, read = Fault.read(what, below)
    rest = (line.strip() for text in ("\n".join(below[read:]), *others) for line in text.splitlines() if line.strip())
    edits = change.files.stacks.get(change.stack, ()) if Side.AFTER in change.unknown else ()
    yield refusal(fault, (short(line, _LONGEST) for line in rest), edits)


def used_later(change: Change) -> Iterator[Consequence]:
    for edit in () if Side.AFTER in change.unknown else change.files.stacks.get(change.stack, ()):
        for pattern, row in _LATER.items():
            if match := re.fullmatch(pattern, edit.key):
                values: dict[str, Any] = {"key": edit.key, "after": edit.after, **match.groupdict()}
                yield by_row(row if edit.after else "used-later", Subject("key", edit.key), edits=(edit,), **values)


def deploying(change: Change) -> Iterator[Consequence]:
    """Find edits of keys that the engine and its provider read: the identity and the place of the deployment."""
    for edit in change.files.stacks.get(change.stack, ()):
        if ":" not in edit.key or (edit.key.startswith(_PROVIDERS) and not edit.key.startswith(_DECLARED)):
            yield by_row("deploying-key", Subject("key", edit.key), key=edit.key, edits=(edit,))

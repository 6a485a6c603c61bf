"""The program itself: its files, the files that deploy and approve, and a preview that fails."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from slipway.base.errors import Fault
from slipway.base.formatting import short
from slipway.model.findings.finding import Subject
from slipway.model.fingerprint import is_generation_of
from slipway.reviewing.change.change import Change, Files, Side
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.files import deploys, is_pipeline
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import job, named, oldest_first

GUARD = "slipway-guard-v1"
"""The hook that asks again before a deletion. Frozen: living stacks have it."""
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_TEMPLATE = re.compile(r"templates/(\w+)\.py")
_CLUSTERS = "slipway:persistentResources."
_SAFEGUARDS = re.compile(r"\b(?:environment|permissions|needs|when):|--gate|slipway review|pulumi preview")
_LONGEST, _MOST_LINES = 300, 8
_UNCHANGED, _UNDECIDED = ", so nothing was changed", "what to deploy can't be decided"
"""Words of a fault that a reader of its cause does not need."""


def program(change: Change) -> Iterator[Consequence]:
    yield from _failed(change)
    yield from _unguarded(change)
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
        yield by_row("pins-changed", subject, pins=words, file=min(files.pins), edits=pins)


def _safeguards(line: str) -> frozenset[str]:
    return frozenset(_SAFEGUARDS.findall(line))


def _stacks_gone(change: Change) -> Iterator[Consequence]:
    for file in sorted(change.files.removed):
        if match := STACK_FILE.fullmatch(file):
            here = match[1] == change.stack and not change.first
            row, subject = "this-stack-gone" if here else "stack-gone", Subject("stack", match[1])
            yield by_row(row, subject, file=file, stack=match[1])


def _unguarded(change: Change) -> Iterator[Consequence]:
    preview = change.preview
    if preview is not None and preview.complete and preview.hooks is not None and GUARD not in preview.hooks:
        yield by_row("guard-removed", Subject("guard"), guard=GUARD)


def refusal(fault: Fault, details: Iterable[str] = (), edits: Iterable[Edit] = ()) -> Consequence:
    """Return a refused deployment, with its cause and what to do."""
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
    jobs, edits = _meets(change) if Side.AFTER in change.unknown else ((), ())
    yield refusal(fault, (*jobs, *(short(line, _LONGEST) for line in rest)), edits)


def _meets(change: Change) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """Return the jobs that the edits of a refused declaration concern, and the edits."""
    edits = change.files.stacks.get(change.stack, ())
    clusters = {edit.key.split(".")[1] for edit in edits if edit.key.startswith(_CLUSTERS)}
    templates = {match[1] for file in change.files.touched if (match := _TEMPLATE.fullmatch(file))}
    concerned = (
        each
        for each in oldest_first(change.jobs)
        if each.template in templates or any(is_generation_of(each.persistent_resource_id, name) for name in clusters)
    )
    return tuple(f"{job(each, change.now)} goes on" for each in concerned), edits

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
from slipway.reviewing.consequence import Consequence, consequence
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
_STAY = "its clusters, buckets and grants stay, paid, and nothing tends them"


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
        read = f"a person has to read {named(edited)}"
        yield consequence(
            "program-edited",
            Subject("program"),
            "is edited",
            who="Code that deploys or judges",
            so=f"lines with {named(dict.fromkeys(gone))} go; {read}" if gone else read,
            instead="keep them: they decide who is asked before a deployment, and as whom it runs" if gone else "",
            edits=sorted(lines, key=lambda edit: not _safeguards(edit.before))[:_MOST_LINES],
            details=edited if len(edited) > 1 else (),
        )
    if pins := tuple(dict.fromkeys(edit for file in sorted(files.pins) for edit in files.pins[file])):
        yield consequence(
            "pins-changed",
            Subject("program", "packages"),
            "deploy or judge",
            who="Other packages",
            so=named(map(str, pins)),
            edits=pins,
            field=min(files.pins),
        )


def _safeguards(line: str) -> frozenset[str]:
    return frozenset(_SAFEGUARDS.findall(line))


def _stacks_gone(change: Change) -> Iterator[Consequence]:
    for file in sorted(change.files.removed):
        if match := STACK_FILE.fullmatch(file):
            here = match[1] == change.stack and not change.first
            yield consequence(
                "stack-gone",
                Subject("stack", match[1]),
                "is deleted while the stack is deployed" if here else "is deleted",
                who=f"`{file}`",
                so=_STAY if here else f"if the stack is deployed, {_STAY}",
                instead=f"first `SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {match[1]}`",
            )


def _unguarded(change: Change) -> Iterator[Consequence]:
    preview = change.preview
    if preview is not None and preview.complete and preview.hooks is not None and GUARD not in preview.hooks:
        yield consequence(
            "guard-removed",
            Subject("guard"),
            "asks for unfinished jobs before a cluster, an account or a bucket is deleted",
            who="Nothing",
            so="jobs that need it are lost with it",
            instead=f"keep the hook `{GUARD}` registered, as `components/guard.py` does",
        )


def refusal(fault: Fault, details: Iterable[str] = (), edits: Iterable[Edit] = ()) -> Consequence:
    """Return a refused deployment, with its cause and what to do."""
    what = short(fault.what, _LONGEST).removesuffix(_UNCHANGED)
    return consequence(
        "preview-failed",
        Subject("preview"),
        "is refused" if what == _UNDECIDED else f"is refused: {what}",
        who="The deployment",
        so=short(fault.why, _LONGEST),
        instead=short(fault.fix, _LONGEST),
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

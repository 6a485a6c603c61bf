"""The program itself: its files, the files that deploy and approve, and a preview that fails."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.base.errors import Fault
from slipway.base.formatting import counted, short
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.fingerprint import is_generation_of
from slipway.reviewing.change.change import Change, Files, Side
from slipway.reviewing.change.files import deploys
from slipway.reviewing.rules.words import LONGEST, job, named, oldest_first, several

GUARD = "slipway-guard-v1"
"""The hook that asks again before a deletion. Frozen: living stacks have it."""
STACK_FILE = re.compile(r"stacks/Pulumi\.([^/]+)\.ya?ml")
_TEMPLATE = re.compile(r"templates/(\w+)\.py")
_CLUSTERS = "slipway:persistentResources."
_LONGEST, _HEADLINE = 300, 100
_UNCHANGED = ", so nothing was changed"


def program(change: Change) -> Iterator[Finding]:
    yield from _failed(change)
    yield from _unguarded(change)
    yield from _stacks_gone(change)
    yield from _edited(change.files)


def _edited(files: Files) -> Iterator[Finding]:
    edited = [f"`{file}`" for file in sorted(files.touched - files.pins.keys()) if deploys(file) or file in files.links]
    if edited:
        yield KINDS["program-edited"].of(
            Subject("program"),
            "What deploys or judges is edited",
            more=f", {counted(len(edited), 'file')} to read: {named(edited)}",
            details=several(edited),
        )
    if pins := tuple(dict.fromkeys(line for file in sorted(files.pins) for line in files.pins[file])):
        yield KINDS["pins-changed"].of(
            Subject("program", "packages"),
            "Other packages deploy or judge",
            more=f": {named(pins)}",
            details=several(pins),
            field=min(files.pins),
        )


def _stacks_gone(change: Change) -> Iterator[Finding]:
    for file in sorted(change.files.removed):
        match = STACK_FILE.fullmatch(file)
        if match is None:
            continue
        here = match[1] == change.stack and change.before is not None
        when = "is deleted while the stack is deployed:" if here else "is deleted; if the stack is deployed,"
        words = f"`{file}` {when} its clusters, buckets and grants stay, paid, and nothing tends them"
        yield KINDS["stack-gone"].of(Subject("stack", match[1]), words)


def _unguarded(change: Change) -> Iterator[Finding]:
    preview = change.preview
    if preview is not None and preview.complete and preview.hooks is not None and GUARD not in preview.hooks:
        words = "Nothing asks for unfinished jobs any more before a cluster, an account or a bucket is deleted"
        yield KINDS["guard-removed"].of(
            Subject("guard"), words, more=f": the program does not register the hook `{GUARD}`"
        )


def _failed(change: Change) -> Iterator[Finding]:
    if change.preview is None or not change.preview.errors:
        return
    first, *others = (error.removeprefix("error: ").strip() for error in change.preview.errors)
    said, *below = first.splitlines() or ["the engine does not say why"]
    rest = [line.strip() for text in ("\n".join(below), *others) for line in text.splitlines() if line.strip()]
    fault, _ = Fault.read(said, below)
    cause = short(fault.what.removesuffix(_UNCHANGED), _LONGEST).rstrip(".")
    why, fix = (text.partition("\n")[0] for text in (fault.why, fault.fix))
    start, do = "The deployment is refused: ", fix.partition("; ")[0]
    told = (
        ("; ".join(filter(None, parts)))
        for parts in ((cause, why, fix), (cause, why, do), (why, do), (cause, why), (why,), (cause,))
        if parts[0]
    )
    words = next((start + one for one in told if len(one.split()) <= LONGEST - len(start.split())), start + cause)
    rest = rest if cause in words else [cause, *rest]
    yield KINDS["preview-failed"].of(
        Subject("preview"),
        words,
        clause=start + cause if len(start + cause) <= _HEADLINE else "the deployment is refused",
        details=[*(_meets(change) if Side.AFTER in change.unknown else ()), *(short(line, _LONGEST) for line in rest)],
    )


def _meets(change: Change) -> Iterator[str]:
    """Yield the edits of a refused declaration, and the jobs that they concern."""
    edits = change.files.stacks.get(change.stack, ())
    yield from (f"edited: {each}" for each in edits)
    clusters = {each.key.split(".")[1] for each in edits if each.key.startswith(_CLUSTERS)}
    templates = {match[1] for file in change.files.touched if (match := _TEMPLATE.fullmatch(file))}
    for one in oldest_first(() if isinstance(change.live.jobs, Unknown) else change.live.jobs):
        if one.template in templates or any(is_generation_of(one.persistent_resource_id, name) for name in clusters):
            yield f"{job(one, change.now)} goes on"

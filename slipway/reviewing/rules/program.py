"""The program itself: files that deploy and approve, failed previews, and keys of a stack file that no resource has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from slipway.base.errors import Fault
from slipway.base.formatting import short
from slipway.deploying.engine.failures import failure
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change, Files, Side
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.files import STACK_FILE, deploys
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named

GUARD = "slipway-guard-v1"
"""The hook that asks again before a deletion. Frozen: living stacks have it."""
_LATER = re.compile(
    r"slipway:(persistentResources\.(?P<name>.+)\.pools\.(?P<pool>.+)\.replicas\.initial|reservations\.(?P<held>.+)\.machines)"
)
"""Keys that neither the catalog nor a resource has."""
_PROVIDERS, _DECLARED = ("gcp:", "pulumi:"), ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")
_PLACE = re.compile(r"(?P<at>\S+:\d+)\s+(?P<key>[a-z]+:[^\s:]+):\s(?P<what>.+)")
_LONGEST = 600
_UNCHANGED, _UNDECIDED = ", so nothing ", "be decided"
"""Words of a fault from which its reader learns nothing, and the end of one that only says so."""


def program(change: Change) -> Iterator[Consequence]:
    preview = change.preview
    if preview and preview.errors:
        first, *others = map(failure, preview.errors)
        what, *below = first.splitlines()
        fault, read = Fault.read(what, below)
        rest = (line.strip() for text in ("\n".join(below[read:]), *others) for line in text.splitlines())
        yield refusal(fault, (short(line, _LONGEST) for line in rest if line))
    if preview and preview.complete and preview.hooks is not None and GUARD not in preview.hooks:
        yield by_row("guard-removed", Subject("guard"), guard=GUARD)
    for file in sorted(change.files.removed):
        if match := STACK_FILE.fullmatch(file):
            this = match[1] == change.stack and not change.first
            yield by_row("stack-gone", Subject("stack", match[1]), file=file, stack=match[1], this=this)
    yield from _edited(change.files)


def _edited(files: Files) -> Iterator[Consequence]:
    others = files.touched - files.pins.keys()
    edited = [file for file in sorted(others) if deploys(file) or file in files.links]
    if edited:
        names = [f"`{file.replace('`', chr(39))}`" for file in edited]
        yield by_row(
            "program-edited",
            Subject("program"),
            files=named(names),
            edits=[edit for file in edited for edit in files.lines.get(file, ())],
            details=names if len(names) > 1 else (),
        )
    pins = tuple(dict.fromkeys(edit for file in sorted(files.pins) for edit in files.pins[file]))
    if pins:
        subject, words = Subject("program", "packages"), named(map(str, pins))
        yield by_row("pins-changed", subject, pins=words, file=min(files.pins), edits=pins)


def refusal(fault: Fault, details: Iterable[str] = ()) -> Consequence:
    what = _cut(fault.what).partition(_UNCHANGED)[0]
    place = _PLACE.fullmatch(what)
    first, *others = map(_cut, fault.why.splitlines() or [""])
    return by_row(
        "preview-failed",
        Subject("preview"),
        key=place["key"] if place else "",
        what="" if what.endswith(_UNDECIDED) else place["what"] if place else what,
        template=what.startswith(("template ", "templates ")),
        why="" if others else first,
        fix=_cut("; ".join(dict.fromkeys(fault.fix.splitlines())).replace(":; ", ": ")),
        details=[*([place["at"]] if place else []), *([first, *others] if others else ()), *details],
    )


def _cut(text: str) -> str:
    """Return a text as a line, cut before a word."""
    line = short(text, _LONGEST)
    return f"{line.rpartition(' ')[0]} …" if line.endswith("…") and not text.endswith("…") else line


def used_later(change: Change) -> Iterator[Consequence]:
    edits = () if Side.AFTER in change.unknown else change.files.stacks.get(change.stack, ())
    # A reservation that comes or goes as a whole, or takes another's place, is told with its money.
    whole = tuple(edit.key[:-4] for edit in edits if edit.key.endswith(".path"))
    for edit in (edit for edit in edits if not edit.key.startswith(whole)):
        match = _LATER.fullmatch(edit.key)
        if match and not (match["pool"] and _is_default(edit, change, match["name"], match["pool"])):
            held = match["held"]
            of = Subject("reservation", held) if held else Subject("cluster", match["name"], "initial")
            before, after = edit.before or "no", edit.after or "no"
            yield by_row("used-later", of, key=edit.key, held=held, before=before, after=after, edits=(edit,))


def _is_default(edit: Edit, change: Change, name: str, pool: str) -> bool:
    """Tell whether a pool begins with as many machines as before, as the minimum is the default."""
    clusters = (catalog.clusters.get(name) for catalog in (change.old, change.new))
    least = [str(there.min) for cluster in clusters if cluster and (there := cluster.pool(pool))]
    return len(least) == 2 and (edit.before or least[0]) == (edit.after or least[1])


def deploying(change: Change) -> Iterator[Consequence]:
    """Find edits of keys that the engine and its provider read: the identity and the place of the deployment."""
    for edit in change.files.stacks.get(change.stack, ()):
        if ":" not in edit.key or (edit.key.startswith(_PROVIDERS) and not edit.key.startswith(_DECLARED)):
            yield by_row("deploying-key", Subject("key", edit.key), key=edit.key, edits=(edit,))

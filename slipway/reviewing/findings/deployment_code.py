"""Edited files that deploy, review or grant permissions: the program, workflows, and what Pulumi and GitHub read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from slipway.answers.comparison import Comparison
from slipway.base.formatting import counted, few, first_lines
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import STACK_FILE, Files, Sides, deploys, has_pins, printable
from slipway.reviewing.change.leaves import LeafEdit, leaf_edits
from slipway.reviewing.change.lines import changed_lines, is_harmless
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.findings.dependencies import LISTS, is_version
from slipway.reviewing.findings.workflows import worst_effect

KIND = KINDS["deployment-code-changed"]
MOST_DETAILS = 60
_OWN_SUBJECTS = (
    (re.compile(r"(?:.*/)?(Pulumi\.yaml|CODEOWNERS|Makefile)"), "file"),
    (re.compile(r"(?:.*/)?(?:\.github/workflows|\.github|\.gitlab|\.ci)/(.*)|(?:.*/)?(\.gitlab-ci\.yml)"), "workflow"),
    (re.compile(r"(policy)/.*"), "code of the"),
)
_FROM_STACK_FILE = re.compile(r"encryptionsalt|secretsprovider|encryptedkey|config\.(?!slipway:).*")
_HARMLESS_KEYS = re.compile(r"config\.gcp:(project|region|addPulumiAttributionLabel)|(.*\.)?description")


def changed_deployment_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    effects: dict[Subject, list[str]] = {}
    details: dict[Subject, list[str]] = {}
    names: dict[Subject, list[str]] = {}
    for path in filter(deploys, sorted(files.touched)):
        changes = list(_changes(path, files))
        if changes:
            subject = _subject(path)
            effects.setdefault(subject, []).append(_effect(path, files))
            details.setdefault(subject, []).extend(changes)
            names.setdefault(subject, []).append(f"`{printable(path)}`")
    for path in sorted(files.links):
        details.setdefault(Subject("program"), []).append(f"`{printable(path)}` is a symbolic link, which is not read")
        names.setdefault(Subject("program"), []).append(f"`{printable(path)}`")
    for subject, edited in names.items():
        usual = f"{few(edited)} changed; the deployment or its review runs with {'it' if len(edited) == 1 else 'them'}"
        sentence = next(filter(None, effects.get(subject, ())), usual)
        finding = KIND.of(subject, sentence, "have a code owner read the change", files=len(edited))
        yield replace(finding, details=tuple(first_lines(details[subject], MOST_DETAILS)))
    for path in sorted(files.touched):
        match = STACK_FILE.fullmatch(path)
        if match:
            yield from _stack_file(Subject("stack", match[1]), path, files, is_own=match[1] == comparison.stack)


def _subject(path: str) -> Subject:
    for pattern, kind in _OWN_SUBJECTS:
        match = pattern.fullmatch(path)
        if match:
            return Subject(kind, printable(match[match.lastindex or 0]))
    return Subject("program")


def _changes(path: str, files: Files) -> Iterator[str]:
    """Yield the changes of a file for the details; none if it is a link, lists dependencies alone, or is harmless."""
    sides = files.texts.get(path)
    name = f"`{printable(path)}`"
    if path in files.links or has_pins(path) or path.endswith(LISTS):
        return
    if sides is None:
        yield f"{name} is not text or too large, so it is not compared" if path in files.unread else f"{name} is edited"
    elif not sides.after or not sides.before:
        yield f"{name} is {'new' if sides.after else 'deleted'}"
    elif not is_harmless(path, sides):
        edits = _edits(path, sides)
        yield from map(str, edits) if edits or _is_yaml(path, sides) else changed_lines(path, sides)


def _is_yaml(path: str, sides: Sides) -> bool:
    return path.endswith((".yaml", ".yml")) and leaf_edits(sides) is not None


def _edits(path: str, sides: Sides) -> list[LeafEdit]:
    """Return the edited values of a YAML file, without other versions of the same dependencies."""
    edits = leaf_edits(sides) if path.endswith((".yaml", ".yml")) else ()
    return [edit for edit in edits or () if not is_version(edit) and not _HARMLESS_KEYS.fullmatch(edit.name)]


def _effect(path: str, files: Files) -> str:
    sides = files.texts.get(path, Sides())
    if path in files.removed:
        return f"`{printable(path)}` is deleted"
    edits = _edits(path, sides)
    effect = worst_effect(edits or [LeafEdit((printable(path),), sides.before, sides.after)])
    if path.endswith("CODEOWNERS"):
        return f"other code owners: {next(iter(changed_lines(path, sides)), 'not compared')}"
    if not effect and edits:
        effect = f"{edits[0]}" if len(edits) == 1 else f"{edits[0]} and {counted(len(edits) - 1, 'more values')}"
    return effect


def _stack_file(subject: Subject, path: str, files: Files, *, is_own: bool) -> Iterator[Finding]:
    """Yield the edited keys that Pulumi and its provider read."""
    if path in files.removed:
        sentence = "its stack file is deleted: nothing deploys it any more, and its resources are kept and billed"
        yield KIND.of(subject, sentence, "delete its resources first: pulumi destroy")
    edits = leaf_edits(files.texts.get(path, Sides())) if is_own and path not in files.removed else ()
    for edit in edits or ():
        if _FROM_STACK_FILE.fullmatch(edit.name) and not _HARMLESS_KEYS.fullmatch(edit.name):
            key = edit.name.removeprefix("config.")
            change = f"{shown(edit.before, key)} → {shown(edit.after, key)}"
            yield KIND.of(Subject("key", key), f"Pulumi deploys with another value: {change}", field=key)

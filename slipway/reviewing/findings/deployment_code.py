"""Edited files that deploy, review or grant permissions: the program, workflows, and what Pulumi and GitHub read. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.answers.comparison import Comparison
from slipway.base.formatting import few, first_lines
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import STACK_FILE, Files, Sides, deploys, has_pins, printable
from slipway.reviewing.change.leaves import LeafEdit, leaf_edits
from slipway.reviewing.change.lines import changed_lines, is_harmless
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.findings.workflows import worst_effect

KIND = KINDS["deployment-code-changed"]
_CI = re.compile(r"(?:.*/)?(?:\.github|\.gitlab|\.ci)/(.*)|(?:.*/)?(\.gitlab-ci\.yml)")
_LOCKS = re.compile(r"(.*/)?(uv\.lock|poetry\.lock|pyproject\.toml|\.pre-commit-config\.yaml)")
_OWN_FILES = ("Pulumi.yaml", "CODEOWNERS", "Makefile")
_ENCRYPTION = ("encryptionsalt", "secretsprovider", "encryptedkey")
_PLACE = ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")
_FIX = "have a code owner read the change"
_MOST_DETAILS = 60


def changed_deployment_code(comparison: Comparison, files: Files) -> Iterator[Finding]:
    grouped: dict[Subject, list[str]] = {}
    for path in sorted(files.touched):
        if _is_read(path, files):
            grouped.setdefault(_subject(path), []).append(path)
    for subject, paths in grouped.items():
        finding = _finding(subject, paths, files)
        if finding:
            yield finding
    yield from _stack_files(comparison, files)


def _is_read(path: str, files: Files) -> bool:
    if path in files.links:
        return True
    if not deploys(path) or has_pins(path):
        return False
    sides = files.texts.get(path)
    return sides is None or not is_harmless(path, sides)


def _subject(path: str) -> Subject:
    ci = _CI.fullmatch(path)
    name = path.rpartition("/")[2]
    if name in _OWN_FILES:
        return Subject("file", name)
    if ci:
        return Subject("workflow", printable(ci[1] or ci[2]).removeprefix("workflows/"))
    if path.startswith("policy/"):
        return Subject("policy pack")
    return Subject("program")


def _finding(subject: Subject, paths: list[str], files: Files) -> Finding | None:
    effects: list[str] = []
    details: list[str] = []
    edited: list[str] = []
    for path in paths:
        name = f"`{printable(path)}`"
        sides = files.texts.get(path)
        edits = _edits(path, sides) if sides else []
        if sides is None:
            details.append(_unread(name, path, files))
        elif edits:
            is_text = len(edits) == 1 and edits[0].key == path
            details += changed_lines(path, sides) if is_text else map(str, edits)
            effects.append(_effect(path, edits, files))
        if edits or sides is None:
            edited.append(name)
    if not edited:
        return None
    usual = f"{few(edited)} changed; the deployment or its review runs with such files"
    sentence = next(filter(None, effects), usual)
    finding = KIND.of(subject, sentence, _FIX, files=len(edited))
    return replace(finding, details=tuple(first_lines(details, _MOST_DETAILS)))


def _effect(path: str, edits: list[LeafEdit], files: Files) -> str:
    if path in files.removed:
        return f"`{printable(path)}` is deleted"
    effect = worst_effect(edits)
    if not effect and edits[0].key != path:
        more = f" and {len(edits) - 1} more values" if len(edits) > 1 else ""
        effect = f"{edits[0]}{more}"
    is_new = not files.texts[path].before
    return f"the file is new: {effect}" if is_new and effect else effect


def _unread(name: str, path: str, files: Files) -> str:
    if path in files.links:
        return f"{name} is a symbolic link, which is not read"
    if path in files.unread:
        return f"{name} is too large or not text, and was not compared"
    return f"{name} is edited"


def _edits(path: str, sides: Sides) -> list[LeafEdit]:
    """Return the edited values of a YAML file, without those that are dependencies, or the whole text as one value."""
    if path.endswith("CODEOWNERS"):
        return list(_owners(sides))
    if _LOCKS.fullmatch(path):
        return []
    edits = leaf_edits(sides) if path.endswith((".yaml", ".yml")) else None
    if edits is None:
        return [LeafEdit((path,), sides.before, sides.after)]
    return [edit for edit in edits if edit.key != "description" and not is_version(edit)]


def is_version(edit: LeafEdit) -> bool:
    """Return whether another version of the same action or image is used."""
    if edit.key not in ("uses", "image", "rev"):
        return False
    return re.split("[@:]", edit.before)[0] == re.split("[@:]", edit.after)[0] or edit.key == "rev"


def _owners(sides: Sides) -> Iterator[LeafEdit]:
    old = dict(_owner_lines(sides.before))
    new = dict(_owner_lines(sides.after))
    for path in dict.fromkeys((*old, *new)):
        if old.get(path) != new.get(path):
            yield LeafEdit(("CODEOWNERS", path), old.get(path, ""), new.get(path, ""))


def _owner_lines(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words:
            yield words[0], " ".join(words[1:]) or "nobody"


def _stack_files(comparison: Comparison, files: Files) -> Iterator[Finding]:
    for path in sorted(files.touched):
        match = STACK_FILE.fullmatch(path)
        if match is None:
            continue
        subject = Subject("stack", match[1])
        if path in files.removed:
            sentence = "its stack file is deleted: nothing deploys it any more, and its resources are kept and billed"
            yield KIND.of(subject, sentence, "delete its resources first: pulumi destroy")
        elif match[1] == comparison.stack and path in files.texts:
            yield from _stack_keys(subject, leaf_edits(files.texts[path]) or ())


def _stack_keys(subject: Subject, edits: Iterable[LeafEdit]) -> Iterator[Finding]:
    """Yield the edited keys that Pulumi and its provider read."""
    for edit in edits:
        key = edit.path[min(1, len(edit.path) - 1)]
        if edit.key in _ENCRYPTION:
            sentence = f"secrets are encrypted differently: {edit}"
            yield KIND.of(subject, sentence, "use pulumi stack change-secrets-provider", field=edit.key)
        elif edit.path[0] == "config" and not key.startswith("slipway:") and key not in _PLACE:
            subject_of_key = Subject("key", key)
            yield KIND.of(subject_of_key, f"Pulumi deploys with {shown(edit.after)}, was {shown(edit.before)}", field=key)

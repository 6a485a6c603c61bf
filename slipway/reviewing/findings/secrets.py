"""Likely secrets on added lines. They are never printed. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.authoring.stack.secrets import KEEP, address_has_secret, has_form, lines_have_secret
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import Files, printable
from slipway.reviewing.change.lines import added_lines

_ENCRYPTED = ("secure:", "encryptionsalt:", "encryptedkey:")
_HASHES = ("--hash", "sha256:", "uses:", "rev:")
_EXAMPLES = ("tests/", "docs/")


def plain_secrets(files: Files) -> Iterator[Finding]:
    for path in sorted(files.texts):
        sides = files.texts[path]
        is_example = path.startswith(_EXAMPLES) or path.endswith((".md", ".lock"))
        above = ""
        for number, line in enumerate(added_lines(sides), 1):
            if _is_secret(line, above, is_example=is_example):
                place = sides.after.splitlines().index(line) + 1
                sentence = f"line {place} has a likely secret, readable by anyone who can read the repository"
                subject = Subject("file", printable(path))
                yield KINDS["plain-secret"].of(subject, sentence, KEEP, line=place, added=number)
                break
            above = line


def _is_secret(line: str, above: str, *, is_example: bool) -> bool:
    if has_form(line) or address_has_secret(line):
        return True
    text = line.strip().removeprefix("- ")
    if is_example or text.startswith(_ENCRYPTED) or any(mark in text for mark in _HASHES):
        return False
    return lines_have_secret([line], [above])

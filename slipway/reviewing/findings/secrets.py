"""Likely secrets on added lines. They are never printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.authoring.stack.secrets import (
    KEEP,
    address_has_secret,
    certainly_secret,
    has_form,
    programs_with_keys,
)
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import Files, printable

_WIDEST = 4096
_SETTING = re.compile(r"""^\s*(?:- )?["']?([\w.:-]{1,60})["']?\s{0,9}[:=]\s{0,9}["']?([^\s"'#,]{4,})""")
_ENCRYPTED = re.compile(r"secure|encryptionsalt|encryptedkey|uses|rev|.*hash")


def plain_secrets(files: Files) -> Iterator[Finding]:
    for path, sides in sorted(files.texts.items()):
        known = {*sides.before.splitlines()}
        lines = sides.after.splitlines()
        found = [line for line in lines if line not in known and _has_secret(line[:_WIDEST])]
        for line in found[:1]:
            number = lines.index(line) + 1
            sentence = f"line {number} has a likely secret, readable by anyone who can read the repository"
            yield KINDS["plain-secret"].of(Subject("file", printable(path)), sentence, KEEP, line=number)


def _has_secret(line: str) -> bool:
    """Return whether a line has a secret's form, or sets a name of a secret to a random value or a password."""
    if has_form(line) or address_has_secret(line) or programs_with_keys({"line.py": line.encode()}):
        return True
    settings = [pair for pair in _SETTING.findall(line) if not _ENCRYPTED.fullmatch(pair[0])]
    return any(certainly_secret(value, name) for name, value in settings)

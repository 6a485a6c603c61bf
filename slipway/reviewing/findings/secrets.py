"""Likely secrets on added lines. They are never printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from slipway.authoring.stack.secrets import KEEP, address_has_secret, has_form, lines_have_secret
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import Files, printable

_ENCRYPTED = re.compile(r"\s*(- )?(secure|encryptionsalt|encryptedkey):|.*(--hash|sha256:|\buses:|\brev:|id-token)")
_EXAMPLES = re.compile(r"(tests|docs)/.*|.*\.(md|lock)", re.DOTALL)


def plain_secrets(files: Files) -> Iterator[Finding]:
    for path, sides in sorted(files.texts.items()):
        known = {*sides.before.splitlines()}
        is_secret = _has_form if _EXAMPLES.fullmatch(path) else _looks_secret
        for number, (above, line) in enumerate(pairwise(["", *sides.after.splitlines()]), 1):
            if line not in known and is_secret(line, above):
                sentence = f"line {number} has a likely secret, readable by anyone who can read the repository"
                yield KINDS["plain-secret"].of(Subject("file", printable(path)), sentence, KEEP, line=number)
                break


def _has_form(line: str, above: str) -> bool:
    return has_form(line) or address_has_secret(line)


def _looks_secret(line: str, above: str) -> bool:
    return _has_form(line, above) or (not _ENCRYPTED.match(line) and lines_have_secret([line], [above]))

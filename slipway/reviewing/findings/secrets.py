"""Likely secrets in added lines and in templates. They are never printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.answers.comparison import Comparison
from slipway.answers.masking import exposed, secrets_of
from slipway.authoring.stack.secrets import (
    KEEP,
    address_has_secret,
    certainly_secret,
    has_form,
    looks_secret,
    programs_with_keys,
)
from slipway.base import codec
from slipway.model.catalog.template import Template
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.files import Files, Sides, printable
from slipway.reviewing.findings.job_code import source_file

_WIDEST = 4096
_SETTING = re.compile(r"""^\s*(?:- )?["']?([\w.:-]{1,60})["']?\s{0,9}[:=]\s{0,9}["']?([^\s"'#,]{4,})""")
_ENCRYPTED = re.compile(r"secure|encryptionsalt|encryptedkey|uses|rev|.*hash")
_WITH_DIGIT = re.compile(r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[^\s_/]{6,}")
_PASS = re.compile(r"(?i)(.*[_-])?(pass|creds)[_-]?\d*")
_NAME_OF_SECRET = re.compile(r"[A-Za-z]+([-_](v?\d{1,8}|[A-Za-z]+\d{0,2}))*([:@/](versions/)?(\d{1,9}|latest))?")
"""The name of a secret in Secret Manager: words, with numbers apart from them."""


def plain_secrets(comparison: Comparison, files: Files) -> Iterator[Finding]:
    found: set[str] = set()
    for path, sides in sorted(files.texts.items()):
        number = _first_line(sides)
        if number:
            found.add(path)
            sentence = f"line {number} has a likely secret, readable by anyone who can read the repository"
            yield KINDS["plain-secret"].of(Subject("file", printable(path)), sentence, KEEP, line=number)
    for name, template in comparison.new.templates.items():
        names = _names(comparison.old.templates.get(name), template)
        if names and source_file(template) not in found:
            sentence = f"`{names[0]}` has a likely secret as its value, readable by anyone who can submit the template"
            yield KINDS["plain-secret"].of(Subject("template", name), sentence, KEEP)


def _first_line(sides: Sides) -> int:
    """Return the number of the first added line with a secret; 0 without one."""
    known = {*sides.before.splitlines()}
    for number, line in enumerate(sides.after.splitlines(), 1):
        if line not in known and _has_secret(line[:_WIDEST]):
            return number
    return 0


def _has_secret(line: str) -> bool:
    """Return whether a line has a secret's form, or sets a name of a secret to a random value or a password."""
    if has_form(line) or address_has_secret(line) or programs_with_keys({"line.py": line.encode()}):
        return True
    return any(_is_set(name, value) for name, value in _SETTING.findall(line))


def _is_set(name: str, value: str) -> bool:
    if _ENCRYPTED.fullmatch(name) or not certainly_secret(value, name):
        return False
    # A password may consist of words.
    return (looks_secret("word", name) and certainly_secret("word", name)) or not _NAME_OF_SECRET.fullmatch(value)


def _names(old: Template | None, new: Template) -> list[str]:
    """Return the names of secrets that a template newly has as plain values."""
    if old == new:
        return []
    known = secrets_of(codec.write(old)) if old else {}
    found = dict(exposed(old, new)) if old else {}
    for value, name in secrets_of(codec.write(new)).items():
        if value not in known and _is_sure(value, name):
            found[value] = name
    return sorted(found.values())


def _is_sure(value: str, name: str) -> bool:
    """Return whether a value is no column, word or name of a model, as a key or a token may be."""
    if has_form(value) or certainly_secret(value, name):
        return True
    is_credential = looks_secret("word", name) or _PASS.fullmatch(name) is not None
    return is_credential and _WITH_DIGIT.fullmatch(value) is not None

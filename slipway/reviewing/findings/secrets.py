"""Likely secrets in added lines and in templates. They are never printed. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import filterfalse, starmap

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
    numbers = {path: _first_line(sides) for path, sides in sorted(files.texts.items())}
    for path in filter(numbers.get, numbers):
        sentence = f"line {numbers[path]} has a likely secret, readable by anyone who can read the repository"
        subject = Subject("file", printable(path))
        yield KINDS["plain-secret"].of(subject, sentence, KEEP, line=numbers[path])
    for name, template in comparison.new.templates.items():
        names = _names(comparison.old.templates.get(name), template)
        is_told = numbers.get(source_file(template), 0) > 0
        if names and not is_told:
            sentence = f"`{names[0]}` has a likely secret as its value, readable by anyone who can submit the template"
            yield KINDS["plain-secret"].of(Subject("template", name), sentence, KEEP)


def _first_line(sides: Sides) -> int:
    """Return the number of the first added line with a secret; 0 without one."""
    lines = sides.after.splitlines()
    added = filterfalse(frozenset(sides.before.splitlines()).__contains__, lines)
    found = filter(_has_secret, added)
    return next((lines.index(line) + 1 for line in found), 0)


def _has_secret(whole_line: str) -> bool:
    """Return whether a line has a secret's form, or sets a name of a secret to a random value or a password."""
    line = whole_line[:_WIDEST]
    if has_form(line) or address_has_secret(line):
        return True
    if programs_with_keys({"line.py": line.encode()}):
        return True
    return any(starmap(_sets_secret, _SETTING.findall(line)))


def _sets_secret(name: str, value: str) -> bool:
    if _ENCRYPTED.fullmatch(name):
        return False
    # A password may be of words, as the name of a secret is.
    is_password = certainly_secret("word", name)
    is_reference = _NAME_OF_SECRET.fullmatch(value) and not is_password
    return certainly_secret(value, name) and not is_reference


def _names(old: Template | None, new: Template) -> list[str]:
    """Return the names of secrets that a template newly has as plain values."""
    if old == new:
        return []
    before = old or replace(new, offers=(), parameters=())
    known = secrets_of(codec.write(before))
    names = [*exposed(before, new).values()]
    after = secrets_of(codec.write(new))
    for value in after.keys() - known.keys():
        if _is_sure(value, after[value]):
            names.append(after[value])
    return sorted(names)


def _is_sure(value: str, name: str) -> bool:
    """Return whether a value is no column, word or name of a model, as a key or a token may be."""
    is_credential = looks_secret("word", name) or _PASS.fullmatch(name)
    if is_credential and _WITH_DIGIT.fullmatch(value):
        return True
    return has_form(value) or certainly_secret(value, name)

"""Notices as issues of a repository: which to open, change, close or leave alone. Pure; `slipway.reviewing.forges`
writes them.

An issue knows its notice by a hidden marker: kind, stack, subject and shape. The marker of a past notice has no shape,
so that its issue is reopened, and no second one made, when the notice comes back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slipway.base.codec import from_json
from slipway.model.findings.finding import Finding
from slipway.model.findings.markdown import code, text
from slipway.operating.notices.notice import KINDS, Notice, Notices

MOST = 10
"""The most issues that are opened or reopened at once; the rest waits for its turn."""
_LINES = 20
_LONGEST_TITLE = 200
_MARKER = re.compile(r"\A<!-- slipway-notice (?P<data>\{[^<>\n]*\}) -->\n?")
_KEYS = ("kind", "stack", "subject", "shape")
_FOOT = (
    "*Slipway keeps this issue: it is written anew only when the matter changes, and closed when it is over. Closing "
    "it by hand means that you know: it stays closed until the matter changes.*"
)


@dataclass(frozen=True)
class Issue:
    """An issue of Slipway's in the repository. `body` has the marker."""

    number: int
    open: bool
    body: str


@dataclass(frozen=True)
class IssueStep:
    """A change of an issue, described by `says`. `number`: of the issue, 0 for a new one. A `comment` is written below
    it, and nothing else; without one, `body`, and `title` where it has one, replace the present ones. `open`: its state
    afterwards, None for no change."""

    number: int
    says: str
    title: str = ""
    body: str = ""
    comment: str = ""
    open: bool | None = None


@dataclass(frozen=True)
class _Known:
    issue: Issue
    key: tuple[str, str, str]
    shape: str


def steps(told: Notices, issues: Iterable[Issue]) -> tuple[IssueStep, ...]:
    """Return the steps that make the issues tell the notices, in this order. Subjects that were not checked stay as
    they are."""
    known: dict[tuple[str, str, str], _Known] = {}
    # Among several for one subject, the open one counts, else the newest.
    for one in sorted(filter(None, map(_known, issues)), key=lambda one: (one.issue.open, one.issue.number)):
        known[one.key] = one
    wanted, found = {one.key for one in told.notices}, list[IssueStep]()
    for one in known.values():
        if one.key not in wanted and one.key[:2] in told.looked:
            found += _over(one)
    opened = 0
    for notice in sorted(told.notices, key=lambda one: (KINDS.index(one.kind), one.key)):
        there = known.get(notice.key)
        if there and there.shape == notice.shape:
            continue
        if there is None or not there.issue.open:
            opened += 1
            if opened > MOST:
                continue
        found += _told(notice, there)
    return tuple(found)


def _told(notice: Notice, there: _Known | None) -> Iterator[IssueStep]:
    # A title is plain text but for backticks.
    title = " ".join(notice.title.replace("`", "'").split())[:_LONGEST_TITLE]
    body = f"{_marker(notice.key, notice.shape)}{_lines(notice)}\n\n{_FOOT}\n"
    if there is None:
        yield IssueStep(0, f"opens an issue: {notice.title}", title, body)
        return
    number, changes = there.issue.number, there.issue.open
    says = f"{'changes' if changes else 'takes up again'} issue {number}: {notice.title}"
    yield IssueStep(number, says, title, body, open=None if changes else True)
    words = "It has changed." if there.shape else "It is so again."
    yield IssueStep(number, f"says so in {number}", comment=f"{words}\n\n{_lines(notice)}")


def _over(there: _Known) -> Iterator[IssueStep]:
    """Yield a comment and close the issue; it is told once, and an issue that a person has closed is closed already."""
    number, body = there.issue.number, _marker(there.key, "") + _MARKER.sub("", there.issue.body)
    if there.issue.open:
        yield IssueStep(number, f"says so in {number}", comment="It is over.")
        yield IssueStep(number, f"closes issue {number}: it is over", body=body, open=False)
    elif there.shape:
        yield IssueStep(number, f"marks issue {number} as over; it is closed already", body=body)


def _known(issue: Issue) -> _Known | None:
    """Read the marker; None where it was removed, or is invalid."""
    found = _MARKER.match(issue.body.replace("\r\n", "\n"))
    try:
        data = from_json(found["data"]) if found else None
    except ValueError:
        return None
    if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in _KEYS):
        return None
    kind, stack, subject, shape = (data[key] for key in _KEYS)
    return _Known(issue, (kind, stack, subject), shape)


def _marker(key: tuple[str, str, str], shape: str) -> str:
    data = json.dumps(dict(zip(_KEYS, (*key, shape), strict=True)))
    # None of its characters may end the comment that hides it.
    for sign in "<>-":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    return f"<!-- slipway-notice {data} -->\n"


def _lines(notice: Notice) -> str:
    shown = [f"- {text(one.sentence)}{_mend(one)}" for one in notice.lines[:_LINES]]
    left = len(notice.lines) - _LINES
    return "\n".join([*shown, *([f"- and {left} more"] if left > 0 else [])])


def _mend(line: Finding) -> str:
    """Return the command alone, so that it can be copied; a deletion without its condition must not be copied at
    all."""
    means = f" ({text(line.means)})" if line.means else ""
    return f": {code(line.fix)}{means}" if line.fix else ""

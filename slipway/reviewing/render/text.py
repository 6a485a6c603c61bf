"""A review as text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.answers.settings import Setting
from slipway.base.formatting import first_lines, short
from slipway.reviewing.render.headline import NOTHING, headline, standing_line
from slipway.reviewing.render.rows import Row, arranged
from slipway.reviewing.review import Review

_MOST_DETAILS = 20
_LONGEST_VALUE = 120


def plain_text(review: Review, untouched: str = NOTHING, *, details: bool = True) -> str:
    """Return lines without a final newline, names unchanged for copying.

    `untouched` is printed if nothing changes. `details` adds what a comment folds: affected jobs, code, settings.
    """
    lines = [f"✓ {untouched}"] if review.silent else list(_changes(review, details=details))
    lines += _listed("existing problems", review.standing)
    return "\n".join(lines).replace("`", "")


def _changes(review: Review, *, details: bool) -> Iterator[str]:
    rows = arranged((review,))
    yield headline((review,), rows)
    for heading, part in review.gaps:
        yield f"{heading.lower()}: {part}"
    yield from map(_row, rows.opened)
    yield from _listed("other findings", map(_row, rows.folded), indent="")
    yield standing_line(review)
    if details:
        for row in rows.with_more:
            yield from _listed(str(row.resource), dict.fromkeys(_details(row)))
        yield from _listed("settings", map(_setting, review.settings))
    yield from _listed("the program warns, in its own words", review.quoted)


def _row(row: Row) -> str:
    place = f"  [{row.lead.field}]" if row.lead.field else ""
    return f"  {row.sign} {row.resource}: {row.text}{row.remark}{place}"


def _details(row: Row) -> Iterator[str]:
    """Yield what the row does not say."""
    for finding in row.findings:
        if finding not in row.shown:
            yield row.whole(finding)
        yield from first_lines(finding.details, _MOST_DETAILS)


def _listed(title: str, lines: Iterable[str], indent: str = "  ") -> Iterator[str]:
    """Yield lines below their title; nothing without any."""
    listed = list(lines)
    if listed:
        yield title
    for line in listed:
        yield f"{indent}{line}"


def _setting(row: Setting) -> str:
    return f"{row.subject} {row.key}: {shown_value(row.before)} → {shown_value(row.after)}"


def shown_value(value: object) -> str:
    """Return a value of a setting, short; a dash if it is not set."""
    if value is None or value == "":
        return "–"
    return short(str(value), _LONGEST_VALUE)

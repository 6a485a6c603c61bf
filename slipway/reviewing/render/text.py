"""A review as text for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.answers.settings import Setting
from slipway.base.formatting import first_lines, short
from slipway.model.findings.finding import Finding
from slipway.reviewing.render.headline import NOTHING, headline, standing_line, summary
from slipway.reviewing.render.rows import ON_MAIN, SIGNS, Row, arranged, fix_text
from slipway.reviewing.review import Review

_MOST_DETAILS = 20
_LONGEST_VALUE = 120


def plain_text(review: Review, untouched: str = NOTHING, *, details: bool = True) -> str:
    """Return lines without a final newline, names unchanged for copying.

    Args:
        review: The review.
        untouched: The words if nothing changes.
        details: Whether to print what a comment folds: affected jobs, code, settings.
    """
    rows = arranged((review,))
    unchanged = not (review.findings or review.incomplete)
    lines = [summary((review,), rows, untouched)] if unchanged else [headline((review,), rows)]
    lines += [f"{heading.lower()}: {part}" for heading, part in review.gaps]
    lines += [_row(row) for row in rows.opened]
    if rows.folded and rows.opened:
        lines.append("other findings")
    lines += [_row(row) for row in rows.folded]
    if not unchanged:
        lines += filter(None, [standing_line(review)])
    if details:
        for row in rows.all:
            lines += _details(row)
        lines += _settings(review.settings)
    lines += _listed("existing problems", review.standing)
    lines += _listed("the program warns, in its own words", review.quoted)
    return "\n".join(lines).replace("`", "")


def _row(row: Row) -> str:
    main = f" ({ON_MAIN})" if row.on_main else ""
    field = f"  [{row.lead.field}]" if row.lead.field else ""
    return f"  {row.sign} {row.resource}: {row.text}{main}{field}"


def _details(row: Row) -> Iterator[str]:
    """Yield what the row does not say, below the resource."""
    hidden = [finding for finding in row.findings if finding not in row.shown]
    folded = [finding for finding in row.findings if finding.details or finding in hidden]
    if not folded:
        return
    yield str(row.resource)
    for finding in folded:
        if finding in hidden:
            yield f"  {SIGNS[finding.grade]} {row.sentence(finding)}{_fix(finding)}"
        for line in first_lines(finding.details, _MOST_DETAILS):
            yield f"    {line}"


def _fix(finding: Finding) -> str:
    return f". {fix_text(finding)}" if finding.fix else ""


def _settings(settings: Iterable[Setting]) -> Iterator[str]:
    lines = [f"{row.subject} {row.key}: {shown_value(row.before)} → {shown_value(row.after)}" for row in settings]
    yield from _listed("settings", lines)


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield title
        for line in listed:
            yield f"  {line}"


def shown_value(value: object) -> str:
    """Return a value of a setting, short; a dash if it is not set."""
    if value is None or value == "":
        return "–"
    return short(str(value), _LONGEST_VALUE)

"""The comment of a change: Markdown within the forges' limits, one screen before it folds. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from slipway.answers.settings import Setting
from slipway.base.formatting import counted, first_lines, short
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.markdown import block, code, folded, text
from slipway.reviewing.render.headline import headline, standing_line
from slipway.reviewing.render.rows import ON_MAIN, SIGNS, Row, Rows, arranged, fix_text
from slipway.reviewing.render.text import shown_value
from slipway.reviewing.review import Review

_MARK = "<!-- slipway-review"
MARKER = f"{_MARK} -->"
"""The mark by which a workflow finds its own comment if the project is the whole repository."""
LIMIT = 65_000
"""The most characters: GitHub takes 65,536, GitLab 1,000,000."""
_LONGEST = 900
_LONGEST_NAME = 200
_LONGEST_LINE = 300
_DIFF = ("+", "-", "@@")
"""Beginnings of a diff's lines."""
_FORMS = ((100, 2000), (12, 200), (4, 50), (0, 0))
"""The most lines of details of a finding and the most settings, from the longest form of a comment to the shortest."""


@dataclass(frozen=True)
class Place:
    """The place of a comment."""

    #: The git tree of the merge result.
    tree: str = ""
    #: The commit whose code reviews it.
    base: str = ""
    #: The forge's word for the merged change.
    change: str = "pull request"
    #: The project's folder; empty if the project is the whole repository.
    folder: str = ""


def mark(folder: str) -> str:
    """Return the mark of a comment. Each of several projects in a repository has its own."""
    if not folder:
        return MARKER
    return f"{_MARK} of {quote(folder, safe='/ ')} -->"


def comment(reviews: Sequence[Review], place: Place | None = None) -> str:
    """Return the comment, ending with a newline. If it is too long it lacks the plan, then details, and says so."""
    place = place or Place()
    rows = arranged(reviews)
    title = text(short(headline(reviews, rows, folder=place.folder), _LONGEST))
    start = f"{mark(place.folder)}\n### {title}\n"
    opened = [_table(rows.opened, reviews), *_gaps(reviews)]
    if not all(review.silent for review in reviews):
        opened.append(_standing_lines(reviews))
    end = _footer(reviews, place)
    for below in _forms(reviews, rows):
        body = "\n\n".join(part for part in (*opened, *below) if part)
        whole = f"{start}\n{body}\n{end}" if body else f"{start}{end}"
        if len(whole) <= LIMIT:
            return whole
    return f"{start}\nToo long for a comment: `slipway review` prints it.\n"


def _table(rows: Sequence[Row], reviews: Sequence[Review]) -> str:
    """Return the table of the open rows. Reviews of several stacks have a column with the stacks."""
    if not rows:
        return ""
    several = len(reviews) > 1
    lines = ["|   | stack | resource | change |", "|---|---|---|---|"] if several else _HEAD
    shown = list(lines)
    for row in rows:
        cells = [row.sign, _resource(row.resource), _shown(row.text)]
        if several:
            cells.insert(1, _stacks(row.stacks))
        shown.append(f"| {' | '.join(cells)} |")
    return "\n".join(shown)


_HEAD = ["|   | resource | change |", "|---|---|---|"]


def _resource(resource: Subject) -> str:
    """Return `template `gemma2-lora``."""
    what = text(short(resource.what, _LONGEST_NAME))
    if not resource.name:
        return what
    return f"{what} {code(short(resource.name, _LONGEST_NAME))}"


def _stacks(stacks: Iterable[str]) -> str:
    return ", ".join(code(short(stack, _LONGEST_NAME)) for stack in stacks)


def _gaps(reviews: Sequence[Review]) -> Iterator[str]:
    """Yield the parts that are unknown, with their stacks if not all have them."""
    unknown: dict[tuple[str, str], list[str]] = {}
    for review in reviews:
        for gap in review.gaps:
            unknown.setdefault(gap, []).append(review.stack)
    for (heading, part), stacks in unknown.items():
        whose = f"{_stacks(stacks)}: " if len(stacks) < len(reviews) else ""
        yield f"> **{heading}:** {whose}{_shown(part)}"


def _standing_lines(reviews: Sequence[Review]) -> str:
    lines = []
    for review in reviews:
        line = _shown(standing_line(review))
        if line and len(reviews) > 1:
            line = f"{_stacks([review.stack])}: {line}"
        if line:
            lines.append(line)
    return "<br>\n".join(lines)


def _forms(reviews: Sequence[Review], rows: Rows) -> Iterator[list[str]]:
    """Yield the folded parts, from the longest form to the shortest."""
    beside = [*_problems(reviews), *_quoted(reviews)]
    plans = list(_plans(reviews))
    for number, (most_details, most_settings) in enumerate(_FORMS):
        changes = _changes(reviews, rows, most_details, most_settings)
        if number == 0 and plans:
            yield [changes, *beside, *plans]
        shorter = []
        if plans:
            shorter.append("The plan is too long for a comment; the log of the preview has it.")
        if number > 0:
            shorter.append("Details are too long for a comment: `slipway review` prints them.")
        yield [changes, *beside, *shorter]


def _changes(reviews: Sequence[Review], rows: Rows, most_details: int, most_settings: int) -> str:
    """Return the fold of everything that changes: findings that are not open, details of all, and settings."""
    parts = []
    length = 0
    for row in rows.all:
        if row in rows.opened and row.says_all:
            continue
        parts.append(_folded_row(row, reviews, most_details))
        length += len(parts[-1])
        if length > LIMIT:  # A shorter form is taken, whatever follows.
            break
    settings = [(review.stack, row) for review in reviews for row in review.settings]
    if settings and most_settings:
        parts.append(_settings(settings, most_settings, several=len(reviews) > 1))
    if not parts:
        return ""
    counts = []
    if settings:
        counts.append(counted(len(settings), "setting"))
    if rows.folded:
        counts.append(counted(len(rows.folded), "more resource"))
    title = f"All changes ({', '.join(counts)})" if counts else "All changes"
    return folded(title, "\n\n".join(parts))


def _folded_row(row: Row, reviews: Sequence[Review], most: int) -> str:
    """Return a resource with all findings, their details and places."""
    title = f"**{row.sign} {_resource(row.resource)}**"
    if len(reviews) > 1:
        title = f"{title} ({_stacks(row.stacks)})"
    if row.on_main:
        title = f"{title} ({ON_MAIN})"
    return "\n\n".join((title, *(_folded_finding(row, finding, most) for finding in row.findings)))


def _folded_finding(row: Row, finding: Finding, most: int) -> str:
    sentences = [row.sentence(finding)]
    if finding.fix:
        sentences.append(fix_text(finding))
    if finding.means:
        sentences.append(finding.means)
    origin = code(finding.kind)
    if finding.field:
        origin = f"{origin}, {code(short(finding.field, _LONGEST_NAME))}"
    lines = [f"- {SIGNS[finding.grade]} {_shown('. '.join(sentences))} ({origin})"]
    if most:
        lines += _details(first_lines(finding.details, most))
    return "\n".join(lines)


def _details(lines: Iterable[str]) -> Iterator[str]:
    """Yield details as a list, and lines of a diff as a block."""
    diff: list[str] = []
    for line in lines:
        if line.startswith(_DIFF):
            diff.append(short(line, _LONGEST_LINE))
            continue
        if diff:
            yield _diff(diff)
            diff = []
        yield f"  - {_shown(line)}"
    if diff:
        yield _diff(diff)


def _diff(lines: Iterable[str]) -> str:
    return f"\n{block(chr(10).join(lines), 'diff')}\n"


def _settings(settings: Sequence[tuple[str, Setting]], most: int, *, several: bool) -> str:
    """Return the table of changed settings."""
    lines = ["| resource | setting | before → after |", "|---|---|---|"]
    for stack, row in settings[:most]:
        whose = f"{_stacks([stack])} " if several else ""
        key = code(short(row.key, _LONGEST_NAME))
        sides = f"{_value(row.before)} → {_value(row.after)}"
        lines.append(f"| {whose}{_resource(Subject.read(row.subject))} | {key} | {sides} |")
    if len(settings) > most:
        lines.append(f"| and {len(settings) - most:,} more | | |")
    return "\n".join(lines)


def _value(value: object) -> str:
    shown = shown_value(value)
    return shown if shown == "–" else code(shown)


def _problems(reviews: Sequence[Review]) -> Iterator[str]:
    """Yield the fold of existing problems."""
    lines = []
    for review in reviews:
        whose = f"{_stacks([review.stack])}: " if len(reviews) > 1 else ""
        lines += [f"- {whose}{_shown(problem)}" for problem in review.standing]
    if lines:
        yield folded(f"{counted(len(lines), 'existing problem')} that this change did not cause", "\n".join(lines))


def _quoted(reviews: Iterable[Review]) -> Iterator[str]:
    for review in reviews:
        if review.quoted:
            title = f"Warnings of the program of {review.stack}, in its own words: {len(review.quoted)}"
            yield folded(title, block("\n".join(review.quoted)))


def _plans(reviews: Iterable[Review]) -> Iterator[str]:
    for review in reviews:
        if review.plan:
            title = f"Pulumi's plan of {review.stack}: {counted(len(review.plan), 'step')}"
            yield folded(title, block("\n".join(review.plan)))


def _footer(reviews: Sequence[Review], place: Place) -> str:
    """Return how the review was made, and what an approval covers."""
    notes = dict.fromkeys(note for review in reviews for note in review.notes)
    parts = [_shown(note) for note in notes]
    if place.tree and not any(review.refused for review in reviews):
        parts.append(f"an approval of this {place.change} is of the tree {code(place.tree[:12])}")
    if place.base:
        parts.append(f"reviewed by the code of {code(place.base[:12])}")
    return f"\n<sub>{'; '.join(parts)}</sub>\n" if parts else ""


def _shown(words: str) -> str:
    return text(short(words, _LONGEST))

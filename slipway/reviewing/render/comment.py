"""The comment of a change: Markdown within the forges' limits, one screen before it folds. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from urllib.parse import quote

from slipway.base.formatting import counted, first_lines, short
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.markdown import block, code, folded, text
from slipway.reviewing.render.headline import headline, standing_line
from slipway.reviewing.render.rows import Row, Rows, arranged
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
_HEAD = ("|   | resource | change |", "|---|---|---|")
_HEAD_OF_SETTINGS = ("| resource | setting | before → after |", "|---|---|---|")
_FORMS = ((12, 200), (4, 50), (0, 0))
"""The most lines of details of a finding and the most settings in forms without the plan, the longest first."""
_CUT = "The rest is too long for a comment: `slipway review` prints it, and the log of the preview has the plan."


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
    end = _footer(reviews, place)
    opened = (_table(rows.opened, reviews), _gaps(reviews), _standing_lines(reviews))
    for below in _forms(reviews, rows):
        parts = [part for part in (*opened, *below) if part]
        whole = "\n".join((start, "\n\n".join(parts), end))
        if len(whole) <= LIMIT:
            return f"{whole.strip()}\n"
    return f"{start}\nToo long for a comment: `slipway review` prints it.\n"


def _table(rows: Iterable[Row], reviews: Sequence[Review]) -> str:
    """Return the table of the open rows; empty without any."""
    lines = [_line(row.sign, _whose(row.stacks, reviews) + _resource(row.resource), _shown(row.text)) for row in rows]
    return _below(_HEAD, lines)


def _below(head: Iterable[str], lines: Sequence[str]) -> str:
    return "\n".join((*head, *lines)) if lines else ""


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _resource(resource: Subject) -> str:
    """Return `template `gemma2-lora``."""
    what = text(short(resource.what, _LONGEST_NAME))
    return f"{what} {code(short(resource.name, _LONGEST_NAME))}".strip()


def _whose(stacks: Sequence[str], reviews: Sequence[Review]) -> str:
    """Return `` `dev`, `prod`:  `` before what not all stacks have."""
    if len(stacks) == len(reviews):
        return ""
    return f"{', '.join(code(short(stack, _LONGEST_NAME)) for stack in stacks)}: "


def _gaps(reviews: Sequence[Review]) -> str:
    """Return the parts that are unknown."""
    unknown: dict[tuple[str, str], list[str]] = defaultdict(list)
    for review in reviews:
        for gap in review.gaps:
            unknown[gap].append(review.stack)
    return "\n\n".join(
        f"> **{heading}:** {_whose(stacks, reviews)}{_shown(part)}" for (heading, part), stacks in unknown.items()
    )


def _standing_lines(reviews: Sequence[Review]) -> str:
    """Return the line of each stack that is not silent with its cost, quota and policy."""
    lines = [
        f"{_whose([review.stack], reviews)}{_shown(standing_line(review))}" for review in reviews if not review.silent
    ]
    return "<br>\n".join(lines)


def _forms(reviews: Sequence[Review], rows: Rows) -> Iterator[list[str]]:
    """Yield the folded parts, from the longest form to the shortest."""
    yield [_changes(reviews, rows, most_details=100, most_settings=2000), *_folds(reviews, plan=True)]
    others = _folds(reviews, plan=False)
    for most_details, most_settings in _FORMS:
        yield [_changes(reviews, rows, most_details, most_settings), *others, _CUT]


def _changes(reviews: Sequence[Review], rows: Rows, most_details: int, most_settings: int) -> str:
    """Return the fold of everything that changes: findings that are not open, details of all, and settings."""
    parts = []
    length = 0
    for row in rows.with_more:
        parts.append(_folded_row(row, reviews, most_details))
        length += len(parts[-1])
        if length > LIMIT:  # A shorter form is taken, whatever follows.
            break
    settings = list(_settings(reviews))
    parts.append(_below(_HEAD_OF_SETTINGS, first_lines(settings, most_settings)))
    body = "\n\n".join(filter(None, parts))
    if not body:
        return ""
    counts = f"{counted(len(settings), 'setting')}, {counted(len(rows.folded), 'more resource')}"
    return folded(f"All changes ({counts})", body)


def _folded_row(row: Row, reviews: Sequence[Review], most: int) -> str:
    """Return a resource with all findings, their details and places."""
    lines = [f"**{row.sign} {_whose(row.stacks, reviews)}{_resource(row.resource)}**{row.remark}", ""]
    for finding in row.findings:
        origin = code(", ".join(filter(None, (finding.kind, short(finding.field, _LONGEST_NAME)))))
        lines.append(f"- {_shown(row.whole(finding))} ({origin})")
        lines += _details(finding, most)
    return "\n".join(lines)


def _details(finding: Finding, most: int) -> Iterator[str]:
    """Yield the details of a finding as a list, lines of a diff as a block."""
    lines = first_lines(finding.details, most)
    for is_diff, some in groupby(lines, lambda line: line.startswith(_DIFF)):
        if is_diff:
            diff = "\n".join(short(line, _LONGEST_LINE) for line in some)
            yield f"\n{block(diff, 'diff')}\n"
        else:
            yield from (f"  - {_shown(line)}" for line in some)


def _settings(reviews: Sequence[Review]) -> Iterator[str]:
    """Yield a line for each changed setting."""
    for review in reviews:
        whose = _whose([review.stack], reviews)
        for row in review.settings:
            sides = f"{code(shown_value(row.before))} → {code(shown_value(row.after))}"
            key = code(short(row.key, _LONGEST_NAME))
            yield _line(whose + _resource(Subject.read(row.subject)), key, sides)


def _folds(reviews: Sequence[Review], *, plan: bool) -> list[str]:
    """Return the folds of existing problems, of what programs print, and of Pulumi's plan."""
    problems = []
    for review in reviews:
        whose = _whose([review.stack], reviews)
        problems += [f"- {whose}{_shown(problem)}" for problem in review.standing]
    title = f"{counted(len(problems), 'existing problem')} that this change did not cause"
    bodies = {title: "\n".join(problems)}
    for review in reviews:
        bodies[f"Warnings of the program of {review.stack}, in its own words"] = _block(review.quoted)
        steps = review.plan if plan else ()
        bodies[f"Pulumi's plan of {review.stack}: {counted(len(steps), 'step')}"] = _block(steps)
    return [folded(title, body) for title, body in bodies.items() if body]


def _block(lines: Sequence[str]) -> str:
    return block("\n".join(lines)) if lines else ""


def _footer(reviews: Sequence[Review], place: Place) -> str:
    """Return how the review was made, and what an approval covers."""
    notes = dict.fromkeys(note for review in reviews for note in review.notes)
    parts = list(map(_shown, notes))
    if place.tree and not any(review.refused for review in reviews):
        parts.append(f"an approval of this {place.change} is of the tree {code(place.tree[:12])}")
    if place.base:
        parts.append(f"reviewed by the code of {code(place.base[:12])}")
    return f"\n<sub>{'; '.join(parts)}</sub>\n" if parts else ""


def _shown(words: str) -> str:
    return text(short(words, _LONGEST))

"""The comment of a pull request: Markdown within GitHub's limit, one screen before it folds. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from slipway.errors import ConfigError
from slipway.findings.finding import Finding, Grade, Section, gravest_first
from slipway.findings.markdown import block, code, folded, text
from slipway.formatting import counted, short
from slipway.review.money import Amount
from slipway.review.rendering.headline import (
    NOTHING,
    ON_MAIN,
    SIGNS,
    first_of,
    headline,
)
from slipway.review.review import Review, read_all, write

MARKER = "<!-- slipway-review -->"
"""What a workflow finds its own comment by."""
LIMIT = 65_000
"""Characters: GitHub takes 65,536."""
_DATA = "<!-- slipway-review-data "
_LARGEST_DATA = 40_000
_VISIBLE, _DETAILS = 12, 4
_LONGEST = 900
_LONGEST_NAME = 200
_HEADS = ("stack", "clusters", "templates", "idle $/h", "max $/h", "quota", "policy")
_OF_CLUSTERS = {
    "cluster-deleted": ("deleted", True),
    "cluster-retires": ("retires", True),
    "cluster-new-generation": ("new generation", True),
    "cluster-in-place": ("replaced in place", True),
    "cluster-created": ("new", False),
    "cluster-returns": ("returns", False),
    "cluster-falls-back": ("returns", False),
    "cluster-cleared": ("cleared", False),
    "cluster-overdue": ("overdue", True),
    "cluster-unsaid": ("not as said", True),
    "cluster-protection": ("protection", True),
    "season-changed": ("season", False),
}
"""What becomes of a cluster, and whether that should catch the eye."""


@dataclass(frozen=True)
class Place:
    """The place of a comment. `tree`: the git tree of the merge result; `base`: the commit whose code reviews it."""

    tree: str = ""
    base: str = ""


_SIZES = ((True, True, 1000), (False, True, 1000), (False, True, _DETAILS), (False, True, 0), (False, False, 0))
"""From the longest form to the shortest: with plans, with consequences behind a fold, with so many details of each."""


def comment(reviews: Sequence[Review], place: Place | None = None) -> str:
    """Ends with a newline. Where it would be too long it goes without plans, then without details, and says so."""
    place = place or Place()
    if all(review.silent for review in reviews):
        return f"{MARKER}\n### ✓ {NOTHING}\n\n{_footer(reviews, place)}{_data(reviews, place)}\n"
    whole = ""
    for plans, folds, details in _SIZES:
        whole = _whole(reviews, place, details, plans=plans, folds=folds)
        if len(whole) <= LIMIT:
            break
    return whole


def contents(comment_text: str, source: str) -> tuple[tuple[Review, ...], str]:
    """The reviews that a comment was made of, and the tree they are of. Raises ConfigError where it has none.

    The last remark is the comment's own: before it stand names that anybody may have chosen, such as a forged one.
    """
    _, found, rest = comment_text.rpartition(_DATA)
    try:
        packed = base64.b64decode(rest.partition(" ")[0], validate=True)
        body = json.loads(zlib.decompress(packed)) if found else None
    except (binascii.Error, zlib.error, ValueError, RecursionError):
        body = None
    if not isinstance(body, dict) or not isinstance(body.get("reviews"), list):
        raise ConfigError(
            f"{source} has no review in it",
            why="a comment of slipway review carries its consequences in a remark at its end",
            fix="give the comment as it is, or what slipway review --output json wrote",
        )
    return read_all(body["reviews"], source), str(body.get("tree", ""))


def _whole(reviews: Sequence[Review], place: Place, details: int, *, plans: bool, folds: bool) -> str:
    shown, rest = _chosen(reviews)
    parts = [f"{MARKER}\n### {text(headline(reviews))}"]
    parts += [
        f"> **incomplete**: {_named(one.stack, reviews)}{_shown(line)}" for one in reviews for line in one.incomplete
    ]
    parts += [_table(reviews), *_sections(shown, min(details, _DETAILS), reviews)]
    more = counted(len(rest), "more consequence")
    if rest and folds:
        parts.append(folded(more, "\n\n".join(_sections(rest, details, reviews))))
    elif rest:
        parts.append(f"{more}: too long for a comment, `slipway review` prints them.")
    standing = [f"- {_named(one.stack, reviews)}{_shown(line)}" for one in reviews for line in one.standing]
    if standing and folds:
        remarks = f"{counted(len(standing), 'remark')} on what is not this change's doing"
        parts.append(folded(remarks, "\n".join(standing)))
    planned = [one for one in reviews if one.plan]
    if planned and not plans:
        parts.append("The plan is too long for a comment; the log of the preview has it.")
    for one in planned if plans else ():
        parts.append(folded(f"plan of {text(one.stack)}: {counted(len(one.plan), 'step')}", block("\n".join(one.plan))))
    return "\n\n".join(parts) + f"\n\n{_footer(reviews, place)}{_data(reviews, place)}\n"


Chosen = tuple[tuple[Review, Finding], ...]


def _chosen(reviews: Sequence[Review]) -> tuple[Chosen, Chosen]:
    """Choose what is seen at once, the gravest first, and what is folded: what is only for knowing, where it is not
    alone."""
    every = [(review, one) for review in reviews for one in review.consequences]
    few = len(every) <= _VISIBLE // 2
    grave = [pair for pair in every if few or pair[1].grade > Grade.NOTE]
    chosen = {id(one) for _, one in sorted(grave, key=lambda pair: -pair[1].grade)[:_VISIBLE]}
    shown = tuple(pair for pair in every if id(pair[1]) in chosen)
    return shown, tuple(pair for pair in every if id(pair[1]) not in chosen)


def _sections(chosen: Chosen, details: int, reviews: Sequence[Review]) -> Iterator[str]:
    """A field that did several things is named with the first of them."""
    for section, _ in gravest_first(one for _, one in chosen):
        told: set[tuple[str, str]] = set()
        lines = [f"**{section.value}**"]
        for review, one in (pair for pair in chosen if pair[1].section is section):
            known = not one.field or (review.stack, one.field) in told
            where = "" if known else f" ({code(short(one.field, _LONGEST_NAME))})"
            already = f" *({ON_MAIN})*" if one.key in review.on_main else ""
            told.add((review.stack, one.field))
            lines.append(f"- {SIGNS[one.grade]} {_named(review.stack, reviews)}{_shown(one.sentence)}{where}{already}")
            lines += [f"  - {_shown(line)}" for line in first_of(one.details, details)]
        yield "\n".join(lines)


def _named(stack: str, reviews: Sequence[Review]) -> str:
    return f"{code(stack)}: " if len(reviews) > 1 else ""


def _table(reviews: Sequence[Review]) -> str:
    lines = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    lines += [f"| {' | '.join(_row(one))} |" for one in reviews]
    return "\n".join(lines)


def _row(review: Review) -> tuple[str, ...]:
    clusters: dict[str, str] = {}
    templates: dict[str, Grade] = {}
    for one in review.consequences:
        name = one.subject.name or one.subject
        if one.section is Section.CLUSTERS and one.kind in _OF_CLUSTERS:
            words, strong = _OF_CLUSTERS[one.kind]
            clusters.setdefault(name, _cell(f"{name} {words}", strong=strong))
        elif one.section is Section.TEMPLATES:
            templates[name] = max(one.grade, templates.get(name, Grade.NOTE))
    money = review.money
    return (
        text(review.stack),
        _few(clusters.values()),
        _few(_cell(name, strong=grade is Grade.BLOCKING) for name, grade in templates.items()),
        *(_amount(one) for one in ((money.idle, money.most) if money else (None, None))),
        _cell(review.quota or "?", strong=review.quota not in ("ok", "nothing drawn", "")),
        _cell(review.policy or "?", strong=review.policy not in ("ok", "none", "")),
    )


def _few(cells: Iterable[str]) -> str:
    listed = list(cells)
    return ", ".join([*listed[:6], f"{len(listed) - 6} more"] if len(listed) > 6 else listed) or "–"


def _amount(amount: Amount | None) -> str:
    if amount is None:
        return "?"
    before, after = (
        "?" if one.unknown else f"{one.known:,.2f}{'' if one.complete else '+'}"
        for one in (amount.before, amount.after)
    )
    same = amount.before == amount.after
    return after if same else _cell(f"{before} → {after}", strong=amount.difference > 0)


def _cell(words: str, *, strong: bool) -> str:
    shown = text(short(words, _LONGEST_NAME))
    return f"**{shown}**" if strong else shown


def _footer(reviews: Sequence[Review], place: Place) -> str:
    words = [text(note) for note in dict.fromkeys(note for one in reviews for note in one.notes)]
    if place.tree:
        words.append(f"an approval of this pull request holds for the tree {code(place.tree[:12])}")
    if place.base:
        words.append(f"judged by the code of {code(place.base[:12])}")
    return f"<sub>{'; '.join(words)}</sub>\n" if words else ""


def _data(reviews: Sequence[Review], place: Place) -> str:
    """Return what an approval holds on to, without sentences: who approves has read those, and they are long. Nobody
    can approve more than a comment holds: a deployment of that has to be insisted on."""
    whole = _encoded([_bare(review) for review in reviews], place)
    if len(whole) <= _LARGEST_DATA:
        return whole
    held = "consequences are more than a comment can hold"
    unheld = (Review(one.stack, incomplete=(f"{len(one.consequences)} {held}",), money=one.money) for one in reviews)
    return _encoded(unheld, place)


def _bare(review: Review) -> Review:
    bare = tuple(replace(one, sentence="", clause="", details=()) for one in review.consequences)
    return replace(review, consequences=bare, standing=(), plan=())


def _encoded(bare: Iterable[Review], place: Place) -> str:
    body = {"tree": place.tree, "reviews": [write(review) for review in bare]}
    packed = zlib.compress(json.dumps(body, separators=(",", ":")).encode(), 9)
    return f"{_DATA}{base64.b64encode(packed).decode()} -->"


def _shown(words: str) -> str:
    return text(short(words, _LONGEST))

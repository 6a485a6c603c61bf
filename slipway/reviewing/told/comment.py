"""The comment of a change: Markdown within GitHub's limit, one screen before it folds. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from slipway.base.formatting import counted, few, short
from slipway.model.findings.finding import Grade, Section
from slipway.model.findings.kinds import FAILED, FOLLOWING, REFUSING
from slipway.model.findings.markdown import block, code, folded, text
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.reviewing.review import Review
from slipway.reviewing.rules.money import Amount, Money
from slipway.reviewing.told.headline import NOTHING, first_of, headline
from slipway.reviewing.told.lines import CommentLine, Told, lines

_MARKED = "<!-- slipway-review"
MARKER = f"{_MARKED} -->"
"""The mark by which a workflow finds its own comment, where the project is the whole repository."""
LIMIT = 65_000
"""The most characters: GitHub takes 65,536."""
_LONGEST = 900
_LONGEST_NAME = 200
_HEADS = ("stack", "what changes", "clusters, $ a month", "quota", "policy")
_SINCE = (
    "all this comes once it is merged and deployed, and for jobs that are submitted then, unless a line says otherwise"
)
_OF_CLUSTERS = {
    "cluster-deleted": ("is deleted", True),
    "cluster-retires": ("goes", True),
    "cluster-new-generation": ("is made anew", True),
    "cluster-in-place": ("is deleted, then made anew", True),
    "cluster-created": ("is made", False),
    "cluster-returns": ("comes back", False),
    "cluster-falls-back": ("comes back", False),
    "cluster-cleared": ("failed, is cleared", False),
    "cluster-overdue": ("should be gone", True),
    "cluster-unsaid": ("not as the program says", True),
}
"""The fate of a cluster, and whether it should be highlighted."""


@dataclass(frozen=True)
class Place:
    """The place of a comment. `tree`: the git tree of the merge result; `base`: the commit whose code reviews it;
    `change`: a forge's word for the merged change; `folder`: the project's, empty where it is the whole repository."""

    tree: str = ""
    base: str = ""
    change: str = "pull request"
    folder: str = ""


def mark(folder: str) -> str:
    """Return the mark of a comment: each of several projects in a repository has its own."""
    named = re.sub(r"[^\w./ -]", "?", folder.removeprefix("./").strip("/"))
    return f"{_MARKED} of {named} -->" if named not in ("", ".") else MARKER


_SIZES = ((True, True, 100), (False, True, 100), (False, True, 4), (False, True, 0), (False, False, 0))
"""The forms from the longest to the shortest: with plans, with notes, and the number of details of each finding."""


def comment(reviews: Sequence[Review], place: Place | None = None) -> str:
    """Return the comment, which ends with a newline. Where it would be too long it omits plans, then details, and says
    so."""
    place = place or Place()
    end = _footer(reviews, place)
    if all(review.silent for review in reviews):
        stacks = few(text(review.stack) for review in reviews)
        return f"{mark(place.folder)}\n### ✓ {NOTHING} in {stacks}\n{end}"
    whole, told = "", lines(reviews)
    for plans, folds, details in _SIZES:
        body = _whole(reviews, told, details, plans=plans, folds=folds)
        whole = f"{mark(place.folder)}\n{body}\n{end}"
        if len(whole) <= LIMIT:
            return whole
    head = f"{mark(place.folder)}\n### {text(short(headline(reviews, told), _LONGEST))}"
    return f"{head}\n\nToo much for a comment: `slipway review` prints it.\n"


def _whole(reviews: Sequence[Review], told: Told, details: int, *, plans: bool, folds: bool) -> str:
    opened, rest = told
    unread: dict[str, list[str]] = {}
    for one in reviews:
        for line in one.incomplete:
            unread.setdefault(line, []).append(one.stack)
    parts = [f"### {text(headline(reviews, told))}", _table(reviews), "\n".join(map(_item, opened))]
    parts += [f"> **Incomplete:** {_whose(stacks, reviews)}{_shown(line)}" for line, stacks in unread.items()]
    behind = [f"**{_title(one)}**\n{_listed(one.behind, details)}" for one in opened if one.behind and details]
    grave = [one for one in rest if one.opens]
    more = " · ".join(
        f"{len(some)} more{why}"
        for some, why in ((grave, ""), ([one for one in rest if not one.opens], " for knowing"))
        if some
    )
    if rest and not folds:
        room, items = LIMIT // 4, [_item(one) for one in grave]
        parts.append("\n".join(one for one, end in zip(items, accumulate(map(len, items)), strict=True) if end < room))
        parts.append(f"{more}: too long for a comment, `slipway review` prints them.")
    elif rest:
        behind.append("\n".join(_item(one, details) for one in rest))
    if behind:
        who = "who and what is concerned" if len(behind) > bool(rest) else ""
        parts.append(folded(" · ".join(filter(None, (who, more if folds else ""))), "\n\n".join(behind)))
    standing = [f"- {_whose([one.stack], reviews)}{_shown(line)}" for one in reviews for line in one.standing]
    if standing and folds:
        remarks = f"{counted(len(standing), 'remark')} on what is not this change's doing"
        parts.append(folded(remarks, "\n".join(standing)))
    for one in reviews if folds else ():
        if one.quoted:
            whose = f"the program of {text(one.stack)} warns, in its own words: {len(one.quoted)}"
            parts.append(folded(whose, block("\n".join(one.quoted))))
    planned = [one for one in reviews if one.plan]
    if planned and not plans:
        parts.append("The plan is too long for a comment; the log of the preview has it.")
    for one in planned if plans else ():
        parts.append(folded(f"plan of {text(one.stack)}: {counted(len(one.plan), 'step')}", block("\n".join(one.plan))))
    return "\n\n".join(parts)


def _item(line: CommentLine, details: int = 0) -> str:
    field = line.lead.field
    where = f" ({code(short(field, _LONGEST_NAME))})" if field else ""
    told = f"- {line.sign} {_shown(line.told)}{where}"
    return f"{told}\n{_listed(line.behind, details, '  ')}" if line.behind and details else told


def _listed(some: Sequence[str], most: int, indent: str = "") -> str:
    return "\n".join(f"{indent}- {_shown(one)}" for one in first_of(some, most))


def _title(line: CommentLine) -> str:
    if len(line.names) > 1:
        return text(short(f"{line.sign} {line.lead.subject.what}s", _LONGEST_NAME))
    return text(short(f"{line.sign} {line.lead.subject}", _LONGEST_NAME))


def _whose(stacks: Sequence[str], reviews: Sequence[Review]) -> str:
    return f"{', '.join(map(code, stacks))}: " if len(stacks) < len(reviews) else ""


def _table(reviews: Sequence[Review]) -> str:
    rows = [f"| {' | '.join(_HEADS)} |", f"|{'---|' * len(_HEADS)}"]
    rows += [f"| {' | '.join(_row(one))} |" for one in reviews]
    return "\n".join(rows)


def _row(review: Review) -> tuple[str, ...]:
    changed: dict[str, str] = {}
    for one in sorted(review.yours, key=lambda one: -one.grade):
        if one.section is Section.MONEY:
            continue
        if one.kind == FAILED:
            changed = {"": _cell("nothing: refused", strong=True), **changed}
            continue
        template = one.subject.name if one.section is Section.TEMPLATES else ""
        what = one.subject.cluster or template or one.section.value
        words, strong = _OF_CLUSTERS.get(one.kind, ("", False))
        if words or one.kind not in FOLLOWING:
            changed.setdefault(what, _cell(f"{what} {words}".strip(), strong=strong or one.grade is Grade.BLOCKING))
    money = review.money
    refused = any(one.kind in (*REFUSING, FAILED) and one.grade is Grade.BLOCKING for one in review.yours)
    worse = {one.section for one in review.yours if one.grade > Grade.NOTE}
    return (
        text(short(review.stack, _LONGEST_NAME)),
        _few(changed.values()),
        _dollars(money) if money else "?",
        *(
            _cell("–" if refused and state.startswith("ok") else state or "?", strong=section in worse)
            for state, section in ((review.quota, Section.QUOTA), (review.policy, Section.POLICY))
        ),
    )


def _few(cells: Iterable[str]) -> str:
    listed = list(cells)
    return ", ".join([*listed[:6], f"{len(listed) - 6} more"] if len(listed) > 6 else listed) or "–"


def _dollars(money: Money) -> str:
    """Return `149,379 → 149,574, up to 301,108 → 301,499`, the latter with every pool at its maximum."""
    idle, most = _monthly(money.idle), _monthly(money.most)
    return f"{'' if '→' in idle + most else 'no change: '}{idle}, up to {most}"


def _monthly(amount: Amount) -> str:
    before, after = (
        "?" if one.unknown else f"{one.known * HOURS_OF_A_MONTH:,.0f}{'' if one.complete else '+'}"
        for one in (amount.before, amount.after)
    )
    if before == after:
        return after
    return _cell(f"{before} → {after}", strong=amount.steep)


def _cell(words: str, *, strong: bool) -> str:
    shown = text(short(words, _LONGEST_NAME))
    return f"**{shown}**" if strong else shown


def _footer(reviews: Sequence[Review], place: Place) -> str:
    refused = [any(each.kind == FAILED for each in one.consequences) for one in reviews]
    comes = any(one.consequences and not no for one, no in zip(reviews, refused, strict=True))
    words = [_SINCE] if comes else []
    words += [f"of the project in {code(place.folder)}"] if mark(place.folder) != MARKER else []
    words += [text(note) for note in dict.fromkeys(note for one in reviews for note in one.notes)]
    if place.tree and not any(refused):
        words.append(f"an approval of this {place.change} holds for the tree {code(place.tree[:12])}")
    if place.base:
        words.append(f"judged by the code of {code(place.base[:12])}")
    return f"\n<sub>{'; '.join(words)}</sub>\n" if words else ""


def _shown(words: str) -> str:
    return text(short(words, _LONGEST))

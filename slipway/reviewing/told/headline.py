"""A review as text: its headline, and all of it for a terminal. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from slipway.base.formatting import counted, few
from slipway.model.findings.finding import Grade
from slipway.model.findings.kinds import IN_TABLE
from slipway.model.prices import NOTABLE
from slipway.reviewing.review import Review
from slipway.reviewing.told.lines import ON_MAIN, SIGNS, CommentLine, Told, lines

NOTHING = "nothing changes"
LONGEST = 120
"""The characters of a headline."""
_ALIKE = {Grade.BLOCKING: "consequence", Grade.WARNING: "warning", Grade.NOTE: "change"}
_INCOMPLETE = "not all could be compared"


def headline(reviews: Sequence[Review], told: Told | None = None, nothing: str = NOTHING) -> str:
    """Return `⛔ prod: jobs of lora are ended after 1 h · +$1.7k a month`: the effect, the people or things hit, and
    dollars. No part is cut: parts that do not fit into `LONGEST` are counted. `told`: the reviews' `lines`, where they
    are known already."""
    opened, folded = told or lines(reviews)
    unknown = any(review.incomplete for review in reviews)
    if not opened:
        return f"⚠ {_INCOMPLETE}" if unknown else f"✓ {nothing}"
    first = opened[0]
    sign = SIGNS[max(first.grade, Grade.WARNING)] if unknown else first.sign
    whose = "" if len(reviews) > 1 and not first.stacks else f"{few(first.stacks) or reviews[0].stack}: "
    start = f"{sign} {whose}{f'{ON_MAIN}: ' if first.on_main else ''}"
    money = "" if first.lead.kind in IN_TABLE else _money(reviews, first)
    alike = [one for one in (*opened, *folded) if one.grade is first.grade and one.on_main is first.on_main]
    alike = [one for one in alike if one is first or one.lead.kind not in IN_TABLE]
    return start + _clauses(alike, LONGEST - len(start.replace("`", "")) - len(money)) + money


def _clauses(alike: Sequence[CommentLine], room: int) -> str:
    """Return as many of the first clauses as there is room for, and the number of the others."""
    for told in (2, 1):
        clauses, left = [one.clause for one in alike[:told]], len(alike) - told
        words = " · ".join([*clauses, *([_counted(left, "more ", alike[0].grade)] if left > 0 else [])])
        if len(words.replace("`", "")) <= room:
            return words
    return _counted(len(alike), "", alike[0].grade)


def _counted(count: int, more: str, grade: Grade) -> str:
    return counted(count, f"{more}{_ALIKE[grade]}") + (" to approve" if grade is Grade.BLOCKING else "")


def _money(reviews: Sequence[Review], first: CommentLine) -> str:
    """Return ` · +$1.7k a month` with nothing running, else with every pool at its maximum, for all stacks that have
    it; else for another stack, by its name."""
    mine = [one for one in reviews if not first.stacks or one.stack in first.stacks]
    others = (([one], f"{one.stack} ") for one in reviews if one not in mine)
    for some, whose in ((mine, ""), *others):
        known = [one.money for one in some if one.money]
        for amounts, when in (([one.idle for one in known], ""), ([one.most for one in known], " at most")):
            monthly = sum((one.monthly for one in amounts if one.told), Decimal(0))
            if abs(monthly) >= NOTABLE:
                return f" · {whose}{brief(monthly)} a month{when}"
    return ""


def brief(amount: Decimal) -> str:
    """Return `+$1.7k`, `−$886k`, `+$45`."""
    sign, most = "−" if amount < 0 else "+", abs(amount)
    for unit, size in (("M", Decimal(10**6)), ("k", Decimal(10**3))):
        if most >= size:
            number = most / size
            return f"{sign}${number:.1f}{unit}" if number < 10 else f"{sign}${number:,.0f}{unit}"
    return f"{sign}${most:.0f}"


def first_of(some: Sequence[str], most: int) -> list[str]:
    """Return the first ones, and the number of the others; a single other one would be as short by itself. None where
    `most` is 0."""
    if len(some) <= most + 1 or not most:
        return list(some[: most + 1] if most else ())
    return [*some[:most], f"and {len(some) - most} more"]


_DETAILS = 6


def plain_text(review: Review, nothing: str = NOTHING) -> str:
    """Return lines without a final newline; names are unchanged, for copying. `nothing`: the words for no
    consequence."""
    opened, folded = found = lines((review,))
    told = [headline((review,), found, nothing), *(f"incomplete: {one}" for one in review.incomplete)]
    for some, title in ((opened, ""), (folded, "for knowing")):
        told += [title] if title and some else []
        for one in some:
            told.append(f"  {one.sign} {one.told}{f'  [{one.lead.field}]' if one.lead.field else ''}")
            told += [f"      {each}" for each in first_of(one.behind, _DETAILS)]
    if review.standing:
        told += ["not this change's doing", *(f"  {one}" for one in review.standing)]
    if review.quoted:
        told += ["the program warns, in its own words", *(f"  {one}" for one in review.quoted)]
    return "\n".join(told).replace("`", "")

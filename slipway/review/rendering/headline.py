"""A review in words: its headline, which has the worst consequences, the money and the quota; and all of it for a
terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from slipway.findings.finding import Finding, Grade, Section, gravest_first
from slipway.findings.kinds import FOLLOWING
from slipway.formatting import counted
from slipway.prices import dollars, signed
from slipway.review.review import Review

_ALIKE = {Grade.BLOCKING: "blocking consequence", Grade.WARNING: "warning", Grade.NOTE: "change"}
SIGNS = {Grade.BLOCKING: "⛔", Grade.WARNING: "⚠", Grade.NOTE: "•"}
NOTHING, ON_MAIN = "nothing changes", "on main already, not deployed yet"
_NAMED = 2
_CENT = Decimal("0.005")
_STAYING = "jobs-finish-on-old"
_LONGEST = 120


def headline(reviews: Sequence[Review], nothing: str = NOTHING) -> str:
    """`⚠ prod: h100 becomes a new generation · +$202.02/h at most · quota ok now, short at most`"""
    unknown = [one for review in reviews for one in review.incomplete]
    first = f"incomplete: {_cut(unknown[0])} · " if unknown else ""
    if not reviews:
        return nothing
    worst = max(reviews, key=lambda one: (bool(one.yours), _grade(one), sum(each.grade for each in _told(one))))
    if not worst.consequences:
        return f"⚠ {first.removesuffix(' · ')}" if unknown else f"✓ {nothing}"
    sign = SIGNS[max(_grade(worst), Grade.WARNING if unknown else Grade.NOTE)]
    whose = "" if worst.yours else f"{ON_MAIN}: "
    return f"{sign} {first}{worst.stack}: {whose}{' · '.join(_parts(worst))}"


def first_of(lines: Sequence[str], most: int) -> list[str]:
    """So many of them, and how many more there are; one more would be as short by itself. None where `most` is 0."""
    if len(lines) <= most + 1 or not most:
        return list(lines[: most + 1] if most else ())
    return [*lines[:most], f"and {len(lines) - most} more"]


def _told(review: Review) -> Sequence[Finding]:
    return review.yours or review.consequences


def _grade(review: Review) -> Grade:
    return max((one.grade for one in _told(review)), default=Grade.NOTE)


def _parts(review: Review) -> Iterable[str]:
    said = [one for one in _told(review) if one.section is not Section.MONEY] or _told(review)
    listed = sorted(said, key=lambda one: (-one.grade, one.kind in FOLLOWING))
    first = [one for one in listed if one.grade is listed[0].grade]
    staying = [one for one in listed if one.kind == _STAYING and one not in first]
    alike = dict.fromkeys(map(_clause, first))
    clauses = list(dict.fromkeys((*list(alike)[:1], *map(_clause, staying), *alike)))
    yield from clauses[:_NAMED]
    if left := sum(1 for one in clauses[_NAMED:] if one in alike):
        yield counted(left, f"more {_ALIKE[first[0].grade]}")
    if first[0].grade is Grade.BLOCKING and (lesser := sum(1 for one in said if one.grade is Grade.WARNING)):
        yield counted(lesser, "warning")
    yield from _money(review)
    if review.quota not in ("", "nothing drawn"):
        yield f"quota {review.quota}"


def _money(review: Review) -> Iterable[str]:
    money = review.money
    if money is None:
        return
    for amount, when in ((money.idle, "idle"), (money.most, "at most")):
        if amount.told and abs(amount.difference) >= _CENT:
            yield f"{signed(amount.difference)} {when}"
    if money.overlap.known >= _CENT:
        yield f"{dollars(money.overlap)} more until what retires is gone"


def _clause(one: Finding) -> str:
    return _cut(one.clause or one.sentence)


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rpartition(' ')[0]} …"


_DETAILS = 6


def plain_text(review: Review, nothing: str = NOTHING) -> str:
    """Lines without a final newline; names as they are, to be copied. `nothing`: the words for no consequence."""
    lines = [headline((review,), nothing), *(f"incomplete: {one}" for one in review.incomplete)]
    for section, listed in gravest_first(review.consequences):
        lines.append(section.value)
        for one in listed:
            already = f" ({ON_MAIN})" if one.key in review.on_main else ""
            where = f"  [{one.field}]" if one.field else ""
            lines.append(f"  {SIGNS[one.grade]} {one.sentence}{where}{already}")
            lines += [f"      {line}" for line in first_of(one.details, _DETAILS)]
    if review.standing:
        lines += ["not this change's doing", *(f"  {one}" for one in review.standing)]
    return "\n".join(lines).replace("`", "")

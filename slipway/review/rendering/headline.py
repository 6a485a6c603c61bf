"""The headline of a review: the worst consequences, the money and the quota, in a line; and a row for each stack.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from slipway.findings.finding import Finding, Grade, Section, gravest_first
from slipway.findings.kinds import FOLLOWING
from slipway.formatting import counted
from slipway.prices import Price, dollars
from slipway.review.money import Amount, difference
from slipway.review.review import Review

_ALIKE = {Grade.BLOCKING: "blocking consequence", Grade.WARNING: "warning", Grade.NOTE: "change"}
SIGNS = {Grade.BLOCKING: "⛔", Grade.WARNING: "⚠", Grade.NOTE: "•"}
NOTHING, ON_MAIN = "nothing changes", "on main already, not deployed yet"
_NAMED = 2
_CENT = Decimal("0.005")
_STAYING = "jobs-finish-on-old"
_LONGEST = 120
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


@dataclass(frozen=True)
class Cell:
    """Words of a row; `strong` where they should catch the eye."""

    words: str
    strong: bool = False


HEADS = ("stack", "clusters", "templates", "idle $/h", "max $/h", "quota", "policy")


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


def numbers_of(review: Review) -> tuple[Cell, ...]:
    amounts = (review.money.idle, review.money.most) if review.money else (None, None)
    quota = Cell(review.quota or "?", strong=review.quota not in ("ok", "nothing drawn", ""))
    policy = Cell(review.policy or "?", strong=review.policy not in ("ok", "none", ""))
    return (*(_amount(one) if one else Cell("?") for one in amounts), quota, policy)


def clusters_of(review: Review) -> Iterable[Cell]:
    found: dict[str, Cell] = {}
    for one in review.consequences:
        if one.section is Section.CLUSTERS and one.kind in _OF_CLUSTERS:
            words, strong = _OF_CLUSTERS[one.kind]
            found.setdefault(one.subject.name, Cell(f"{one.subject.name} {words}", strong))
    return found.values()


def templates_of(review: Review) -> Iterable[Cell]:
    found: dict[str, Grade] = {}
    for one in review.consequences:
        if one.section is Section.TEMPLATES:
            name = one.subject.name or one.subject
            found[name] = max(one.grade, found.get(name, Grade.NOTE))
    return (Cell(name, strong=grade is Grade.BLOCKING) for name, grade in found.items())


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
            yield f"{difference(amount)} {when}"
    if money.overlap.known >= _CENT:
        yield f"{dollars(money.overlap)} more until what retires is gone"


def _clause(one: Finding) -> str:
    return _cut(one.clause or one.sentence)


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST].rpartition(' ')[0]} …"


def _amount(amount: Amount) -> Cell:
    if amount.before == amount.after:
        return Cell(_plain(amount.after))
    return Cell(f"{_plain(amount.before)} → {_plain(amount.after)}", strong=amount.difference > 0)


def _plain(price: Price) -> str:
    if price.unknown:
        return "?"
    return f"{price.known:,.2f}{'' if price.complete else '+'}"


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

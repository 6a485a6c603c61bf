"""A review for a terminal: the headline, then what changes, section by section. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.findings.finding import Finding, gravest_first
from slipway.review.rendering.headline import NOTHING, SIGNS, headline
from slipway.review.review import Review

_DETAILS = 6


def plain_text(review: Review, nothing: str = NOTHING) -> str:
    """Lines without a final newline; names as they are, to be copied. `nothing`: the words for no consequence."""
    lines = [_plain(headline((review,), nothing)), *(f"incomplete: {_plain(one)}" for one in review.incomplete)]
    for section, listed in gravest_first(review.consequences):
        lines += [section.value, *(line for one in listed for line in _lines(review, one))]
    if review.standing:
        lines += ["not this change's doing", *(f"  {_plain(one)}" for one in review.standing)]
    return "\n".join(lines)


def _lines(review: Review, one: Finding) -> Iterator[str]:
    already = " (on main already, not deployed yet)" if one.key in review.on_main else ""
    where = f"  [{one.field}]" if one.field else ""
    yield f"  {SIGNS[one.grade]} {_plain(one.sentence)}{where}{already}"
    listed = [f"      {_plain(line)}" for line in one.details]
    yield from listed if len(listed) <= _DETAILS + 1 else listed[:_DETAILS]
    if len(listed) > _DETAILS + 1:
        yield f"      and {len(listed) - _DETAILS} more"


def _plain(sentence: str) -> str:
    return sentence.replace("`", "")

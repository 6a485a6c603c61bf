"""A review for a terminal: the headline, then what changes, section by section. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.review.consequence import Consequence, Section
from slipway.review.rendering.headline import SIGNS, headline
from slipway.review.review import Review

_DETAILS = 6


def plain_text(review: Review) -> str:
    """Lines without a final newline; names as they are, to be copied."""
    lines = [_plain(headline((review,))), *(f"incomplete: {_plain(one)}" for one in review.incomplete)]
    for section in Section:
        told = [line for one in review.consequences if one.section is section for line in _lines(review, one)]
        lines += [section.value, *told] if told else []
    lines += [f"  {_plain(one)}" for one in ("not this change's doing:", *review.standing) if review.standing]
    return "\n".join(lines)


def _lines(review: Review, one: Consequence) -> Iterator[str]:
    already = " (on main already, not deployed yet)" if one.key in review.on_main else ""
    where = f"  [{one.field}]" if one.field else ""
    yield f"  {SIGNS[one.grade]} {_plain(one.sentence)}{where}{already}"
    listed = [f"      {_plain(line)}" for line in one.details]
    yield from listed if len(listed) <= _DETAILS + 1 else listed[:_DETAILS]
    if len(listed) > _DETAILS + 1:
        yield f"      and {len(listed) - _DETAILS} more"


def _plain(sentence: str) -> str:
    return sentence.replace("`", "")

"""A review for a terminal: the headline, then what changes, section by section. Pure."""

from __future__ import annotations

from slipway.findings.finding import gravest_first
from slipway.review.rendering.headline import NOTHING, ON_MAIN, SIGNS, first_of, headline
from slipway.review.review import Review

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

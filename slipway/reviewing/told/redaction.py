"""People's addresses, hidden where more people read a review than may know them. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial

from slipway.reviewing.change.change import grouped
from slipway.reviewing.change.files import ADDRESS
from slipway.reviewing.review import Review


def redacted(review: Review) -> Review:
    """Replace `ada@acme.example` by `a…@acme.example`, except for addresses in the change's own diff. Service accounts
    are no people's and stay.

    Two people whose addresses begin alike become equal.
    """
    hide = partial(hidden, shown=frozenset(review.addresses))
    equal = grouped(review.consequences, lambda part: (part.kind, hide(part.subject)))
    return replace(
        review.rewritten(hide),
        # Of people whose hidden addresses are equal, none is on main unless all are.
        on_main=frozenset(key for key, parts in equal.items() if review.on_main.issuperset(part.key for part in parts)),
        addresses=(),
    )


def hidden(text: str, shown: frozenset[str] = frozenset()) -> str:
    def letter(match: re.Match[str]) -> str:
        known = match[1].endswith("gserviceaccount.com") or match[0] in shown
        return match[0] if known else f"{match[0][0]}…@{match[1]}"

    return ADDRESS.sub(letter, text)

"""People's addresses, masked if more people read a review than may know them. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

from slipway.reviewing.change.files import ADDRESS
from slipway.reviewing.review import Review

_ACCOUNT = "gserviceaccount.com"


def redacted(review: Review) -> Review:
    """Replace `ada@acme.example` by `a…@acme.example`, except addresses on lines that the change edits.

    Service accounts are not people and stay. Two people whose addresses begin alike become equal.
    """
    shown = frozenset(review.addresses)
    keys: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for finding in review.findings:
        keys[finding.kind, hidden(finding.subject, shown)].add(finding.key)
    # Of people whose masked addresses are equal, none is on main unless all are.
    on_main = frozenset(masked for masked, originals in keys.items() if originals <= review.on_main)
    masked = review.rewritten(lambda text: hidden(text, shown))
    return replace(masked, on_main=on_main, addresses=())


def hidden(text: str, shown: frozenset[str] = frozenset()) -> str:
    """Return a text with people's addresses masked, except those in `shown`."""

    def mask(match: re.Match[str]) -> str:
        address = match[0]
        if match[1].endswith(_ACCOUNT) or address in shown:
            return address
        return f"{address[0]}…@{match[1]}"

    return ADDRESS.sub(mask, text)

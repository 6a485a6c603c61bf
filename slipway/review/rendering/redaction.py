"""People's addresses, hidden where a review is read by more people than may know them. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from slipway.review.review import Review

_ADDRESS = re.compile(r"[A-Za-z0-9._%+'-]+@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
_ACCOUNTS = (".gserviceaccount.com", "gserviceaccount.com")


def redacted(review: Review) -> Review:
    """The same with `a…@acme.example` for `ada@acme.example`. Service accounts are nobody's and stay.

    Two people whose addresses begin alike are told apart no more.
    """
    return replace(
        review,
        consequences=tuple(
            replace(
                one,
                subject=_hidden(one.subject),
                sentence=_hidden(one.sentence),
                details=tuple(map(_hidden, one.details)),
            )
            for one in review.consequences
        ),
        incomplete=tuple(map(_hidden, review.incomplete)),
        standing=tuple(map(_hidden, review.standing)),
        plan=tuple(map(_hidden, review.plan)),
    )


def _hidden(text: str) -> str:
    return _ADDRESS.sub(_first_letter, text)


def _first_letter(found: re.Match[str]) -> str:
    domain = found[1]
    return found[0] if domain.endswith(_ACCOUNTS) else f"{found[0][0]}…@{domain}"

"""People's addresses, hidden where a review is read by more people than may know them. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from slipway.findings.finding import Subject
from slipway.review.review import Review

_ADDRESS = re.compile(r"[A-Za-z0-9._%+'-]+@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
_ACCOUNTS = (".gserviceaccount.com", "gserviceaccount.com")


def redacted(review: Review) -> Review:
    """Put `a…@acme.example` for `ada@acme.example`. Service accounts are nobody's and stay.

    Two people whose addresses begin alike are told apart no more.
    """
    return replace(
        review,
        consequences=tuple(
            replace(
                one,
                subject=Subject(*map(hidden, (one.subject.what, one.subject.name, one.subject.part))),
                sentence=hidden(one.sentence),
                clause=hidden(one.clause),
                details=tuple(map(hidden, one.details)),
            )
            for one in review.consequences
        ),
        incomplete=tuple(map(hidden, review.incomplete)),
        standing=tuple(map(hidden, review.standing)),
        plan=tuple(map(hidden, review.plan)),
        quoted=tuple(map(hidden, review.quoted)),
    )


def hidden(text: str) -> str:
    """Hide people's addresses in a text."""
    return _ADDRESS.sub(_first_letter, text)


def _first_letter(found: re.Match[str]) -> str:
    domain = found[1]
    return found[0] if domain.endswith(_ACCOUNTS) else f"{found[0][0]}…@{domain}"

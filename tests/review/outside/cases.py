"""Cases made after public changes. Written on 2026-11-22 and 23 by an author who had not read the review."""

from __future__ import annotations

from tests.review.outside import clusters, data, harmless, lives, offers, people, quota, templates

CASES = (
    *clusters.CASES,
    *lives.CASES,
    *people.CASES,
    *templates.CASES,
    *offers.CASES,
    *data.CASES,
    *quota.CASES,
    *harmless.CASES,
)

"""Cases made after public changes. Written on 2026-11-22 and 23 by an author who had not read the review."""

from __future__ import annotations

from tests.review.outside import clusters, harmless, lives, people, templates

CASES = (*clusters.CASES, *lives.CASES, *people.CASES, *templates.CASES, *harmless.CASES)

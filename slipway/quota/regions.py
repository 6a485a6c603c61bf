"""Quota where a stack's clusters are in several regions, each of which has limits of its own."""

from __future__ import annotations

from dataclasses import replace

from slipway.cluster import CurrentCluster
from slipway.live import Live
from slipway.quota.assessment import assess
from slipway.quota.report import OfferDraw, QuotaReport
from slipway.state import StatePreference


def assess_regions(
    current: tuple[CurrentCluster, ...],
    live: Live,
    *,
    region: str,
    offers: tuple[OfferDraw, ...] = (),
    mode: str = "enforce",
    strict: bool = False,
    preview: bool,
    old: frozenset[str] = frozenset(),
    known: tuple[StatePreference, ...] = (),
) -> QuotaReport:
    """As `assess`, for clusters in the stack's own `region` and in others. Offers beside the pools are in its own.

    Elsewhere nothing is requested: what lacks quota there is an alternative, and the next one is tried.
    """
    places = dict.fromkeys((region, *(one.spec.region for one in current if one.spec.region)))
    found = QuotaReport()
    for place in places:
        home = place == region
        there = assess(
            tuple(one for one in current if (one.spec.region or region) == place),
            live.at(place, home=home),
            region=place,
            offers=offers if home else (),
            mode=mode if home or mode != "request" else "enforce",
            strict=strict,
            preview=preview,
            old=old,
            known=known if home else (),
        )
        if home:
            found = there
            continue
        found = replace(
            found,
            lines=(*found.lines, *(replace(line, elsewhere=True) for line in there.lines)),
            findings=(*found.findings, *there.findings),
        )
    return found

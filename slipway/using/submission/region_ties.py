"""Ties of a job to the stack's own region: what it names there, and accelerators that another region lacks. Pure."""

from __future__ import annotations

from slipway.google.catalog.lookup import bound
from slipway.model.machines.table import lacks
from slipway.using.submission.candidate import Candidate

_LONGEST = 60


def ties(candidate: Candidate, home: str) -> tuple[str, ...]:
    """Return the reasons why a job can't run in its candidate's region, `home` being the stack's own."""
    if candidate.region == home or not candidate.offer.region:
        return ()
    tied = (f"its {field} is in {home}: {text[:_LONGEST]}" for field, text in bound(candidate.body, home))
    lacking = (lacks(candidate.region, part.machine.accelerator) for part in candidate.demand.parts)
    return tuple(dict.fromkeys([*tied, *(why for why, _ in filter(None, lacking))]))

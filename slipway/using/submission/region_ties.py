"""Ties of a job to the stack's own region: what it names there, and accelerators that another region lacks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slipway.model.machines.table import lacks
from slipway.using.submission.candidate import Candidate

_LONGEST = 60


def ties(candidate: Candidate, home: str) -> tuple[str, ...]:
    """Return the reasons why a job can't run in its candidate's region, `home` being the stack's own."""
    if candidate.region == home or not candidate.offer.region:
        return ()
    within = (f"/locations/{home}/", f"/regions/{home}/", f"/zones/{home}-")
    tied = (f"its {field} is in {home}: {text[:_LONGEST]}" for field, text in _texts(candidate.body, within))
    lacking = (lacks(candidate.region, part.machine.accelerator) for part in candidate.demand.parts)
    return tuple(dict.fromkeys([*tied, *(why for why, _ in filter(None, lacking))]))


def _texts(value: Any, within: tuple[str, ...], field: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str) and any(place in value for place in within):
        yield field, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, within, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, within, field)

"""Probes and their findings. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from journey.probes.service import Service
from slipway.model.machines.spec import MachineSpec

Value = str | int | float | bool


@dataclass(frozen=True)
class Finding:
    """The finding of a probe: `settings` of the local cloud with their values, none where it can't be told.

    `answer` says it in words, `evidence` comes from the service.
    """

    answer: str
    evidence: str
    settings: Mapping[str, Value] = field(default_factory=dict)


def unknown(why: str, evidence: str = "") -> Finding:
    """Return a finding without an answer, and why there is none."""
    return Finding(f"unknown: {why}", evidence)


@dataclass(frozen=True)
class Probe:
    """A question to the service.

    `place`: where vertex-rules has it open. `settings`: those of the local cloud that an answer may set. `minutes`: how
    long the probe takes at most. `machines`: how many small ones it holds at most, all that time; `on_cluster`: those
    of the cluster that probes share. `dear`: a further machine that it may get, for so many minutes at most.
    """

    id: str
    question: str
    place: str
    settings: tuple[str, ...]
    does: str
    minutes: int
    ask: Callable[[Service], Finding]
    machines: int = 0
    on_cluster: bool = False
    dear: MachineSpec | None = None
    dear_minutes: int = 0


@dataclass(frozen=True)
class Unasked:
    """Settings that no probe answers, why not, and what would answer them. `place` is "" for the local cloud's own
    business."""

    settings: tuple[str, ...]
    place: str
    why: str
    would_answer: str = ""

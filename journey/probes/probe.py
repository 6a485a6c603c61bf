"""What a probe is, and what it found. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from journey.probes.service import Service
from slipway.machines.spec import MachineSpec

Value = str | int | float | bool


@dataclass(frozen=True)
class Finding:
    """What a probe found out: `settings` of the local cloud with their values, none where it can't be told.

    `answer` says it in words, `evidence` what the service said or did.
    """

    answer: str
    evidence: str
    settings: Mapping[str, Value] = field(default_factory=dict)


def unknown(why: str, evidence: str = "") -> Finding:
    """No answer, and why there is none."""
    return Finding(f"unknown: {why}", evidence)


@dataclass(frozen=True)
class Probe:
    """One question to the service.

    `place`: where vertex-rules has it open. `settings`: those of the local cloud that an answer may set. `minutes`: it
    ends by itself within so many. `machines`: so many small ones it holds at most, all that time; `on_cluster`: those
    of the cluster that probes share. `dear`: a machine that it may get besides, for so many minutes at most.
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
    """Settings that no probe answers, why not, and what would answer them. `place` is "" for what is the local cloud's
    own business."""

    settings: tuple[str, ...]
    place: str
    why: str
    would_answer: str = ""

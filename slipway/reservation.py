"""A reservation of Compute Engine, as a stack file names it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reservation:
    """`path` is projects/PROJECT/zones/ZONE/reservations/NAME. `machines` is how many it holds, 0 when nobody says.

    Its machines equal a job's exactly: `machine`, and on N1 `accelerator` with its count, are empty when nobody says.
    """

    path: str
    machine: str = ""
    accelerator: str | None = None
    accelerator_count: int = 0
    machines: int = 0

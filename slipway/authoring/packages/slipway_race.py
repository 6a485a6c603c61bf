"""Keeps a region that has some of a job's machines alone from winning its race: Vertex AI starts a replica's code as
soon as that one's machine is there, whether the others ever come."""

from __future__ import annotations

import time
from typing import Callable, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_exchange import Exchange
from slipway.authoring.packages.slipway_results import CHIEF
from slipway.authoring.packages.slipway_storage import Storage

RACE = "SLIPWAY_RACE"
LOOK_S = 2.0


def assemble(
    claim: str,
    job: str,
    replica: str,
    replicas: int,
    environ: Mapping[str, str],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until all replicas of a job that races are there, or the claim is taken. Raises StorageError."""
    if replicas < 2 or not environ.get(RACE):
        return
    folder, _, own = claim.rpartition("/")
    exchange, there = Exchange(folder, Storage(environ)), f"{own}/there/{job}"
    exchange.take(f"{there}/{replica}", job.encode())
    while exchange.read(own) is None:
        # The others wait for the chief's claim: to list costs ten times as much as to read.
        if replica == CHIEF and sum(1 for _ in exchange.names(there)) >= replicas:
            return
        sleep(LOOK_S)

"""A Dask worker: joins the scheduler, works, and leaves when the scheduler is gone."""

from __future__ import annotations

import logging
import os
from importlib import import_module

from dask.system import CPU_COUNT
from distributed import Worker

from .topology import Topology

JOIN_WITHIN_S = 600


def threads() -> int:
    """Return how many threads this replica may use: OMP_NUM_THREADS where it is set, else its processors."""
    bound = os.environ.get("OMP_NUM_THREADS", "")
    return int(bound) if bound.isdecimal() and int(bound) else int(CPU_COUNT)


async def serve(topology: Topology, join_within_s: float = JOIN_WITHIN_S) -> None:
    """Returns when the scheduler has closed or is lost; raises TimeoutError when it never comes."""
    # Before it joins: a worker that has scikit-learn yet to load would leave its first fits to the others.
    import_module(f"{__package__}.search")
    print(f"worker {topology.index}: joining tcp://{topology.scheduler}, threads: {threads()}", flush=True)
    # A heartbeat that meets a closed scheduler is how most runs end, and no reason for a traceback.
    logging.getLogger("distributed.worker").addFilter(
        lambda record: "scheduler during heartbeat" not in record.getMessage()
    )
    async with Worker(
        f"tcp://{topology.scheduler}",
        nthreads=threads(),
        host=topology.bind,
        name=f"worker-{topology.index}",
        death_timeout=join_within_s,
        dashboard=False,
    ) as worker:
        print(f"worker {topology.index}: joined from {worker.address}", flush=True)
        await worker.finished()
    print(f"worker {topology.index}: the scheduler is gone, nothing left to do", flush=True)

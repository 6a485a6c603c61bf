"""The thread that looks at jobs' replicas every few seconds."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from .. import files
from ..clock import timestamp
from ..nodes.spec import CLAIM, STARTED
from ..supply import machines
from ..vertex.jobs import replicas
from ..vertex.jobs import table as jobs
from ..vertex.jobs.records import Replica, Run
from ..world import World
from . import process_usage, records
from .process_usage import Reading, Use
from .records import Source

_log = logging.getLogger("local.cloud.monitoring")
_KEPT = timedelta(days=42)
_OFF_S = 1.0

Gauge = Callable[[int, float], Reading]
"""From a session and a time to what it uses."""


class Sampler:
    """Measures CPU and memory; what it says of accelerators is made up from these (there are none here)."""

    def __init__(
        self, world: World, read: Gauge = process_usage.read, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._world, self._read, self._seconds = world, read, seconds
        self._before: dict[Path, Reading] = {}
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._work, name="monitoring", daemon=True)
        jobs.open_table(world.store)
        records.open_table(world.store)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()

    def step(self) -> None:
        """One look at every replica that runs. A replica's first look gives no sample."""
        before, self._before = self._before, {}
        values: list[tuple[Source, float]] = []
        for job in jobs.started(self._world.store):
            for replica in job.run.replicas if job.run else ():
                assert job.run
                folder = replicas.folder(self._world, job.run, replica)
                claim = files.read_json(folder / CLAIM) if (folder / STARTED).exists() else None
                if claim is None:
                    continue
                reading = self._before[folder] = self._read(int(claim["pid"]), self._seconds())
                if folder in before and reading.cpu_s:
                    values += _values(job.run, replica, before[folder], reading)
        if values:
            with self._world.store.transaction():
                records.add(self._world.store, self._world.now(), values)

    def _work(self) -> None:
        with self._world.store.transaction():
            records.forget(self._world.store, timestamp(self._world.clock.now() - _KEPT))
        while not self._ending.is_set():
            pause = self._world.settings.monitoring_seconds
            if pause > 0:
                try:
                    self.step()
                except Exception:
                    # A full disk or a bug costs samples, not the thread.
                    _log.exception("replicas could not be measured")
            self._world.clock.wait(pause or _OFF_S, self._ending)


def _values(run: Run, replica: Replica, before: Reading, after: Reading) -> Iterator[tuple[Source, float]]:
    demand = next(item for item in run.demands if item.index == replica.index)
    vcpus = machines.table().types[demand.shape.machine_type].vcpus
    use: Use = process_usage.between(before, after, min(vcpus, process_usage.own_cores()), process_usage.own_memory())
    yield Source(run.id, replica.name, "cpu/utilization"), use.cpu
    yield Source(run.id, replica.name, "memory/utilization"), use.memory
    for number in range(demand.shape.accelerator_count):
        yield Source(run.id, replica.name, "accelerator/utilization", str(number)), use.cpu
        yield Source(run.id, replica.name, "accelerator/memory/utilization", str(number)), use.memory

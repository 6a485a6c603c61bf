"""The work that samples jobs' replicas every few seconds."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

from .. import files
from ..clock import moment_of, timestamp
from ..nodes import nvidia_smi
from ..nodes.spec import CLAIM, STARTED
from ..supply import machines
from ..supply import records as scenarios
from ..supply.gpu_recording import GpuRecording
from ..supply.shape import Shape
from ..vertex.jobs import replicas
from ..vertex.jobs import table as jobs
from ..vertex.jobs.records import Replica, Run
from ..world import World
from . import process_usage, records
from .process_usage import Reading, Use
from .records import Source

_KEPT = timedelta(days=42)
_GPU = "accelerator/utilization"

Gauge = Callable[[int, float], Reading]
"""A session and a time to the session's use."""


class Sampler:
    """The sampler of CPU and memory. Accelerators show the scenario's recording for the job, else the same values."""

    def __init__(
        self, world: World, read: Gauge = process_usage.read, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._world, self._read, self._seconds = world, read, seconds
        self._before: dict[Path, tuple[Reading, str]] = {}  # and the moment until which a recording was played
        jobs.open_table(world.store)
        records.open_table(world.store)
        with world.store.transaction():
            records.forget(world.store, timestamp(world.clock.now() - _KEPT))

    def look(self) -> bool:
        """Take a step, unless the setting says that nothing is sampled."""
        if self._world.settings.monitoring_seconds > 0:
            self.step()
        return False

    def step(self) -> None:
        """Look once at every replica that runs. A replica's first look gives no sample."""
        before, self._before = self._before, {}
        readings: dict[str, list[tuple[Source, float]]] = defaultdict(list)
        scenario, now = scenarios.current(self._world).scenario, self._world.now()
        for job in jobs.started(self._world.store):
            recording = scenario.recording_of(str(job.body.get("displayName", "")))
            for replica in job.run.replicas if job.run else ():
                assert job.run
                folder = replicas.folder(self._world, job.run, replica)
                claim = files.read_json(folder / CLAIM) if (folder / STARTED).exists() else None
                if claim is None:
                    continue
                reading = self._read(int(claim["pid"]), self._seconds())
                earlier, looked = before.get(folder, (None, ""))
                self._before[folder] = reading, now if job.run.start_time else ""
                taken: list[tuple[Source, float]] = []
                if earlier and reading.cpu_s:
                    taken += _values(job.run, replica, earlier, reading, accelerated=recording is None)
                    readings[now] += taken
                for moment, source, value in _played(job.run, replica, recording) if recording else ():
                    if looked < moment <= now:
                        readings[moment].append((source, value))
                        taken.append((source, value))
                if uses := {source.part: value for source, value in taken if source.metric == _GPU}:
                    nvidia_smi.show(folder, [*uses.values()])
        if readings:
            with self._world.store.transaction():
                for moment, values in readings.items():
                    records.add(self._world.store, moment, values)


def _values(
    run: Run, replica: Replica, before: Reading, after: Reading, *, accelerated: bool
) -> Iterator[tuple[Source, float]]:
    """Return the values measured between two looks; `accelerated`: accelerators show the same."""
    shape = _shape(run, replica)
    vcpus = machines.table().types[shape.machine_type].vcpus
    use: Use = process_usage.between(before, after, min(vcpus, process_usage.own_cores()), process_usage.own_memory())
    yield Source(run.id, replica.name, "cpu/utilization"), use.cpu
    yield Source(run.id, replica.name, "memory/utilization"), use.memory
    for number in range(shape.accelerator_count if accelerated else 0):
        yield from _accelerator(run, replica, number, use.cpu, use.memory)


def _played(run: Run, replica: Replica, recording: GpuRecording) -> Iterator[tuple[str, Source, float]]:
    """Yield all samples of a recording, each with the moment that it has in this job."""
    if run.start_time is None:
        return
    start = moment_of(run.start_time)
    for number in range(_shape(run, replica).accelerator_count):
        for sample in recording.of(number):
            moment = timestamp(start + timedelta(seconds=sample.after_s))
            for source, value in _accelerator(run, replica, number, sample.use, sample.memory):
                yield moment, source, value


def _accelerator(run: Run, replica: Replica, number: int, use: float, memory: float) -> Iterator[tuple[Source, float]]:
    yield Source(run.id, replica.name, _GPU, str(number)), use
    yield Source(run.id, replica.name, "accelerator/memory/utilization", str(number)), memory


def _shape(run: Run, replica: Replica) -> Shape:
    return next(item.shape for item in run.demands if item.index == replica.index)

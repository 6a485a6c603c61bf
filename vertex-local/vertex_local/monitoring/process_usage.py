"""The share of a machine that a replica's processes use, as the operating system counts it."""

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from ..nodes import processes


@dataclass(frozen=True)
class Reading:
    """The use of a replica's processes at one moment."""

    #: In seconds on a clock that only its own readings share.
    at: float
    #: Until now, by process.
    cpu_s: Mapping[int, float]
    #: In bytes.
    memory: int


@dataclass(frozen=True)
class Use:
    """The use of a machine, in fractions from 0 to 1."""

    cpu: float
    memory: float


def between(before: Reading, after: Reading, cores: int, memory: int) -> Use:
    """Return the use from one reading to the next, of so many cores and bytes.

    The use by processes that ended in between, since the first reading, is not seen.
    """
    elapsed = after.at - before.at
    used = sum(seconds - before.cpu_s.get(pid, 0.0) for pid, seconds in after.cpu_s.items())
    cpu = used / (elapsed * cores) if elapsed > 0 else 0.0
    return Use(min(max(cpu, 0.0), 1.0), min(after.memory / memory, 1.0))


def read(session: int, at: float) -> Reading:
    """Return a reading of a session and of all that its processes have started, in other sessions too, but without
    the leader, which is the cloud's own."""
    cpu_s: dict[int, float] = {}
    memory = 0
    for pid in processes.family(session):
        if pid == session:
            continue
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            with process.oneshot():
                times = process.cpu_times()
                cpu_s[pid] = times.user + times.system
                memory += process.memory_info().rss
    return Reading(at, cpu_s, memory)


def own_cores() -> int:
    return os.cpu_count() or 1


def own_memory() -> int:
    """Return the bytes of memory that this machine has."""
    return int(psutil.virtual_memory().total)

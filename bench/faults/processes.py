"""The processes of a stage: each one's part of a command, and its end."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from vertex_local.server import daemon

from local.demo import leftovers

_INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def part_of(process: psutil.Process) -> str:
    """Return a process's part of a command: engine, program, plugin, cli, or empty."""
    try:
        words, name = process.cmdline(), process.name()
    except psutil.Error:
        return ""
    line = " ".join(words)
    if name == "pulumi":
        return "engine"
    if "local.plugin" in line or "pulumi-resource-gcp" in line:
        return "plugin"
    if "pulumi-language-python-exec" in line:
        return "program"
    return "cli" if any(Path(word).name in ("slipway", "cancelling.py") for word in words[:2]) else ""


def sessions(processes: list[psutil.Process]) -> dict[int, list[psutil.Process]]:
    """Return the processes of each session; a replica has one of its own."""
    found: dict[int, list[psutil.Process]] = {}
    for process in processes:
        with suppress(ProcessLookupError):
            found.setdefault(os.getsid(process.pid), []).append(process)
    return found


def kill(processes: Iterable[psutil.Process]) -> None:
    """Kill processes at once, whatever they do, and wait until they have gone."""
    alive = list(processes)
    for process in alive:
        with suppress(psutil.Error, ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    psutil.wait_procs(alive, timeout=5)


@contextmanager
def deaf() -> Iterator[None]:
    """Ignore interrupts meanwhile."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _INTERRUPTS}
    try:
        yield
    finally:
        for number, one in before.items():
            signal.signal(number, one)


def end_all(workshop: Path) -> None:
    """End the commands, the cloud and the jobs of each stage in a workshop's folder, whatever they do."""
    for cloud in workshop.glob("*/cloud"):
        kill(leftovers.marked(cloud.parent / "engine"))
        daemon.stop(cloud)

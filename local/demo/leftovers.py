"""Leftovers of a killed journey: processes of its `pulumi up`, the engine's lock on the stack.

Every process that a journey starts carries a mark in its environment, and children inherit it: engine, language host,
program and provider alike. Whoever holds the turn may therefore end every marked process that is not its own.
"""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

MARK = "SLIPWAY_JOURNEY"


def marked(state: Path) -> list[psutil.Process]:
    """Return the living processes that a journey on this state folder started, without this one and those above."""
    me = psutil.Process()
    own = {me.pid, *(parent.pid for parent in me.parents())}
    folders = []
    for process in psutil.process_iter():
        try:
            if process.pid not in own and process.environ().get(MARK) == str(state):
                folders.append(process)
        except (psutil.Error, OSError):
            continue
    return folders


def end(processes: Iterable[psutil.Process], patience: float) -> int:
    """End the processes, the engine politely, for `patience` seconds, to save its state. Return how many there were."""
    alive = list(processes)
    count = len(alive)
    engines = [process for process in alive if _name(process) == "pulumi"]
    _signal(engines or alive, signal.SIGINT)
    psutil.wait_procs(engines or alive, timeout=patience)
    _, rest = psutil.wait_procs([process for process in alive if process.is_running()], timeout=1)
    _signal(rest, signal.SIGKILL)
    psutil.wait_procs(rest, timeout=5)
    return count


def drop_dead_locks(backend: Path, say: Callable[[str], None]) -> int:
    """Remove the engine's locks in a file backend whose holder is dead, and return how many; a living holder's lock
    stays.

    A lock file holds the pid, host name and time of its holder (see `gcp-provider.md`, a killed `pulumi up`). The
    holder is dead when it is of this host and no process of that pid is older than the lock.
    """
    dropped = 0
    for file in sorted((backend / ".pulumi" / "locks").rglob("*.json")):
        try:
            lock = json.loads(file.read_text())
            pid, host = int(lock["pid"]), str(lock["hostname"])
        except (OSError, ValueError, KeyError, TypeError):
            say(f"left a lock that can't be read: {file.name}")
            continue
        if host == socket.gethostname() and not _holds(pid, file.stat().st_mtime):
            file.unlink(missing_ok=True)
            dropped += 1
    return dropped


def _holds(pid: int, locked_at: float) -> bool:
    try:
        process = psutil.Process(pid)
        return process.status() != psutil.STATUS_ZOMBIE and process.create_time() <= locked_at + 1
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return ""


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            continue

"""Processes of a replica's session: found and ended, whatever they have become."""

import contextlib
import os
import signal
from pathlib import Path

_PROC = Path("/proc")


def end_session(session: int) -> int:
    """Kill every process of a session but this one. How many were sent the signal."""
    count = 0
    for pid in members(session):
        if pid != os.getpid():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                count += 1
    return count


def members(session: int) -> list[int]:
    """The pids of a session."""
    found = []
    for pid in _pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == session:
                found.append(pid)
    return found


def _pids() -> list[int]:
    if _PROC.is_dir():
        return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]
    import psutil

    return list(psutil.pids())

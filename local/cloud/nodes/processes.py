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
    """The pids of a session's processes that have not ended."""
    found = []
    for pid in _pids():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) == session and not _ended(pid):
                found.append(pid)
    return found


def _ended(pid: int) -> bool:
    """Whether a process is only waited for by its parent any more."""
    try:
        return (_PROC / str(pid) / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return False


def _pids() -> list[int]:
    if _PROC.is_dir():
        return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]
    import psutil

    return list(psutil.pids())

"""Processes of a replica: found and ended, whatever they have become, and nobody else's.

A replica's runner leads a session. Every process of user code is in that session, descends from it, or has its home in
the replica's folder. Numbers of processes and sessions are given out again, after a restart of the machine at the
latest, so a number alone proves nothing.
"""

import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_ROUNDS = 5
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


@dataclass(frozen=True)
class _Entry:
    """A process: its parent, its session, and when it began (clock ticks since the machine did)."""

    pid: int
    parent: int
    session: int
    began: str


def adopt_orphans() -> None:
    """Let what this process's children leave behind become its own children, not init's (Linux)."""
    if not _PROC.is_dir():
        return
    import ctypes

    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def birth(pid: int) -> str:
    """Return a text that tells a process from every other that has or had its number; "" when it does not exist."""
    entry = _entry(pid)
    return f"{_boot()}/{entry.began}" if entry else ""


def end_replica(leader: int, born: str, folder: Path) -> None:
    """Kill a replica's processes but this one: its runner's, as far as `born` proves the number to be its own, and
    those whose home is in its folder. The runner goes first, or it would see the others end and report an exit. All
    stand still before one ends, as nobody is to see it: what serves its files would keep half of one."""
    for _ in range(_ROUNDS):  # A process that forks during the search is found the next time.
        pids = {*_proven(leader, born), *at_home_in(folder / "work")} - {os.getpid()}
        if not pids:
            return
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in sorted(pids, key=lambda pid: pid != leader):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)


def members(session: int) -> list[int]:
    """Return the pids of a session's processes that have not ended."""
    return [entry.pid for entry in _entries() if entry.session == session]


def family(leader: int) -> list[int]:
    """Return the pids, not ended, of a leader's session and of all its descendants."""
    entries = _entries()
    pids = {entry.pid for entry in entries if entry.session == leader or entry.pid == leader}
    while more := {entry.pid for entry in entries if entry.parent in pids} - pids:
        pids |= more
    return sorted(pids)


def at_home_in(home: Path) -> list[int]:
    """Return the pids of processes that were started with this home (Linux)."""
    wanted, pids = f"HOME={home}".encode(), []
    for pid in _pids():
        with contextlib.suppress(OSError), open(f"{_PROC}/{pid}/environ", "rb") as file:  # noqa: PTH123
            if wanted in file.read().split(b"\0"):  # empty for a process that has ended
                pids.append(pid)
    return pids


def reap_orphans(own: int) -> None:
    """Forget adopted processes that have ended, but not the child `own`, for which somebody else waits."""
    with contextlib.suppress(ChildProcessError):
        while seen := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if seen.si_pid == own:
                return
            os.waitpid(seen.si_pid, os.WNOHANG)


def _proven(leader: int, born: str) -> list[int]:
    now = birth(leader)
    if now:
        return family(leader) if now == born else []
    # Its number is not given out while a session has it; but after a restart of the machine it may be anybody's.
    return members(leader) if born.startswith(f"{_boot()}/") else []


def _entries() -> list[_Entry]:
    """Return all processes that have not ended."""
    return [entry for entry in map(_entry, _pids()) if entry]


def _pids() -> list[int]:
    """Return the pids of all processes. Paths here are texts, since every replica's end looks through them."""
    if _PROC.is_dir():
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]  # noqa: PTH208
    import psutil

    return list(psutil.pids())


def _entry(pid: int) -> _Entry | None:
    """Return a process, None for one that does not exist, or that has ended and only awaits its parent."""
    try:
        with open(f"{_PROC}/{pid}/stat", "rb") as file:  # noqa: PTH123
            fields = file.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return None if _PROC.is_dir() else _entry_elsewhere(pid)
    return None if fields[0] in "ZX" else _Entry(pid, int(fields[1]), int(fields[3]), fields[19])


def _entry_elsewhere(pid: int) -> _Entry | None:
    import psutil

    with contextlib.suppress(psutil.Error, OSError):
        process = psutil.Process(pid)
        if process.status() != psutil.STATUS_ZOMBIE:
            return _Entry(pid, process.ppid(), os.getsid(pid), f"{process.create_time():.0f}")
    return None


def _boot() -> str:
    """Return a text that tells one run of the machine from the next, where the system has one."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""

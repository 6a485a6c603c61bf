"""The starter of replicas' runners, which also watches and ends them, from a cloud that may be killed at any point."""

import contextlib
import os
import signal
from pathlib import Path

from .. import files
from . import processes
from . import spec as specs
from .spec import ReplicaSpec, Status
from .warm_runner import Started, WarmRunner

_MOST_STARTS = 3


class RunnerStarter:
    """The starter of runners. The truth is in the replicas' folders; it remembers only those it started itself."""

    def __init__(self) -> None:
        self._warm = WarmRunner()
        self._runners: dict[Path, Started] = {}
        self._starts: dict[Path, int] = {}
        self._told: set[Path] = set()

    def ready(self, folder: Path) -> bool:
        """Return whether the replica's specification is written, so that `start` may be called."""
        return (folder / specs.SPEC).exists()

    def write(self, folder: Path, spec: ReplicaSpec) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        specs.write(folder, spec)

    def start(self, folder: Path) -> None:
        """Start the replica's runner unless it runs, ran, or is about to. Calling it again is harmless."""
        if (folder / specs.CLAIM).exists() or (folder / specs.EXIT).exists() or self._lives(folder):
            return
        starts = self._starts.get(folder, 0)
        for other in [runner for runner in self._runners if (runner / specs.EXIT).exists()]:
            self._forget(other)  # Its end was seen while its process still ended, and nobody asks again.
        if starts >= _MOST_STARTS:
            said = (folder / "runner.log").read_text(encoding="utf-8", errors="replace").strip()
            self._leave_exit(folder, Status("unready", message=f"The runner can't be started: {said[-1000:]}"))
            return
        self._starts[folder] = starts + 1
        try:
            self._runners[folder] = self._warm.start(folder)
        except OSError as error:
            (folder / "runner.log").write_text(f"{error}\n", encoding="utf-8")

    def status(self, folder: Path) -> Status:
        """Return the replica's status now. A runner that was killed is found, and noted, here."""
        ended = _exit_of(folder)
        if ended:
            self._forget(folder)
            return ended
        if self._lives(folder) or not (folder / specs.CLAIM).exists():
            return _under_way(folder)
        try:
            with files.locked(folder / specs.LOCK):
                ended = _exit_of(folder)
                if ended is None:
                    _end(folder)
                    ended = Status("killed" if (folder / specs.KILL).exists() else "lost")
                    _write_exit(folder, ended)
        except files.BusyError:
            return _under_way(folder)
        return ended

    def stop(self, folder: Path, grace_s: float | None = None) -> None:
        """Ask the replica to end; one that never started has ended at once. Calling it again is harmless.

        User code is killed after `grace_s` seconds; None stands for the grace in its specification.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (folder / specs.STOP).exists():
            files.write_json(folder / specs.STOP, {"graceSeconds": grace_s})
        claim = files.read_json(folder / specs.CLAIM)
        if claim is None:
            if not self._lives(folder):
                self._leave_exit(folder, Status("stopped"))
        elif folder not in self._told and _held(folder):
            self._told.add(folder)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(int(claim["pid"]), signal.SIGTERM)

    def kill(self, folder: Path) -> None:
        """End the replica's processes without a word, as a machine that goes away. Calling it again is harmless."""
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / specs.KILL).touch()
        if not kill(folder):
            if folder in self._runners:
                self._runners[folder].kill()  # It has not claimed the replica yet.
            self._leave_exit(folder, Status("killed"))

    def _lives(self, folder: Path) -> bool:
        return folder in self._runners and self._runners[folder].lives

    def _leave_exit(self, folder: Path, status: Status) -> None:
        with contextlib.suppress(files.BusyError), files.locked(folder / specs.LOCK):
            if not (folder / specs.CLAIM).exists():
                _write_exit(folder, status)

    def _forget(self, folder: Path) -> None:
        if not self._lives(folder):
            self._runners.pop(folder, None)
            self._starts.pop(folder, None)
            self._told.discard(folder)


def kill(folder: Path) -> bool:
    """Kill the processes of a replica and return whether it ran; one that has not begun, or has ended, does not."""
    claim = files.read_json(folder / specs.CLAIM)
    if claim is None or (folder / specs.EXIT).exists():
        return False
    (folder / specs.KILL).touch()
    if _held(folder):
        _end(folder)
    return True


def _end(folder: Path) -> None:
    claim = files.read_json(folder / specs.CLAIM) or {}
    processes.end_replica(int(claim["pid"]), str(claim.get("born", "")), folder)
    specs.remove_temporary(folder)


def _held(folder: Path) -> bool:
    try:
        with files.locked(folder / specs.LOCK):
            return False
    except files.BusyError:
        return True


def _under_way(folder: Path) -> Status:
    began = _began(folder)
    return Status("starting" if began is None else "running", began=began)


def _began(folder: Path) -> str | None:
    started = files.read_json(folder / specs.STARTED)
    return None if started is None else str(started["time"])


def _exit_of(folder: Path) -> Status | None:
    ending = files.read_json(folder / specs.EXIT)
    if ending is None:
        return None
    return Status(ending["phase"], ending["code"], ending["message"], _began(folder), ending.get("time"))


def _write_exit(folder: Path, status: Status) -> None:
    files.write_json(folder / specs.EXIT, {"phase": status.phase, "code": status.code, "message": status.message})

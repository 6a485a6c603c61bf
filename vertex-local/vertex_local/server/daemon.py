"""The server as a background process: started once, taken over only when dead, stopped with the jobs it runs."""

import contextlib
import errno
import fcntl
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

import psutil

from .. import settings
from ..program import COMMAND, IMPORTED_FROM, module_command, module_path
from . import client
from .client import CloudError
from .cloud_file import PORT_TAKEN, Record, lives, process_of, read_record

DEFAULT_PORT = 8470
_RUNNER = "vertex_local.nodes.runner"  # in a checkout, or installed
_LOG_BYTES = 10 * 1024**2
# A state folder is known by the first set; the second may be there before its first start.
_OWN = {"lock", "serving", "cloud.json"}
_BEFORE = {"settings.toml", "jobs", "pools", "images"}
_START_SECONDS = 60
_STOP_SECONDS = 10


class Launched(Protocol):
    """The server's process: its id, and its exit code once it has ended."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...


@dataclass(frozen=True)
class Started:
    record: Record
    fresh: bool
    note: str = ""


def start(folder: Path, chosen: Mapping[str, str]) -> Started:
    """Make sure that the cloud of this state folder runs, with these settings. Raises CloudError, SettingsError."""
    claim(folder)
    with _alone(folder):
        _keep_settings(folder, chosen)
        record = read_record(folder)
        if record and process_of(record):
            if not client.answers(record, 10):
                raise CloudError(
                    f"error: process {record.pid} of the local cloud lives but does not answer at {record.url}\n"
                    "why: it hangs, or something stopped it\n"
                    f"fix: {COMMAND} down, then up again; its log is {folder / 'cloud.log'}"
                )
            if chosen:
                client.call(record, "POST", "/vertex-local/settings", chosen)
            return Started(record, fresh=False)
        wanted = os.environ.get("VERTEX_LOCAL_PORT", "")
        port = _port(wanted, record)
        try:
            return Started(_spawn(folder, port), fresh=True)
        except _PortTakenError as error:
            if wanted in ("", "0"):
                shells = f"; shells that know the old one need `{COMMAND} env` again" if record else ""
                note = f"port {port} is taken by another program: this cloud has a free one{shells}"
                return Started(_spawn(folder, 0), fresh=True, note=note)
            raise CloudError(
                f"error: port {port} is taken by another program\n"
                "why: VERTEX_LOCAL_PORT asks for this port\n"
                "fix: stop that program, or set VERTEX_LOCAL_PORT=0 for a free port"
            ) from error


def claim(folder: Path) -> None:
    """Make a folder a cloud's own; all in it goes with the state. Raises CloudError where other things are."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    others = foreign(folder)
    if others:
        raise CloudError(
            f"error: {folder} is not a state folder of a local cloud\n"
            f"why: it holds other things: {', '.join(others[:3])}{' …' if others[3:] else ''}\n"
            "fix: set VERTEX_LOCAL_STATE to a new or empty folder, which belongs to the local cloud alone"
        )
    folder.chmod(0o700)
    (folder / "lock").touch()


def foreign(folder: Path) -> list[str]:
    """Return the files of a folder that are not the local cloud's; all are its own once it was started there."""
    names = {entry.name for entry in folder.iterdir()}
    return [] if names & _OWN else sorted(names - _BEFORE)


def stop(folder: Path) -> tuple[bool, int]:
    """Stop the cloud of a state folder and end its jobs. Return whether it ran, and how many processes ended."""
    if not folder.is_dir() or foreign(folder):
        return False, 0
    with _alone(folder):
        record = read_record(folder)
        process = process_of(record) if record else None
        if process:
            _end([process])
        return process is not None, _end(job_processes(folder))


def clear(folder: Path) -> None:
    """Delete the content of a state folder whose cloud has stopped.

    The files that a state folder is known by go last: wherever this ends early, the next call finds a folder of ours
    and goes on. A file that vanishes meanwhile is as good as deleted; a killed cloud may have left a process that
    empties its trash.
    """
    for entry in sorted(folder.iterdir(), key=lambda item: (item.name in _OWN, item.name)):
        if entry.is_symlink() or not entry.is_dir():
            entry.unlink(missing_ok=True)
            continue
        while entry.exists():
            with contextlib.suppress(FileNotFoundError):
                shutil.rmtree(entry)


def running(folder: Path) -> Record | None:
    """Return the record of the cloud if its process lives."""
    record = read_record(folder)
    return record if record and process_of(record) else None


def job_processes(folder: Path) -> list[psutil.Process]:
    """Return the processes of jobs that this state folder's cloud started: replica runners and everything under them.

    They are known by what they are (a runner with its specification in the folder, a working folder in `jobs/`), not by
    a list that a kill could leave behind.
    """
    processes: dict[int, psutil.Process] = {}
    inside = str(folder.resolve()) + os.sep
    working = re.compile(rf"{re.escape(inside)}(projects/[^/]+/)?jobs/")
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            words = process.cmdline()
            runner = any(word.endswith(_RUNNER) for word in words) and any(word.startswith(inside) for word in words)
            if runner or working.match(process.cwd() + os.sep):
                for member in (process, *process.children(recursive=True)):
                    processes[member.pid] = member
    processes.pop(os.getpid(), None)
    return list(processes.values())


class _PortTakenError(Exception):
    pass


def _port(wanted: str, record: Record | None) -> int:
    if wanted and not (wanted.isdecimal() and wanted.isascii() and int(wanted) < 65536):
        raise CloudError(
            f"error: VERTEX_LOCAL_PORT is '{wanted}'\nwhy: a port is a number below 65536\n"
            "fix: set it to 0 (a free one) or unset it"
        )
    if wanted and wanted != "0":
        return int(wanted)
    return record.port if record else int(wanted or DEFAULT_PORT)


def _spawn(folder: Path, port: int) -> Record:
    # The server finds that out as well, after seconds of imports.
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _PortTakenError from error
    log = folder / "cloud.log"
    if log.exists() and log.stat().st_size > _LOG_BYTES:
        log.replace(folder / "cloud.log.1")
    log.touch(mode=0o600, exist_ok=True)
    with log.open("ab") as output:
        before = output.tell()
        child = launch(folder, port, output)
    until = time.monotonic() + _START_SECONDS
    while time.monotonic() < until:
        code = child.poll()
        if code == PORT_TAKEN:
            raise _PortTakenError
        if code is not None:
            said = log.read_bytes()[before:].decode(errors="replace").strip().splitlines()
            raise CloudError(
                f"error: the local cloud ended at its start (exit {code})\n"
                f"why: {said[-1] if said else 'it said nothing'}\nfix: see {log}"
            )
        record = read_record(folder)
        if record and record.pid == child.pid and client.answers(record, 1):
            return record
        time.sleep(0.02)
    _end([psutil.Process(child.pid)])
    raise CloudError(
        f"error: the local cloud did not answer within {_START_SECONDS} s\n"
        f"why: its start hangs\nfix: see {log}, then run {COMMAND} up again"
    )


def launch(folder: Path, port: int, output: IO[bytes]) -> Launched:
    """Start the server's process. The tests start it in another way, which spares its imports."""
    return subprocess.Popen(
        [*module_command(sys.executable, "server.main"), str(folder), str(port)],
        cwd=IMPORTED_FROM,
        env={**os.environ, **module_path()},
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


def _keep_settings(folder: Path, chosen: Mapping[str, str]) -> None:
    """Check the chosen settings, and write them to the settings file for the next start."""
    file = folder / settings.FILE
    from_environment = settings.pairs(os.environ.get("VERTEX_LOCAL_SET", ""))
    settings.load(file, {**from_environment, **chosen})
    if not chosen:
        return
    kept = settings.read(file)
    typed = settings.Settings().changed(chosen)
    for name in chosen:
        head, _, rest = name.partition(".")
        if rest:
            kept.setdefault(head, {})[rest] = getattr(typed, head)[rest]
        else:
            kept[name] = getattr(typed, name)
    draft = file.with_suffix(".new")
    draft.write_text(settings.dump(kept), encoding="utf-8")
    draft.replace(file)


def _end(processes: list[psutil.Process]) -> int:
    """Ask processes to end, then kill those left after a while. Return how many there were."""
    for act in (psutil.Process.terminate, psutil.Process.kill):
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                act(process)
        until = time.monotonic() + _STOP_SECONDS
        while any(map(_lives, processes)) and time.monotonic() < until:
            time.sleep(0.02)
        if not any(map(_lives, processes)):
            break
    return len(processes)


def _lives(process: psutil.Process) -> bool:
    """Return whether a process runs; one that has ended and waits for its parent to notice does not."""
    try:
        return process.is_running() and lives(process)
    except psutil.NoSuchProcess:
        return False


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the lock of `up` and `down`, so that only one runs at a time. The kernel frees a killed one's."""
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

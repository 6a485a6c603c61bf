"""The command that a job is, in a folder that its submission or its package brought, and how it ends."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Callable, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_files import written_by
from slipway.authoring.packages.slipway_http import StorageError
from slipway.authoring.packages.slipway_notify import LastLine
from slipway.authoring.packages.slipway_results import say
from slipway.authoring.packages.slipway_storage import ROLE, RefusedError, Storage

SCRIPT = "slipway_script"
SESSION = "slipway_session"
WITHOUT_FOLDER = (
    "import os, sys; sys.path[:] = filter(None, sys.path); from {} import main; "
    "sys.exit(main(sys.argv[1:], os.environ))"
)
"""Runs a module of the launcher's in a folder whose files can't hide modules that it imports."""
SOURCES = "slipway_sources"
"""The module of a package whose code has projects in it: `FOLDERS` of their code, and `METADATA`, the text of each file
of their metadata."""
FOLDER = Path(__file__).with_name(f"{SCRIPT}_folder") / "folder.tar"
LAST_WORDS_S = 20.0
PR_SET_CHILD_SUBREAPER = 36
SCRIPTS = re.compile(
    r"^\[ *(?:(?:project|tool\.poetry)\.scripts|console_scripts) *\](.*?)(?=^\[|\Z)", re.MULTILINE | re.DOTALL
)
ENTRY = re.compile(r"""^\s*["']?(\w[\w.-]*)["']?\s*=\s*["']?([\w.]+)\s*:\s*((\w+)[\w.]*)""", re.MULTILINE)
KILLED = tuple(128 + number for number in (signal.SIGABRT, signal.SIGBUS, signal.SIGKILL, signal.SIGSEGV))


class Command:
    """A running command, in a group of processes of its own: a notice reaches what it started, too, after `look`."""

    def __init__(
        self,
        words: list[str],
        environ: Mapping[str, str],
        look: Callable[[], None],
        folder: Path | None = None,
        *,
        copied: bool = False,
        output: Path | None = None,
    ) -> None:
        self.output = output
        #: The files of the output that each process had open for writing when it was last seen.
        self.writers: dict[int, set[str]] = {}
        self.sees_writers = True
        #: How each process has ended that was waited for, as os.waitpid has it.
        self.ends: dict[int, int] = {}
        # No lock, which a second signal would wait for within the first.
        self.noticed, self.stopped, self.look, self.group = False, False, look, 0
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.forward)
        adopt()
        errors = subprocess.PIPE if copied else None
        self.process = subprocess.Popen(words, env=dict(environ), cwd=folder, start_new_session=True, stderr=errors)
        self.group = self.process.pid
        self.errors = LastLine(self.process.stderr) if self.process.stderr else None
        if self.noticed:
            self.forward()

    def forward(self, *_: object) -> None:
        """Hand a notice on. It is SIGTERM, as the service sends."""
        first, self.noticed = not self.noticed, True
        if self.group:
            if first:
                self.look()
                self.see_writers()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.group, signal.SIGTERM)

    def see_writers(self) -> None:
        """Record which files of the output the command's processes have open for writing."""
        seen = written_by(self.group, self.output) if self.output else None
        if seen is None:
            self.sees_writers = False
            return
        for process, files in seen.items():
            # A process that has just been killed has no file open any more.
            self.writers.setdefault(process, set()).update(files)

    def stop(self) -> None:
        """End it for another attempt."""
        self.stopped = True
        self.end()

    def end(self) -> None:
        """End it, with a notice, and by force where it does not heed that."""
        self.look()
        until = time.monotonic() + LAST_WORDS_S
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, signal.SIGTERM)
            while not self.ending() and time.monotonic() < until:
                time.sleep(0.05)
            os.killpg(self.group, signal.SIGKILL)

    def ending(self) -> bool:
        """Tell whether it has ended, or some of it may have, after a notice."""
        if self.noticed:
            return True
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # waited for already
            return True
        except AttributeError:  # no Linux
            return False

    def wait(self) -> tuple[int, bool]:
        """The exit code, and whether a signal ended who wrote: the code is 128 and the signal's number then, as shells
        have it."""
        code = self.process.wait()
        until = time.monotonic() + LAST_WORDS_S
        self.ends[self.process.pid] = -code if code < 0 else 0
        while self.noticed and not gone(self.process.pid, self.ends) and time.monotonic() < until:
            self.see_writers()
            time.sleep(0.05)  # A shell ends at once, and what it ran may still be writing.
        if code >= 0:
            return code, code in KILLED
        others = [status for process, status in self.ends.items() if process != self.process.pid]
        # A shell that was killed may have waited for a process before, whose end nobody knows then.
        unknown = [process for process, files in self.writers.items() if files and process not in self.ends]
        return 128 - code, bool(unknown) or not others or any(os.WIFSIGNALED(status) for status in others)

    def suspects(self) -> set[str] | None:
        """Return the files of the output that a killed process had open for writing; None if that is unknown."""
        if not self.noticed or not self.sees_writers:
            return None
        killed = {process for process, status in self.ends.items() if os.WIFSIGNALED(status)}
        if not killed <= self.writers.keys():
            return None
        # The end of a process is unknown if a shell waited for it before the shell was killed itself.
        ended_well = self.ends.keys() - killed
        return {name for process in self.writers.keys() - ended_well for name in self.writers[process]}


def adopt() -> None:
    """Make what a shell leaves behind a child of this process (Linux): only a parent is told how one ends."""
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def gone(group: int, ends: dict[int, int]) -> bool:
    """Return whether no process of a group is left; put the status of each that ended here into `ends`."""
    with contextlib.suppress(ChildProcessError):
        while True:
            process, status = os.waitpid(-group, os.WNOHANG)
            if not process:
                break
            ends[process] = status
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return True
    return False


def unpack(archive: Path, folder: Path) -> Path:
    """Put a job's files into a new folder, and return it."""
    folder.mkdir()
    with tarfile.open(archive) as opened:
        if hasattr(tarfile, "data_filter"):
            opened.extractall(folder, filter="data")
        else:
            opened.extractall(folder)
    return folder


def fetched(code: str, place: Path, environ: Mapping[str, str]) -> Path:
    """The folder that a submission brought, or without `code` the package, fetched and unpacked anew for each start.
    Raises RefusedError, and OSError for the disk's."""
    try:
        for name in Storage(environ).fetch(code, place) if code else [FOLDER]:
            return unpack(place / name, place / "code")
        raise StorageError("it is not there")
    except (StorageError, tarfile.TarError) as error:
        what = "the code of this job can't be fetched, so it does not start"
        raise RefusedError(what, f"{code}: {error}", ROLE) from error


def installed(folder: Path, place: Path) -> Path:
    """A folder with the commands that a project's pyproject.toml names, and those of the projects that it requires, as
    an installer makes them."""
    project, programs = folder / "pyproject.toml", place / "bin"
    programs.mkdir()
    text = project.read_text(encoding="utf-8", errors="replace") if project.is_file() else ""
    of_projects = [content for name, content in metadata().items() if name.endswith("entry_points.txt")]
    sections = [section for each in (*of_projects, text) for section in SCRIPTS.findall(each)]
    for section in sections:
        for name, module, entry, top in ENTRY.findall(section):
            made = programs / name
            code = f"#!{sys.executable}\nimport sys\n\nfrom {module} import {top}\n\nsys.exit({entry}())\n"
            made.write_text(code, encoding="utf-8")
            made.chmod(0o755)
    return programs


def sources() -> list[str]:
    """The folders of the code's own projects, from its top, whose modules are imported by their names from there."""
    try:
        return list(importlib.import_module(SOURCES).FOLDERS)
    except ModuleNotFoundError:
        return []


def metadata() -> Mapping[str, str]:
    """The text of each file of the metadata of the code's own projects."""
    try:
        return getattr(importlib.import_module(SOURCES), "METADATA", {})
    except ModuleNotFoundError:
        return {}


def described(place: Path) -> list[str]:
    """A folder with the metadata of the code's own projects, as an installer writes it; none without any."""
    files, folder = metadata(), place / "metadata"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [str(folder)] if files else []


def scripted(arguments: list[str]) -> list[str]:
    """Return the words of a script's command, parted as a shell does, though none reads it. Raises RefusedError."""
    parser = argparse.ArgumentParser(prog=SCRIPT)
    parser.add_argument("--command", required=True, help="what to run, as typed")
    parser.add_argument("--output", help="gs:// folder where what is written to $SLIPWAY_OUTPUT is kept")
    command = parser.parse_args(arguments).command
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise RefusedError(f"the command can't be read: {command}", str(error), "close every quote") from error
    if not words:
        raise RefusedError("the command is empty", "there is nothing to run", '-p command="python train.py"')
    say("runs " + " ".join(map(shlex.quote, words)))
    if words[:3] == ["python", "-m", SESSION]:
        words[1:3] = ["-c", WITHOUT_FOLDER.format(SESSION)]
    if words[0] in ("python", "python3"):
        words[0] = sys.executable  # It has the requirements; the image may call another one so.
    return words

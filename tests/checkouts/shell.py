"""Commands as typed: `slipway` in this process, others started in the background, waited for and killed."""

import contextlib
import io
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import psutil

from slipway.front.cli import main
from tests.checkouts.fixes import wrong_fixes


@dataclass(frozen=True)
class Done:
    """A command's exit code, and its output."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def slipway(arguments: Sequence[str], environ: Mapping[str, str], folder: Path, *, together: bool = False) -> Done:
    """Run `slipway …` in a folder and with only these variables, in this process: it spares a second interpreter. No
    error may leave a person without what to do now. Output and errors may be kept `together`, as a terminal shows
    them."""
    out = io.StringIO()
    err = out if together else io.StringIO()
    with (
        mock.patch.dict(os.environ, environ, clear=True),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = main(arguments)
    said = err.getvalue()
    assert "\n  fix: " in said or not re.search("^error: ", said, re.MULTILINE), said
    assert wrong_fixes(said) == [], said
    return Done(code, out.getvalue(), "" if together else said)


def bash(line: str, folder: Path, environ: Mapping[str, str]) -> Done:
    """Run a line in a shell that nobody types into, with errors among its output, as a terminal shows them."""
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, "")


@dataclass
class Started:
    """A command in the background, in a session of its own, with its output in a file."""

    process: subprocess.Popen[bytes]
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text(errors="replace")

    def tree(self) -> list[psutil.Process]:
        """Return its living processes. They are found by session, which outlives parents."""
        session = self.process.pid
        lines = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if os.getsid(process.pid) == session and process.status() != psutil.STATUS_ZOMBIE:
                    lines.append(process)
        return lines

    def kill(self) -> None:
        """Kill it alone with `kill -9`; its children live on."""
        self.process.kill()
        self.process.wait()

    def kill_tree(self) -> None:
        """Kill all its processes with `kill -9`, like a power loss of the machine."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        for process in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()

    def until(self, true: Callable[[], object], what: str, seconds: float = 300) -> None:
        """Wait for a condition while it runs; fail with its output when it ends before."""
        wait_for(lambda: true() or self.process.poll() is not None, what, seconds)
        assert self.process.poll() is None, f"it ended before {what}:\n{self.said}"


def wait_for(true: Callable[[], object], what: str, seconds: float = 300) -> None:
    """Wait until a condition is true; fail with a message when it never is. It looks less and less often: most looks
    are requests, and those of a wait cost as much as what is waited for."""
    until, pause = time.monotonic() + seconds, 0.05
    while not true():
        assert time.monotonic() < until, f"in {seconds:.0f} s never: {what}"
        time.sleep(pause)
        pause = min(1.3 * pause, 0.25)

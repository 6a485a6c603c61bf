"""`--watch` of pools and of jobs on a real terminal, until Ctrl-C. # Z5"""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

from .stack import Stack


@pytest.mark.parametrize(("words", "shown"), [(("pools",), "workers"), (("jobs", "list"), "hello-")])
def test_it_is_shown_until_ctrl_c(stack: Stack, words: tuple[str, ...], shown: str) -> None:
    assert stack.run("submit", "hello", "--wait").code == 0
    ours, theirs = pty.openpty()
    environ = {**stack.env("submitter"), "TERM": "xterm", "COLUMNS": "160", "LINES": "30"}
    environ.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "slipway", *words, "--watch", "--catalog", stack.address]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, cwd=stack.folder)
    os.close(theirs)
    seen = b""
    while b"Ctrl-C ends it" not in seen:
        seen += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    rest = b""
    while chunk := _read(ours):
        rest += chunk
    assert process.wait() == 0
    assert shown.encode() in seen
    _, left, after = (seen + rest).partition(b"\x1b[?1049l")
    assert left and shown.encode() in after, "what was seen last stays"


def _read(terminal: int) -> bytes:
    """Return nothing where the other end is closed, which Linux tells by an error."""
    try:
        return os.read(terminal, 4096)
    except OSError:
        return b""


def test_it_is_refused_in_a_pipe(stack: Stack) -> None:
    for words in (("pools", "--watch"), ("jobs", "list", "--watch"), ("pools", "--watch", "--output", "json")):
        done = stack.run(*words)
        assert done.code == 2 and "leave out --watch" in done.err and done.out == ""

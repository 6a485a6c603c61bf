"""A Python with modules imported, which becomes each command that Python is to run: by a fork, so that none waits for
these imports.

It forks before anything has begun that does not survive one, as threads or a GPU's context: a module that begins such
things when it is imported can't be preloaded.
"""

from __future__ import annotations

import array
import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import sysconfig
import traceback
from pathlib import Path
from typing import Any, Mapping, Sequence  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_results import say

_OURS = (__file__, runpy.__file__, "<frozen runpy>")


class Forked:
    """A command that the warm Python became: like a `Popen`, as far as a session needs it."""

    def __init__(self, pid: int, answers: Any) -> None:
        self.pid, self._answers = pid, answers

    def wait(self) -> int:
        """Return the exit code, negative for a signal; a command whose parent is gone counts as killed."""
        line = self._answers.readline()
        return int(line) if line else -signal.SIGKILL


class Warm:
    """The warm Python as the session has it; without modules it takes no command."""

    def __init__(self, modules: Sequence[str]) -> None:
        self._modules = modules
        self._process: Any = None
        if modules:
            self._start()

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            words = [sys.executable, "-m", str(__spec__ and __spec__.name), str(theirs.fileno()), *self._modules]
            # Not in the folder: its modules, imported now, would stay as they are, whatever is sent later.
            self._process = subprocess.Popen(words, cwd="/", pass_fds=[theirs.fileno()], start_new_session=True)
        self._installed = installed()
        self._answers = self._socket.makefile("rb")

    def takes(self, words: Sequence[str]) -> bool:
        """Tell whether it can become a command: Python with a file, or with a module."""
        if not self._process or words[0] != sys.executable:
            return False
        return len(words) > 2 if words[1:2] == ["-m"] else len(words) > 1 and not words[1].startswith("-")

    def become(self, words: Sequence[str], environ: Mapping[str, str], folder: Path, output: Sequence[int]) -> Forked:
        """Start a command, whose stdout and stderr are these descriptors; where it has ended meanwhile, or packages are
        others now, anew. Raises OSError."""
        asked = json.dumps({"words": words[1:], "environ": dict(environ), "folder": str(folder)})
        if self._process.poll() is not None or self._installed != installed():
            self.end()
            self._start()
        self._socket.sendmsg([b"f"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", output))])
        self._socket.sendall(f"{asked}\n".encode())
        if not (pid := self._answers.readline()):
            raise OSError(f"the Python with {', '.join(self._modules)} has ended")
        return Forked(int(pid), self._answers)

    def end(self) -> None:
        if self._process:
            self._socket.close()
            self._process.kill()
            self._process.wait()


def installed() -> list[int]:
    """Return what differs once packages were installed or removed."""
    places = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    return [Path(place).stat().st_mtime_ns for place in sorted(places) if Path(place).is_dir()]


def forked(control: socket.socket) -> dict[str, Any]:
    """Fork for each command; return it in the new process. The first one ends with the session."""
    while True:
        descriptors = array.array("i")
        _, rights, *_ = control.recvmsg(1, socket.CMSG_SPACE(2 * descriptors.itemsize))
        if not rights:
            sys.exit(0)
        descriptors.frombytes(rights[0][2])
        asked: dict[str, Any] = json.loads(control.makefile("rb").readline())
        told, tells = os.pipe()
        child = os.fork()
        if not child:
            os.close(tells)
            if not os.read(told, 1):  # The first one has ended, and said that nothing starts.
                os._exit(1)
            os.close(told)
            os.setsid()
            control.close()
            for number, descriptor in enumerate(descriptors, 1):
                os.dup2(descriptor, number)
                os.close(descriptor)
            return asked
        for descriptor in descriptors:
            os.close(descriptor)
        control.sendall(f"{child}\n".encode())
        os.write(tells, b"1")
        os.close(tells)
        os.close(told)
        _, status = os.waitpid(child, 0)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        control.sendall(f"{code}\n".encode())


def run(words: Sequence[str]) -> None:
    """Run what follows `python` in a command, as Python does."""
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()  # Else each run would draw the same numbers.
    if words[0] == "-m":
        sys.argv, sys.path[0] = ["-m", *words[2:]], os.getcwd()  # noqa: PTH109
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = list(words), str(Path(words[0]).resolve().parent)
        runpy.run_path(words[0], run_name="__main__")


def main(argv: list[str]) -> int:
    control = socket.socket(fileno=int(argv[0]))
    for module in argv[1:]:
        try:
            importlib.import_module(module)
        except Exception as error:  # Whatever it is, the commands that import it show it.
            say(f"not preloaded: {module}: {type(error).__name__}: {error}")
    asked = forked(control)
    os.environ.clear()
    os.environ.update(asked["environ"])
    os.chdir(asked["folder"])
    try:
        run(asked["words"])
    except (Exception, KeyboardInterrupt) as error:
        shown = error.__traceback__
        while shown and shown.tb_frame.f_code.co_filename in _OURS:
            shown = shown.tb_next
        traceback.print_exception(type(error), error, shown)
        return 1 if isinstance(error, Exception) else 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

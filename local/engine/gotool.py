"""The Go toolchain: found, asked for its version, run with progress, and its failures put into words."""

from __future__ import annotations

import collections
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import EngineError, disk_full

_INSTALL = "install Go (any version from 1.21 on fetches the one it needs), or install Pulumi itself, then run again"
_SECRET = re.compile(r"(?<=://)[^/@\s]+@")
_VERSION = re.compile(r"go(\d+)\.(\d+)(?:\.(\d+))?")
_TAIL_LINES = 30


@dataclass(frozen=True)
class Go:
    """A Go toolchain fit for our modules: `program`, and the environment it runs in."""

    program: Path
    environ: Mapping[str, str]

    def run(self, args: Sequence[str], folder: Path, lock: int, tell: Callable[[int], None]) -> int:
        """Run `go args` in `folder`, calling `tell` with the number of modules fetched and packages named so far, and
        return the number of packages.

        Its output goes through a pipe on purpose: when we are killed, Go dies at its next line. `lock` is a file
        descriptor it inherits and so holds until then. Raises EngineError, with Go's words in `why`, when it failed.
        """
        process = subprocess.Popen(
            [self.program, *args],
            cwd=folder,
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
            text=True,
            errors="replace",
        )
        said: collections.deque[str] = collections.deque(maxlen=_TAIL_LINES)
        fetched = named = 0
        assert process.stdout is not None
        try:
            with process.stdout as output:
                tell(0)
                for line in output:
                    if line.startswith("go: downloading "):
                        fetched += 1
                    elif line.strip() and not line.startswith("#") and " " not in line:
                        named += 1
                    else:
                        said.append(line)
                    tell(fetched + named)
            code = process.wait()
        except BaseException:
            # SIGINT lets Go remove its work folders; it does not always listen.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
        if code != 0:
            raise explain(args[0], code, "".join(said).strip())
        return named

    def ask(self, args: Sequence[str], folder: Path) -> str:
        """Return the output of `go args`, for commands that answer at once."""
        done = subprocess.run(
            [self.program, *args], cwd=folder, env=dict(self.environ), capture_output=True, text=True, errors="replace"
        )
        if done.returncode != 0:
            raise explain(args[0], done.returncode, done.stderr.strip())
        return done.stdout.strip()


def find(environ: Mapping[str, str], needed: str) -> Go:
    """Return the Go toolchain on the PATH of `environ`, able to build modules that need Go `needed`, such as `1.25.11`.
    Raises EngineError when there is none, or it is too old and can't fetch a newer one by itself."""
    what = "the Pulumi engine can't be built"
    program = shutil.which("go", path=environ.get("PATH", ""))
    if program is None:
        raise EngineError(what, "building it needs Go, and there is no `go` on PATH", _INSTALL)
    # CGO would want a C compiler; a workspace file above the checkout would replace our pinned modules.
    go = Go(Path(program), {**environ, "CGO_ENABLED": "0", "GOWORK": "off"})
    told = go.ask(["env", "GOVERSION", "GOTOOLCHAIN"], Path("/")).splitlines()
    version = _numbers(told[0]) if told else None
    if version is None:
        raise EngineError(what, f"{program} does not tell its version", _INSTALL)
    local = len(told) > 1 and told[1].strip() == "local"
    wanted = _numbers(f"go{needed}") or (0, 0, 0)
    if version < (1, 21, 0) or (local and version < wanted):
        why = f"{program} is {told[0]}, the engine needs go{needed}"
        if version >= (1, 21, 0):
            why += ", and GOTOOLCHAIN=local forbids Go to fetch it"
        raise EngineError(what, why, _INSTALL)
    return go


def explain(command: str, code: int, said: str) -> EngineError:
    """Return the error for a `go command` that ended with `code` and the output `said`."""
    said = _SECRET.sub("***@", said)
    last = next((line for line in reversed(said.splitlines()) if line.strip()), f"no words, exit code {code}").strip()
    low = said.lower()
    what = "the Pulumi engine can't be built from source"
    if "no space left on device" in low or "disk quota exceeded" in low:
        return disk_full(last)
    if "security error" in low or "checksum mismatch" in low:
        return EngineError(
            what,
            f"a downloaded module is not the one this checkout is pinned to: {last}",
            "run go clean -modcache, then this again; if it stays so, do not trust the module proxy that GOPROXY names",
        )
    return EngineError(
        what,
        f"go {command} failed: {last}",
        "check the network, the memory (about 2 GB) and the module proxy that GOPROXY names, then run again; or "
        "install Pulumi itself",
    )


def _numbers(text: str) -> tuple[int, int, int] | None:
    match = _VERSION.match(text.strip())
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else None

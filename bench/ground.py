"""The ground of a benchmark: a local cloud of its own, with stack `local` deployed on it on demand."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.errors import BenchError
from local.environment import apart

CHECKOUT = Path(__file__).parents[1]
STACK = "local"
VERTEX_LOCAL = str(Path(sys.executable).with_name("vertex-local"))
_PREFIX = "slipway-bench-"
# What the caller's shell says of a local cloud is not the bench's own.
_FOREIGN = ("VERTEX_LOCAL_",)
# Without its cached bytecode a program compiles its imports each time: theirs, which imports more, the longer.
_SLOWING = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONPROFILEIMPORTTIME", "PYTHONDEVMODE")

Tell = Callable[[str], None]


@dataclass
class Cloud:
    """A running local cloud with its state in `state`; `command` runs a program and returns its output."""

    state: Path
    settings: Mapping[str, str]
    _roles: dict[str, dict[str, str]] = field(default_factory=dict)

    @cached_property
    def shell(self) -> dict[str, str]:
        """The caller's environment without any variable that points to another cloud."""
        kept = {name: value for name, value in apart(os.environ).items() if not name.startswith((*_FOREIGN, *_SLOWING))}
        # Outside a checkout `slipway` keeps its journal here.
        kept["XDG_STATE_HOME"] = str(self.state / "xdg")
        return {**kept, "VERTEX_LOCAL_STATE": str(self.state), "VERTEX_LOCAL_PORT": "0"}

    def start(self) -> None:
        """Start it, or do nothing when it runs."""
        chosen = [part for name, value in self.settings.items() for part in ("--set", f"{name}={value}")]
        command([VERTEX_LOCAL, "up", *chosen], self.shell)

    def stop(self) -> None:
        command([VERTEX_LOCAL, "down"], self.shell)

    def role(self, name: str) -> dict[str, str]:
        """Return the environment of a shell that acts as `name`: owner, deployer, previewer or submitter."""
        if name not in self._roles:
            said = command([sys.executable, "-m", "local.shell", "--as", name], self.shell)
            exports = [word for line in said.splitlines() for word in shlex.split(line) if word != "export"]
            self._roles[name] = {**self.shell, **dict(word.split("=", 1) for word in exports)}
        return self._roles[name]

    @property
    def url(self) -> str:
        return str(json.loads((self.state / "cloud.json").read_text())["url"])

    def call(self, method: str, path: str, body: object = None) -> Any:
        """Send one request to the cloud as its owner. Raises BenchError, with the cloud's words."""
        token = json.loads((self.state / "cloud.json").read_text())["tokens"]["owner"]
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {token}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise BenchError(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from error

    @contextmanager
    def set(self, values: Mapping[str, object]) -> Iterator[None]:
        """Hold other settings, which end before the next benchmark; `quota.METRIC` is one limit."""
        path = "/vertex-local/settings"
        before = self.call("GET", path)
        self.call("POST", path, values)
        try:
            yield
        finally:
            self.call("POST", path, {name: before[name] for name in {key.partition(".")[0] for key in values}})


class Ground:
    """Clouds and stacks on demand, in one temporary folder; all are stopped and removed when the block ends."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._closing = ExitStack()

    def __enter__(self) -> Ground:
        clear(Path(tempfile.gettempdir()), self._tell)
        name = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
        # A process that ends late may still write there: leftovers go with the next run's `clear`.
        self._closing.callback(shutil.rmtree, name, ignore_errors=True)
        self.folder = Path(name).resolve()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.close()

    def cloud(self, name: str, settings: Mapping[str, str]) -> Cloud:
        """Return a fresh cloud that was not started yet; it is stopped at the end whether or not it was."""
        state = self.folder / name
        state.mkdir()
        cloud = Cloud(state, settings)
        self._closing.callback(cloud.stop)
        return cloud

    @cached_property
    def deployed(self) -> Cloud:
        """A cloud with stack `local` deployed by the real engine.

        It has no rate limits, which would be measured instead. Its pools take a day to grow: a job that needs one more
        machine gets accepted and starts no process beside the measured ones.
        """
        limits = {"submissions_per_minute": "0", "calls_per_minute": "0"}
        cloud = self.cloud("deployed", limits | {"scale_up_seconds": "86400"})
        self._tell("local cloud …")
        cloud.start()
        self._tell("pulumi up …")
        began = time.monotonic()
        pulumi(cloud, CHECKOUT, "stack", "select", STACK, "--create")
        pulumi(cloud, CHECKOUT, "up", "--yes", "--skip-preview", "--stack", STACK)
        self._tell(f"pulumi up took {time.monotonic() - began:.1f} s")
        return cloud


def clear(place: Path, tell: Tell) -> None:
    """Stop the clouds and remove the folders of killed runs in `place`."""
    for folder in place.glob(f"{_PREFIX}*-*"):
        owner = folder.name.removeprefix(_PREFIX).split("-")[0]
        if owner.isdecimal() and not _alive(int(owner)):
            tell(f"cleaning up after a killed run: {folder.name}")
            for record in folder.glob("*/cloud.json"):
                Cloud(record.parent, {}).stop()
            shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def pulumi(cloud: Cloud, folder: Path, *args: str) -> str:
    """Run the engine in `folder` as the deployer."""
    return command(["pulumi", *args, "--non-interactive"], cloud.role("deployer"), folder)


def command(args: list[str], environ: Mapping[str, str], folder: Path = CHECKOUT) -> str:
    """Run a command that is not measured; return its standard output. Raises BenchError when it did not exit 0."""
    program = args[0]
    done = subprocess.run(args, env=dict(environ), cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(
            f"{Path(program).name} {' '.join(args[1:])} ended with {done.returncode}:\n{done.stderr or done.stdout}"
        )
    return done.stdout

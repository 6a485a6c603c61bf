"""The seconds from an edit to the first line of its output: in a session, and by a job of its own."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from bench.errors import BenchError
from bench.ground import Cloud, Ground, Tell
from bench.result import Result, absolute
from bench.submit import CATALOG

LATENCY_S = 0.1
"""Time that is added to each answer of the cloud: an assumption, not a measurement."""
MACHINE_S = 40
"""The seconds in which the cloud makes a machine for a job beside the pools: an assumption as well."""
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_WORK = "local-project-slipway--local-work"
_SPOT = ("--capacity", "spot", "--yes")
_QUOTA = {
    "quota.custom_model_training_preemptible_cpus": "100",
    "quota.custom_model_training_preemptible_nvidia_l4_gpus": "8",
}
_SLOW = {"kind": "delay", "match": "", "seconds": LATENCY_S}


class Owner:
    """Somebody with a folder of their own, who edits a file in it and runs it."""

    def __init__(self, ground: Ground) -> None:
        self.cloud: Cloud = ground.deployed
        self.folder = ground.folder / "mine"
        self.folder.mkdir(exist_ok=True)
        (self.folder / "train.py").touch()
        self.environ = {**self.cloud.role("submitter"), "SLIPWAY_CATALOG": CATALOG}
        self._edits = 0

    def slipway(self, *words: str) -> str:
        done = subprocess.run([_SLIPWAY, *words], cwd=self.folder, env=self.environ, capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"slipway {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def first_line(self, *words: str, imports: str = "os") -> tuple[float, float]:
        """Edit the file; return the seconds until its first line is on the screen, and the time then."""
        self._edits += 1
        mark = f"edit {self._edits}"
        (self.folder / "train.py").write_text(f"import {imports}\nprint('{mark}')\n")
        began = time.monotonic()
        with subprocess.Popen(
            [_SLIPWAY, *words, "train.py"],
            cwd=self.folder,
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout and process.stderr
            found = next((line for line in process.stdout if mark in line), "")
            took, now = time.monotonic() - began, time.time()
            _, problem = process.communicate()
        if not found or process.returncode:
            raise BenchError(f"slipway {' '.join(words)} ended with {process.returncode}:\n{problem}")
        return took, now

    @contextmanager
    def session(self, *words: str) -> Iterator[None]:
        self.slipway("session", "start", *_SPOT, *words)
        try:
            self.first_line("session", "run")
            yield
        finally:
            self.slipway("session", "stop")

    def started(self) -> float:
        """Return the time when the newest run was begun."""
        names: dict[str, str] = {}
        listed = self.cloud.call("GET", f"/storage/v1/b/{_WORK}/o?{urllib.parse.urlencode({'prefix': 'sessions/'})}")
        for entry in listed["items"]:
            if ".started." in entry["name"]:
                names[entry["timeCreated"]] = entry["name"]
        return datetime.fromisoformat(max(names)).timestamp()


@contextmanager
def _slow(cloud: Cloud) -> Iterator[None]:
    cloud.call("POST", "/vertex-local/faults", {"faults": [_SLOW]})
    try:
        yield
    finally:
        cloud.call("DELETE", "/vertex-local/faults")


def first_lines(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds of a session, with `LATENCY_S` on each call; those from the start of the interpreter to the
    first line of a file that imports torch, which is preloaded; and those of a job of its own against a session's."""
    owner = Owner(ground)
    with owner.cloud.set(_QUOTA):
        with owner.session(), _slow(owner.cloud):
            ours = _median(runs, lambda: owner.first_line("session", "run")[0], tell)
        with owner.session("--machine", "g2-standard-12", "--preload", "torch"), _slow(owner.cloud):
            torch = _median(runs, lambda: _after_start(owner), tell)
        with owner.cloud.set({"machine_seconds": str(MACHINE_S)}), _slow(owner.cloud):
            theirs, _ = owner.first_line("run", *_SPOT)
    tell(f"session {ours:.2f} s, torch {torch:.2f} s after the start, a job of its own {theirs:.2f} s")
    return [
        absolute("session", ours, 2.5),
        absolute("session-preloaded", torch, 1.2),
        Result("session-vs-submit", ours, theirs, 5.0, speedup=True),
    ]


def _after_start(owner: Owner) -> float:
    _, seen = owner.first_line("session", "run", imports="torch")
    return seen - owner.started()


def _median(runs: int, measure: Callable[[], float], tell: Tell) -> float:
    values: list[float] = []
    for run in range(runs):
        values.append(measure())
        tell(f"{run + 1}/{runs}  {values[-1]:.2f} s")
    return statistics.median(values)

"""The submission of one job, from the start of the process to the accepted job: time, memory, round trips."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from bench import by_hand as hand
from bench import measure, proxy, sdk
from bench.errors import BenchError
from bench.ground import Cloud, Ground, Tell
from bench.result import Result, absolute

TEMPLATE = "dask-digits"
CATALOG = "gs://local-project-slipway--local-catalog"
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
# One worker more than the pool has now: see Ground.deployed.
_SUBMIT = [_SLIPWAY, "submit", TEMPLATE, "-p", "workers=3"]
_JOB = re.compile(r"projects/\S+/customJobs/\d+")
_DELAY_S = 0.1
_END_S = 60


class Submitter:
    """A submitter that submits as a person does, and ends the submitted jobs, so that the next run meets the same
    cloud."""

    def __init__(self, ground: Ground) -> None:
        self.cloud: Cloud = ground.deployed
        self.folder = ground.folder
        # Not in the checkout: the bench must leave no record there.
        self.environ = {**self.cloud.role("submitter"), "SLIPWAY_CATALOG": CATALOG}

    @cached_property
    def request(self) -> Mapping[str, Any]:
        """The custom job that is sent."""
        sample = measure.run([*_SUBMIT, "--dry-run"], self.environ, self.folder)
        return dict(json.loads(sample.output))

    @cached_property
    def script(self) -> Sequence[str]:
        """The command that submits the same job with the Vertex SDK."""
        file = self.folder / "submit_with_the_sdk.py"
        file.write_text(sdk.script(self.request, "local-project", "us-central1"))
        return [sys.executable, str(file)]

    @cached_property
    def by_hand(self) -> Sequence[str]:
        """The command that makes a submission's three calls and nothing else."""
        file = self.folder / "submit_by_hand.py"
        file.write_text(hand.script(self.request, f"{CATALOG}/catalog.json", "local-project", "us-central1"))
        return [sys.executable, str(file)]

    def ours(self, environ: Mapping[str, str] | None = None) -> measure.Sample:
        sample = measure.run(_SUBMIT, environ or self.environ, self.folder)
        self._end(sample)
        return sample

    def theirs(self, script: Sequence[str]) -> measure.Sample:
        sample = measure.run(script, self.environ, self.folder)
        self._end(sample)
        return sample

    def _end(self, sample: measure.Sample) -> None:
        """Cancel the job that a run printed, and wait until it has let go of its machines."""
        found = _JOB.search(sample.output)
        if found is None:
            raise BenchError(f"a submission printed no job:\n{sample.output}")
        job = found[0]
        self.cloud.call("POST", f"/v1/{job}:cancel", {})
        until = time.monotonic() + _END_S
        while "endTime" not in self.cloud.call("GET", f"/v1/{job}"):
            if time.monotonic() > until:
                raise BenchError(f"{job} was cancelled and did not end within {_END_S} s")
            time.sleep(0.05)


def submit(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    submitter = Submitter(ground)
    ours, theirs = measure.medians(
        runs, lambda: submitter.ours().seconds, lambda: submitter.theirs(submitter.script).seconds, tell
    )
    return [Result("submit-vs-sdk", ours, theirs, 1 / 6), absolute("submit", ours, 0.30)]


def by_hand(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the results against google-auth and requests making the same three calls."""
    submitter = Submitter(ground)
    ours, theirs = measure.medians(
        runs, lambda: submitter.ours().seconds, lambda: submitter.theirs(submitter.by_hand).seconds, tell
    )
    return [Result("submit-vs-by-hand", ours, theirs, 1.10)]


def memory(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    submitter = Submitter(ground)
    return [absolute("submit-memory", measure.median(runs, lambda: submitter.ours().peak_mb, tell), 64.0)]


def round_trips(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the number of answers that a submission waits for, one after the other: seen from a proxy that delays each
    one."""
    submitter = Submitter(ground)
    url = submitter.cloud.url
    with proxy.recording(url, _DELAY_S) as recorder:
        environ = {name: value.replace(url, recorder.url) for name, value in submitter.environ.items()}
        submitter.ours(environ)
        exchanges = recorder.take()
    chain = proxy.in_sequence(exchanges)
    if not chain:
        raise BenchError(
            "slipway submit sent nothing through the proxy: some endpoint is not taken from the environment"
        )
    began = min(exchange.began for exchange in exchanges)
    for exchange in exchanges:
        tell(f"{exchange.began - began:5.2f}–{exchange.ended - began:.2f} s  {exchange.what}")
    return [absolute("submit-round-trips", len(chain), 3)]

"""Sweeps: 500 jobs against loops with the Vertex SDK where answers are slow, and fewer against the permitted rate.

The jobs go to a pool that takes a day to grow, so that they wait and nothing runs beside the measurement.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench import measure, proxy, sdk
from bench.errors import BenchError
from bench.ground import Ground, Tell
from bench.result import Result
from bench.submit import Submitter

COUNT = 500
LATENCY_S = 0.5
# A loop's time is that of its passes: so many are measured for all of them.
LOOP = 25
# The most that Python's own pool takes by default, on however large a machine.
THREADS = 32
# The service's limit. As many as are permitted at once, twice as many in the two minutes after that, and one more.
PER_MINUTE = 60
RATED = 3 * PER_MINUTE + 1
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_DONE = re.compile(r": (\d[\d,]*) submitted now")


def versus_sdk(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds for all jobs, with `LATENCY_S` added to each answer of Vertex AI and no rate limit: against a
    loop that sends one after the other, and against one with threads, which a person writes when the first is too
    slow."""
    submitter = Submitter(ground)
    place = ("local-project", "us-central1")
    loop = _script(submitter, "loop_with_the_sdk.py", sdk.loop(submitter.request, *place, LOOP))
    threads = _script(submitter, "threads_with_the_sdk.py", sdk.threads(submitter.request, *place, COUNT, THREADS))
    with _slow(submitter):
        looped = measure.run(loop, submitter.environ, submitter.folder)
    each = float(json.loads(looped.output.splitlines()[-1])["seconds"]) / LOOP
    tell(f"a loop with the SDK: {each:.3f} s a job, {each * COUNT:.0f} s for {COUNT}")
    ours, theirs = [], []
    for _ in range(min(runs, 3)):
        with _slow(submitter):
            ours.append(swept(submitter, tell, "0"))
        with _slow(submitter):
            theirs.append(measure.run(threads, submitter.environ, submitter.folder).seconds)
        tell(f"{THREADS} threads with the SDK: {theirs[-1]:.2f} s for {COUNT}")
    return [
        Result("sweep-vs-sdk-loop", min(ours), each * COUNT, 20.0, speedup=True),
        Result("sweep-vs-sdk-threads", min(ours), min(theirs), 3.0, speedup=True),
    ]


@contextmanager
def _slow(submitter: Submitter) -> Iterator[None]:
    """Add `LATENCY_S` to each answer of Vertex AI, and end the submitted jobs."""
    slow = {"kind": "delay", "match": "/locations/us-central1/", "seconds": LATENCY_S}
    submitter.cloud.call("POST", "/vertex-local/faults", {"faults": [slow]})
    try:
        yield
    finally:
        submitter.cloud.call("DELETE", "/vertex-local/faults")
        end_all(submitter)


def _script(submitter: Submitter, name: str, source: str) -> list[str]:
    """Return the command that runs a script."""
    file = submitter.folder / name
    file.write_text(source)
    return [sys.executable, str(file)]


def rate(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the results at the service's own rate, which `slipway` keeps by default: seconds of process time against
    those that the limit permits, and calls sent against jobs made (more than one each, where the limit refused some).

    Measured once, as it takes minutes.
    """
    submitter = Submitter(ground)
    url, limits = submitter.cloud.url, {"submissions_per_minute": PER_MINUTE, "calls_per_minute": 600}
    try:
        with submitter.cloud.set(limits), proxy.recording(url, 0.0) as recorder:
            environ = {name: value.replace(url, recorder.url) for name, value in submitter.environ.items()}
            seconds = swept(submitter, tell, environ=environ, count=RATED)
            sent = [each for each in recorder.take() if each.what.startswith("POST ") and "/customJobs" in each.what]
    finally:
        end_all(submitter)
    refused = sum(each.status == 429 for each in sent)
    tell(f"{len(sent)} calls for {RATED} jobs, {refused} of them answered with 429")
    permitted = 60.0 * ((RATED - 1) // PER_MINUTE)
    return [
        Result("sweep-rate", seconds, permitted, 1 / 0.95),
        Result("sweep-rate-calls", len(sent), RATED, 1.0),
    ]


def swept(
    submitter: Submitter,
    tell: Tell,
    per_minute: str | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    count: int = COUNT,
) -> float:
    """Return the seconds for a new sweep, at slipway's own rate where none is given.

    Raises BenchError when a run of it is missing.
    """
    file = submitter.folder / "sweep.csv"
    file.write_text("\n".join(["seed", *map(str, range(count))]) + "\n")
    name = f"bench-{uuid.uuid4().hex[:8]}"
    words = [_SLIPWAY, "submit", "dask-digits", "-p", "workers=3", "--sweep", str(file), "--request-id", name]
    words += ["--rate", per_minute] if per_minute is not None else []
    sample = measure.run(words, environ or submitter.environ, submitter.folder)
    found = _DONE.search(sample.output)
    jobs = _jobs(submitter, f'labels.slipway-sweep="{name}"')
    if found is None or int(found[1].replace(",", "")) != count or len(jobs) != count:
        raise BenchError(f"{len(jobs)} jobs of {count} were made:\n{sample.output}")
    tell(f"a sweep of {count}: {sample.seconds:.2f} s")
    return sample.seconds


def _jobs(submitter: Submitter, condition: str) -> list[Mapping[str, Any]]:
    base = "/v1/projects/local-project/locations/us-central1/customJobs?pageSize=1000"
    return list(submitter.cloud.call("GET", f"{base}&filter={quote(condition)}").get("customJobs", []))


def end_all(submitter: Submitter) -> None:
    """Cancel the submitted jobs, so that the next benchmark meets an empty queue."""
    while jobs := _jobs(submitter, 'state="JOB_STATE_QUEUED"'):
        for job in jobs:
            submitter.cloud.call("POST", f"/v1/{job['name']}:cancel", {})

"""A sweep of 500 jobs, against a loop with the Vertex SDK where answers are slow, and against the permitted rate.

The jobs go to a pool that takes a day to grow, so that they wait and nothing runs beside what is measured.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench import measure, sdk
from bench.errors import BenchError
from bench.ground import Ground, Tell
from bench.result import Result
from bench.submit import Submitter

COUNT = 500
LATENCY_S = 0.5
# A loop's time is its passes' time: so many passes of it are measured, for all of them.
LOOP = 25
# With a window of a minute: as many as are permitted at once, and the rest a minute later.
RATE = 400
_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_DONE = re.compile(r": (\d[\d,]*) submitted now")


def versus_sdk(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Seconds of process time for all jobs, with `LATENCY_S` added to each answer of Vertex AI and no rate limit."""
    submitter = Submitter(ground)
    script = submitter.folder / "loop_with_the_sdk.py"
    script.write_text(sdk.loop(submitter.request, "slipway-local", "us-central1", LOOP))
    slow = {"kind": "delay", "match": "/locations/us-central1/", "seconds": LATENCY_S}
    submitter.cloud.call("POST", "/slipway/faults", {"faults": [slow]})
    try:
        looped = measure.run([sys.executable, str(script)], submitter.environ, submitter.folder)
        each = float(json.loads(looped.output.splitlines()[-1])["seconds"]) / LOOP
        tell(f"a loop with the SDK: {each:.3f} s a job, {each * COUNT:.0f} s for {COUNT}")
        seconds = min(swept(submitter, tell, "0") for _ in range(min(runs, 2)))
    finally:
        submitter.cloud.call("DELETE", "/slipway/faults")
        end_all(submitter)
    return [Result("sweep-vs-sdk", seconds, each * COUNT, 20.0, speedup=True)]


def rate(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Seconds of process time against those that the limit permits. Measured once, as it takes over a minute."""
    submitter = Submitter(ground)
    submitter.cloud.call("POST", "/slipway/settings", {"submissions_per_minute": RATE})
    try:
        seconds = swept(submitter, tell, str(RATE))
    finally:
        submitter.cloud.call("POST", "/slipway/settings", {"submissions_per_minute": 0})
        end_all(submitter)
    permitted = 60.0 * ((COUNT - 1) // RATE)
    return [Result("sweep-rate", seconds, permitted, 1 / 0.95)]


def swept(submitter: Submitter, tell: Tell, per_minute: str) -> float:
    """Seconds for a sweep that nobody has made before. Raises BenchError when a run of it is missing."""
    file = submitter.folder / "sweep.csv"
    file.write_text("\n".join(["seed", *map(str, range(COUNT))]) + "\n")
    name = f"bench-{uuid.uuid4().hex[:8]}"
    words = [_SLIPWAY, "submit", "dask-digits", "-p", "workers=3", "--sweep", str(file)]
    sample = measure.run([*words, "--rate", per_minute, "--request-id", name], submitter.environ, submitter.folder)
    found = _DONE.search(sample.output)
    jobs = _jobs(submitter, f'labels.slipway-sweep="{name}"')
    if found is None or int(found[1].replace(",", "")) != COUNT or len(jobs) != COUNT:
        raise BenchError(f"{len(jobs)} jobs of {COUNT} were made:\n{sample.output}")
    tell(f"a sweep of {COUNT} at {per_minute} a minute: {sample.seconds:.2f} s")
    return sample.seconds


def _jobs(submitter: Submitter, condition: str) -> list[Mapping[str, Any]]:
    base = "/v1/projects/slipway-local/locations/us-central1/customJobs?pageSize=1000"
    return list(submitter.cloud.call("GET", f"{base}&filter={quote(condition)}").get("customJobs", []))


def end_all(submitter: Submitter) -> None:
    """Cancel what was submitted, so that the next benchmark meets an empty queue."""
    while jobs := _jobs(submitter, 'state="JOB_STATE_QUEUED"'):
        for job in jobs:
            submitter.cloud.call("POST", f"/v1/{job['name']}:cancel", {})

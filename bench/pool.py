"""From a job's creation to its start: on a pool, its image cached or not, and on machines of its own."""

from __future__ import annotations

import re
import statistics
import sys
from datetime import datetime
from pathlib import Path

from bench import measure
from bench.errors import BenchError
from bench.ground import CHECKOUT, Cloud, Ground, Tell, command
from bench.result import Result
from bench.submit import CATALOG

_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_SMALL = ("trees=1", "candidates=1", "folds=2", "workers=1")
_JOB = re.compile(r"projects/\S+/customJobs/\d+")


def starts(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Seconds of the local cloud, which makes machines in no time: what is left is to get the image to them.

    The service also takes minutes to make a machine, which a pool has already.
    """
    cloud = ground.deployed
    cloud.call("POST", "/slipway/settings", {"quota.custom_model_training_preemptible_cpus": "100"})
    first, warm, own = [], [], []
    cluster = cloud.call("GET", "/v1/projects/slipway-local/locations/us-central1/persistentResources")
    name = cluster["persistentResources"][0]["name"].rsplit("/", 1)[1]
    for run in range(runs):
        command([sys.executable, "-m", "local", "images", "clear", name], cloud.shell, CHECKOUT)
        first.append(_create_to_start(cloud, ground.folder, "pool"))
        warm.append(_create_to_start(cloud, ground.folder, "pool"))
        own.append(_create_to_start(cloud, ground.folder, "spot"))
        tell(f"{run + 1}/{runs}  first {first[-1]:.2f}  warm {warm[-1]:.2f}  machines of its own {own[-1]:.2f}")
    middle = statistics.median(warm)
    return [
        Result("start-warm-vs-first", middle, statistics.median(first), 1.0, speedup=True),
        Result("start-pool-vs-own", middle, statistics.median(own), 1.0, speedup=True),
    ]


def _create_to_start(cloud: Cloud, folder: Path, capacity_type: str) -> float:
    """Seconds between a job's createTime and its startTime. Raises BenchError when it did not succeed."""
    words = [part for parameter in _SMALL for part in ("-p", parameter)]
    environ = {**cloud.role("submitter"), "SLIPWAY_CATALOG": CATALOG}
    sample = measure.run(
        [_SLIPWAY, "submit", "dask-digits", *words, "--capacity", capacity_type, "--wait"], environ, folder
    )
    found = _JOB.search(sample.output)
    if found is None:
        raise BenchError(f"a submission printed no job:\n{sample.output}")
    job = cloud.call("GET", f"/v1/{found[0]}")
    created, started = (datetime.fromisoformat(job[key]) for key in ("createTime", "startTime"))
    return (started - created).total_seconds()

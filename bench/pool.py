"""The worth of a pool: the start of a job there against machines of its own, and machines that follow a load."""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from bench import measure
from bench.errors import BenchError
from bench.ground import CHECKOUT, STACK, VERTEX_LOCAL, Cloud, Ground, Tell, command, pulumi
from bench.result import Result
from bench.submit import CATALOG

_SLIPWAY = str(Path(sys.executable).with_name("slipway"))
_AT = "/v1/projects/local-project/locations/us-central1"
_CLUSTERS, _JOBS = f"{_AT}/persistentResources", f"{_AT}/customJobs"
MACHINE_S = 5
"""The seconds in which the local cloud makes a machine for a job beside pools: an assumption, not a measurement."""
LOAD = 9
_NAP_S, _EVERY_S, _LOAD_ENDS_S = 3, 0.5, 300
_SMALL = ("trees=1", "candidates=1", "folds=2", "workers=1")
_JOB_NAME = re.compile(r"projects/\S+/customJobs/\d+")


@dataclass(frozen=True)
class Sample:
    """A pool at one moment: its machines, the busy ones, and the jobs that wait for one."""

    live: int
    busy: int
    waiting: int


def starts(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds from create to start in the local cloud. The time to make machines for jobs beside pools is a
    setting; the time to get the image to them is measured."""
    cloud = ground.deployed
    first, warm, own = [], [], []
    name, _ = _workers(cloud)
    with cloud.set({"quota.custom_model_training_preemptible_cpus": "100", "machine_seconds": str(MACHINE_S)}):
        for run in range(runs):
            command([VERTEX_LOCAL, "images", "clear", name], cloud.shell, CHECKOUT)
            first.append(_create_to_start(cloud, ground.folder, "pool"))
            warm.append(_create_to_start(cloud, ground.folder, "pool"))
            own.append(_create_to_start(cloud, ground.folder, "spot"))
            tell(f"{run + 1}/{runs}  first {first[-1]:.2f}  warm {warm[-1]:.2f}  machines of its own {own[-1]:.2f}")
    cold, cached, alone = statistics.median(first), statistics.median(warm), statistics.median(own)
    for line in started(alone, cold, cached):
        tell(line)
    return [
        Result("start-warm-vs-first", cached, cold, 1.0, speedup=True),
        Result("start-pool-vs-own", cached, alone, 1.0, speedup=True),
    ]


def started(own: float, first: float, warm: float) -> list[str]:
    """Return a table of each start's waits, from the seconds between create and start: the first job of a pool waits
    for the image in addition to the waits of later ones, and a job with machines of its own for those as well."""
    rows = [
        ("", "MACHINES", "IMAGE", "THE REST", "CREATE → START"),
        ("machines of its own", f"{MACHINE_S} s", f"{own - MACHINE_S - warm:.1f} s", f"{warm:.1f} s", f"{own:.1f} s"),
        ("pool, its first job", "–", f"{first - warm:.1f} s", f"{warm:.1f} s", f"{first:.1f} s"),
        ("pool, image cached", "–", "–", f"{warm:.1f} s", f"{warm:.1f} s"),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def elastic(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the machine-seconds of a pool that grows and shrinks under a load of jobs, against one that always has its
    maximum.

    Measured once. Raises BenchError when a job of the load fails, or the pool does not grow, or not shrink back.
    """
    cloud = ground.cloud("elastic", {"scale_up_seconds": "3", "scale_idle_seconds": "3"})
    cloud.start()
    pulumi(cloud, CHECKOUT, "stack", "select", STACK, "--create")
    pulumi(cloud, CHECKOUT, "up", "--yes", "--skip-preview", "--stack", STACK)
    cluster, pool = _workers(cloud)
    least, most = (int(pool["autoscalingSpec"][key]) for key in ("minReplicaCount", "maxReplicaCount"))
    dry_run = command([_SLIPWAY, "submit", "dask-digits", "--dry-run"], _submitter(cloud), ground.folder)
    account = json.loads(dry_run)["jobSpec"]["serviceAccount"]
    jobs = [cloud.call("POST", _JOBS, _nap(cluster, pool, account))["name"] for _ in range(LOAD)]
    seen: list[Sample] = []
    until = time.monotonic() + _LOAD_ENDS_S
    while not seen or seen[-1].busy or seen[-1].waiting or seen[-1].live > least:
        if time.monotonic() > until:
            raise BenchError(f"after {_LOAD_ENDS_S} s the load has not ended, or the pool has not shrunk: {seen[-1]}")
        time.sleep(_EVERY_S)
        seen.append(_sample(cloud, jobs))
    if any(cloud.call("GET", f"/v1/{job}")["state"] != "JOB_STATE_SUCCEEDED" for job in jobs):
        raise BenchError("a job of the load did not succeed")
    if max(one.live for one in seen) < most:
        raise BenchError(f"the pool never grew to its {most} machines: {max(one.live for one in seen)}")
    for line in load(seen):
        tell(line)
    return [Result("pool-elastic", sum(one.live for one in seen), most * len(seen), 1.0)]


def load(seen: Sequence[Sample]) -> list[str]:
    """Return a pool's machines, its busy machines and the waiting jobs, look by look."""
    rows = {
        "machines": [one.live for one in seen],
        "busy": [one.busy for one in seen],
        "jobs waiting": [one.waiting for one in seen],
    }
    return [f"{name:<12}  {''.join(format(number, 'x') for number in numbers)}" for name, numbers in rows.items()]


def _workers(cloud: Cloud) -> tuple[str, dict[str, Any]]:
    """Return the id of the cluster, and its autoscaled resource pool."""
    cluster = cloud.call("GET", _CLUSTERS)["persistentResources"][0]
    return cluster["name"].rsplit("/", 1)[1], next(one for one in cluster["resourcePools"] if "autoscalingSpec" in one)


def _sample(cloud: Cloud, jobs: Sequence[str]) -> Sample:
    _, pool = _workers(cloud)
    states = [cloud.call("GET", f"/v1/{job}")["state"] for job in jobs]
    going = states.count("JOB_STATE_RUNNING") + states.count("JOB_STATE_PENDING")
    return Sample(int(pool["replicaCount"]), going, states.count("JOB_STATE_QUEUED"))


def _nap(cluster: str, pool: Mapping[str, Any], account: str) -> dict[str, Any]:
    """Return a job that takes one machine of the pool for some seconds."""
    container = {"imageUri": "python:3.11", "command": ["python", "-c", f"import time; time.sleep({_NAP_S})"]}
    worker = {"machineSpec": pool["machineSpec"], "diskSpec": pool["diskSpec"], "replicaCount": 1}
    spec = {
        "persistentResourceId": cluster,
        "serviceAccount": account,
        "workerPoolSpecs": [{**worker, "containerSpec": container}],
    }
    return {"displayName": "nap", "jobSpec": spec}


def _create_to_start(cloud: Cloud, folder: Path, capacity_type: str) -> float:
    """Return the seconds between a job's createTime and its startTime. Raises BenchError when it did not succeed."""
    words = [part for parameter in _SMALL for part in ("-p", parameter)]
    command_line = [_SLIPWAY, "submit", "dask-digits", *words, "--capacity", capacity_type, "--wait"]
    sample = measure.run(command_line, _submitter(cloud), folder)
    found = _JOB_NAME.search(sample.output)
    if found is None:
        raise BenchError(f"a submission printed no job:\n{sample.output}")
    job = cloud.call("GET", f"/v1/{found[0]}")
    created, started = (datetime.fromisoformat(job[key]) for key in ("createTime", "startTime"))
    return (started - created).total_seconds()


def _submitter(cloud: Cloud) -> dict[str, str]:
    return {**cloud.role("submitter"), "SLIPWAY_CATALOG": CATALOG}

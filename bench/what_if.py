"""The speed of a replay of past jobs, and its error against a day that really ran on a local cloud.

The day has ten busy hours. All of its durations and delays are divided by FACTOR, the jobs really run, and the cloud's
times are multiplied again. The replay knows what it would know of any stack: jobs with their times, a deployment, and
samples of the machines that were up.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from bench import measure
from bench.errors import BenchError
from bench.ground import Cloud, Ground, Tell
from bench.result import Result, absolute
from slipway.base.formatting import span
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.operating.history.model import History, MachinesUsed, PastJob, Sample
from slipway.operating.history.waits import Waits
from slipway.operating.whatif.calibration import TOLERATED
from slipway.operating.whatif.comparison import Replayer
from slipway.operating.whatif.model import PoolDelays, ReplayedJob, Route
from slipway.operating.whatif.pools import pools_over_time
from slipway.operating.whatif.replay import replay
from tests.slipway.operating.whatif import past
from tests.slipway.operating.whatif.month import month

FACTOR, HOURS, JOBS = 600, 10, 60
REAL = PoolDelays(start=0, scale_up=900, idle=1200)
"""Seconds of the day: the local cloud's settings, which the replay has to find out."""
POOL = past.pool("workers", 1, 4, MachineSpec("n1-standard-4"))
_MANY, _BAR_S, _LATE_S, _EVERY_S = 10_000, 5.0, 120, 1.0
_AT = "/v1/projects/local-project/locations/us-central1"
_CLUSTER, _CLUSTERS, _JOBS = "day", f"{_AT}/persistentResources", f"{_AT}/customJobs"


def speed(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds to replay 10,000 jobs of a month on a pool that is full at times."""
    jobs = month(_MANY, POOL.machine, routes=(Route("pool"), Route("spot")))
    pools = past.replayed(past.cluster("cpu", past.pool("workers", 8, 64, POOL.machine)), REAL)

    def once() -> float:
        began = time.perf_counter()
        found = replay(jobs, pools, 30 * 86_400)
        seconds = time.perf_counter() - began
        waits = [run.wait for run in found.runs]
        if None in waits or not any(waits):
            raise BenchError("the pool is too small for the jobs, or never full")
        return seconds

    return [absolute("what-if-10000", measure.median(runs, once, tell), _BAR_S)]


def error(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the error of a replay against a day that really ran, once."""
    scaling = {"scale_up_seconds": REAL.scale_up, "scale_idle_seconds": REAL.idle}
    settings = {name: f"{seconds / FACTOR:.2f}" for name, seconds in scaling.items()}
    cloud = ground.cloud("day", {"submissions_per_minute": "0", "calls_per_minute": "0", **settings})
    cloud.start()
    _make_cluster(cloud)
    trace = [replace(one, run=min(one.run, 4 * 3600)) for one in _trace()]
    jobs, seen = _played(cloud, trace, tell)
    history = _history(trace, jobs, seen)
    of_day = past.cluster(_CLUSTER, POOL, id=_CLUSTER)
    replayer = Replayer.of(history, past.catalog([of_day], {}))
    delays = replayer.delays
    pools = pools_over_time(history.deployments, "us-central1", delays, history.since)
    found = replay(replayer.past.jobs, pools, replayer.length)
    for name, one in (("start", delays.start), ("growing", delays.scale_up), ("shrinking", delays.idle)):
        tell(f"{name}: {span(one.seconds)} ({one.count} times)")
    happened = Waits.of(job.waited for job in replayer.past.jobs if job.waited is not None)
    replayed = Waits.of(run.wait for run in found.runs if run.wait is not None)
    for name, waits in (("happened", happened), ("replayed", replayed)):
        median, p95, longest = (span(one or 0) for one in (waits.median, waits.p95, waits.longest))
        tell(f"{name}: wait p50 {median}, p95 {p95}, longest {longest}")
    calibration = replayer.calibration
    tell(calibration.words)
    if calibration.error is None:
        raise BenchError(f"only {len(jobs)} jobs ran")
    return [absolute("what-if-error", max(calibration.error, calibration.machines or 0.0, 1e-6), TOLERATED)]


def _trace() -> list[ReplayedJob]:
    """Return jobs of ten hours, with one or two machines."""
    return month(JOBS, POOL.machine, seed=7, days=HOURS / 24, median=1500, spread=0.8, most=2)


def _make_cluster(cloud: Cloud) -> None:
    request = {"resourcePools": [POOL.request()]}
    cloud.call("POST", f"{_CLUSTERS}?persistentResourceId={_CLUSTER}", request)
    until = time.monotonic() + _LATE_S
    while _cluster(cloud)["state"] != "RUNNING":
        if time.monotonic() > until:
            raise BenchError("the cluster was not made")
        time.sleep(0.1)


def _cluster(cloud: Cloud) -> Mapping[str, Any]:
    found: Mapping[str, Any] = cloud.call("GET", f"{_CLUSTERS}/{_CLUSTER}")
    return found


def _played(
    cloud: Cloud, trace: Sequence[ReplayedJob], tell: Tell
) -> tuple[list[VertexJob], list[tuple[datetime, int]]]:
    """Send each job when it is due, and read the pool meanwhile, until all have ended."""
    began, left, names = time.monotonic(), list(trace), list[str]()
    seen: list[tuple[datetime, int]] = []
    tell(f"{len(trace)} jobs of {HOURS} hours in {HOURS * 3600 // FACTOR} s")
    looks = began
    until = began + HOURS * 3600 / FACTOR + _LATE_S
    while left or any("endTime" not in one for one in _bodies(cloud, names[-20:])):
        now = time.monotonic()
        if now > until:
            raise BenchError(f"{len(left)} jobs were not sent, or some have not ended")
        while left and (now - began) * FACTOR >= left[0].created:
            names.append(cloud.call("POST", _JOBS, _nap(left.pop(0)))["name"])
        if now >= looks:
            seen.append((datetime.now(UTC), int(_cluster(cloud)["resourcePools"][0]["replicaCount"])))
            looks += _EVERY_S
        time.sleep(0.05)
    while int(_cluster(cloud)["resourcePools"][0]["replicaCount"]) > POOL.min and time.monotonic() < until:
        seen.append((datetime.now(UTC), int(_cluster(cloud)["resourcePools"][0]["replicaCount"])))
        time.sleep(_EVERY_S)
    return [VertexJob.read(body) for body in _bodies(cloud, names)], seen


def _bodies(cloud: Cloud, names: Sequence[str]) -> list[Mapping[str, Any]]:
    return [cloud.call("GET", f"/v1/{name}") for name in names]


def _nap(job: ReplayedJob) -> Mapping[str, Any]:
    """Return a job that does nothing for its run time, on all of its machines."""
    code = f"import time; time.sleep({job.run / FACTOR:.3f})"
    container = {"imageUri": "python:3.11", "command": ["python", "-c", code]}
    one = {**POOL.machine.request(), "replicaCount": 1, "containerSpec": container}
    more = sum(group.count for group in job.machines) - 1
    workers = [one, *([{**one, "replicaCount": more}] if more else [])]
    return {"displayName": job.name, "jobSpec": {"persistentResourceId": _CLUSTER, "workerPoolSpecs": workers}}


def _history(trace: Sequence[ReplayedJob], jobs: Sequence[VertexJob], seen: Sequence[tuple[datetime, int]]) -> History:
    """Return the history in the day's own time."""
    first = min(one.create_time for one in jobs if one.create_time)
    of_day = past.cluster(_CLUSTER, POOL, id=_CLUSTER)

    def moment(at: datetime | None) -> datetime | None:
        return None if at is None else past.SINCE + timedelta(seconds=(at - first).total_seconds() * FACTOR)

    def told(one: ReplayedJob, job: VertexJob) -> PastJob:
        used = tuple(MachinesUsed(group.machine, group.count, POOL.name) for group in one.machines)
        plain = past.job(one.name, 0, 0, 0, on=of_day, machines=used, template=one.template)
        return replace(
            plain, created=moment(job.create_time), started=moment(job.start_time), ended=moment(job.end_time)
        )

    lives = [(at, live) for at, live in ((moment(at), live) for at, live in seen) if at]
    samples: tuple[Sample, ...] = past.sampled(
        [((at - past.SINCE).total_seconds(), live) for at, live in lives], of_day
    )
    listed = [told(one, job) for one, job in zip(trace, jobs, strict=True)]
    return past.history(listed, [of_day], days=HOURS / 24 + 0.1, samples=samples)

"""The stack of `bench.month` as it is at the month's end, with something of everything that the page shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta

from bench.month import HOSTILE, NOW, REGION
from slipway.board.now import DueNow, FoundNow, Gauge, Now, PoolNow, Share, Waiting
from slipway.history.model import History, PastJob

_POOLS = (
    ("h100/workers", 3, 4, "a3-highgpu-8g", "303.09"),
    ("cpu/workers", 10, 10, "n1-standard-8", "4.60"),
    ("cpu/gpu-small", 6, 8, "g2-standard-12", "7.08"),
)
_FINDINGS = (
    FoundNow(
        "broken",
        "cluster h100-4b2277a is in ERROR since 02:11 (no machines in us-central1) and holds its name",
        "pulumi up --stack prod",
        "it clears the cluster and tries again",
    ),
    FoundNow(
        "warning",
        "cluster h100-3e29a36 retires since 6 days: tune-27b-x1 still runs, $101.01/h",
        "slipway jobs show tune-27b-x1",
        "or wait: the scheduled deployment deletes it when idle",
    ),
    FoundNow("warning", f"pool cpu/gpu-small idle for 9 days, $143 since its last job {HOSTILE[0]}", "", ""),
    FoundNow("note", "cluster h100-4b2277a is 18 days old; the cloud advises 30", "", ""),
)
_GAUGES = (
    Gauge("H100 GPUs, on-demand", REGION, 24, 32, 0, 32, "ok"),
    Gauge("A3 vCPUs, on-demand", REGION, 624, 832, 0, -1, "ok"),
    Gauge("L4 GPUs, on-demand", REGION, 6, 8, 2, 16, "ok"),
    Gauge("CPUs, on-demand", REGION, 80, 176, 12, 100, "ok now; short by 88 at the maximum"),
    Gauge("PD SSD GB, on-demand", REGION, 1500, 2000, None, None, "not checked"),
)


def now_of(history: History) -> Now:
    waiting = tuple(_waiting(job) for job in history.jobs if job.started is None and job.ended is None)
    due = (
        DueNow("h100", "season ends", False, NOW + timedelta(days=29), "", "101.01", "70392.00"),
        DueNow("a100", "is made", True, None, "$16.99/h from then on", None, None),
    )
    return Now(tuple(_pools(history)), waiting, due, _GAUGES, _FINDINGS, ("the state: there is no checkout here",))


def _pools(history: History) -> Iterator[PoolNow]:
    for name, live, most, machine, price in _POOLS:
        held: dict[str, list[PastJob]] = defaultdict(list)
        for job in history.jobs:
            if job.state == "RUNNING" and f"{job.cluster}/{job.machines[0].pool}" == name:
                held[job.user].append(job)
        shares = [
            Share("busy", sum(job.machines[0].count for job in some), user, tuple(job.display_name for job in some))
            for user, some in held.items()
        ]
        busy = sum(one.machines for one in shares)
        free = max(0, live - busy)
        shares += [Share("free", free), Share("room", most - busy - free)]
        told = tuple(one for one in shares if one.machines)
        yield PoolNow(name, "RUNNING", machine, REGION, busy, busy + free, most, told, None, price)


def _waiting(job: PastJob) -> Waiting:
    number, machines = job.name.rsplit("/", 1)[-1], job.machines[0].count
    why = "pool full: ada's tune-27b-x1 holds 4 of 4 machines"
    on = job.cluster or job.capacity_type
    return Waiting(number, job.display_name, job.user, job.template, on, machines, job.created, why)

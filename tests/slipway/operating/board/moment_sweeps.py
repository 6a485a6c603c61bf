"""The outcome of the sweep of `bench.month`, and the lives of two of its jobs."""

import math
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from bench.month import HOSTILE
from slipway.model.job_state import JobState
from slipway.model.prices import Price
from slipway.operating.board.life import Life, Mark, Phase, Use
from slipway.operating.board.sweep import BoardSweep, board_sweep
from slipway.operating.history.model import History, PastJob
from slipway.using.jobs.metrics import Metrics, MetricStep
from slipway.using.jobs.results import Goal, ResultRow, Results

_FAILED = "CUDA out of memory: tried to allocate 2.4 GiB"


def sweeps_of(history: History) -> tuple[BoardSweep, ...]:
    jobs = [job for job in history.jobs if job.sweep]
    chance = random.Random(3)
    found = {job.name: _metrics(job, chance) for job in jobs}
    best = max(found, key=lambda name: found[name].get("accuracy", 0.0))
    rows = tuple(_row(job, found[job.name], best=job.name == best) for job in jobs)
    results = Results(rows, ("lr", "hidden"), ("accuracy", "loss"), Goal("accuracy", True))
    return (board_sweep("lr-grid", results, found),)


def lives_of(history: History) -> tuple[Life, ...]:
    running = [job for job in history.jobs if job.state == "RUNNING" and job.started][-1:]
    spot = [job for job in history.jobs if job.lost and job.ended][-1:]
    return tuple(_life(job, lost=bool(job.lost), until=history.until) for job in (*running, *spot))


def _metrics(job: PastJob, chance: random.Random) -> Metrics:
    given = job.parameters or {}
    rate, hidden = float(str(given["lr"])), float(str(given["hidden"]))
    top = 0.985 - 0.05 * (math.log10(rate) + 2) ** 2 - 0.01 * abs(math.log2(hidden) - 7) + chance.gauss(0, 0.004)
    if rate > 0.2 and hidden > 200:
        return Metrics(why="no metrics.json in its output")
    steps = tuple(
        MetricStep(step, {"accuracy": top - 0.4 * math.exp(-step / 6), "loss": 1.2 * math.exp(-step / 7) + 1 - top})
        for step in range(1, 31)
    )
    return Metrics(steps[-1].values, steps, source="metrics.json")


def _row(job: PastJob, metrics: Metrics, *, best: bool) -> ResultRow:
    assert job.started and job.created
    end = job.ended or job.started
    return ResultRow(
        resource_name=job.name,
        name=job.display_name,
        run=int(job.run),
        state=JobState.SUCCEEDED if metrics else JobState.FAILED,
        raw_state="JOB_STATE_SUCCEEDED" if metrics else "JOB_STATE_FAILED",
        ended=True,
        error="" if metrics else _FAILED,
        failure_reason="" if metrics else _FAILED,
        template=job.template,
        user=job.user,
        capacity_type=job.capacity_type,
        parameters=job.parameters or {},
        metrics=dict(metrics),
        metrics_why=metrics.why,
        best=best,
        created=job.created,
        waited=(job.started - job.created).total_seconds(),
        ran=(end - job.started).total_seconds(),
        cost=job.cost or Price(Decimal(0)),
        paid_anyway=False,
    )


def _life(job: PastJob, *, lost: bool, until: datetime) -> Life:
    assert job.created and job.started
    end = job.ended or until
    phases, length = [Phase("waiting", job.created, job.started)], end - job.started
    if lost:
        away, back = job.started + length * 0.4, job.started + length * 0.55
        phases += [Phase("running", job.started, away), Phase("preempted", away, back), Phase("running", back, end)]
        marks = [Mark(away, "preemption", "The replica workerpool0-0 was preempted"), Mark(back, "restart", HOSTILE[0])]
    else:
        phases.append(Phase("running", job.started, end))
        marks = []
    marks += [Mark(job.started + length * part, "checkpoint", f"ckpt/{part}") for part in (0.2, 0.6, 0.9)]
    use = tuple(
        Use(f"workers-{replica}", what, 0.7, 0.98, tuple(_points(job.started, length, replica, level)))
        for replica in range(2)
        for what, level in (("cpu", 0.35), ("memory", 0.5), ("gpu 0", 0.9))
    )
    lines = tuple(f"workers-0  epoch {epoch}  loss {1.2 * math.exp(-epoch / 7):.4f}" for epoch in range(1, 12))
    number = job.name.rsplit("/", 1)[-1]
    return Life(
        number,
        job.display_name,
        tuple(phases),
        tuple(marks),
        use,
        (*lines, HOSTILE[2]),
        "2 L4 idle for 31 of 58 min (53 %): $1.10 of $2.05",
    )


def _points(begin: datetime, length: timedelta, replica: int, level: float) -> Iterator[tuple[datetime, float]]:
    chance = random.Random(replica + level)
    for part in range(60):
        at = begin + length * part / 60
        yield at.replace(microsecond=0), round(min(1.0, max(0.0, chance.gauss(level, 0.05))), 3)

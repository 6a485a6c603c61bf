"""Jobs that run and use next to nothing of their machines: what is read of them, and which of them that is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from slipway.cloud.jobs import VertexJob
from slipway.cloud.monitoring import ACCELERATOR, CPU, Monitoring, Series
from slipway.doctor.picture import Picture
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import span
from slipway.labels import STACK_LABEL
from slipway.live import Unknown
from slipway.prices import dollars

_IDLE, _LATE = timedelta(minutes=15), timedelta(minutes=4)
"""For so long; and samples come late by so much."""
_UNUSED = 0.05
_MOST = 100


def sampled(jobs: tuple[VertexJob, ...] | Unknown, stack: str, now: datetime) -> tuple[str, ...]:
    """The numbers of a stack's jobs that have run for so long that they can have idled."""
    found = () if isinstance(jobs, Unknown) else jobs
    old = [one for one in found if one.start_time and one.start_time <= now - _IDLE - _LATE]
    return tuple(id_ for one in old if one.labels.get(STACK_LABEL) == stack for id_ in one.run_ids)[:_MOST]


def use_of(monitoring: Monitoring, jobs: tuple[str, ...], now: datetime) -> tuple[Series, ...]:
    """Raises CloudError."""
    found = (monitoring.series(metric, jobs, now - _IDLE - _LATE, now) for metric in (CPU, ACCELERATOR))
    return tuple(one for part in found for one in part if one.points)


def idle_jobs(picture: Picture) -> Iterator[Finding]:
    """Those of which every replica was sampled for so long, and used nothing."""
    use = () if isinstance(picture.use, Unknown) else picture.use
    for job in () if isinstance(picture.jobs, Unknown) else picture.jobs:
        used = [one for one in use if one.job in job.run_ids and one.points[-1].at >= picture.now - 2 * _LATE]
        long = {(one.job, one.task) for one in used if one.metric == CPU and one.points[0].at <= picture.now - _IDLE}
        if not used or len(long) < job.replicas or any(point.value >= _UNUSED for one in used for point in one.points):
            continue
        words = f"job {job.display_name} has used under 5 % of its machines for {span(_IDLE.total_seconds())}"
        mend = f"slipway jobs logs {job.typed} --tail 20{picture.of_catalog}"
        means = f"shows what it waits for; slipway jobs cancel {job.typed}{picture.of_catalog} ends it"
        yield KINDS["job-idle"].of(Subject("job", job.name), f"{words} ({dollars(picture.cost(job))})", mend, means)

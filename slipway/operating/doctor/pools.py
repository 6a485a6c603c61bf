"""Idle pools and jobs, jobs on machines of their own beside pools with room, and nearly exhausted quota."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from math import ceil

from slipway.base.formatting import join, span
from slipway.google.clusters import RUNNING_STATES, PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Unknown
from slipway.google.monitoring import ACCELERATOR, CPU, Monitoring, Series
from slipway.google.quota.increases import by_gcloud
from slipway.google.quota.metrics import label, namespace
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.google.quota.seasons import AWAITS
from slipway.model.capacity import POOL
from slipway.model.catalog.model import Catalog
from slipway.model.draw import Draw
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import CODE_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.prices import dollars
from slipway.operating.doctor.picture import Picture
from slipway.using.jobs.demand import Demand, by_pool, last_end, on_pool
from slipway.using.jobs.idle import IDLE_BELOW
from slipway.using.jobs.verdict import Outcome, on_cluster
from slipway.using.sessions.listing import SessionRow
from slipway.using.submission.ending import recover
from slipway.using.submission.team import is_barred

_POOL_IDLE = timedelta(days=1)
_JOB_IDLE, _LATE = timedelta(minutes=15), timedelta(minutes=4)
"""The least idle time of a job, and the delay of samples."""
_MOST = 100
_NEARLY = 0.9


def pools(picture: Picture) -> Iterator[Finding]:
    """Find idle pools, without adopted ones: those are paid for by their owners, who know their purpose."""
    for cluster in _current(picture):
        for pool in cluster.pools if cluster.id not in picture.offered.adopted else ():
            yield from _idle(cluster, pool, picture)


def paused(picture: Picture) -> Iterator[Finding]:
    """Find what is paused: whoever submits to it waits."""
    for pause in () if isinstance(picture.pauses, Unknown) else (picture.pauses or {}).values():
        subject = Subject("cluster", pause.cluster) if pause.cluster else Subject("stack", picture.stack)
        yield KINDS["paused"].of(subject, pause.words(picture.stack), f"{pause.resume}{picture.of_catalog}")


def _current(picture: Picture) -> list[PersistentResource]:
    """Return the clusters that take the stack's jobs."""
    ids = picture.offered.clusters.values()
    return [cluster for cluster in picture.there.values() if cluster.id in ids and cluster.state in RUNNING_STATES]


def _idle(cluster: PersistentResource, pool: ResourcePool, picture: Picture) -> Iterator[Finding]:
    if isinstance(picture.jobs, Unknown) or isinstance(picture.recent, Unknown) or pool.used or not pool.replicas:
        return
    if on_pool(picture.jobs_on(cluster), pool.id, cluster):
        return
    last = last_end(picture.recent, pool.id, cluster)
    since = last or max(cluster.create_time or picture.recent_since, picture.recent_since)
    idle = picture.now - since
    declared = picture.catalog.cluster_named(cluster.id) if picture.catalog else None
    limit = declared.season.idle_limit if declared else None
    if idle < max(_POOL_IDLE, limit or _POOL_IDLE):
        return
    name = cluster.labels.get(NAME_LABEL, cluster.id)
    cost = dollars(picture.per_hour(cluster, pool) * (Decimal(round(idle.total_seconds())) / 3600), per="")
    at_least = "" if last or since != picture.recent_since else "at least "
    what = "since its last job" if last else "and no job on it"
    words = f"pool {name}/{pool.id} has been idle for {at_least}{picture.since(since)}, {cost} {what}"
    if limit and not cluster.in_use and not picture.jobs_on(cluster):
        mend, means = picture.up, "the cluster's `idleLimit` has passed: it gives the cluster up"
    else:
        lower = "lower `replicas.min`, or " if pool.min is not None and pool.min > 1 else ""
        mend = f"{lower}remove the pool in {picture.line(name, 'pools', pool.id)}"
        means = "" if limit or len(cluster.pools) > 1 else "an `idleLimit` on the cluster does that by itself"
    yield KINDS["pool-idle"].of(Subject("pool", f"{name}/{pool.id}"), words, mend, means)


def jobs(picture: Picture) -> Iterator[Finding]:
    """Find jobs that pay for machines of their own while a pool has as many free."""
    for job in () if isinstance(picture.jobs, Unknown) else picture.jobs:
        # The job that the service runs for a pipeline or a trial is reported on its own.
        if job.ended or job.persistent_resource_id or not (job.kind.runs_itself or job.kind.has_trials):
            continue
        if job.labels.get(STACK_LABEL, picture.identity.label) != picture.identity.label:
            continue  # The pools of its own stack are for that one's doctor.
        usable = (cluster for cluster in _current(picture) if not _is_barred(job, cluster, picture))
        pools_with_room = (_room(job, cluster, picture.now) for cluster in usable)
        if fitting := next(filter(None, pools_with_room), ""):
            yield _job_beside_pool(job, fitting, picture)


def _is_barred(job: VertexJob, cluster: PersistentResource, picture: Picture) -> bool:
    """Tell whether a cluster takes the jobs of other teams alone."""
    declared = picture.catalog.cluster_named(cluster.id) if picture.catalog else None
    return bool(picture.catalog and declared and is_barred(picture.catalog, declared.name, job.team))


def _room(job: VertexJob, cluster: PersistentResource, now: datetime) -> str:
    """Name the pools that have, or can grow by, all the machines of a job; empty where they do not."""
    demand = Demand.of(job)
    needs = by_pool(demand, cluster)
    if not needs or on_cluster("", demand, cluster, None, now).outcome in (Outcome.NEVER, Outcome.FULL):
        return ""
    name = cluster.labels.get(NAME_LABEL, cluster.id)
    return ", ".join(f"{name}/{id_}" for id_ in sorted(needs))


def _job_beside_pool(job: VertexJob, fits: str, picture: Picture) -> Finding:
    does = f"{'waits for' if job.waits else 'runs on'} machines of its own"
    costs = f"{job.capacity_type}, {dollars(picture.cost(job))}"
    words = f"job {job.display_name} {does} ({costs}), and pool {fits} has them free"
    mend, means = f"slipway templates{picture.of_catalog}", "shows what can be submitted to the pool, the next time"
    template = picture.catalog.templates.get(job.template) if picture.catalog else None
    if template is not None and any(
        offer.capacity_type == POOL and offer.team in ("", job.team) for offer in template.offers
    ):
        typed = words_submitted(picture.catalog, job)
        mend = f"submit {template.name} with --capacity pool, with its own parameters"
        if typed is not None:
            mend = shlex.join(["slipway", "submit", template.name, *typed, "--capacity", "pool"]) + picture.of_catalog
        means = f"and slipway jobs cancel {job.typed}{picture.of_catalog}" if job.waits else "the next time"
    return KINDS["job-beside-pool"].of(Subject("job", job.name), words, mend, means)


def words_submitted(catalog: Catalog | None, job: VertexJob) -> tuple[str, ...] | None:
    """Return the words after the template, without those that choose its machines; None where the job does not tell
    them all, as one of a folder's own code."""
    template = catalog.templates.get(job.template) if catalog else None
    if catalog is None or template is None or CODE_LABEL in job.labels:
        return None
    again = recover(catalog, job)
    if again is None:
        return None if job.parameters or any(parameter.default is None for parameter in template.parameters) else ()
    if again.unknown:
        return None
    return (*again.words(), *again.flags)


def idle_candidates(jobs: tuple[VertexJob, ...] | Unknown, stack: str, now: datetime) -> tuple[str, ...]:
    """Return the numbers of a stack's jobs that have run for long enough to be idle."""
    listed = () if isinstance(jobs, Unknown) else jobs
    long_running = [job for job in listed if job.start_time and job.start_time <= now - _JOB_IDLE - _LATE]
    return tuple(id_ for job in long_running if job.labels.get(STACK_LABEL) == stack for id_ in job.run_ids)[:_MOST]


def read_utilization(monitoring: Monitoring, jobs: tuple[str, ...], now: datetime) -> tuple[Series, ...]:
    """Read the utilization of jobs. Raises CloudError."""
    of_metrics = (monitoring.series(metric, jobs, now - _JOB_IDLE - _LATE, now) for metric in (CPU, ACCELERATOR))
    return tuple(series for part in of_metrics for series in part if series.points)


def idle_jobs(picture: Picture) -> Iterator[Finding]:
    """Find jobs of which every replica was sampled for all of the idle time, and used next to nothing; and sessions
    that have run nothing for as long."""
    use = () if isinstance(picture.use, Unknown) else picture.use
    for job in () if isinstance(picture.jobs, Unknown) else picture.jobs:
        if row := picture.sessions.get(job.name):
            yield from _idle_session(row, picture)
            continue
        recent, throughout = picture.now - 2 * _LATE, picture.now - _JOB_IDLE
        of_job = [series for series in use if series.job in job.run_ids and series.points[-1].at >= recent]
        sampled = [series for series in of_job if series.metric == CPU and series.points[0].at <= throughout]
        if not of_job or len({(series.job, series.task) for series in sampled}) < job.replicas:
            continue
        if any(point.value >= IDLE_BELOW for series in of_job for point in series.points):
            continue
        words = f"job {job.display_name} has used under 5 % of its machines for {span(_JOB_IDLE.total_seconds())}"
        mend = f"slipway jobs logs {job.typed} --tail 20{picture.of_catalog}"
        means = f"shows what it waits for; slipway jobs cancel {job.typed}{picture.of_catalog} ends it"
        yield KINDS["job-idle"].of(Subject("job", job.name), f"{words} ({dollars(picture.cost(job))})", mend, means)


def _idle_session(row: SessionRow, picture: Picture) -> Iterator[Finding]:
    job, idle = row.session.job, row.idle or 0.0
    if idle < _JOB_IDLE.total_seconds():
        return
    cost = dollars(picture.cost(job) * (Decimal(round(idle)) / 3600), per="")
    words = f"session {row.session.name} of {job.user} holds {row.holds} idle for {span(idle)}, {cost}"
    mend = f"slipway jobs cancel {job.typed}{picture.of_catalog}"
    yield KINDS["job-idle"].of(Subject("job", job.name), words, mend, f"without a run it ends {row.ends}")


def quota(picture: Picture) -> Iterator[Finding]:
    """Find quota that is nearly exhausted, and quota that coming clusters lack."""
    if not isinstance(picture.quota, QuotaReport):
        return
    for line in picture.quota.lines:
        yield from _nearly(line, picture)
    for finding in picture.quota.findings:
        if finding.kind == AWAITS.word:
            # Where all that is short was asked for already, `slipway quota` shows those requests.
            short = (line for line in finding.facts["lines"] if not line.requested and line.limit is not None)
            asks = dict.fromkeys(_ask_for_more(line, line.limit, picture) for line in short)
            yield replace(finding, fix=join(asks) or f"slipway quota{picture.of_catalog}")


def _nearly(line: QuotaRow, picture: Picture) -> Iterator[Finding]:
    if line.now is None or line.others is None or line.limit is None:
        return
    used = line.now + (line.retiring or 0) + line.others
    rest = Draw(0, line.limit, used).room
    if rest is None or not used or used < _NEARLY * line.limit:
        return
    which = f"{namespace(line.metric)} {label(line.metric)} in {line.region}"
    words = f"{which}: {used:,} of {line.limit:,} in use, {rest:,} left"
    if line.others:
        words += f" ({line.others:,} by others)"
    if line.requested is None:
        mend, means = _ask_for_more(line, line.limit, picture), str(line.increase)
    else:
        mend, means = f"slipway quota{picture.of_catalog}", f"more was asked for: {line.requested}"
    yield KINDS["quota-nearly-used"].of(Subject("quota", line.key), words, mend, means)


def _ask_for_more(line: QuotaRow, limit: int, picture: Picture) -> str:
    """Return the command that asks for the maximum draw, or a quarter more, in whole machines."""
    if line.increase != Increase.POSSIBLE:
        return "free some of it, or use machines of another type"
    more = line.enough if line.enough > limit else limit + line.each * ceil(limit / 4 / line.each)
    if line.elsewhere:
        words = f"ask for {more:,} of {line.metric} in {line.region}, on the page of quotas in Google's console"
        return by_gcloud(picture.project, line, more, picture.catalog.quotas if picture.catalog else None) or words
    ask = f"slipway quota --request {line.metric}={more}{picture.of_catalog}"
    if picture.contact:
        return f"{ask} --contact {shlex.quote(picture.contact)}"
    return f"ask for more: {ask}, with --contact"

"""The thin shell of the board: reads a stack as the doctor does, its past, and some jobs and sweeps in full.

Failures to read are shown on the page, and hide nothing else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any

from slipway.base.clock import right_time
from slipway.base.errors import ResourceError, SlipwayError
from slipway.base.formatting import quoted
from slipway.deploying.deployment.published_schedule import upcoming
from slipway.google.catalog.document import as_published
from slipway.google.jobs import distinct
from slipway.google.live import Live, Unknown
from slipway.google.quota.report import QuotaReport
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import KINDS
from slipway.model.labels import STACK_LABEL
from slipway.operating.doctor.examination import OF_JOBS, examine
from slipway.operating.doctor.picture import Picture
from slipway.operating.doctor.place import find
from slipway.operating.doctor.reading import picture
from slipway.operating.history.model import History
from slipway.operating.history.reader import read_history
from slipway.operating.pool_rows import rows
from slipway.using.context import Context
from slipway.using.jobs.claimant import claimant
from slipway.using.jobs.failure import FailureReason, read_causes
from slipway.using.jobs.finding import find_jobs
from slipway.using.jobs.metrics import read_metrics
from slipway.using.jobs.results import Goal, goal_of, require_metrics, result_rows
from slipway.using.sweeps.runs import in_order, latest, sweep_filter

from .document import Document, board_of
from .life import Life, read_life
from .now import Now, gauges, pools_now, queue
from .sweep import MOST_RUNS, BoardSweep, board_study, board_sweep

SWEEPS, LIVES = 2, 4
"""The number of newest sweeps, and of running or failed jobs, that are read in full by default."""
_LISTED = 20 * MOST_RUNS
"""The number of a sweep's jobs that are read: a list has the newest first, and the page shows the first runs."""


@dataclass(frozen=True)
class Wanted:
    """The choice of the page's contents: how far it looks back, and the sweeps and jobs that it shows in full."""

    past: timedelta = timedelta(days=30)
    sweeps: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    #: Of the sweeps' charts.
    goal: Goal | None = None
    #: Lines of jobs' logs are shown too, the causes of failures among them.
    lines: bool = True


def read_board(context: Context, wanted: Wanted, say: Callable[[str], None]) -> Document:
    """Read the board. `say` gets a sentence for every slow part. Raises the errors of fetching the catalog, and
    ResourceError for a named job or sweep that does not exist."""
    catalog, place = context.catalog, find(context, None)
    now = right_time(context.now, context.connection.session.time)
    with ThreadPoolExecutor(2, thread_name_prefix="board") as threads:
        seen = threads.submit(picture, context, place, say)
        past = threads.submit(read_history, context.connection, catalog, now - wanted.past, now)
        stack, history = seen.result(), past.result()
        lives = threads.submit(_lives, context, wanted, history)
        sweeps = tuple(_sweeps(context, wanted, history))
        return board_of(history, _now(catalog, stack), sweeps, lives.result(), catalog.budget)


def _now(catalog: Catalog, seen: Picture) -> Now:
    parts = {"clusters": seen.clusters, "jobs": seen.jobs, "recent jobs": seen.recent, "quota": seen.quota}
    unread = [f"{what}: {part}" for what, part in parts.items() if isinstance(part, Unknown)]
    clusters = () if isinstance(seen.clusters, Unknown) else seen.clusters
    jobs = () if isinstance(seen.jobs, Unknown) else distinct(seen.jobs)
    recent = () if isinstance(seen.recent, Unknown) else seen.recent
    names = {
        **{id_: id_ for id_ in catalog.retiring},
        **{cluster.id: cluster.name for cluster in catalog.clusters.values()},
    }
    # Without its clusters, all of the catalog's would seem to be gone.
    pools = () if isinstance(seen.clusters, Unknown) else pools_now(rows(catalog, clusters, jobs, recent))
    ours = tuple(
        job
        for job in jobs
        if job.persistent_resource_id in names or job.labels.get(STACK_LABEL) == catalog.identity.label
    )
    return Now(
        pools=tuple(pools),
        waiting=tuple(queue(ours, clusters, names, seen.now)),
        due=due_dates(catalog, seen),
        gauges=tuple(gauges(seen.quota.lines)) if isinstance(seen.quota, QuotaReport) else (),
        findings=tuple(finding.document() for finding in examine(seen, OF_JOBS)),
        unseen=tuple(unread),
    )


def due_dates(catalog: Catalog, seen: Picture) -> tuple[Mapping[str, Any], ...] | None:
    """Return the due dates; None where nothing tells them."""
    unread = Unknown(why="not read for this", api="", role="")
    live = Live(seen.clusters, seen.jobs, limits=unread, catalog=as_published(catalog), last_ends=seen.last_ends)
    try:
        return tuple({**due.document(seen.now), "does": due.does} for due in upcoming(catalog, live, seen.now))
    except SlipwayError:
        return None


def _lives(context: Context, wanted: Wanted, history: History) -> tuple[Life, ...]:
    if wanted.jobs:
        stack = context.catalog.identity.label
        jobs = [find_jobs(context.vertex, name, stack=stack, of_template=False)[0] for name in wanted.jobs]
    else:
        newest = [job.name for job in reversed(history.jobs) if job.state in ("RUNNING", "FAILED") and job.started]
        jobs = []
        for name in newest[:LIVES]:
            with contextlib.suppress(SlipwayError):  # Some can't be read any more.
                jobs.append(context.vertex.job(name))
    with ThreadPoolExecutor(max(1, len(jobs)), thread_name_prefix="lives") as threads:
        lives = threads.map(lambda job: read_life(context, job, lines=wanted.lines), jobs)
        causes = read_causes(context, jobs) if wanted.lines else {}
        return tuple(
            replace(life, cause=causes.get(job.name, FailureReason()).text)
            for life, job in zip(lives, jobs, strict=True)
        )


def _sweeps(context: Context, wanted: Wanted, history: History) -> Iterator[BoardSweep]:
    if wanted.sweeps:
        for id_ in wanted.sweeps:
            if (sweep := _sweep(context, id_, wanted, history)) is None:
                raise ResourceError(f"there is no sweep {quoted(id_)}", fix="slipway jobs list shows the newest jobs")
            yield sweep
        return
    newest = dict.fromkeys(job.name if KINDS[job.kind].has_trials else job.sweep for job in reversed(history.jobs))
    for id_ in [id_ for id_ in newest if id_][:SWEEPS]:
        # A label may have been written by anybody, and a job may be gone by now.
        with contextlib.suppress(SlipwayError):
            if sweep := _sweep(context, id_, wanted, history):
                yield sweep


def _sweep(context: Context, id: str, wanted: Wanted, history: History) -> BoardSweep | None:
    """Return a sweep by its id, or the trials of a tuning job by its full name; None where there are no runs. Raises
    ConfigError where a named sweep lacks the metric to draw."""
    if "/" in id:
        return board_study(context.vertex.job(id))
    listed = context.vertex.jobs_of_every_kind(sweep_filter(context.catalog.identity.label, id))
    choose_job = partial(claimant, context.connection.storage)
    jobs = list(latest(in_order(list(islice(listed, _LISTED))), choose_job).values())
    metrics = read_metrics(context, jobs[:MOST_RUNS])
    results = result_rows(jobs, metrics, context.now)
    goal = wanted.goal
    if goal and id in wanted.sweeps:
        require_metrics(results, [goal.metric])
    if goal is None or (results.metrics and goal.metric not in results.metrics):
        goal = goal_of(jobs, next(iter(results.metrics), ""))
    runs = {job.run.partition("-")[0] for job in history.jobs if job.sweep == id}
    causes = read_causes(context, jobs[:MOST_RUNS]) if wanted.lines else {}
    results = result_rows(jobs, metrics, context.now, goal, causes=causes)
    return board_sweep(id, results, metrics, len(runs)) if jobs else None

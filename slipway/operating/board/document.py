"""The data of the page, as one versioned JSON: jobs have the keys of `slipway jobs list`.

Jobs are rows under one head, as a month has thousands of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any

from slipway.base import codec
from slipway.base.errors import visible
from slipway.base.formatting import last_part, short
from slipway.model.budget import Budget, Ledger
from slipway.model.prices import exact_text
from slipway.operating.history.ledger import ledger, month_begins
from slipway.operating.history.model import History, PastJob
from slipway.operating.history.timeline import timelines
from slipway.operating.history.usage import Usage, usages

from .band import Band, Place, bands, most_used, places
from .days import BandDay, Day, Days, days
from .life import Life
from .now import Now
from .sweep import BoardSweep

MOST_JOBS = 4000
"""The number of newest jobs on the page: with 3,000 it has under 2 MB."""
BY = ("user", "team", "template")
"""The groupings for the colours of jobs and the sums of money."""
_LONGEST, _LONGEST_ERROR = 500, 160
_COLOURED, _NAMES, _PREEMPTIONS = 8, 60, 20


@dataclass(frozen=True)
class BoardJob:
    """A job as `slipway jobs list` has it."""

    id: str
    region: str
    display_name: str
    state: str
    template: str
    user: str
    team: str
    capacity_type: str
    create_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    cost: str | None
    cost_at_most: bool
    error: str | None
    sweep: str | None
    preemptions: tuple[datetime, ...] | None
    #: Its places: each has the band's index, the number of machines, and the first and last lane of each range of them.
    on: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DayOfBand:
    """Machine hours of a band on a day."""

    day: datetime
    used: float
    idle: float
    #: Hours without a recorded number of machines.
    unknown: float
    #: The most machines that were waited for at once.
    waited: int


@dataclass(frozen=True)
class DayOfMoney:
    """USD of a day."""

    day: datetime
    #: Of pools in use.
    used: float
    #: Of jobs beside the pools.
    beside: float
    #: Of idle pools.
    idle: float


@dataclass(frozen=True)
class BoardBand:
    """The machines of a band over time."""

    name: str
    machine: str
    region: str
    price_per_machine_hour: str | None
    #: The highest lane.
    top: int
    #: The most machines that were waited for at once.
    queue: int
    #: Begin, end, live machines (null: unknown) and the maximum.
    spans: tuple[tuple[datetime, datetime, int | None, int | None], ...]
    #: Id, beginning and end.
    generations: tuple[tuple[str, datetime, datetime | None], ...]
    days: tuple[DayOfBand, ...]


@dataclass(frozen=True)
class BoardDeployment:
    """A deployment of the time."""

    time: datetime
    commit: str
    dirty: bool


@dataclass(frozen=True)
class Board:
    """The contents of the page."""

    stack: str
    project: str
    region: str
    since: datetime
    #: The first moment of which anything is known; `since` for a stack that is older.
    begun: datetime
    time: datetime
    #: None where it was not read.
    now: Now | None
    #: The users, teams and templates with the most machine time, the largest first.
    most: Mapping[str, tuple[str, ...]]
    jobs: tuple[BoardJob, ...]
    #: The number of older jobs that the page lacks.
    left_out: int
    #: The number of bands that the page lacks: those with the fewest jobs.
    bands_left_out: int
    bands: tuple[BoardBand, ...]
    days: tuple[DayOfMoney, ...]
    #: The output of `slipway usage`, by user, team and template.
    usage: Mapping[str, Usage]
    #: The number of names that `usage` lacks, the cheapest ones, by user, team and template.
    names_left_out: Mapping[str, int]
    #: The spent part of `budget`; None where the history does not reach back to the month's beginning.
    month: Ledger | None
    #: USD a month, None without one.
    budget: float | None
    deployments: tuple[BoardDeployment, ...]
    sweeps: tuple[BoardSweep, ...]
    lives: tuple[Life, ...]
    #: The parts that could not be read, as text.
    unread: tuple[str, ...]


def board_of(
    history: History,
    now: Now | None = None,
    sweeps: tuple[BoardSweep, ...] = (),
    lives: tuple[Life, ...] = (),
    budget: Budget | None = None,
) -> Board:
    pools = timelines(history)
    every = bands(pools, history.jobs)
    drawn = most_used(every, history.jobs)
    where = places(history, drawn)
    daily = days(history, pools, drawn)
    reaches_back = history.since <= month_begins(history.until)
    newest = history.jobs[-MOST_JOBS:]
    by_grouping = usages(history, BY)
    return Board(
        stack=history.stack,
        project=history.project,
        region=history.region,
        since=history.since,
        begun=_begun(history),
        time=history.until,
        now=now,
        most={key: _most(history, key) for key in BY},
        jobs=tuple(_job(job, where[job.name]) for job in newest),
        left_out=len(history.jobs) - len(newest),
        bands_left_out=len(every) - len(drawn),
        bands=tuple(map(_band, drawn, _tops(where, drawn), daily.bands)),
        days=tuple(_money(daily)),
        usage={by: replace(usage, rows=usage.rows[:_NAMES], unread=()) for by, usage in by_grouping.items()},
        names_left_out={by: len(usage.rows[_NAMES:]) for by, usage in by_grouping.items()},
        month=ledger(history) if reaches_back else None,
        budget=budget.stack if budget else None,
        deployments=tuple(
            BoardDeployment(time=deployment.at, commit=deployment.commit[:7], dirty=deployment.dirty)
            for deployment in history.deployments
        ),
        sweeps=sweeps,
        lives=lives,
        unread=history.unread,
    )


def as_json(board: Board, schema: int) -> dict[str, Any]:
    """Return the versioned document. Text is shown with its code point where it would reorder what is read."""
    body = _harmless(codec.document(replace(board, jobs=())))
    heads = list(codec.document(board.jobs[0])) if board.jobs else []
    # Rows without keys: thousands of jobs are most of the page.
    rows = [[_cell(getattr(job, field.name)) for field in fields(BoardJob)] for job in board.jobs]
    return {"schema": schema, "kind": "board", **body, "jobs": {"columns": heads, "rows": rows}}


def _cell(value: Any) -> Any:
    return _harmless(codec.document(value))


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isprintable() and len(value) <= _LONGEST else visible(value[:_LONGEST])
    if isinstance(value, Mapping):
        return {_harmless(key): _harmless(item) for key, item in value.items()}
    return [_harmless(item) for item in value] if isinstance(value, list | tuple) else value


def _begun(history: History) -> datetime:
    known = [job.created for job in history.jobs if job.created]
    known += [deployment.at for deployment in history.deployments]
    known += [sample.at for sample in history.samples]
    return max(min(known, default=history.until), history.since)


def _most(history: History, key: str) -> tuple[str, ...]:
    seconds_of: dict[str, float] = {}
    for job in history.jobs:
        if job.started and (name := getattr(job, key)):
            seconds = ((job.ended or history.until) - job.started).total_seconds()
            seconds_of[name] = seconds_of.get(name, 0.0) + seconds * sum(machines.count for machines in job.machines)
    return tuple(sorted(seconds_of, key=lambda name: (-seconds_of[name], name))[:_COLOURED])


def _tops(where: Mapping[str, Iterable[Place]], bands: Iterable[Band]) -> list[int]:
    tops = [max(band.usual_max, band.most_live) for band in bands]
    for job_places in where.values():
        for place in job_places:
            tops[place.band] = max(tops[place.band], *(high for _, high in place.lanes), 1)
    return tops


def _job(job: PastJob, where: Iterable[Place]) -> BoardJob:
    return BoardJob(
        id=last_part(job.name),
        region=job.region,
        display_name=job.display_name,
        state=f"JOB_STATE_{job.state}",
        template=job.template,
        user=job.user,
        team=job.team,
        capacity_type=job.capacity_type,
        create_time=job.created,
        start_time=job.started,
        end_time=job.ended,
        cost=exact_text(job.cost),
        cost_at_most=bool(job.cost and job.cost.at_most) or job.lost is None,
        error=short(job.error, _LONGEST_ERROR) or None,
        sweep=job.sweep or None,
        preemptions=tuple(moment.replace(microsecond=0) for moment in job.preemptions[:_PREEMPTIONS]) or None,
        on=tuple((place.band, place.count, *(end for lane in place.lanes for end in lane)) for place in where),
    )


def _band(band: Band, top: int, daily: Mapping[datetime, BandDay]) -> BoardBand:
    return BoardBand(
        name=band.name,
        machine=str(band.machine or ""),
        region=band.region,
        price_per_machine_hour=exact_text(band.per_hour),
        top=top,
        queue=max((hours.waited for hours in daily.values()), default=0),
        spans=tuple((span.begin, span.end, span.live, span.max) for span in band.spans),
        generations=tuple((id_, came, went) for id_, (came, went) in band.clusters.items()),
        days=tuple(
            DayOfBand(
                day=day,
                used=round(hours.used, 3),
                idle=round(hours.idle, 3),
                unknown=round(hours.unknown, 3),
                waited=hours.waited,
            )
            for day, hours in daily.items()
            if hours != BandDay()
        ),
    )


def _money(daily: Days) -> Iterable[DayOfMoney]:
    """Yield the days from the first one with a cost on."""
    begun = False
    for day, sums in daily.money.items():
        begun = begun or sums != Day()
        if begun:
            yield DayOfMoney(day=day, used=round(sums.used, 6), beside=round(sums.beside, 6), idle=round(sums.idle, 6))

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
    """A job as `slipway jobs list` has it; `on` is its place: the band's index, the number of machines, and the first
    and last lane of each range of them."""

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
    on: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DayOfBand:
    """Machine hours. `unknown`: hours without a recorded number of machines; `waited`: the most waited for at once."""

    day: datetime
    used: float
    idle: float
    unknown: float
    waited: int


@dataclass(frozen=True)
class DayOfMoney:
    """USD: of pools in use, of jobs beside them, of idle pools."""

    day: datetime
    used: float
    beside: float
    idle: float


@dataclass(frozen=True)
class BoardBand:
    """Machines over time. `top`: the highest lane; `queue`: the most that were waited for at once. `spans`: begin, end,
    live (null: unknown) and the maximum. `generations`: each id, its beginning, and its end."""

    name: str
    machine: str
    region: str
    price_per_machine_hour: str | None
    top: int
    queue: int
    spans: tuple[tuple[datetime, datetime, int | None, int | None], ...]
    generations: tuple[tuple[str, datetime, datetime | None], ...]
    days: tuple[DayOfBand, ...]


@dataclass(frozen=True)
class BoardDeployment:
    time: datetime
    commit: str
    dirty: bool


@dataclass(frozen=True)
class Board:
    """The contents of the page. `begun`: the first moment of which anything is known, `since` for a stack that is
    older. `now` is None where it was not read. `most`: the users, teams and templates with the
    most machine time, the largest first. `left_out`: the number of older jobs; `bands_left_out`: the bands with the
    fewest jobs. `usage`: the output of `slipway usage`, by each of these, without the `names_left_out`, the cheapest
    ones. `month`: the spent part of `budget` (USD a month, None without one), None where the history does not reach
    back to the month's beginning."""

    stack: str
    project: str
    region: str
    since: datetime
    begun: datetime
    time: datetime
    now: Now | None
    most: Mapping[str, tuple[str, ...]]
    jobs: tuple[BoardJob, ...]
    left_out: int
    bands_left_out: int
    bands: tuple[BoardBand, ...]
    days: tuple[DayOfMoney, ...]
    usage: Mapping[str, Usage]
    names_left_out: Mapping[str, int]
    month: Ledger | None
    budget: float | None
    deployments: tuple[BoardDeployment, ...]
    sweeps: tuple[BoardSweep, ...]
    lives: tuple[Life, ...]
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
    reaches = history.since <= month_begins(history.until)
    newest = history.jobs[-MOST_JOBS:]
    tops, used = _tops(where, drawn), usages(history, BY)
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
        bands=tuple(_band(*one) for one in zip(drawn, tops, daily.bands, strict=True)),
        days=tuple(_money(daily)),
        usage={by: replace(one, rows=one.rows[:_NAMES], unread=()) for by, one in used.items()},
        names_left_out={by: len(one.rows[_NAMES:]) for by, one in used.items()},
        month=ledger(history) if reaches else None,
        budget=budget.stack if budget else None,
        deployments=tuple(BoardDeployment(one.at, one.commit[:7], one.dirty) for one in history.deployments),
        sweeps=sweeps,
        lives=lives,
        unread=history.unread,
    )


def as_json(board: Board, schema: int) -> dict[str, Any]:
    """Return the versioned document. Text is shown with its code point where it would reorder what is read."""
    body = _harmless(codec.document(replace(board, jobs=())))
    heads = list(codec.document(board.jobs[0])) if board.jobs else []
    # Rows without keys: thousands of jobs are most of the page.
    rows = [[_cell(getattr(job, one.name)) for one in fields(BoardJob)] for job in board.jobs]
    return {"schema": schema, "kind": "board", **body, "jobs": {"columns": heads, "rows": rows}}


def _cell(value: Any) -> Any:
    return _harmless(codec.document(value))


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isprintable() and len(value) <= _LONGEST else visible(value[:_LONGEST])
    if isinstance(value, Mapping):
        return {_harmless(key): _harmless(one) for key, one in value.items()}
    return [_harmless(one) for one in value] if isinstance(value, list | tuple) else value


def _begun(history: History) -> datetime:
    known = [job.created for job in history.jobs if job.created]
    known += [one.at for one in history.deployments] + [one.at for one in history.samples]
    return max(min(known, default=history.until), history.since)


def _most(history: History, key: str) -> tuple[str, ...]:
    found: dict[str, float] = {}
    for job in history.jobs:
        if job.started and (name := getattr(job, key)):
            seconds = ((job.ended or history.until) - job.started).total_seconds()
            found[name] = found.get(name, 0.0) + seconds * sum(one.count for one in job.machines)
    return tuple(sorted(found, key=lambda name: (-found[name], name))[:_COLOURED])


def _tops(where: Mapping[str, Iterable[Place]], bands: Iterable[Band]) -> list[int]:
    tops = [max(band.usual_max, band.most_live) for band in bands]
    for some in where.values():
        for place in some:
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
        preemptions=tuple(one.replace(microsecond=0) for one in job.preemptions[:_PREEMPTIONS]) or None,
        on=tuple((one.band, one.count, *(end for lane in one.lanes for end in lane)) for one in where),
    )


def _band(band: Band, top: int, daily: Mapping[datetime, BandDay]) -> BoardBand:
    return BoardBand(
        name=band.name,
        machine=str(band.machine or ""),
        region=band.region,
        price_per_machine_hour=exact_text(band.per_hour),
        top=top,
        queue=max((one.waited for one in daily.values()), default=0),
        spans=tuple((one.begin, one.end, one.live, one.max) for one in band.spans),
        generations=tuple((id_, came, went) for id_, (came, went) in band.clusters.items()),
        days=tuple(
            DayOfBand(day, round(one.used, 3), round(one.idle, 3), round(one.unknown, 3), one.waited)
            for day, one in daily.items()
            if one != BandDay()
        ),
    )


def _money(daily: Days) -> Iterable[DayOfMoney]:
    begun = False
    for day, one in daily.money.items():
        begun = begun or one != Day()
        if begun:
            yield DayOfMoney(day, round(one.used, 6), round(one.beside, 6), round(one.idle, 6))

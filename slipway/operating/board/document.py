"""The data of the page, as one versioned JSON: jobs have the keys of `slipway jobs list`.

Jobs are rows under one head, as a month has thousands of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import dropwhile
from typing import Any

from slipway.base import codec
from slipway.base.errors import visible
from slipway.base.formatting import last_part, short
from slipway.model.budget import Budget
from slipway.model.job_state import JobState
from slipway.model.labels import shown_name
from slipway.model.prices import exact_text
from slipway.operating.history.ledger import ledger, month_begins
from slipway.operating.history.model import History, PastJob
from slipway.operating.history.timeline import timelines
from slipway.operating.history.usage import usages

from .band import Band, Place, bands, most_used, places
from .days import BandDay, Day, days
from .life import Life
from .now import Now
from .sweep import BoardSweep

MOST_JOBS = 4000
"""The number of newest jobs on the page: with 3,000 it has under 2 MB."""
BY = ("user", "team", "template")
"""The groupings for the colours of jobs and the sums of money."""
_LONGEST, _LONGEST_ERROR = 500, 160
_COLOURED, _NAMES, _PREEMPTIONS = 8, 60, 20


Document = Mapping[str, Any]
"""A part of the page's contents by the keys of its JSON; `slipway.base.codec.document` writes the values."""


def board_of(
    history: History,
    now: Now | None = None,
    sweeps: tuple[BoardSweep, ...] = (),
    lives: tuple[Life, ...] = (),
    budget: Budget | None = None,
) -> Document:
    """Return the contents of the page. `now` is None where it was not read."""
    pools = timelines(history)
    every = bands(pools, history.jobs)
    drawn = most_used(every, history.jobs)
    where = places(history, drawn)
    daily = days(history, pools, drawn)
    reaches_back = history.since <= month_begins(history.until)
    newest = history.jobs[-MOST_JOBS:]
    by_grouping = usages(history, BY)
    known = [job.created for job in history.jobs if job.created]
    known += [*(deployment.at for deployment in history.deployments), *(sample.at for sample in history.samples)]
    return {
        "stack": history.stack,
        "project": history.project,
        "region": history.region,
        "since": history.since,
        # The first moment of which anything is known; `since` for a stack that is older.
        "begun": max(min(known, default=history.until), history.since),
        "time": history.until,
        "now": now,
        # The users, teams and templates with the most machine time, the largest first.
        "most": {key: _most(history, key) for key in BY},
        "jobs": tuple(_job(job, where[job.name]) for job in newest),
        # The number of older jobs, and of the bands with the fewest jobs, that the page lacks.
        "leftOut": len(history.jobs) - len(newest),
        "bandsLeftOut": len(every) - len(drawn),
        "bands": tuple(map(_band, drawn, _tops(where, drawn), daily.bands)),
        # From the first one with a cost on.
        "days": tuple(dropwhile(lambda sums: sums == Day(sums.day), daily.money.values())),
        # The output of `slipway usage`, and the number of names, the cheapest ones, that it lacks here.
        "usage": {by: replace(usage, rows=usage.rows[:_NAMES], unread=()) for by, usage in by_grouping.items()},
        "namesLeftOut": {by: len(usage.rows[_NAMES:]) for by, usage in by_grouping.items()},
        # The spent part of `budget`, in USD; null where the history does not reach back to the month's beginning.
        "month": ledger(history) if reaches_back else None,
        "budget": budget.stack if budget else None,
        "deployments": tuple(
            {"time": deployment.at, "commit": deployment.catalog.commit[:7], "dirty": deployment.catalog.dirty}
            for deployment in history.deployments
        ),
        "sweeps": sweeps,
        "lives": lives,
        "unread": history.unread,
    }


def as_json(board: Document, schema: int) -> dict[str, Any]:
    """Return the versioned document. Text is shown with its code point where it would reorder what is read."""
    jobs = board["jobs"]
    # Rows without keys: thousands of jobs are most of the page.
    table = {"columns": list(jobs[0]) if jobs else [], "rows": [tuple(job.values()) for job in jobs]}
    return {"schema": schema, "kind": "board", **_harmless(codec.document({**board, "jobs": table}))}


def _harmless(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isprintable() and len(value) <= _LONGEST else visible(value[:_LONGEST])
    if isinstance(value, Mapping):
        return {_harmless(key): _harmless(item) for key, item in value.items()}
    return [_harmless(item) for item in value] if isinstance(value, list | tuple) else value


def _most(history: History, key: str) -> tuple[str, ...]:
    seconds_of: dict[str, float] = {}
    for job in history.jobs:
        if job.started and (name := getattr(job, key)):
            seconds = ((job.ended or history.until) - job.started).total_seconds()
            seconds_of[name] = seconds_of.get(name, 0.0) + seconds * sum(machines.count for machines in job.machines)
    return tuple(sorted(seconds_of, key=lambda name: (-seconds_of[name], name))[:_COLOURED])


def _tops(where: Mapping[str, Iterable[Place]], bands: Iterable[Band]) -> list[int]:
    tops = [max(band.usual_max, *(span.live or 0 for span in band.spans), 0) for band in bands]
    for job_places in where.values():
        for place in job_places:
            tops[place.band] = max(tops[place.band], *(high for _, high in place.lanes), 1)
    return tops


def _job(job: PastJob, where: Iterable[Place]) -> Document:
    """Return a job as `slipway jobs list` has it."""
    return {
        "id": last_part(job.name),
        "region": job.region,
        "displayName": shown_name(job.display_name, job.labels),
        "state": JobState.of(job.state),
        "template": job.template,
        "user": job.user,
        "team": job.team,
        "capacityType": job.capacity_type,
        "createTime": job.created,
        "startTime": job.started,
        "endTime": job.ended,
        "cost": exact_text(job.cost),
        "costAtMost": bool(job.cost and job.cost.at_most) or job.lost is None,
        "error": short(job.error, _LONGEST_ERROR) or None,
        "sweep": job.sweep or None,
        "preemptions": tuple(moment.replace(microsecond=0) for moment in job.preemptions[:_PREEMPTIONS]) or None,
        # Its places: the band's index, the number of machines, and the first and last lane of each range of them.
        "on": tuple((place.band, place.count, *(end for lane in place.lanes for end in lane)) for place in where),
    }


def _band(band: Band, top: int, daily: Mapping[datetime, BandDay]) -> Document:
    """Return the machines of a band over time. `top`: the highest lane."""
    return {
        "name": band.name,
        "machine": str(band.machine or ""),
        "region": band.region,
        "pricePerMachineHour": exact_text(band.per_hour),
        "top": top,
        # The most machines that were waited for at once.
        "queue": max((hours.waited for hours in daily.values()), default=0),
        # Begin, end, live machines (null: unknown) and the maximum.
        "spans": tuple((span.begin, span.end, span.live, span.max) for span in band.spans),
        # Id, beginning and end.
        "generations": tuple((id_, came, went) for id_, (came, went) in band.clusters.items()),
        "days": tuple(hours for hours in daily.values() if hours != BandDay(hours.day)),
    }

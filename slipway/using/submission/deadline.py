"""A deadline: the capacity types by which a job likely ends in time, the cheapest first, each waited for as long as the
next one still has time. By waits and run times seen here; nothing is promised."""

from __future__ import annotations

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from itertools import islice
from math import inf

from slipway.base.errors import ConfigError, PolicyError
from slipway.base.formatting import quoted, span
from slipway.model.capacity import PAID_ANYWAY
from slipway.model.season import moment
from slipway.using.context import Context
from slipway.using.jobs.earlier_jobs import EARLIER, earlier_filter, programs_of, run_times
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import price
from slipway.using.submission.choice import JudgedCandidate
from slipway.using.submission.preflight import AT_ONCE, Preflight
from slipway.using.submission.prepared import PreparedSubmission

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_CLOCK = re.compile(r"(?:(?P<day>[a-z]{3,})\s+)?(?P<hour>\d\d?):(?P<minute>\d\d)", re.IGNORECASE)
_SHORTEST_S = 60.0
_MACHINES_S = 600.0
"""The least time for a wait, and what is taken for machines that have to come where nothing tells."""


@dataclass(frozen=True)
class Rung:
    """A capacity type by which the job may run; times in seconds."""

    type: str
    price: float
    #: Until it has started, at most as far as is known, and from then to its end.
    starts: float
    runs: float
    #: False where it would wait now, and nothing tells how long.
    sure: bool = True

    def __str__(self) -> str:
        """Return `spot: starts in 2 h, runs 1 h`."""
        starts = f"starts in {span(self.starts)}" if self.sure else "waits, and nothing tells how long"
        return f"{self.type}: {starts}, runs {span(self.runs)}"

    @property
    def wait(self) -> tuple[bool, float]:
        """The key of the order by waits."""
        return not self.sure, self.starts

    def latest(self, left: float) -> float:
        """Return the time from now by which it has to be sent to be ready in `left`."""
        return left - self.starts - self.runs


def deadline(text: str, now: datetime) -> datetime:
    """Return the next `Fri 09:00` or `09:00` in this machine's zone, or a time with its own. Raises ConfigError."""
    try:
        if match := _CLOCK.fullmatch(text.strip()):
            today = now.astimezone().date()
            days = (_weekday(match["day"]) - today.weekday()) % 7 if match["day"] else 0
            clock = time(int(match["hour"]), int(match["minute"]))
            when = datetime.combine(today + timedelta(days), clock).astimezone()
            when += timedelta(days=(7 if match["day"] else 1) if when <= now else 0)
        else:
            when = moment(text.strip())
    except ValueError:
        fix = '--by "Fri 09:00", --by 18:30 or --by 2026-12-04T09:00:00Z'
        raise ConfigError(
            f"{quoted(text)} is no time", why="a weekday and a time of day, or all of it", fix=fix
        ) from None
    if when <= now:
        raise ConfigError(f"{quoted(text)} is over", fix="a later time")
    return when


def _weekday(word: str) -> int:
    """Return the number of a weekday, by three letters of its name or more. Raises ValueError."""
    return [day.startswith(word.lower()) for day in _DAYS].index(True)


def climb(rungs: Sequence[Rung], left: float, waits: str = "", age: float = 0.0) -> list[tuple[Rung, float | None]]:
    """Return the types to take in order, each with the seconds until the next one; none where no type is likely to be
    ready in `left` seconds. One that is not sure to start is no last hope. `waits`: the type by which it waits already,
    for `age` seconds. Pure."""
    likely = sorted((rung for rung in rungs if rung.latest(left) >= 0), key=lambda rung: rung.price)
    plan: list[tuple[Rung, float | None]] = []
    begin = 0.0
    while likely:
        rung, *dearer = likely
        shortest = max(0.0, _SHORTEST_S - age) if rung.type == waits else _SHORTEST_S
        likely = [other for other in dearer if other.latest(left) >= begin + shortest]
        wait = likely[0].latest(left) - begin if likely else None
        plan.append((rung, wait))
        begin += wait or 0.0
    if plan and not (last := plan[-1][0]).sure:
        return climb([rung for rung in rungs if rung is not last], left, waits, age)
    return plan


def going_on(plan: list[tuple[Rung, float | None]], type_: str, age: float) -> list[tuple[Rung, float | None]]:
    """Return a plan for a submission whose job waits by a type for `age` seconds already: these count as part of its
    wait, and what comes before it is not taken again. It is given up at once where the plan has it no more. Pure."""
    types = [rung.type for rung, _ in plan]
    if type_ not in types:
        return [(replace(plan[0][0], type=type_), 1.0), *plan]
    (rung, wait), *later = plan[types.index(type_) :]
    return [(rung, None if wait is None else wait + age), *later]


def plan_by(
    context: Context, prepared: PreparedSubmission, by: datetime, waits: str = "", age: float = 0.0
) -> list[tuple[Rung, float | None]]:
    """Return the types to take for a submission to end by a time, as of `climb`. Raises PolicyError where none is
    likely to, ConfigError where it has several shapes or regions, and CloudError."""
    template = prepared.template.name
    offers = [candidate.offer for candidate in prepared.candidates]
    for noun, several in (("shape", {offer.shape for offer in offers}), ("region", {offer.region for offer in offers})):
        if len(several) > 1:
            raise ConfigError(
                f"no deadline is planned for the {noun}s of {template}",
                why=f"each {noun} has waits and run times of its own, and all of one come before those of the next",
                fix="leave --by out: its waits move it on, or those of --wait-for",
            )
    earlier = earlier_filter(prepared.catalog.identity.label, template)
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="deadline") as threads:
        listed = threads.submit(lambda: tuple(islice(context.vertex.jobs(prepared.kind, earlier), EARLIER)))
        preflight = Preflight(context, prepared.candidates, threads, template, all_at_once=True)
        judged = [each for each in preflight.judge(prepared.candidates) if each.verdict.outcome is not Outcome.NEVER]
        ran = listed.result()
    known: dict[str, float] = {}
    for each in judged:
        candidate = each.candidate
        type_, programs = candidate.offer.capacity_type, programs_of(candidate.request.job)
        if times := run_times(ran, type_, candidate.demand, context.now, programs):
            known.setdefault(type_, times.longest)
    rungs: dict[str, Rung] = {}
    for each in judged:
        rung = _rung(prepared, each, known)
        if rung and (rung.type not in rungs or rung.wait < rungs[rung.type].wait):
            rungs[rung.type] = rung
    left = (by - context.now).total_seconds()
    if plan := climb([*rungs.values()], left, waits, age):
        return plan
    rows = [str(rung) for rung in rungs.values()]
    raise PolicyError(
        f"{template} is not likely to end by {by:%a %Y-%m-%d %H:%M %Z}",
        why="\n".join(rows or ["no earlier run, and no time limit, tells how long it runs"]),
        fix="a later time, or leave --by out" if rows else "say how long it may run: --max-run 2h",
    )


def _rung(prepared: PreparedSubmission, judged: JudgedCandidate, known: dict[str, float]) -> Rung | None:
    candidate, start = judged.candidate, judged.start
    type_ = candidate.offer.capacity_type
    runs = known.get(type_) or max(known.values(), default=None) or candidate.request.job.timeout
    usual = 0.0 if type_ in PAID_ANYWAY and judged.verdict.outcome is not Outcome.SCALES else _MACHINES_S
    starts = (start.most if start.most is not None else start.least) if start else None
    hourly = price(prepared.catalog, candidate)
    cost = 0.0 if type_ in PAID_ANYWAY else inf if hourly.unknown else float(hourly.known)
    sure = starts is not None or not judged.waits
    return Rung(type_, cost, usual if starts is None else starts, runs, sure) if runs else None

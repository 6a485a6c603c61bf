"""A submission with a deadline: the waits that are left for its capacity types, told before it is sent."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from slipway.base.errors import ConfigError, PolicyError
from slipway.base.formatting import span
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.arguments import SubmitArguments
from slipway.front.cli.terminal.delivery import last_sent
from slipway.model.labels import CAPACITY_TYPE_LABEL
from slipway.using.context import Context
from slipway.using.submission.deadline import deadline, going_on, plan_by
from slipway.using.submission.hold import await_resumption
from slipway.using.submission.prepared import PreparedSubmission, prepare


def by_deadline(
    context: Context, typed: SubmitArguments, by: str, prepared: PreparedSubmission, id_: str | None, *, dry_run: bool
) -> tuple[SubmitArguments, PreparedSubmission]:
    """Return the submission with the waits that a deadline leaves in place of it, and tell them. Typed again, it has
    the same waits, whenever that is. A paused stack is waited for before: no plan knows how long that is. `id_`: it
    may have been sent under it before."""
    waiting = last_sent(context, prepared, id_) if id_ else None
    type_ = waiting.labels.get(CAPACITY_TYPE_LABEL) if waiting else None
    since = waiting.create_time if waiting else None
    age = (context.now - since).total_seconds() if since else 0.0
    try:
        ends = deadline(by, context.now)
        if not (dry_run or waiting):
            await_resumption(context, screen.note)
        told = plan = [] if waiting and waiting.start_time else plan_by(context, prepared, ends, type_ or "", age)
    except (ConfigError, PolicyError):
        if not waiting:
            raise
        plan = []
    if waiting and not plan:  # It runs, or no type is likely to make it any more: the job is found as it is.
        found = replace(prepared.asked, capacity_type=type_)
        there = prepare(context.catalog, found, context.user, now=context.now, counts_for=prepared.team)
        return replace(typed, by=None, capacity_type=type_), there
    if type_ and since:
        plan = going_on(plan, type_, age)
    waits = {rung.type: float(round(wait)) for rung, wait in plan if wait is not None}
    last, alone = plan[-1][0].type, not waits
    asked = replace(prepared.asked, waits=waits, then=() if alone else (last,), capacity_type=last if alone else None)
    wait_for = tuple(f"{type_}={wait:.0f}s" for type_, wait in waits.items())
    typed = replace(typed, by=None, wait_for=wait_for, then=asked.then, capacity_type=asked.capacity_type)
    at, steps = context.now, list[str]()
    for rung, wait in told:
        steps.append(f"{rung.type}{f' from {_clock(at, ends)}' if steps else ''}")
        at += timedelta(seconds=wait or 0)
    longest = span(max(rung.runs for rung, _ in told))
    screen.note(f"by {ends:%a %Y-%m-%d %H:%M %Z}: {', then '.join(steps)}; it runs at most {longest}, by what is known")
    return typed, prepare(context.catalog, asked, context.user, now=context.now, counts_for=prepared.team)


def _clock(at: datetime, ends: datetime) -> str:
    """Return `Fri 05:40` for a time before the deadline, by its zone; by this machine's as of that day where the
    deadline is by it, and with the date where the weekday comes twice."""
    local = ends.astimezone().utcoffset() == ends.utcoffset()
    at = at.astimezone(None if local else ends.tzinfo)
    return f"{at:%a %H:%M}" if ends - at < timedelta(days=6) else f"{at:%a %Y-%m-%d %H:%M}"

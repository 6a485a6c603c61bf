"""Clusters that their seasons bring and that there is no quota for: they wait, and hold up nothing else. Pure.

What an edit brings is refused, as somebody is there to correct it. A season begins with nobody there, and may need what
another one gives back when its jobs have ended, which it never would if the deployment stopped before it is withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slipway.cluster import CurrentCluster
from slipway.deployment.plan import Plan, Waits
from slipway.formatting import join
from slipway.generations.dormant import brought_by_season
from slipway.live import UNLIMITED, Live, Unknown
from slipway.quota.regions import assess_regions
from slipway.quota.report import Line
from slipway.quota.usage import usage
from slipway.stack.stack import Stack
from slipway.state import State

_NAMED = 4


def wait_for_quota(decided: Plan, live: Live, stack: Stack, known: State, again: Callable[[Waits], Plan]) -> Plan:
    """The plan without the clusters that lack of quota would have refused and that a season brings, the last declared
    first, until the others fit. `again` plans with some that wait."""
    waits: dict[str, dict[str, str]] = {}
    while found := _one(decided, live, stack, known):
        name, lacks = found
        waits[name] = lacks
        decided = again(waits)
    return decided


def _one(decided: Plan, live: Live, stack: Stack, known: State) -> tuple[str, dict[str, str]] | None:
    come = [one for one in decided.current if brought_by_season(one, live.catalog)]
    if not come:
        return None
    then = live.without(one.id for one in decided.first)
    report = assess_regions(
        decided.current,
        then,
        region=stack.region,
        mode=stack.quota.mode,
        strict=stack.quota.strict,
        preview=True,
        old=decided.old,
        known=known.preferences,
    )
    if not report.errors:
        return None
    # What is asked for and may be granted is no error: creating waits for it.
    lines = [line for line in report.lines if line.elsewhere or line.metric not in report.awaited]
    for one in reversed(come):
        lacks = {
            line.metric: _words(line, by, then)
            for line in lines
            if _draws(one, line) and (by := line.short or (_at_most(line) if stack.quota.strict else 0))
        }
        if lacks:
            return one.spec.name, lacks
    return None


def _draws(current: CurrentCluster, line: Line) -> bool:
    return any(who.partition("/")[0] == current.spec.name for who in line.drawn)


def _at_most(line: Line) -> int:
    """What pools at their maximum lack."""
    if line.now is None or line.limit in (None, UNLIMITED) or line.others is None:
        return 0
    return max(0, line.ceiling + line.others - (line.limit or 0))


def _words(line: Line, by: int, live: Live) -> str:
    """`quota X in us-central1 is short by 8 (limit 8; first-1a2b3c4 draws 8)`"""
    limit = f"limit {line.limit:,}" if line.limit is not None else "limit unknown"
    who = sorted(_who(line, live), key=lambda one: (-one[1], one[0]))
    named = [f"{name} {amount:,}" for name, amount in who[:_NAMED]]
    others = [f"{len(who) - _NAMED} others"] if len(who) > _NAMED else []
    drawn = f"; drawn by {join([*named, *others])}" if who else ""
    return f"quota {line.metric} in {line.region} is short by {by:,} ({limit}{drawn})"


def _who(line: Line, live: Live) -> Iterator[tuple[str, int]]:
    """Clusters of whichever stack, and jobs beside them, with what they hold."""
    there = live.at(line.region, home=not line.elsewhere)
    if isinstance(there.clusters, Unknown) or isinstance(there.jobs, Unknown):
        return
    for cluster in there.clusters:
        if amount := usage((cluster,), ()).total(line.metric):
            yield cluster.id, amount
    if amount := usage((), there.jobs).total(line.metric):
        yield "jobs beside the clusters", amount

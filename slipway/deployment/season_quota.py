"""Clusters that their seasons bring and that there is no quota for: they wait, and hold up nothing else. Pure.

A season begins with nobody there, and may need what another one gives back when its jobs have ended, which it never
would if the deployment stopped before it is withdrawn. Nor does it stop what somebody has edited: that goes first. So
its quota is asked for when its entry is deployed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from slipway.cluster import CurrentCluster
from slipway.deployment.plan import Plan, Waits
from slipway.formatting import join
from slipway.generations.action import DELETE, Action, What
from slipway.live import Live, Unknown
from slipway.quota.assessment import assess
from slipway.quota.report import Line, QuotaReport
from slipway.quota.request import QuotaRequest, more
from slipway.quota.seasons import Readiness, by_season, readiness
from slipway.quota.usage import usage

if TYPE_CHECKING:
    from slipway.stack.stack import Stack  # whose pydantic a thin install lacks

_NAMED = 4


def wait_for_quota(decided: Plan, live: Live, stack: Stack, again: Callable[[Waits], Plan]) -> Plan:
    """The plan without the clusters that a season brings and that lack quota, the last declared first, until the others
    fit; then with each of them again that fits after all. `again` plans with some that wait."""
    waits: dict[str, Mapping[str, str]] = {}
    while lacking := _lacking(decided, live, stack):
        waits |= dict(list(lacking.items())[-1:])
        decided = again(waits)
    if not waits:
        return decided
    # One may have been left out before another that took its room and does not fit by itself.
    for name in [one.name for one in stack.clusters if one.name in waits]:
        others = {other: lacks for other, lacks in waits.items() if other != name}
        if lacking := _lacking(again(others), live, stack):
            waits[name] = lacking.get(name, waits[name])
        else:
            waits = others
    return again(waits)


def with_seasons(
    asked: Iterable[QuotaRequest], plan: Plan, now: datetime, at: Callable[[tuple[CurrentCluster, ...]], QuotaReport]
) -> tuple[QuotaRequest, ...]:
    """Requests that are `asked` for, and those that the clusters lack that come with their seasons, each beside those
    that are wanted then. `at` reports on these clusters, and none of the stack's others."""
    found = {one.metric: one for one in asked}
    for report in by_season(plan.current, _coming(plan.actions), now, at).values():
        for one in report.requests:
            if one.metric not in found or more(one.value, found[one.metric].value):
                found[one.metric] = one
    return tuple(found.values())


def prepared(
    actions: Collection[Action],
    live: Live,
    region: str,
    now: datetime,
    *,
    strict: bool = False,
    asked: Mapping[str, int] | None = None,
) -> Mapping[str, Readiness]:
    """Readiness of the clusters whose seasons are to come, by name. `asked`: the limits that the stack asks for, by
    metric."""
    return readiness(
        [one.current for one in actions if one.current],
        _coming(actions),
        live,
        region=region,
        now=now,
        old={one.id for one in actions if one.what in (What.RETIRE, *DELETE)},
        strict=strict,
        asked=asked or {},
    )


def _coming(actions: Iterable[Action]) -> tuple[CurrentCluster, ...]:
    rest = (one.dormant for one in actions if one.what is What.REST)
    return tuple(CurrentCluster(one.spec, one.id, "", import_=False) for one in rest if one and one.comes)


def _lacking(decided: Plan, live: Live, stack: Stack) -> Mapping[str, Mapping[str, str]]:
    """Quota that is missing, in words by metric, by the name of each cluster that a season brings and that does not
    fit."""
    come = [one for one in decided.current if one.id in decided.seasons]
    if not come or stack.quota.mode == "warn":
        return {}
    then = live.without(decided.first)
    report = assess(decided.current, then, region=stack.region, preview=True, old=decided.old)
    found = {
        one.spec.name: {
            line.metric: _words(line, by, then)
            for line in report.lines
            if line.drawn_by(one.spec.name) and (by := line.lacks(strict=stack.quota.strict))
        }
        for one in come
    }
    return {name: lacks for name, lacks in found.items() if lacks}


def _words(line: Line, by: int, live: Live) -> str:
    """`quota X in us-central1 is short by 8 (limit 8; drawn by first-1a2b3c4 8)`"""
    who = sorted(_who(line, live), key=lambda one: (-one[1], one[0]))
    named = [f"{name} {amount:,}" for name, amount in who[:_NAMED]]
    others = [f"{len(who) - _NAMED} others"] if len(who) > _NAMED else []
    return line.shortage(by, f"drawn by {join([*named, *others])}" if who else "")


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

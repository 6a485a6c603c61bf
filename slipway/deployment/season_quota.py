"""Clusters that their seasons bring and that there is no quota for: they wait, and hold up nothing else. Pure.

What an edit brings is refused, as somebody is there to correct it. A season begins with nobody there, and may need what
another one gives back when its jobs have ended, which it never would if the deployment stopped before it is withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.withdrawal import before_withdrawal
from slipway.cluster import CurrentCluster
from slipway.deployment.plan import Plan, Waits
from slipway.fingerprint import cluster_id, is_id_of
from slipway.formatting import join
from slipway.generations.current_generation import SPENT_STATES
from slipway.generations.dormant import brought_by_season
from slipway.generations.published_clusters import declared
from slipway.live import UNLIMITED, Live, Unknown
from slipway.quota.regions import assess_regions
from slipway.quota.report import Line
from slipway.quota.request import QuotaRequest, more
from slipway.quota.usage import usage
from slipway.stack.stack import Stack
from slipway.state import State

_NAMED = 4


def wait_for_quota(decided: Plan, live: Live, stack: Stack, known: State, again: Callable[[Waits], Plan]) -> Plan:
    """The plan without the clusters that a season brings and that lack quota, the last declared first, until the others
    fit; then with each of them again that fits after all. `again` plans with some that wait."""
    waits: dict[str, Mapping[str, str]] = {}
    while lacking := _lacking(decided, live, stack, known):
        waits |= dict(list(lacking.items())[-1:])
        decided = again(waits)
    if not waits:
        return decided
    # One may have been left out before another that took its room and does not fit by itself.
    for name in [one.name for one in stack.clusters if one.name in waits]:
        others = {other: lacks for other, lacks in waits.items() if other != name}
        if lacking := _lacking(again(others), live, stack, known):
            waits[name] = lacking.get(name, waits[name])
        else:
            waits = others
    return again(waits)


def _lacking(decided: Plan, live: Live, stack: Stack, known: State) -> Mapping[str, Mapping[str, str]]:
    """By the name of each cluster that a season brings and that does not fit, in their order, what quota is missing for
    it. What an edit brings is not in its way: should both not fit, the deployment is refused."""
    come = [one for one in decided.current if brought_by_season(one, live.catalog)]
    if not come or stack.quota.mode == "warn":
        return {}
    then = live.without(decided.first)
    report = assess_regions(
        tuple(_unedited(decided, then)),
        then,
        region=stack.region,
        mode=stack.quota.mode,
        strict=stack.quota.strict,
        preview=True,
        old=decided.old,
        known=known.preferences,
    )
    hoped = {one.metric for one in report.requests if _may_bring(one, report.awaited.get(one.metric, 0))}
    lines = [line for line in report.lines if line.elsewhere or line.metric not in hoped]
    found = {
        one.spec.name: {
            line.metric: _words(line, by, then)
            for line in lines
            if _draws(one, line) and (by := line.short or (_at_most(line) if stack.quota.strict else 0))
        }
        for one in come
    }
    return {name: lacks for name, lacks in found.items() if lacks}


def _unedited(decided: Plan, live: Live) -> Iterator[CurrentCluster]:
    """What there would be had nobody edited anything: what an edit changes is as it was, what it adds is not there. In
    `live` is what stays until something is made: what is replaced in place is made again."""
    published = live.catalog.whole if isinstance(live.catalog, PublishedCatalog) else None
    whole = before_withdrawal(published) if published else None
    clusters = () if isinstance(live.clusters, Unknown) else live.clusters
    there = {one.id for one in clusters if one.state not in SPENT_STATES}
    for one in decided.current:
        was = whole.clusters.get(one.spec.name) if whole else None
        if one.import_ or brought_by_season(one, live.catalog) or (was and _made_again(one, was.id)):
            yield one
        elif was:
            yield CurrentCluster(declared(was), was.id, "", import_=was.id in there)


def _made_again(one: CurrentCluster, id_: str) -> bool:
    """Whether it is of the generation that is deployed, as which of its alternatives ever."""
    options = (one, *one.alternatives)
    return any(is_id_of(id_, cluster_id(option.spec.name, option.fingerprint)) for option in options)


def _may_bring(request: QuotaRequest, enough: int) -> bool:
    """Whether a request may bring a limit that is enough, and nobody has to do anything for it: creating waits for it.
    One that was answered with less brings no more than there is; one of others' that was granted is raised once it has
    been taken over."""
    there = request.there
    if request.sends or (there and there.reconciling):
        return not more(enough, request.value)
    granted = there.granted if there else None
    raised = granted is not None and not more(request.value, granted) and more(request.wanted, request.value)
    return request.adopts and raised and not more(enough, request.wanted)


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

"""`assess`: may this deployment draw what it draws, and what would its pools and templates draw at most."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from slipway.cluster import IN_PLACE, CurrentCluster
from slipway.findings.finding import Grade, Subject
from slipway.live import UNLIMITED, Live, QuotaLimit, Unknown
from slipway.quota.findings import UNKNOWN, at_most, beyond, cannot_run, notes, short, unsure, who
from slipway.quota.increases import requested, requests
from slipway.quota.metrics import label, namespace
from slipway.quota.offers import offer_lines, offer_verdicts, unavailable
from slipway.quota.report import Line, LineState, OfferDraw, QuotaReport
from slipway.quota.request import QuotaRequest, Requested
from slipway.quota.usage import Grounds, Share
from slipway.state import StatePreference


def assess(
    current: tuple[CurrentCluster, ...],
    live: Live,
    *,
    region: str,
    offers: tuple[OfferDraw, ...] = (),
    mode: str = "enforce",
    strict: bool = False,
    preview: bool,
    old: frozenset[str] = frozenset(),
    known: tuple[StatePreference, ...] = (),
) -> QuotaReport:
    """Judge a plan's current clusters and the templates' offers against the region's limits.

    What this `up` creates must fit at its initial sizes into the limit less everything that lives, with no credit for
    what it deletes afterwards; `live` is without what it deletes before. Ceilings are for later, when this stack's old
    generations (`old`, their ids) are gone: others alone are in their way. Ceilings and offers are reported, and must
    fit with `strict`. An offer is judged against the limit alone: the catalog outlives what runs now. What can't be
    told stops an `up` that creates something, and warns otherwise. Mode `warn` turns every error into a warning. So
    does mode `request` for what is asked for and may still be granted, which no cluster is made before; `known` are the
    requests that the stack has made until now.
    """
    grounds = Grounds(current, live, region, offers, old)
    by_template = offer_verdicts(grounds)
    lines = [*(_line(grounds, metric) for metric in grounds.metrics), *offer_lines(grounds)]
    asked = requests(lines, live, known, strict=strict) if mode == "request" else ()
    hoped = {one.metric for one in asked if one.open}
    wrong = [*short(grounds), *cannot_run(grounds, by_template)]
    later = [*beyond(grounds), *unavailable(grounds, by_template)]
    if strict:
        wrong, later = [*wrong, *later], []
    waits = [one for one in wrong if any(way <= hoped for way in one.facts.get("ways", ()))]
    errors = [one for one in wrong if one not in waits]
    warnings = [*(replace(one, fix="") for one in waits), *notes(grounds), *later]
    if mode == "request" and isinstance(live.preferences, Unknown):
        words = f"cannot tell which quota was asked for, so no more is: {live.preferences}"
        warnings.append(UNKNOWN(Subject("quota", "requests"), words))
    creates = any(not item.import_ for item in current)
    (errors if creates and not preview else warnings).extend(dict.fromkeys(unsure(grounds)))
    grade = Grade.WARNING if mode == "warn" else Grade.BLOCKING
    return QuotaReport(
        lines=tuple(replace(line, requested=_requested(line, live, asked)) for line in lines),
        findings=(
            *(replace(one, grade=grade) for one in errors),
            *(replace(one, grade=Grade.WARNING) for one in warnings),
        ),
        offers=by_template,
        requests=asked,
        awaited=_awaited(lines, hoped, strict=strict) if creates else {},
    )


def _requested(line: Line, live: Live, asked: tuple[QuotaRequest, ...]) -> Requested | None:
    """What this deployment asks for, else what became of what was asked for before."""
    new = next((one for one in asked if one.metric == line.metric and one.sends), None)
    return Requested("new", new.value) if new else requested(live, line.metric, line.enough)


def _awaited(lines: list[Line], hoped: set[str], *, strict: bool) -> dict[str, int]:
    """The limits that must be there before clusters are made, by metric."""
    found: dict[str, int] = {}
    for line in lines:
        if line.metric in hoped and line.limit is not None and line.limit != UNLIMITED:
            enough = line.enough if strict else line.limit + line.short if line.now is not None else 0
            if enough > line.limit:
                found[line.metric] = max(enough, found.get(line.metric, 0))
    return found


def _line(grounds: Grounds, metric: str) -> Line:
    limit, (state, verdict) = grounds.limit(metric), _verdict(grounds, metric)
    return Line(
        metric=metric,
        region=grounds.region,
        namespace=namespace(metric),
        label=label(metric),
        who=who(grounds.shares(metric)),
        now=grounds.now(metric),
        ceiling=grounds.ceiling(metric),
        limit=limit.limit if isinstance(limit, QuotaLimit) else None,
        others=grounds.others(metric),
        verdict=verdict,
        increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        retiring=grounds.retiring(metric),
        enough=grounds.enough(metric),
        state=state,
        short=grounds.short_by(metric),
        each=max(one.each for one in grounds.shares(metric)),
        drawn={f"{one.cluster.spec.name}/{one.pool.name}": one.ceiling for one in grounds.shares(metric)},
    )


def _verdict(grounds: Grounds, metric: str) -> tuple[LineState, str]:
    """By key, and in words."""
    if grounds.unchecked(metric):
        return "unchecked", "not checked: the service lists no such quota"
    limit = grounds.limit(metric)
    if isinstance(limit, QuotaLimit) and limit.limit == UNLIMITED:
        return "ok", "ok"
    room = grounds.room(metric)
    if room is None:
        return "unknown", "cannot tell"
    if lacking := grounds.short_by(metric):
        return "short", f"short by {lacking:,}"
    remarks = _remarks(grounds, metric, room)
    until = _remarks(grounds, metric, room - (grounds.retiring(metric) or 0))
    if not remarks and until:
        remarks = [f"{' and '.join(until)} until what retires is gone"]
    return ("tight", "; ".join(["ok now", *remarks])) if remarks else ("ok", "ok")


def _remarks(grounds: Grounds, metric: str, room: int) -> list[str]:
    """What does not fit into so much room."""
    shares = grounds.shares(metric)
    remarks = [at_most(shares, room)] if grounds.ceiling(metric) > room else []
    if 0 < _largest_rollover(shares) > room - grounds.now(metric):
        remarks.append("no room for a rollover")
    return remarks


def _largest_rollover(shares: list[Share]) -> int:
    """What the largest cluster draws of those that are made beside the one they replace."""
    by_cluster: Counter[str] = Counter()
    for share in shares:
        if share.cluster.spec.replacement != IN_PLACE:
            by_cluster[share.cluster.id] += share.initial
    return max(by_cluster.values(), default=0)

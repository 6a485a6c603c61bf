"""`assess`: whether this deployment's draw is within quota, and the most that its pools and templates would draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from slipway.base.formatting import counted, few
from slipway.google.live import UNLIMITED, Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.findings import (
    UNKNOWN,
    beyond,
    cannot_run,
    draws_by_metric,
    notes,
    short,
    unavailable,
    unsure,
)
from slipway.google.quota.increases import requested, requests
from slipway.google.quota.metrics import Need
from slipway.google.quota.report import NOT_LISTED, LineState, OfferDraw, OfferVerdict, QuotaReport, QuotaRow
from slipway.google.quota.request import Requested
from slipway.google.quota.usage import Grounds, Share
from slipway.model.cluster import IN_PLACE, CurrentCluster
from slipway.model.cluster_fields import size
from slipway.model.findings.finding import Grade, Subject
from slipway.model.state import StatePreference


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
    """Judge a plan's current clusters and the templates' offers against the limits of their regions.

    The creations of this `up` must fit at their initial sizes into the limit less everything that lives, with no credit
    for later deletions; `live` is without earlier ones. Ceilings are for later, when this stack's old generations
    (`old`, their ids) are gone: only other users reduce their room. Ceilings and offers are reported, and must fit with
    `strict`. An offer is judged against the limit alone: the catalog outlives the present use. An unknown limit stops
    an `up` that creates something, and is a warning otherwise. Mode `warn` turns every error into a warning. So does
    mode `request` for a limit that is asked for and may still be granted, before which no cluster is made; `known` are
    the stack's earlier requests. `region` is the stack's own: elsewhere nothing is requested, as a cluster without
    quota there is an alternative, and the next one is tried.
    """
    places = dict.fromkeys((region, *(one.spec.region for one in current if one.spec.region)))
    found: list[QuotaReport] = []
    for place in places:
        home = place == region
        here = tuple(one for one in current if (one.spec.region or region) == place)
        grounds = Grounds(here, live.at(place, home=home), place, offers if home else (), old)
        usual = "enforce" if mode == "request" and not home else mode
        report = _of_region(grounds, usual, strict=strict, preview=preview, known=known)
        found.append(replace(report, lines=tuple(replace(line, elsewhere=not home) for line in report.lines)))
    return replace(
        found[0],
        lines=tuple(chain.from_iterable(one.lines for one in found)),
        findings=tuple(chain.from_iterable(one.findings for one in found)),
    )


def _of_region(
    grounds: Grounds, mode: str, *, strict: bool, preview: bool, known: tuple[StatePreference, ...]
) -> QuotaReport:
    live = grounds.live
    by_template: dict[str, dict[str, OfferVerdict]] = {}
    for draw, needs in grounds.draws:
        by_template.setdefault(draw.template, {})[draw.label] = _verdict(grounds, draw, needs)
    pools = [_of_pools(grounds, metric, shares) for metric, shares in grounds.shares.items()]
    lines = [*pools, *(_of_offers(grounds, metric, draws) for metric, draws in draws_by_metric(grounds))]
    asked = requests(lines, live, known, strict=strict) if mode == "request" else ()
    hoped = {one.metric for one in asked if one.open}
    wrong = [*short(grounds, pools), *cannot_run(grounds, by_template)]
    later = [*beyond(pools), *unavailable(grounds, by_template)]
    if strict:
        wrong, later = [*wrong, *later], []
    waits = [one for one in wrong if any(way <= hoped for way in one.facts.get("ways", ()))]
    errors = [one for one in wrong if one not in waits]
    warnings = [*(replace(one, fix="") for one in waits), *notes(grounds), *later]
    if mode == "request" and isinstance(live.preferences, Unknown):
        words = f"cannot tell which quota was asked for, so no more is: {live.preferences}"
        warnings.append(UNKNOWN(Subject("quota", "requests"), words))
    # This deployment's request comes before the outcome of earlier ones.
    new = {one.metric: Requested("new", one.value) for one in asked if one.sends}
    creates = any(not item.import_ for item in grounds.current)
    (errors if creates and not preview else warnings).extend(dict.fromkeys(unsure(grounds)))
    grade = Grade.WARNING if mode == "warn" else Grade.BLOCKING
    return QuotaReport(
        lines=tuple(
            replace(line, requested=new.get(line.metric) or requested(live, line.metric, line.enough)) for line in lines
        ),
        findings=(
            *(replace(one, grade=grade) for one in errors),
            *(replace(one, grade=Grade.WARNING) for one in warnings),
        ),
        offers=by_template,
        requests=asked,
        awaited=_awaited(lines, hoped, strict=strict) if creates else {},
    )


def _awaited(lines: Iterable[QuotaRow], hoped: set[str], *, strict: bool) -> dict[str, int]:
    """Return the limits that must be in force before clusters are made, by metric."""
    found: dict[str, int] = {}
    for line in lines:
        if line.metric in hoped and line.limit is not None and line.limit != UNLIMITED:
            enough = line.enough if strict else line.limit + line.short if line.now is not None else 0
            if enough > line.limit:
                found[line.metric] = max(enough, found.get(line.metric, 0))
    return found


def _line(grounds: Grounds, metric: str, who: str, drawn: Mapping[str, int], now: int | None = None) -> QuotaRow:
    """Compare the most that is drawn of a metric with its limit, the common part of pools and offers."""
    listed, used = grounds.limit(metric), grounds.usage
    limit = listed if isinstance(listed, QuotaLimit) else None
    state: LineState = "ok" if limit else "unchecked" if grounds.unchecked(metric) else "unknown"
    return QuotaRow(
        metric=metric,
        region=grounds.region,
        who=who,
        now=now,
        ceiling=max(drawn.values()) if now is None else sum(drawn.values()),
        limit=limit.limit if limit else None,
        others=used.others.get(metric, 0) if used else None,
        verdict={"unchecked": NOT_LISTED, "unknown": "cannot tell"}.get(state, "ok"),
        increase=limit.increase if limit else Increase.UNTOLD,
        retiring=used.old.get(metric, 0) if used else None,
        state=state,
        drawn=drawn,
    )


def _of_pools(grounds: Grounds, metric: str, shares: list[Share]) -> QuotaRow:
    used, drawn = grounds.usage, {f"{one.cluster.spec.name}/{one.pool.name}": one.ceiling for one in shares}
    now = sum(share.now for share in shares)
    alone = f"pool {next(iter(drawn))}, {counted(size(shares[0].pool), 'machine')}"
    line = _line(grounds, metric, few(drawn) if len(drawn) > 1 else alone, drawn, now)
    created: Counter[str] = Counter()
    for share in shares:
        if not share.cluster.import_:
            created[share.cluster.spec.name] += share.initial
    at_once = used.total(metric) + created.total() if used and created.total() else 0
    enough = max(line.ceiling + (line.others or 0), at_once)
    line = replace(line, enough=enough, created=created, each=max(one.each for one in shares))
    if line.room is None:
        untold = line.state == "ok" and line.limit != UNLIMITED
        return replace(line, state="unknown", verdict="cannot tell") if untold else line
    remarks = _remarks(shares, line.room, now)
    if not remarks and (until := _remarks(shares, line.room - (line.retiring or 0), now)):
        remarks = [f"{' and '.join(until)} until what retires is gone"]
    lacking = max(0, at_once - (line.limit or 0))
    return replace(
        line,
        short=lacking,
        state="short" if lacking else "tight" if remarks else "ok",
        verdict=f"short by {lacking:,}" if lacking else "; ".join(["ok now", *remarks]) if remarks else "ok",
        at_most=_at_most(shares, line.room),
    )


def _of_offers(grounds: Grounds, metric: str, draws: list[tuple[OfferDraw, Need]]) -> QuotaRow:
    who = few(dict.fromkeys(f"{draw.template} {draw.capacity_type}" for draw, _ in draws))
    line = _line(grounds, metric, who, {f"{draw.template} {draw.label}": need.amount for draw, need in draws})
    surely = [(draw, need) for draw, need in draws if not draw.doubtful]
    line = replace(line, enough=max((need.amount for _, need in surely), default=0))
    short = max((grounds.lacking(need) for _, need in surely), default=0)
    if not short:
        return line
    lacking = sorted({draw.capacity_type for draw, need in surely if grounds.lacking(need)})
    return replace(line, short=short, state="short", verdict=f"{few(lacking)} unavailable: short by {short:,}")


def _verdict(grounds: Grounds, draw: OfferDraw, needs: Iterable[Need]) -> OfferVerdict:
    """Return an offer's verdict; one without any known limit is available, and says so."""
    if draw.refusal:
        return OfferVerdict(False, draw.refusal, draw.intended, dormant=draw.dormant)
    lacking, unsure = [], []
    for need in needs:
        limit = grounds.limit(need.metric)
        if isinstance(limit, str):
            unsure += [] if grounds.unchecked(need.metric) else [limit]
        elif by := grounds.lacking(need):
            text = (
                f"quota: {need.metric} {grounds.region}: needs {need.amount:,}, limit {limit.limit:,}, short by {by:,}"
            )
            lacking.append(f"{text} · {limit.increase}" if limit.increase else text)
    if lacking and draw.doubtful:
        return OfferVerdict(True, f"it may not start: Google does not say whether it draws quota: {'; '.join(lacking)}")
    if lacking:
        return OfferVerdict(False, "; ".join(lacking), lacks_quota=True)
    return OfferVerdict(True, f"quota not checked: {unsure[0]}" if unsure else "")


def _remarks(shares: list[Share], room: int, now: int) -> list[str]:
    """Return what does not fit into the room: growth, and the largest cluster beside the one that it replaces."""
    beside: Counter[str] = Counter()
    for share in shares:
        if share.cluster.spec.replacement != IN_PLACE:
            beside[share.cluster.id] += share.initial
    rollover = "no room for a rollover" if 0 < max(beside.values(), default=0) > room - now else ""
    return [*filter(None, (_at_most(shares, room), rollover))]


def _at_most(shares: list[Share], room: int) -> str:
    """Return how far pools can grow, where that is below their maximum."""
    lacking = sum(share.ceiling for share in shares) - room
    if lacking <= 0:
        return ""
    if len(shares) == 1:
        return f"at most {max(room, 0) // shares[0].each:,} of {shares[0].pool.max:,} machines"
    return f"short by {lacking:,} at the maximum"

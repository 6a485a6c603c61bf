"""`assess`: whether this deployment's draw is within quota, and the most that its pools and templates would draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain

from slipway.base.formatting import counted, few
from slipway.google.live import Increase, Live, QuotaLimit, Unknown
from slipway.google.quota.findings import (
    draws_by_metric,
    shortages,
    stranded_templates,
    unavailable_offers,
    unchecked_draws,
    unknown_limits,
    unknown_offers,
    unreachable_maxima,
)
from slipway.google.quota.increases import requested, requests
from slipway.google.quota.metrics import Need
from slipway.google.quota.report import NOT_LISTED, UNKNOWN, LineState, OfferDraw, OfferVerdict, QuotaReport, QuotaRow
from slipway.google.quota.request import Requested
from slipway.google.quota.usage import Grounds, Share
from slipway.model.cluster import IN_PLACE, CurrentCluster
from slipway.model.cluster_fields import size
from slipway.model.draw import UNLIMITED, Draw
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

    - The creations of this `up` must fit at their initial sizes into the limit less everything that lives, with no
      credit for later deletions; `live` is without earlier ones.
    - Ceilings are for later, when this stack's old generations (`old`, their ids) are gone: only other users reduce
      their room. Ceilings and offers are reported, and must fit with `strict`.
    - An offer is judged against the limit alone: the catalog outlives the present use.
    - An unknown limit stops an `up` that creates something, and is a warning otherwise.
    - Mode `warn` turns every error into a warning. So does mode `request` for a limit that is asked for and may still
      be granted, before which no cluster is made; `known` are the stack's earlier requests.
    - `region` is the stack's own. Elsewhere nothing is requested: a cluster without quota there is an alternative, and
      the next one is tried.
    """
    places = dict.fromkeys((region, *(cluster.spec.region for cluster in current if cluster.spec.region)))
    reports: list[QuotaReport] = []
    for place in places:
        home = place == region
        grounds = Grounds(
            current=tuple(cluster for cluster in current if (cluster.spec.region or region) == place),
            live=live.at(place, home=home),
            region=place,
            offers=offers if home else (),
            old=old,
        )
        mode_there = "enforce" if mode == "request" and not home else mode
        report = _of_region(grounds, mode_there, strict=strict, preview=preview, known=known)
        reports.append(replace(report, lines=tuple(replace(line, elsewhere=not home) for line in report.lines)))
    return replace(
        reports[0],
        lines=tuple(chain.from_iterable(report.lines for report in reports)),
        findings=tuple(chain.from_iterable(report.findings for report in reports)),
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
    hoped = {request.metric for request in asked if request.open}
    wrong = [*shortages(grounds, pools), *stranded_templates(grounds, by_template)]
    later = [*unreachable_maxima(pools), *unavailable_offers(grounds, by_template)]
    if strict:
        wrong, later = [*wrong, *later], []
    # A request that may still be granted mends these: the deployment waits for it in place of failing.
    waiting = [finding for finding in wrong if any(metrics <= hoped for metrics in finding.facts.get("mended_by", ()))]
    errors = [finding for finding in wrong if finding not in waiting]
    warnings = [*(replace(finding, fix="") for finding in waiting), *unchecked_draws(grounds), *later]
    if mode == "request" and isinstance(live.preferences, Unknown):
        sentence = f"cannot tell which quota was asked for, so no more is: {live.preferences}"
        warnings.append(UNKNOWN.of(Subject("quota", "requests"), sentence))
    creates = any(not cluster.import_ for cluster in grounds.current)
    unknown = dict.fromkeys(unknown_limits(grounds))
    if creates and not preview:
        errors.extend(unknown)
    else:
        warnings.extend(unknown)
    warnings.extend(finding for finding in dict.fromkeys(unknown_offers(grounds)) if finding not in unknown)
    # This deployment's request comes before the outcome of earlier ones.
    new = {request.metric: Requested("new", request.value) for request in asked if request.sends}
    grade = Grade.WARNING if mode == "warn" else Grade.BLOCKING
    return QuotaReport(
        lines=tuple(
            replace(line, requested=new.get(line.metric) or requested(live, line.metric, line.enough)) for line in lines
        ),
        findings=(
            *(replace(finding, grade=grade) for finding in errors),
            *(replace(finding, grade=Grade.WARNING) for finding in warnings),
        ),
        offers=by_template,
        requests=asked,
        awaited=_awaited(lines, hoped, strict=strict) if creates else {},
    )


def _awaited(lines: Iterable[QuotaRow], hoped: set[str], *, strict: bool) -> dict[str, int]:
    awaited: dict[str, int] = {}
    for line in lines:
        if line.metric not in hoped or line.limit is None or (line.now is None and not strict):
            continue  # Offers keep no cluster waiting.
        enough = line.enough if strict else line.limit + line.short
        if Draw(enough, line.limit).short:
            awaited[line.metric] = max(enough, awaited.get(line.metric, 0))
    return awaited


_VERDICTS: Mapping[LineState, str] = {"ok": "ok", "unchecked": NOT_LISTED, "unknown": "cannot tell"}


def _line(grounds: Grounds, metric: str, who: str, drawn: Mapping[str, int], now: int | None = None) -> QuotaRow:
    """Compare the most that is drawn of a metric with its limit: the common part of pools and offers."""
    listed, used = grounds.limit(metric), grounds.usage
    limit = listed if isinstance(listed, QuotaLimit) else None
    state: LineState = "ok"
    if not limit:
        state = "unchecked" if grounds.unchecked(metric) else "unknown"
    return QuotaRow(
        metric=metric,
        region=grounds.region,
        who=who,
        now=now,
        # Offers are taken one at a time; pools are there together.
        ceiling=max(drawn.values()) if now is None else sum(drawn.values()),
        limit=limit.limit if limit else None,
        others=used.others.get(metric, 0) if used else None,
        verdict=_VERDICTS[state],
        increase=limit.increase if limit else Increase.UNTOLD,
        retiring=used.old.get(metric, 0) if used else None,
        state=state,
        drawn=drawn,
    )


def _of_pools(grounds: Grounds, metric: str, shares: list[Share]) -> QuotaRow:
    used = grounds.usage
    drawn = {f"{share.cluster.spec.name}/{share.pool.name}": share.ceiling for share in shares}
    now = sum(share.now for share in shares)
    who = few(drawn) if len(drawn) > 1 else f"pool {next(iter(drawn))}, {counted(size(shares[0].pool), 'machine')}"
    line = _line(grounds, metric, who, drawn, now)
    created: Counter[str] = Counter()
    for share in shares:
        if not share.cluster.import_:
            created[share.cluster.spec.name] += share.initial
    at_once = Draw(created.total(), line.limit, used.total(metric) if used else None)
    enough = max(line.most.enough, at_once.enough if used and at_once.amount else 0)
    line = replace(line, enough=enough, created=created, each=max(share.each for share in shares))
    if line.most.room is None:
        if line.state == "ok" and line.limit != UNLIMITED:  # The limit is known, and what others draw is not.
            return replace(line, state="unknown", verdict="cannot tell")
        return line
    line = replace(line, at_most=_at_most(shares, line.most))
    if at_once.short:
        return replace(line, short=at_once.short, state="short", verdict=f"short by {at_once.short:,}")
    remarks = _remarks(shares, line.most, now)
    beside_old = replace(line.most, used=(line.others or 0) + (line.retiring or 0))
    if not remarks and (until := _remarks(shares, beside_old, now)):
        remarks = [f"{' and '.join(until)} until what retires is gone"]
    if remarks:
        return replace(line, state="tight", verdict="; ".join(["ok now", *remarks]))
    return replace(line, state="ok", verdict="ok")


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
    """Return an offer's verdict; one without any known limit is available, and says so, unless it was short of quota
    when that was last read."""
    if draw.refusal:
        return OfferVerdict(available=False, why=draw.refusal, intended=draw.intended, dormant=draw.dormant)
    lacking, unknown = [], []
    for need in needs:
        limit = grounds.limit(need.metric)
        if isinstance(limit, str):
            if not grounds.unchecked(need.metric):
                unknown.append(limit)
        elif by := grounds.lacking(need):
            text = (
                f"quota: {need.metric} {grounds.region}: needs {need.amount:,}, limit {limit.limit:,}, short by {by:,}"
            )
            lacking.append(f"{text} · {limit.increase}" if limit.increase else text)
    if lacking and draw.doubtful:
        why = f"it may not start: Google does not say whether it draws quota: {'; '.join(lacking)}"
        return OfferVerdict(available=True, why=why)
    if lacking:
        return OfferVerdict(available=False, why="; ".join(lacking), lacks_quota=True)
    if unknown and _was_short(grounds.live, draw):
        why = f"quota was short when it could last be read; it is not checked now: {unknown[0]}"
        return OfferVerdict(available=False, why=why, lacks_quota=True, unread=True)
    return OfferVerdict(available=True, why=f"quota not checked: {unknown[0]}" if unknown else "")


def _was_short(live: Live, draw: OfferDraw) -> bool:
    template = live.deployed.templates.get(draw.template) if live.deployed else None
    offers = template.offers if template else ()
    return any(offer.lacks_quota for offer in offers if template and offer.label(template.kind) == draw.label)


def _remarks(shares: list[Share], most: Draw, now: int) -> list[str]:
    """Return remarks on a room that is too small: for growth, or for the largest cluster beside its predecessor."""
    successors: Counter[str] = Counter()
    for share in shares:
        if share.cluster.spec.replacement != IN_PLACE:
            successors[share.cluster.id] += share.initial
    largest = Draw(max(successors.values(), default=0), most.limit, (most.used or 0) + now)
    rollover = "no room for a rollover" if largest.short else ""
    return [*filter(None, (_at_most(shares, most), rollover))]


def _at_most(shares: list[Share], most: Draw) -> str:
    """Return the growth that pools have room for, as text; empty where they can reach their maximum."""
    if not most.short:
        return ""
    if len(shares) == 1:
        return f"at most {(most.room or 0) // shares[0].each:,} of {shares[0].pool.max:,} machines"
    return f"short by {most.short:,} at the maximum"

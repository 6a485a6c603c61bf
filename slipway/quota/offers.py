"""Quota of offers: what a job would draw beside the pools, held against the limit alone; and which are unavailable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import few, join
from slipway.live import QuotaLimit
from slipway.quota.increases import outlook
from slipway.quota.metrics import Need, rank
from slipway.quota.report import NOT_LISTED, Line, LineState, OfferDraw, OfferVerdict
from slipway.quota.usage import Grounds


def offer_verdicts(grounds: Grounds) -> dict[str, dict[str, OfferVerdict]]:
    """By template, then label. What can't be told leaves an offer available, and says so."""
    found: dict[str, dict[str, OfferVerdict]] = {}
    for draw, needs in grounds.draws:
        found.setdefault(draw.template, {})[draw.label] = _verdict(grounds, draw, needs)
    return found


def offer_lines(grounds: Grounds) -> list[Line]:
    """One row per metric that offers draw: the largest draw."""
    return [_line(grounds, metric, draws) for metric, draws in _by_metric(grounds)]


def _by_metric(grounds: Grounds) -> list[tuple[str, list[tuple[OfferDraw, Need]]]]:
    """The largest draw of each metric first."""
    drawn: dict[str, list[tuple[OfferDraw, Need]]] = {}
    for draw, needs in grounds.draws:
        for need in needs:
            drawn.setdefault(need.metric, []).append((draw, need))
    return [(metric, sorted(drawn[metric], key=lambda one: -one[1].amount)) for metric in sorted(drawn, key=rank)]


def _verdict(grounds: Grounds, draw: OfferDraw, needs: Iterable[Need]) -> OfferVerdict:
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
        return OfferVerdict(True, f"it may not start, no page says whether it draws quota: {'; '.join(lacking)}")
    if lacking:
        return OfferVerdict(False, "; ".join(lacking), lacks_quota=True)
    return OfferVerdict(True, f"quota not checked: {unsure[0]}" if unsure else "")


def _line(grounds: Grounds, metric: str, draws: list[tuple[OfferDraw, Need]]) -> Line:
    limit, used = grounds.limit(metric), grounds.usage
    surely = [(draw, need) for draw, need in draws if not draw.doubtful]
    short = max((grounds.lacking(need) for _, need in surely), default=0)
    state: LineState = "ok"
    verdict = "ok"
    if grounds.unchecked(metric):
        state, verdict = "unchecked", NOT_LISTED
    elif isinstance(limit, str):
        state, verdict = "unknown", "cannot tell"
    elif short:
        lacking = sorted({draw.capacity_type for draw, need in surely if grounds.lacking(need)})
        state, verdict = "short", f"{few(lacking)} unavailable: short by {short:,}"
    return Line(
        metric=metric,
        region=grounds.region,
        who=few(dict.fromkeys(f"{draw.template} {draw.capacity_type}" for draw, _ in draws)),
        now=None,
        ceiling=draws[0][1].amount,
        limit=limit.limit if isinstance(limit, QuotaLimit) else None,
        others=used.others.get(metric, 0) if used else None,
        verdict=verdict,
        increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        retiring=used.old.get(metric, 0) if used else None,
        enough=max((need.amount for _, need in surely), default=0),
        state=state,
        short=short,
        drawn={f"{draw.template} {draw.label}": need.amount for draw, need in draws},
    )


def unavailable(grounds: Grounds, verdicts: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[Finding]:
    """Offers that lack quota, by metric, and those that something else rules out but the template itself."""
    for metric, draws in _by_metric(grounds):
        limit, who = grounds.limit(metric), dict[str, list[tuple[str, int]]]()
        for draw, need in draws:
            if verdicts[draw.template][draw.label].lacks_quota and grounds.lacking(need):
                who.setdefault(draw.template, []).append((draw.label, need.amount))
        if who and isinstance(limit, QuotaLimit):
            hope = outlook(grounds.live, metric)
            told = "; ".join(
                f"{template} needs {_amounts(drawn)} with {few(label for label, _ in drawn)}"
                for template, drawn in who.items()
            )
            words = f"quota {metric} in {grounds.region}, limit {limit.limit:,}, makes offers unavailable: {told}"
            yield KINDS["offer-unavailable"].of(
                Subject("quota", metric), f"{words} · {hope}" if hope else words, ways=(frozenset({metric}),)
            )
    by_reason: dict[str, dict[str, list[str]]] = {}
    for template, by_label in verdicts.items():
        for label, item in by_label.items():
            if not (item.available or item.intended or item.lacks_quota or item.dormant):
                by_reason.setdefault(item.why, {}).setdefault(template, []).append(label)
    for why, templates in by_reason.items():
        told = join(f"{template} with {few(labels)}" for template, labels in templates.items())
        yield KINDS["offer-unavailable"].of(Subject("offers"), f"unavailable: {told}: {why}")


def _amounts(drawn: list[tuple[str, int]]) -> str:
    """`8`, or from the least to the most: `12–208`."""
    amounts = [amount for _, amount in drawn]
    return f"{amounts[0]:,}" if amounts[0] == amounts[-1] else f"{amounts[-1]:,}–{amounts[0]:,}"

"""Quota of templates' ways: what a job would draw beside the pools, held against the limit alone."""

from __future__ import annotations

from collections.abc import Iterable

from slipway.live import QuotaLimit
from slipway.quota.facts import UNLIMITED, Facts
from slipway.quota.metrics import label, namespace, rank
from slipway.quota.model import Line, Need, WayDraw, WayVerdict


def way_verdicts(facts: Facts) -> dict[str, dict[str, WayVerdict]]:
    """By template, then way. What can't be told leaves a way available, and says so."""
    found: dict[str, dict[str, WayVerdict]] = {}
    for way, needs in facts.draws:
        found.setdefault(way.template, {})[way.way] = _verdict(facts, way, needs)
    return found


def way_lines(facts: Facts) -> list[Line]:
    """One row per metric that ways draw: the largest draw."""
    drawn: dict[str, list[tuple[WayDraw, int]]] = {}
    for way, needs in facts.draws:
        for need in needs:
            drawn.setdefault(need.metric, []).append((way, need.amount))
    return [_line(facts, metric, drawn[metric]) for metric in sorted(drawn, key=rank)]


def _verdict(facts: Facts, way: WayDraw, needs: Iterable[Need]) -> WayVerdict:
    if way.refusal:
        return WayVerdict(False, way.refusal, way.intended)
    lacking, unsure = [], []
    for need in needs:
        limit = facts.limit(need.metric)
        if facts.unchecked(need.metric):
            continue
        if isinstance(limit, str):
            unsure.append(limit)
        elif lacks(limit, need.amount):
            text = (
                f"quota: {need.metric} {facts.region}: needs {need.amount:,}, limit {limit.limit:,}, "
                f"short by {need.amount - limit.limit:,}"
            )
            lacking.append(f"{text} · {limit.increase}" if limit.increase else text)
    if lacking and way.doubtful:
        return WayVerdict(True, f"it may not start, no page says whether it draws quota: {'; '.join(lacking)}")
    if lacking:
        return WayVerdict(False, "; ".join(lacking), lacks_quota=True)
    return WayVerdict(True, f"quota not checked: {unsure[0]}" if unsure else "")


def _line(facts: Facts, metric: str, draws: list[tuple[WayDraw, int]]) -> Line:
    limit = facts.limit(metric)
    ordered = sorted(draws, key=lambda draw: -draw[1])
    largest = ordered[0][1]
    surely = next((amount for way, amount in ordered if not way.doubtful), 0)
    names = [f"{way.template} {way.way}" for way, _ in ordered]
    if facts.unchecked(metric):
        text = "not checked: the service lists no such quota"
    elif isinstance(limit, str):
        text = "cannot tell"
    elif lacking := [way for way, amount in ordered if lacks(limit, amount) and not way.doubtful]:
        text = f"{_few(sorted({way.way for way in lacking}))} unavailable: short by {surely - limit.limit:,}"
    else:
        text = "ok"
    return Line(
        metric=metric,
        region=facts.region,
        namespace=namespace(metric),
        label=label(metric),
        who=_few(names),
        now=None,
        ceiling=largest,
        limit=limit.limit if isinstance(limit, QuotaLimit) else None,
        others=facts.others(metric),
        verdict=text,
        increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        retiring=facts.retiring(metric),
        enough=surely,
    )


def _few(names: list[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def lacks(limit: QuotaLimit, amount: int) -> bool:
    """Whether a limit is too small for what one job needs."""
    return limit.limit != UNLIMITED and amount > limit.limit

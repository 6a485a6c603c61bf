"""Quota of offers: what a job would draw beside the pools, held against the limit alone; and which are unavailable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.live import QuotaLimit
from slipway.quota.increases import outlook
from slipway.quota.metrics import Need, label, namespace, rank
from slipway.quota.report import Line, LineState, OfferDraw, OfferVerdict
from slipway.quota.request import lacks
from slipway.quota.usage import Grounds

_ByTemplate = dict[str, list[tuple[str, int]]]
"""Labels of offers, each with how much it needs."""


def offer_verdicts(grounds: Grounds) -> dict[str, dict[str, OfferVerdict]]:
    """By template, then label. What can't be told leaves an offer available, and says so."""
    found: dict[str, dict[str, OfferVerdict]] = {}
    for draw, needs in grounds.draws:
        found.setdefault(draw.template, {})[draw.label] = _verdict(grounds, draw, needs)
    return found


def offer_lines(grounds: Grounds) -> list[Line]:
    """One row per metric that offers draw: the largest draw."""
    drawn: dict[str, list[tuple[OfferDraw, int]]] = {}
    for draw, needs in grounds.draws:
        for need in needs:
            drawn.setdefault(need.metric, []).append((draw, need.amount))
    return [_line(grounds, metric, drawn[metric]) for metric in sorted(drawn, key=rank)]


def _verdict(grounds: Grounds, draw: OfferDraw, needs: Iterable[Need]) -> OfferVerdict:
    if draw.refusal:
        return OfferVerdict(False, draw.refusal, draw.intended, dormant=draw.dormant)
    lacking, unsure = [], []
    for need in needs:
        limit = grounds.limit(need.metric)
        if grounds.unchecked(need.metric):
            continue
        if isinstance(limit, str):
            unsure.append(limit)
        elif lacks(limit, need.amount):
            text = (
                f"quota: {need.metric} {grounds.region}: needs {need.amount:,}, limit {limit.limit:,}, "
                f"short by {need.amount - limit.limit:,}"
            )
            lacking.append(f"{text} · {limit.increase}" if limit.increase else text)
    if lacking and draw.doubtful:
        return OfferVerdict(True, f"it may not start, no page says whether it draws quota: {'; '.join(lacking)}")
    if lacking:
        return OfferVerdict(False, "; ".join(lacking), lacks_quota=True)
    return OfferVerdict(True, f"quota not checked: {unsure[0]}" if unsure else "")


def _line(grounds: Grounds, metric: str, draws: list[tuple[OfferDraw, int]]) -> Line:
    limit = grounds.limit(metric)
    ordered = sorted(draws, key=lambda one: -one[1])
    largest = ordered[0][1]
    surely = next((amount for draw, amount in ordered if not draw.doubtful), 0)
    names = [f"{draw.template} {draw.label}" for draw, _ in ordered]
    state: LineState = "ok"
    text, short = "ok", 0
    if grounds.unchecked(metric):
        state, text = "unchecked", "not checked: the service lists no such quota"
    elif isinstance(limit, str):
        state, text = "unknown", "cannot tell"
    elif lacking := [draw for draw, amount in ordered if lacks(limit, amount) and not draw.doubtful]:
        state, short = "short", surely - limit.limit
        text = f"{_few(sorted({draw.label for draw in lacking}))} unavailable: short by {short:,}"
    return Line(
        metric=metric,
        region=grounds.region,
        namespace=namespace(metric),
        label=label(metric),
        who=_few(names),
        now=None,
        ceiling=largest,
        limit=limit.limit if isinstance(limit, QuotaLimit) else None,
        others=grounds.others(metric),
        verdict=text,
        increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        retiring=grounds.retiring(metric),
        enough=surely,
        state=state,
        short=short,
        drawn={f"{draw.template} {draw.label}": amount for draw, amount in ordered},
    )


def _few(names: list[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def unavailable(grounds: Grounds, verdicts: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[Finding]:
    """Names every template and offer; the cases of one capacity type are counted. What the template itself rules
    out is not reported."""
    short: dict[str, _ByTemplate] = {}
    for draw, needs in grounds.draws:
        if not verdicts[draw.template][draw.label].lacks_quota:
            continue
        for need in needs:
            limit = grounds.limit(need.metric)
            if isinstance(limit, QuotaLimit) and lacks(limit, need.amount) and not grounds.unchecked(need.metric):
                drawn = short.setdefault(need.metric, {}).setdefault(draw.template, [])
                drawn.append((draw.label, need.amount))
    for metric in sorted(short, key=rank):
        limit = grounds.limit(metric)
        assert isinstance(limit, QuotaLimit)
        who = "; ".join(
            f"{template} needs {_amounts(drawn)} with {_labels(drawn)}" for template, drawn in short[metric].items()
        )
        line = f"quota {metric} in {grounds.region}, limit {limit.limit:,}, makes offers unavailable: {who}"
        hope = outlook(grounds.live, metric)
        words = f"{line} · {hope}" if hope else line
        yield KINDS["offer-unavailable"].of(Subject("quota", metric), words, ways=(frozenset({metric}),))
    for words in _ruled_out(verdicts):
        yield KINDS["offer-unavailable"].of(Subject("offers"), words)


def _ruled_out(verdicts: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[str]:
    """The offers that something other than quota rules out."""
    by_reason: dict[str, _ByTemplate] = {}
    for template, by_label in verdicts.items():
        for name, item in by_label.items():
            if not (item.available or item.intended or item.lacks_quota or item.dormant):
                by_reason.setdefault(item.why, {}).setdefault(template, []).append((name, 0))
    for why, templates in by_reason.items():
        who = join(f"{template} with {_labels(labels)}" for template, labels in templates.items())
        several = len(templates) > 1 or any(len(labels) > 1 for labels in templates.values())
        yield f"{who} {'are' if several else 'is'} unavailable: {why}"


def _amounts(drawn: Iterable[tuple[str, int]]) -> str:
    """`8`, or from the least to the most: `12–208`."""
    amounts = [amount for _, amount in drawn]
    least, most = min(amounts), max(amounts)
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _labels(drawn: Iterable[tuple[str, int]]) -> str:
    """`spot (model=27b) and flex-start (3 cases)`: an offer by its label, several of one capacity type by their
    number."""
    labels: dict[str, list[str]] = {}
    for name, _ in drawn:
        labels.setdefault(name.partition(" ")[0], []).append(name)
    return join(same[0] if len(same) == 1 else f"{first} ({len(same)} cases)" for first, same in labels.items())

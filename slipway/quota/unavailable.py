"""Which ways are unavailable, in words: a line for each metric that is too small, and for each other reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slipway.live import QuotaLimit
from slipway.quota.facts import Facts
from slipway.quota.metrics import rank
from slipway.quota.model import WayVerdict
from slipway.quota.ways import lacks
from slipway.words import join

_ByTemplate = dict[str, list[tuple[str, int]]]
"""Labels of ways, each with how much it needs."""


def unavailable(facts: Facts, verdicts: Mapping[str, Mapping[str, WayVerdict]]) -> Iterator[str]:
    """Names every template and way; the cases of one way are counted. What a template means so is left out."""
    short: dict[str, _ByTemplate] = {}
    for way, needs in facts.draws:
        if not verdicts[way.template][way.way].lacks_quota:
            continue
        for need in needs:
            limit = facts.limit(need.metric)
            if isinstance(limit, QuotaLimit) and lacks(limit, need.amount) and not facts.unchecked(need.metric):
                drawn = short.setdefault(need.metric, {}).setdefault(way.template, [])
                drawn.append((way.way, need.amount))
    for metric in sorted(short, key=rank):
        limit = facts.limit(metric)
        assert isinstance(limit, QuotaLimit)
        who = "; ".join(
            f"{template} needs {_amounts(drawn)} by {_ways(drawn)}" for template, drawn in short[metric].items()
        )
        line = f"quota {metric} in {facts.region}, limit {limit.limit:,}, makes ways unavailable: {who}"
        yield f"{line} · {limit.increase}" if limit.increase else line
    yield from _ruled_out(verdicts)


def _ruled_out(verdicts: Mapping[str, Mapping[str, WayVerdict]]) -> Iterator[str]:
    """What something else than quota speaks against."""
    by_reason: dict[str, _ByTemplate] = {}
    for template, by_way in verdicts.items():
        for label, item in by_way.items():
            if not (item.available or item.intended or item.lacks_quota):
                by_reason.setdefault(item.why, {}).setdefault(template, []).append((label, 0))
    for why, templates in by_reason.items():
        who = join(f"{template} by {_ways(labels)}" for template, labels in templates.items())
        several = len(templates) > 1 or any(len(labels) > 1 for labels in templates.values())
        yield f"{who} {'are' if several else 'is'} unavailable: {why}"


def _amounts(drawn: Iterable[tuple[str, int]]) -> str:
    """``8``, or from the least to the most: ``12–208``."""
    amounts = [amount for _, amount in drawn]
    least, most = min(amounts), max(amounts)
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def _ways(drawn: Iterable[tuple[str, int]]) -> str:
    """``spot (model=27b) and flex-start (3 cases)``: a way by its label, several of one name by their number."""
    labels: dict[str, list[str]] = {}
    for label, _ in drawn:
        labels.setdefault(label.partition(" ")[0], []).append(label)
    return join(same[0] if len(same) == 1 else f"{way} ({len(same)} cases)" for way, same in labels.items())

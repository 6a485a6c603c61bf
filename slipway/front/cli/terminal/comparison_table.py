"""The table of a replay of a stack's past."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from slipway.base.formatting import few, first_lines, percent, span_or_dash
from slipway.front.cli.terminal import screen
from slipway.google.advice import NO_ADVICE, SpotReport
from slipway.model.prices import Price, figure
from slipway.operating.history.waits import Waits
from slipway.operating.whatif.comparison import Comparison
from slipway.operating.whatif.outcome import NeverRun, Outcome
from slipway.operating.whatif.report import headline, notes, why_not

_MOST_TEMPLATES = 10


def show(comparison: Comparison, heads: tuple[str, str], spot: SpotReport = NO_ADVICE) -> None:
    """Print the outcomes side by side under these heads, or that they are unknown; and Google's advice on Spot."""
    screen.prose(headline(comparison))
    before, after, trusted = comparison.before, comparison.after, comparison.calibration.trusted
    never = ("never run", str(before.never_ran), str(after.never_ran), _why(after.never))
    screen.table(("", *heads, ""), [*(_rows(before, after) if trusted else ()), never], wraps=("",))
    if trusted:
        _show_templates(before, after, heads)
    else:
        screen.prose(why_not(comparison.calibration))
    for line in notes(comparison, spot):
        screen.note(line)


def _rows(before: Outcome, after: Outcome) -> Iterable[tuple[str, str, str, str]]:
    parts = f"pools {_both(before.pools_cost, after.pools_cost)}"
    if before.beside_cost != after.beside_cost or before.beside_cost.known:
        parts += f", jobs' own machines {_both(before.beside_cost, after.beside_cost)}"
    idle = ["–" if outcome.idle is None else percent(outcome.idle) for outcome in (before, after)]
    yield "wait p50 / p95", _waits(before.waits), _waits(after.waits), ""
    yield "longest wait", span_or_dash(before.waits.longest), span_or_dash(after.waits.longest), ""
    yield "dollars", figure(before.cost, 0), figure(after.cost, 0), parts
    yield "idle", idle[0], idle[1], ""


def _show_templates(before: Outcome, after: Outcome, heads: tuple[str, str]) -> None:
    """Print the templates whose waits change most, where there are several."""
    were = defaultdict(Waits, {row.template: row.waits for row in before.templates})
    changed = [row for row in after.templates if row.waits != were[row.template]]
    if len(after.templates) < 2 or not changed:
        return
    changed.sort(key=lambda row: -abs((row.waits.p95 or 0) - (were[row.template].p95 or 0)))
    rows = [
        (row.template or "(none)", str(row.waits.jobs), _waits(were[row.template]), _waits(row.waits))
        for row in changed[:_MOST_TEMPLATES]
    ]
    screen.out("")
    screen.table(("TEMPLATE", "JOBS", *(f"WAIT {head}" for head in heads)), rows, right=("JOBS",))
    if len(changed) > _MOST_TEMPLATES:
        screen.note(f"and {len(changed) - _MOST_TEMPLATES} more templates")


def _why(never: tuple[NeverRun, ...]) -> str:
    """Return `tune-27b and eval: needs 4 a3-highgpu-8g, and h100/workers has 2 at most`."""
    by_reason: dict[str, list[str]] = {}
    for job in never:
        by_reason.setdefault(job.why, []).append(job.template or "(none)")
    return "; ".join(first_lines((f"{few(templates)}: {why}" for why, templates in by_reason.items()), 2))


def _waits(waits: Waits) -> str:
    return f"{span_or_dash(waits.median)} / {span_or_dash(waits.p95)}"


def _both(before: Price, after: Price) -> str:
    return f"{figure(before, 0)} → {figure(after, 0)}"

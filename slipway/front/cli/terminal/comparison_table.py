"""The table of a replay of a stack's past."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from slipway.base.formatting import counted, few, first_lines, percent, span_or_dash
from slipway.front.cli.terminal import screen
from slipway.google.advice import NO_ADVICE, SpotReport
from slipway.model.prices import Price, figure
from slipway.operating.history.waits import Waits
from slipway.operating.whatif.comparison import Comparison
from slipway.operating.whatif.outcome import NeverRun, Outcome
from slipway.operating.whatif.report import headline, notes, why_not

_MOST = 10


def show(comparison: Comparison, heads: tuple[str, str], spot: SpotReport = NO_ADVICE) -> None:
    """Print the outcomes side by side under these heads, or that they are unknown; and Google's advice on Spot."""
    screen.prose(headline(comparison))
    before, after, trusted = comparison.before, comparison.after, comparison.calibration.trusted
    never = ("never run", str(before.never_ran), str(after.never_ran), _why(after.never))
    screen.table(("", *heads, ""), [*(_rows(before, after) if trusted else ()), never], wraps=("",))
    if trusted:
        were, are = ({row.template: row.waits for row in outcome.templates} for outcome in (before, after))
        _show_groups("template", were, are, heads)
        if comparison.shares:
            _show_groups("team", before.teams, after.teams, heads)
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
    if before.urgent.jobs:
        yield "urgent p50 / p95", _waits(before.urgent), _waits(after.urgent), counted(before.urgent.jobs, "job")
        yield "made room", _made_room(before.made_room), _made_room(after.made_room), "until they went on"
    if before.unknown or after.unknown:
        yield "wait unknown", str(before.unknown), str(after.unknown), ""


def _made_room(waits: Waits) -> str:
    return f"{counted(waits.jobs, 'time')}, {_waits(waits)}" if waits.jobs else "never"


def _show_groups(what: str, before: Mapping[str, Waits], after: Mapping[str, Waits], heads: tuple[str, str]) -> None:
    """Print the templates or teams whose waits change most, where there are several."""
    were = defaultdict(Waits, before)
    changed = [name for name, waits in after.items() if waits != were[name]]
    if len(after) < 2 or not changed:
        return
    changed.sort(key=lambda name: -abs((after[name].p95 or 0) - (were[name].p95 or 0)))
    rows = [
        (name or "(none)", str(after[name].jobs), _waits(were[name]), _waits(after[name])) for name in changed[:_MOST]
    ]
    screen.out("")
    screen.table((what.upper(), "JOBS", *(f"WAIT {head}" for head in heads)), rows, right=("JOBS",))
    if len(changed) > _MOST:
        screen.note(f"and {len(changed) - _MOST} more {what}s")


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

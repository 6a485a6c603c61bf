"""A verdict on quota, its parts, and the table that preview and `slipway quota` print of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from slipway.base.errors import PolicyError
from slipway.google.live import UNLIMITED, Increase
from slipway.google.quota.metrics import label, namespace
from slipway.google.quota.request import QuotaRequest, Requested
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Finding, Grade
from slipway.model.machines.spec import MachineGroup

NOT_LISTED = "not checked: the service lists no such quota"
_RETIRING = "RETIRING"
_HEADS = ("NOW", _RETIRING, "CEILING", "LIMIT", "USED BY OTHERS")


@dataclass(frozen=True)
class OfferDraw:
    """The machines that an offer of a template draws with the default parameters, beside the pools.

    An offer by `pool` draws nothing (`machines` empty): the pool holds the machines already. `label`: the offer's among
    the template's others. `refusal`: why it can't be taken, whatever the quota; `intended` where the template itself
    says so. `doubtful`: no page says whether it draws them (reservations), so lacking quota is reported and does not
    block. `dormant`: it can't be taken for now, as its cluster intentionally does not exist.
    """

    template: str
    capacity_type: str
    label: str
    machines: tuple[MachineGroup, ...] = ()
    preemptible: bool = False
    refusal: str = ""
    doubtful: bool = False
    intended: bool = False
    dormant: bool = False


@dataclass(frozen=True)
class OfferVerdict:
    """The verdict on an offer. `why`, as text: why the offer is not available; for an available one, the unknown part.
    `lacks_quota`: for lack of quota alone, which may be granted any day. `intended` and `dormant` as in the draw."""

    available: bool
    why: str = ""
    intended: bool = False
    lacks_quota: bool = False
    dormant: bool = False


LineState = Literal["ok", "tight", "short", "unknown", "unchecked"]
"""The state of a row. `tight`: it suffices now, and not at the maximum or for a rollover. `unchecked`: the service
lists no such quota."""


@dataclass(frozen=True)
class QuotaRow:
    """A row of the table: one metric in one region, of pools or (`now` is None) of offers.

    `now`: what this stack's clusters hold or will hold after this `up` at their initial sizes; `ceiling`: at their
    maximum; for offers, the draw of the largest. `limit` None is unknown, -1 unlimited. `retiring`: the draw of this
    stack's old generations until they are gone. `others`: all other draws in the region, by other stacks' clusters and
    jobs beside the pools. `enough`: the sufficient limit; `short`: the missing amount now. `created`: the first draw of
    clusters to be made, by name. `each`: one machine's draw, the largest of several. `drawn`: at most, by cluster/pool
    or by template and offer. `requested`: the outcome of a request for more. `elsewhere`: in another region than the
    stack's own. `who`, `verdict` and `at_most` (how far pools can grow, empty for their maximum) are for people.
    """

    metric: str
    region: str
    who: str
    now: int | None
    ceiling: int
    limit: int | None
    others: int | None
    verdict: str
    increase: Increase = Increase.UNTOLD
    retiring: int | None = 0
    enough: int = 0
    state: LineState = "ok"
    short: int = 0
    at_most: str = ""
    created: Mapping[str, int] = field(default_factory=dict)
    each: int = 1
    drawn: Mapping[str, int] = field(default_factory=dict)
    requested: Requested | None = None
    elsewhere: bool = False

    @property
    def key(self) -> str:
        return QuotaLine.key_of(self.metric, self.region if self.elsewhere else "", of_offers=self.now is None)

    @property
    def room(self) -> int | None:
        """The limit less the draw of others: this stack's room when its old generations are gone; None without a limit,
        and for an unknown one."""
        return (
            None if self.limit is None or self.limit == UNLIMITED or self.others is None else self.limit - self.others
        )

    def lacks(self, *, strict: bool) -> int:
        """Return the amount that is missing now; with `strict`, at the maximum of pools."""
        growth = strict and self.now is not None and self.room is not None
        return self.short or (max(0, self.ceiling - (self.room or 0)) if growth else 0)

    def shortage(self, by: int, more: str) -> str:
        """Return `quota X in us-central1 is short by 1 (limit 1; asked for 2: pending)`."""
        limit = f"limit {'unknown' if self.limit is None else f'{self.limit:,}'}"
        return f"quota {self.metric} in {self.region} is short by {by:,} ({'; '.join(filter(None, (limit, more)))})"

    def drawn_by(self, cluster: str) -> bool:
        return any(who.partition("/")[0] == cluster for who in self.drawn)


@dataclass(frozen=True)
class QuotaReport:
    """The report. Blocking `findings` stop the deployment. `offers` by template, then label. `requests` are the stack's
    own; `awaited`, by metric, the limits without which no cluster is made."""

    lines: tuple[QuotaRow, ...] = ()
    findings: tuple[Finding, ...] = ()
    offers: Mapping[str, Mapping[str, OfferVerdict]] = field(default_factory=dict)
    requests: tuple[QuotaRequest, ...] = ()
    awaited: Mapping[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(str(one) for one in self.findings if one.grade is Grade.BLOCKING)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(str(one) for one in self.findings if one.grade is not Grade.BLOCKING)


def refuse_shortage(report: QuotaReport, region: str) -> None:
    """Raise PolicyError when the report has errors."""
    if report.errors:
        raise PolicyError(
            f"quota does not suffice in {region}, so nothing was changed",
            why="\n".join(report.errors),
            fix="slipway quota shows limits and use; `slipway:quota: {mode: warn}` deploys all the same",
        )


def tables(report: QuotaReport) -> list[list[tuple[str, ...]]]:
    """Return a table as cells for each region: its heads, beginning with the region's name, and its rows. Three columns
    of words come first, then numbers, and the verdict.

    `–` is nothing, `∞` unlimited, `?` unknown. Retiring generations have a column where there are any. An empty first
    cell repeats the row above.
    """
    retires = any(line.retiring for line in report.lines)
    shown = [head for head in _HEADS if retires or head != _RETIRING]
    found = []
    for region, lines in groupby(sorted(report.lines, key=lambda line: line.region), key=lambda line: line.region):
        rows, above = [(region, "", "", *shown, "VERDICT")], ""
        for line in lines:
            kind = namespace(line.metric)
            rows.append(("" if kind == above else kind, *_row(line, shown)))
            above = kind
        found.append(rows)
    return found


def table(report: QuotaReport) -> str:
    """Return plain text without a final newline, one block per region; empty when nothing is drawn."""
    return "\n\n".join(map(_aligned, tables(report)))


def _aligned(rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    numbers = range(3, len(widths) - 1)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _row(line: QuotaRow, shown: list[str]) -> tuple[str, ...]:
    limit = "?" if line.limit is None else "∞" if line.limit == UNLIMITED else f"{line.limit:,}"
    # A possible increase matters only where the limit is too small.
    told = str(line.requested) if line.requested else line.increase if line.verdict != "ok" else ""
    numbers = {
        "NOW": "–" if line.now is None else f"{line.now:,}",
        _RETIRING: _used(line.retiring, limit),
        "CEILING": f"{line.ceiling:,}",
        "LIMIT": limit,
        "USED BY OTHERS": _used(line.others, limit),
    }
    return (
        label(line.metric),
        line.who,
        *(numbers[head] for head in shown),
        " · ".join(filter(None, (line.verdict, told))),
    )


def _used(amount: int | None, limit: str) -> str:
    return "?" if amount is None else f"{amount:,}" if limit != "∞" else "–"

"""What a quota verdict is made of and what it comes to, and the table that preview and `slipway quota` print of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from slipway.errors import PolicyError
from slipway.findings.finding import Finding, Grade
from slipway.live import UNLIMITED
from slipway.machines.spec import MachineGroup
from slipway.quota.request import QuotaRequest, Requested

_RETIRING = "RETIRING"
_HEADS = ("NOW", _RETIRING, "CEILING", "LIMIT", "USED BY OTHERS")

_CASE = re.compile(r" \(\w+=[^()]*\)(?: as [a-z-]+)?")
_NAMES = re.compile(r"(?P<names>[^:]*?)(?P<rest>(?: and \d+ more)?(?: unavailable: .*)?)")


@dataclass(frozen=True)
class OfferDraw:
    """What an offer of a template draws with the default parameters, beside the pools.

    One by `pool` draws nothing (`machines` empty): the pool holds the machines already. `label` is the capacity type
    and what tells the offer from others of that type. `refusal`: why it can't be taken, whatever the quota; `intended`
    where the template itself says so. `doubtful`: no page says whether it draws them (reservations), so lacking quota
    is told and no hindrance. `dormant`: it can't be taken for now, as its cluster is not there, and that is meant so.
    """

    template: str
    label: str
    machines: tuple[MachineGroup, ...] = ()
    preemptible: bool = False
    refusal: str = ""
    doubtful: bool = False
    intended: bool = False
    dormant: bool = False


@dataclass(frozen=True)
class OfferVerdict:
    """`why` says in words why the offer is not available; of one that is, what could not be told. `intended`:
    ruled out by the template itself, so not reported. `lacks_quota`: it is not available for lack of quota alone, which
    may be granted any day. `dormant`: its cluster is not there for now, which is no fault of the template.
    """

    available: bool
    why: str = ""
    intended: bool = False
    lacks_quota: bool = False
    dormant: bool = False


LineState = Literal["ok", "tight", "short", "unknown", "unchecked"]
"""`tight`: it suffices now, and not at the maximum or for a rollover. `unchecked`: the service lists no such quota."""


@dataclass(frozen=True)
class Line:
    """A row of the table: one metric in one region, of pools or (`now` is None) of offers.

    `now`: what this stack's clusters hold or will hold after this `up` at their initial sizes; `ceiling`: at their
    maximum; for offers, what the largest draws. `limit` None is unknown, -1 unlimited. `retiring`: what old
    generations of this stack draw until they are gone. `others`: all else that draws in the region, clusters of other
    stacks and jobs beside the pools. `enough`: the limit that would do; `short`: by how much it does not suffice now.
    `each`: what one machine draws, of several the one that draws most. `drawn`: at most, by cluster/pool or by template
    and offer. `label`, `who`, `verdict` and `increase` are for people.
    `requested`: what becomes of a request for more. `elsewhere`: in another region than the stack's own.
    """

    metric: str
    region: str
    namespace: str
    label: str
    who: str
    now: int | None
    ceiling: int
    limit: int | None
    others: int | None
    verdict: str
    increase: str = ""
    retiring: int | None = 0
    enough: int = 0
    state: LineState = "ok"
    short: int = 0
    each: int = 1
    drawn: Mapping[str, int] = field(default_factory=dict)
    requested: Requested | None = None
    elsewhere: bool = False

    @property
    def key(self) -> str:
        """What tells it from the other lines: the metric, with the region where that is not the stack's own."""
        where = f" in {self.region}" if self.elsewhere else ""
        return f"{self.metric}{where}" if self.now is not None else f"{self.metric} offers"


@dataclass(frozen=True)
class QuotaReport:
    """`findings` that block stop the deployment. `offers` by template, then label. `requests` are the stack's own;
    `awaited`, by metric, the limits without which no cluster is made."""

    lines: tuple[Line, ...] = ()
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
    """Raises PolicyError when the report has errors."""
    if report.errors:
        raise PolicyError(
            f"quota does not suffice in {region}, so nothing was changed",
            why="\n".join(report.errors),
            fix="slipway quota shows limits and use; `slipway:quota: {mode: warn}` deploys all the same",
        )


@dataclass(frozen=True)
class Region:
    """A region's table as cells: `heads` begin with the region's name, and three columns of `rows` with words. Numbers
    follow, and the verdict."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def regions(report: QuotaReport) -> list[Region]:
    """`–` is nothing, `∞` unlimited, `?` not known. What retires has a column where anything does. An empty first cell
    means that of the row above."""
    retires = any(line.retiring for line in report.lines)
    shown = [head for head in _HEADS if retires or head != _RETIRING]
    found = []
    for region, lines in groupby(sorted(report.lines, key=lambda line: line.region), key=lambda line: line.region):
        rows, seen = [], ""
        for row in (_row(line, shown) for line in lines):
            rows.append(("" if row[0] == seen else row[0], *row[1:]))
            seen = row[0]
        found.append(Region((region, "", "", *shown, "VERDICT"), tuple(rows)))
    return found


def table(report: QuotaReport) -> str:
    """Plain text without a final newline, one block per region; empty when nothing is drawn."""
    blocks = []
    for region in regions(report):
        name, shown = region.heads[0], region.heads[3:-1]
        widths = [max(len(row[column]) for row in region.rows) for column in range(3)]
        numbers = [max(len(head), *(len(row[3 + i]) for row in region.rows)) for i, head in enumerate(shown)]
        left = sum(widths) + 4
        heads = "  ".join(head.rjust(width) for head, width in zip(shown, numbers, strict=True))
        out = [f"{name.ljust(left)}  {heads}  VERDICT"]
        for row in region.rows:
            start = "  ".join(text.ljust(width) for text, width in zip(row[:3], widths, strict=True))
            middle = "  ".join(text.rjust(width) for text, width in zip(row[3:-1], numbers, strict=True))
            out.append(f"{start.ljust(left)}  {middle}  {row[-1]}".rstrip())
        blocks.append("\n".join(out))
    return "\n\n".join(blocks)


def _row(line: Line, shown: list[str]) -> tuple[str, ...]:
    limit = "?" if line.limit is None else "∞" if line.limit == UNLIMITED else f"{line.limit:,}"
    # Whether more can be had matters only where it is not enough.
    told = str(line.requested) if line.requested else line.increase if line.verdict != "ok" else ""
    numbers = {
        "NOW": "–" if line.now is None else f"{line.now:,}",
        _RETIRING: _used(line.retiring, limit),
        "CEILING": f"{line.ceiling:,}",
        "LIMIT": limit,
        "USED BY OTHERS": _used(line.others, limit),
    }
    verdict = " · ".join(part for part in (_without_cases(line.verdict), told) if part)
    return (line.namespace, line.label, _without_cases(line.who), *(numbers[head] for head in shown), verdict)


def _used(amount: int | None, limit: str) -> str:
    return "?" if amount is None else f"{amount:,}" if limit != "∞" else "–"


def _without_cases(text: str) -> str:
    """`lora spot` for `lora spot (model=2b), lora spot (model=9b)`: the document has them apart, a line no room."""
    found = _NAMES.fullmatch(_CASE.sub("", text))
    if found is None or not _CASE.search(text):
        return text
    return ", ".join(dict.fromkeys(found["names"].split(", "))) + found["rest"]

"""A verdict on quota, its parts, and the table that preview and `slipway quota` print of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal

from slipway.base.columns import Column, table_of
from slipway.base.errors import PolicyError
from slipway.base.formatting import few
from slipway.base.table import Table
from slipway.google.live import Increase
from slipway.google.quota.metrics import label, namespace
from slipway.google.quota.request import QuotaRequest, Requested
from slipway.model.draw import UNLIMITED, Draw
from slipway.model.facts import QuotaLine
from slipway.model.findings.finding import Finding, Grade
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.spec import MachineGroup
from slipway.model.origin import Origin

NOT_LISTED = "not checked: the service lists no such quota"
_RETIRING = "RETIRING"
UNKNOWN = KINDS["quota-unknown"]


@dataclass(frozen=True)
class OfferDraw:
    """The machines that an offer of a template draws with the default parameters, beside the pools."""

    template: str
    capacity_type: str
    #: Tells the offer from the template's others.
    label: str
    #: Empty for an offer by `pool`: the pool holds the machines already.
    machines: tuple[MachineGroup, ...] = ()
    preemptible: bool = False
    #: The reason why it can't be taken, whatever the quota.
    refusal: str = ""
    #: No page says whether it draws them (reservations), so lacking quota is reported and does not block.
    doubtful: bool = False
    #: The template itself says that it can't be taken.
    intended: bool = False
    #: It can't be taken for now, as its cluster intentionally does not exist.
    dormant: bool = False


@dataclass(frozen=True)
class OfferVerdict:
    available: bool
    #: The reason why the offer is not available, as text; for an available one, the unknown part.
    why: str = ""
    intended: bool = False
    #: It is not available for lack of quota alone, which may be granted any day.
    lacks_quota: bool = False
    dormant: bool = False
    #: The quota could not be read, and the last deployment's verdict stays.
    unread: bool = False


LineState = Literal["ok", "tight", "short", "unknown", "unchecked"]
"""The state of a row. `tight`: it suffices now, and not at the maximum or for a rollover. `unchecked`: the service
lists no such quota."""


@dataclass(frozen=True)
class QuotaRow:
    """A row of the table: one metric in one region, of pools or of offers."""

    metric: str
    region: str
    #: The pools or the offers, as text.
    who: str
    #: The draw of this stack's clusters, at the initial sizes of those that this `up` makes; None for offers.
    now: int | None
    #: The draw at the pools' maximum; for offers, that of the largest.
    ceiling: int
    #: -1 is unlimited, None unknown.
    limit: int | None
    #: All other draws in the region: by other stacks' clusters, and by jobs beside the pools.
    others: int | None
    verdict: str
    increase: Increase = Increase.UNTOLD
    #: The draw of this stack's old generations until they are gone.
    retiring: int | None = 0
    #: The sufficient limit.
    enough: int = 0
    state: LineState = "ok"
    #: The amount that is missing now.
    short: int = 0
    #: The growth that pools have room for, as text; empty where they can reach their maximum.
    at_most: str = ""
    #: The first draw of clusters to be made, by name.
    created: Mapping[str, int] = field(default_factory=dict)
    #: One machine's draw, the largest of several.
    each: int = 1
    #: The most that is drawn, by cluster/pool or by template and offer.
    drawn: Mapping[str, int] = field(default_factory=dict)
    requested: Requested | None = None
    #: The region is another than the stack's own.
    elsewhere: bool = False

    @property
    def key(self) -> str:
        return QuotaLine.key_of(self.metric, self.region if self.elsewhere else "", of_offers=self.now is None)

    @property
    def most(self) -> Draw:
        """The draw at the maximum, when this stack's old generations are gone."""
        return Draw(self.ceiling, self.limit, self.others)

    def lacks(self, *, strict: bool) -> int:
        """Return the amount that is missing now; with `strict`, at the maximum of pools."""
        return self.short if self.short or not strict or self.now is None else self.most.short

    def shortage(self, by: int, more: str) -> str:
        """Return `quota X in us-central1 is short by 1 (limit 1; asked for 2: pending)`."""
        limit = f"limit {'unknown' if self.limit is None else f'{self.limit:,}'}"
        return f"quota {self.metric} in {self.region} is short by {by:,} ({'; '.join(filter(None, (limit, more)))})"

    def drawn_by(self, cluster: str) -> bool:
        return any(who.partition("/")[0] == cluster for who in self.drawn)


@dataclass(frozen=True)
class QuotaReport:
    lines: tuple[QuotaRow, ...] = ()
    #: The blocking ones stop the deployment.
    findings: tuple[Finding, ...] = ()
    #: By template, then label.
    offers: Mapping[str, Mapping[str, OfferVerdict]] = field(default_factory=dict)
    requests: tuple[QuotaRequest, ...] = ()
    #: By metric, the limits without which no cluster is made.
    awaited: Mapping[str, int] = field(default_factory=dict)

    @property
    def never_made(self) -> frozenset[str]:
        """The names of clusters to be made that alone draw more than a limit: no end of other use mends that."""
        final = (line for line in self.lines if line.limit != UNLIMITED and line.metric not in self.awaited)
        return frozenset(
            name
            for line in final
            for name, draw in line.created.items()
            if line.limit is not None and draw > line.limit
        )

    @property
    def errors(self) -> tuple[str, ...]:
        return tuple(str(finding) for finding in self.findings if finding.grade is Grade.BLOCKING)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(str(finding) for finding in self.findings if finding.grade is not Grade.BLOCKING)


def refuse_shortage(report: QuotaReport, region: str, origin: Origin) -> None:
    """Raise PolicyError when the report has errors."""
    if report.errors:
        blocking = [each for each in report.findings if each.grade is Grade.BLOCKING]
        unread = [each for each in blocking if each.kind == UNKNOWN.word]
        # `strict` alone makes errors of findings that usually warn.
        refused = unread or any(KINDS[each.kind].usual is Grade.BLOCKING for each in blocking)
        way = f"`{origin.setting('slipway:quota', 'mode', 'warn')}`"
        if not refused:
            way = f"leaving `strict` out of `{origin.key('slipway:quota')}`"
        what, fix = f"quota does not suffice in {region}", "slipway quota shows limits, its --request asks for more"
        if unread == blocking:
            what = f"cannot tell whether quota suffices in {region}"
            ways = dict.fromkeys(each.facts.get("way_out") for each in unread)
            fix = "; ".join(filter(None, ways)) or "the same command again"
        elif other := [each for each in blocking if each.facts.get("mended_by") == ()]:
            # No quota mends these.
            lack = "templates lack what they need"
            declare = "declare what templates lack, or take what can't be had out of their capacity types"
            what, fix = (lack, declare) if other == blocking else (f"{what}, and {lack}", f"{fix}; {declare}")
        raise PolicyError(
            f"{what}, so nothing was changed", why="\n".join(report.errors), fix=f"{fix}; {way} deploys all the same"
        )


def tables(report: QuotaReport) -> list[Table]:
    """Return a table for each region, whose name is the first head.

    Three columns of words come first, then numbers, and the verdict. `–` is nothing, `∞` unlimited, `?` unknown.
    Retiring generations have a column where there are any. An empty first cell repeats the row above.
    """
    retires = any(line.retiring for line in report.lines)
    columns = [column for column in COLUMNS if retires or column.head != _RETIRING]
    by_region = []
    for region, lines in groupby(sorted(report.lines, key=lambda line: line.region), key=lambda line: line.region):
        table = table_of(columns, tuple(lines))
        kinds = ["", *(row[0] for row in table.rows)]
        rows = [["" if row[0] == above else row[0], *row[1:]] for above, row in zip(kinds, table.rows, strict=False)]
        by_region.append(replace(table, heads=(region, *table.heads[1:]), rows=rows, title=True))
    return by_region


def quota_text(report: QuotaReport) -> str:
    """Return plain text without a final newline, one block per region; empty when nothing is drawn."""
    return "\n\n".join("\n".join(line.text for line in table.lines(None)) for table in tables(report))


def _limit(line: QuotaRow) -> str:
    if line.limit is None:
        return "?"
    return "∞" if line.limit == UNLIMITED else f"{line.limit:,}"


def _used(amount: int | None, line: QuotaRow) -> str:
    if amount is None:
        return "?"
    return "–" if line.limit == UNLIMITED else f"{amount:,}"


def _verdict(line: QuotaRow) -> str:
    # A possible increase matters only where the limit is too small.
    increase = "" if line.verdict == "ok" else line.increase
    return " · ".join(filter(None, (line.verdict, str(line.requested) if line.requested else increase)))


COLUMNS: tuple[Column[QuotaRow], ...] = (
    Column(None, lambda row: row.metric, "metric"),
    Column(None, lambda row: row.region, "region"),
    Column("", lambda row: namespace(row.metric), "namespace", name=True),
    Column("", lambda row: label(row.metric), "label", name=True, wraps=True),
    Column("", lambda row: few(row.drawn) if row.now is None else row.who, "for", lambda row: row.who, wraps=True),
    Column("NOW", lambda row: row.now, "now", lambda row: "–" if row.now is None else f"{row.now:,}", right=True),
    Column(_RETIRING, lambda row: row.retiring, "usedByRetiring", lambda row: _used(row.retiring, row), right=True),
    Column("CEILING", lambda row: row.ceiling, "ceiling", lambda row: f"{row.ceiling:,}", right=True),
    Column("LIMIT", lambda row: row.limit, "limit", _limit, right=True),
    Column("USED BY OTHERS", lambda row: row.others, "usedByOthers", lambda row: _used(row.others, row), right=True),
    Column("VERDICT", lambda row: row.verdict, "verdict", _verdict, wraps=True),
    Column(None, lambda row: row.increase or None, "increase"),
    Column(None, lambda row: row.requested, "request"),
)
"""The columns of table and JSON; the table's first one has the region as its head."""

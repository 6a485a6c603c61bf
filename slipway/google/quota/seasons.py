"""The quota of deployed clusters, and of those of coming seasons, on the day of each. Pure.

Coming clusters draw nothing until then. Limits, and the draw of others, count as they are now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.base.formatting import join
from slipway.google.live import Live, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import OfferDraw, QuotaReport, QuotaRow
from slipway.google.quota.request import Requested, more
from slipway.google.quota.usage import drawn
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import CurrentCluster
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import AWAITS, KINDS
from slipway.model.labels import STACK_LABEL
from slipway.model.season import moment_in_words


@dataclass(frozen=True)
class Readiness:
    """The readiness of a cluster. `lines` are of its draw when its season `begins`, beside the others that are wanted
    then. `unsure`: why it is unknown whether quota suffices."""

    begins: datetime
    lines: tuple[QuotaRow, ...] = ()
    unsure: str = ""

    @property
    def lacking(self) -> tuple[QuotaRow, ...]:
        return tuple(one for one in self.lines if one.short)

    @property
    def ready(self) -> bool | None:
        """Whether nothing is missing; None if unknown."""
        return False if self.lacking else None if self.unsure else True

    @property
    def awaited(self) -> bool:
        """Whether Google has yet to answer for everything that is missing."""
        return all(one.requested and one.requested.state in ("new", "pending") for one in self.lacking)

    @property
    def why(self) -> str:
        """The missing quota, with amounts; empty where none is."""
        return join(one.shortage(one.short, str(one.requested or one.increase)) for one in self.lacking)

    def __str__(self) -> str:
        return f"not ready, because {self.why}" if self.lacking else self.unsure or "ready"


def by_season(
    current: Collection[CurrentCluster],
    coming: Collection[CurrentCluster],
    now: datetime,
    at: Callable[[tuple[CurrentCluster, ...]], QuotaReport],
) -> Mapping[datetime, QuotaReport]:
    """Report on the clusters that are wanted when each season begins. `at` reports on these, and none of the stack's
    others."""
    begin = sorted({max(one.spec.season.begins or now, now) for one in coming})
    every = (*current, *coming)
    return {when: at(tuple(one for one in every if one.spec.season.includes(when))) for when in begin}


def readiness(
    current: Collection[CurrentCluster],
    coming: Collection[CurrentCluster],
    live: Live,
    *,
    region: str,
    now: datetime,
    old: Collection[str],
    strict: bool = False,
    asked: Mapping[str, int] | None = None,
) -> Mapping[str, Readiness]:
    """Return the readiness by name of the clusters `coming` by a date that is still ahead; none where nothing was read.
    `old` are ids that are no longer declared, `asked` the limits that the stack asks for, by metric."""
    if live.skipped:
        return {}

    def at(clusters: tuple[CurrentCluster, ...]) -> QuotaReport:
        gone = (*old, *(one.id for one in current if one not in clusters))
        return assess(clusters, live.without(gone), region=region, mode="warn", preview=True)

    reports = by_season(current, coming, now, at)
    return {
        one.spec.name: _of(one, begins, reports[begins], asked or {}, strict=strict)
        for one in coming
        if (begins := one.spec.season.begins) and begins > now
    }


def findings(found: Mapping[str, Readiness]) -> Iterator[Finding]:
    for name, one in sorted(found.items(), key=lambda pair: pair[1].begins):
        if one.lacking:
            begins = moment_in_words(one.begins)
            yield KINDS[AWAITS].of(
                Subject("cluster", name),
                f"cluster {name}, whose season begins {begins}, is {one}",
                grade=Grade.NOTE if one.awaited else None,
                lines=one.lacking,
            )


def with_coming(report: QuotaReport, found: Mapping[str, Readiness]) -> QuotaReport:
    """Return the report on existing clusters, with the draw and the lack of coming ones."""
    lines = {line.key: line for line in report.lines}
    for one in sorted(found.values(), key=lambda one: one.begins):
        for line in one.lines:
            alone = replace(line, now=0, short=0)
            alone = alone if line.state == "unknown" else replace(alone, state="ok", verdict="ok")
            known = lines.get(line.key) or alone
            short = f"short by {line.short:,} from {moment_in_words(one.begins)} on" if line.short else ""
            if short and short not in known.verdict:
                known = replace(known, verdict="ok now", state="tight") if known.state == "ok" else known
                enough, verdict = max(known.enough, line.enough), f"{known.verdict}; {short}"
                known = replace(known, verdict=verdict, enough=enough, requested=line.requested)
            lines[line.key] = known
    return replace(report, lines=tuple(lines.values()), findings=(*report.findings, *findings(found)))


def _of(
    one: CurrentCluster, begins: datetime, report: QuotaReport, asked: Mapping[str, int], *, strict: bool
) -> Readiness:
    lines = tuple(line for line in report.lines if line.now is not None and line.drawn_by(one.spec.name))
    unknown = (str(told) for told in report.findings if told.kind == "quota-unknown")
    unsure = next(unknown, "") if any(line.state == "unknown" for line in lines) else ""
    lacking = (replace(line, short=line.lacks(strict=strict)) for line in lines)
    return Readiness(begins, tuple(_asked(line, asked) for line in lacking), unsure)


def _asked(line: QuotaRow, asked: Mapping[str, int]) -> QuotaRow:
    """Add this deployment's request, where no sufficient one exists."""
    amount, known = 0 if line.elsewhere else asked.get(line.metric, 0), line.requested
    if not amount or (known and known.asked is not None and not more(amount, known.asked)):
        return line
    return replace(line, requested=Requested("new", amount))


def judge(catalog: Catalog, live: Live, now: datetime, draws: tuple[OfferDraw, ...] = ()) -> QuotaReport:
    """Report on the catalog's deployed clusters and its offers, and on those of coming seasons. Pure."""
    alive = () if isinstance(live.clusters, Unknown) else live.clusters
    states = {cluster.id: cluster.state for cluster in alive}
    current = tuple(
        CurrentCluster(cluster, cluster.id, "", cluster.id in states, states.get(cluster.id, ""))
        for cluster in catalog.clusters.values()
    )
    known = {item.id for item in current}
    old = frozenset(
        cluster.id for cluster in alive if cluster.id not in known and cluster.labels.get(STACK_LABEL) == catalog.stack
    )
    report = assess(current, live, region=catalog.region, offers=draws, mode="warn", preview=True, old=old)
    rest = [CurrentCluster(one, one.id, "", import_=False) for one in catalog.coming]
    return with_coming(report, readiness(current, rest, live, region=catalog.region, now=now, old=old))


def metrics(catalog: Catalog, draws: tuple[OfferDraw, ...] = ()) -> frozenset[str]:
    """Return the metrics whose limits the verdict needs."""
    return drawn((*catalog.clusters.values(), *catalog.coming), draws)


def quota_ids(live: Live) -> Mapping[str, str] | None:
    """Return the ids of the quotas that were read, by metric; where they could not be, the published ones, if any."""
    if not isinstance(live.limits, Unknown):
        return {metric: limit.quota_id for metric, limit in live.limits.items() if limit.quota_id}
    return live.deployed.quotas if live.deployed else None

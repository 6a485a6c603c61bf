"""The quota of deployed clusters, and of those of coming seasons, on the day of each. Pure.

Coming clusters draw nothing until then. Limits, and the draw of others, count as they are now.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from slipway.base.formatting import join
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Unknown
from slipway.google.quota.assessment import assess
from slipway.google.quota.report import UNKNOWN, OfferDraw, QuotaReport, QuotaRow
from slipway.google.quota.request import Requested, more
from slipway.google.quota.usage import drawn, superseded
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import CurrentCluster
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.season import moment_in_words

AWAITS = KINDS["season-awaits-quota"]


@dataclass(frozen=True)
class Readiness:
    """The readiness of a cluster whose season is to come."""

    begins: datetime
    #: Its draw when its season begins, beside the other clusters that are wanted then.
    lines: tuple[QuotaRow, ...] = ()
    #: The reason why it is unknown whether quota suffices.
    unsure: str = ""

    @property
    def lacking(self) -> tuple[QuotaRow, ...]:
        return tuple(line for line in self.lines if line.short)

    @property
    def ready(self) -> bool | None:
        """True where nothing is missing; None if unknown."""
        if self.lacking:
            return False
        return None if self.unsure else True

    @property
    def awaited(self) -> bool:
        """True where Google has yet to answer for everything that is missing."""
        return all(line.requested and line.requested.state in ("new", "pending") for line in self.lacking)

    @property
    def why(self) -> str:
        """The missing quota, with amounts; empty where none is."""
        return join(line.shortage(line.short, str(line.requested or line.increase)) for line in self.lacking)

    def __str__(self) -> str:
        return f"not ready, because {self.why}" if self.lacking else self.unsure or "quota for its minimum is there"


def by_season(
    current: Collection[CurrentCluster],
    coming: Collection[CurrentCluster],
    now: datetime,
    at: Callable[[tuple[CurrentCluster, ...]], QuotaReport],
) -> Mapping[datetime, QuotaReport]:
    """Report by `at` on the clusters that are wanted when each season begins, and none of the stack's others."""
    beginnings = sorted({max(cluster.spec.season.begins or now, now) for cluster in coming})
    every = (*current, *coming)
    return {when: at(tuple(cluster for cluster in every if cluster.spec.season.includes(when))) for when in beginnings}


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
    """Return the readiness, by name, of the clusters `coming` at a date that is still ahead; none if nothing was read.

    `old` are ids that are no longer declared, `asked` the limits that the stack asks for, by metric.
    """
    if live.skipped:
        return {}

    def at(clusters: tuple[CurrentCluster, ...]) -> QuotaReport:
        gone = (*old, *(cluster.id for cluster in current if cluster not in clusters))
        return assess(clusters, live.without(gone), region=region, mode="warn", preview=True)

    reports = by_season(current, coming, now, at)
    return {
        cluster.spec.name: _of(cluster, begins, reports[begins], asked or {}, strict=strict)
        for cluster in coming
        if (begins := cluster.spec.season.begins) and begins > now
    }


def findings(coming: Mapping[str, Readiness]) -> Iterator[Finding]:
    """Find coming clusters, by name, whose quota does not suffice."""
    for name, cluster in sorted(coming.items(), key=lambda pair: pair[1].begins):
        if cluster.lacking:
            begins = moment_in_words(cluster.begins)
            yield AWAITS.of(
                Subject("cluster", name),
                f"cluster {name}, whose season begins {begins}, is {cluster}",
                grade=Grade.NOTE if cluster.awaited else None,
                lines=cluster.lacking,
            )


def with_coming(report: QuotaReport, coming: Mapping[str, Readiness]) -> QuotaReport:
    """Return the report on existing clusters, with the draw and the lack of coming ones."""
    lines = {line.key: line for line in report.lines}
    for cluster in sorted(coming.values(), key=lambda cluster: cluster.begins):
        for line in cluster.lines:
            row = lines.get(line.key)
            if row is None:  # No existing cluster draws this: it is short only later.
                row = replace(line, now=0, short=0, at_most="")
                if line.state != "unknown":
                    row = replace(row, state="ok", verdict="ok")
            lack = f"short by {line.short:,}" if line.short else line.at_most
            since = f"{lack} from {moment_in_words(cluster.begins)} on"
            if lack and since not in row.verdict and lack != row.at_most:
                if row.state == "ok":
                    row = replace(row, verdict="ok now", state="tight")
                row = replace(
                    row,
                    verdict=f"{row.verdict}; {since}",
                    enough=max(row.enough, line.enough),
                    requested=line.requested,
                )
            lines[line.key] = row
    return replace(report, lines=tuple(lines.values()), findings=(*report.findings, *findings(coming)))


def _of(
    cluster: CurrentCluster, begins: datetime, report: QuotaReport, asked: Mapping[str, int], *, strict: bool
) -> Readiness:
    lines = tuple(line for line in report.lines if line.now is not None and line.drawn_by(cluster.spec.name))
    unsure = ""
    if any(line.state == "unknown" for line in lines):
        unsure = next((str(finding) for finding in report.findings if finding.kind == UNKNOWN.word), "")
    lacking = (replace(line, short=line.lacks(strict=strict)) for line in lines)
    return Readiness(begins=begins, lines=tuple(_asked(line, asked) for line in lacking), unsure=unsure)


def _asked(line: QuotaRow, asked: Mapping[str, int]) -> QuotaRow:
    amount = 0 if line.elsewhere else asked.get(line.metric, 0)
    earlier = line.requested
    if not amount or (earlier and earlier.asked is not None and not more(amount, earlier.asked)):
        return line
    return replace(line, requested=Requested("new", amount))


def offered(catalog: Catalog, living: Iterable[PersistentResource]) -> tuple[CurrentCluster, ...]:
    """Return the clusters of a catalog's offers, with the states of those that live."""
    states = {cluster.id: cluster.state for cluster in living}
    return tuple(
        CurrentCluster(cluster, cluster.id, "", import_=cluster.id in states, state=states.get(cluster.id, ""))
        for cluster in catalog.clusters.values()
    )


def judge(catalog: Catalog, live: Live, now: datetime, draws: tuple[OfferDraw, ...] = ()) -> QuotaReport:
    """Report on the catalog's deployed clusters and its offers, and on those of coming seasons. Pure."""
    alive = () if isinstance(live.clusters, Unknown) else live.clusters
    current = offered(catalog, alive)
    old = superseded(alive, catalog.identity.label, {cluster.id for cluster in current})
    report = assess(current, live, region=catalog.region, offers=draws, mode="warn", preview=True, old=old)
    coming = [CurrentCluster(spec=cluster, id=cluster.id, fingerprint="", import_=False) for cluster in catalog.coming]
    return with_coming(report, readiness(current, coming, live, region=catalog.region, now=now, old=old))


def metrics(catalog: Catalog, draws: tuple[OfferDraw, ...] = ()) -> frozenset[str]:
    """Return the metrics whose limits the verdict needs."""
    return drawn(catalog.expected, draws)


def quota_ids(live: Live) -> Mapping[str, str] | None:
    """Return the ids of the quotas that were read, by metric; where they could not be, the published ones, if any."""
    if not isinstance(live.limits, Unknown):
        return {metric: limit.quota_id for metric, limit in live.limits.items() if limit.quota_id}
    return live.deployed.quotas if live.deployed else None

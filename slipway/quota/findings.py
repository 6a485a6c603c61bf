"""Findings of a verdict on quota: what does not fit now, what will not fit later, and what can't be told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import RUNNING_STATES
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import few, join
from slipway.labels import NAME_LABEL
from slipway.live import Unknown
from slipway.quota.increases import outlook, quota_of
from slipway.quota.metrics import label
from slipway.quota.report import Line, OfferVerdict
from slipway.quota.usage import Grounds, usage

UNKNOWN = KINDS["quota-unknown"].of


def short(grounds: Grounds, lines: Iterable[Line]) -> Iterator[Finding]:
    """What this deployment draws and does not get."""
    for line in lines:
        if line.short and line.limit is not None:
            created = sum(line.created.values())
            yield KINDS["quota-short-now"].of(
                Subject("quota", line.metric),
                f"quota {line.metric} in {line.region} is short by {line.short:,}: creating "
                f"{', '.join(sorted(line.created))} needs {created:,}, limit {line.limit:,}, "
                f"used {line.limit + line.short - created:,}",
                _fix(grounds, line, line.limit + line.short),
                ways=(frozenset({line.metric}),),
            )


def _fix(grounds: Grounds, line: Line, enough: int) -> str:
    live = grounds.live
    clusters = () if isinstance(live.clusters, Unknown) else live.clusters
    ours = live.catalog.clusters.values() if isinstance(live.catalog, PublishedCatalog) else ()
    replaced = sorted(
        cluster.id
        for cluster in clusters
        # Other stacks may use the same name for theirs.
        if cluster.id in ours and cluster.labels.get(NAME_LABEL) in line.created and cluster.state in RUNNING_STATES
    )
    fixes = []
    if replaced:
        fixes.append(f"revert the edit (the new generation needs its machines beside those of {join(replaced)})")
    # Waiting alone frees nothing: an old generation goes with a deployment, and this one is refused.
    going = tuple(cluster for cluster in clusters if cluster.id in grounds.old and cluster.id not in replaced)
    if usage(going, (), old=grounds.old).old.get(line.metric, 0) >= line.short:
        named = join(sorted(cluster.id for cluster in going))
        fixes.append(f"run pulumi up without this edit first, which deletes {named} once no job needs that")
    fixes.append("lower `replicas` in the stack file")
    id_, hope = quota_of(live, line.metric), outlook(live, line.metric)
    ask = f"ask for a limit of {enough:,}" + (f" (quota id {id_})" if id_ else "")
    return ", or ".join([*fixes, f"{ask}: {hope}" if hope else ask])


def beyond(lines: Iterable[Line]) -> Iterator[Finding]:
    """Pools that can't reach their maximum."""
    for line in lines:
        if line.at_most and not line.short:
            yield KINDS["quota-short-at-most"].of(
                Subject("quota", line.metric),
                f"quota {line.metric} in {line.region}: {few(line.drawn)} would draw {line.ceiling:,} at the maximum, "
                f"{line.room:,} can be had ({line.others:,} are used by others): {line.at_most}",
                ways=(frozenset({line.metric}),),
            )


def unsure(grounds: Grounds) -> Iterator[Finding]:
    """Why it can't be told whether what is drawn now fits."""
    for metric in grounds.shares:
        limit = grounds.limit(metric)
        if isinstance(limit, str) and not grounds.unchecked(metric):
            yield UNKNOWN(
                Subject("quota", grounds.region), f"cannot tell whether quota in {grounds.region} suffices: {limit}"
            )
    for what, part in (("clusters", grounds.live.clusters), ("jobs", grounds.live.jobs)):
        if isinstance(part, Unknown) and not grounds.live.skipped:
            yield UNKNOWN(Subject("quota", what), f"cannot tell what quota the {what} use: {part}")


def notes(grounds: Grounds) -> Iterator[Finding]:
    """What is not checked, or not counted."""
    for metric in filter(grounds.unchecked, grounds.shares):
        words = f"{label(metric)} are not checked: the service lists no quota {metric}"
        yield UNKNOWN(Subject("quota", metric), words)
    for item in grounds.current:
        for pool in item.spec.pools:
            if pool.machine.disk.type == "hyperdisk-balanced":
                which = f"{item.spec.name}/{pool.name}"
                words = f"pool {which}: disks are not checked: no quota of hyperdisks is known"
                yield UNKNOWN(Subject("pool", which), words)
    for words in grounds.usage.uncounted if grounds.usage else ():
        yield UNKNOWN(Subject("quota"), words)


def cannot_run(grounds: Grounds, offers: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[Finding]:
    """Templates that no offer is left of."""
    for template, by_label in offers.items():
        if not any(item.available or item.dormant for item in by_label.values()):
            told = "; ".join(f"{label}: {item.why}" for label, item in by_label.items())
            lacking = tuple(
                frozenset(need.metric for need in needs if grounds.lacking(need))
                for draw, needs in grounds.draws
                if draw.template == template and by_label[draw.label].lacks_quota
            )
            words = f"template {template} can't run by any of its capacity types: {told}"
            yield KINDS["no-offer-left"].of(Subject("template", template), words, ways=lacking)

"""What a verdict on quota finds wrong or worth a note, what does not fit now, what will not fit later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import RUNNING_STATES
from slipway.cluster import PoolSpec
from slipway.cluster_fields import size
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.labels import NAME_LABEL
from slipway.live import QuotaLimit, Unknown
from slipway.quota.increases import outlook
from slipway.quota.metrics import Need, label, quota_id
from slipway.quota.report import OfferVerdict
from slipway.quota.request import lacks
from slipway.quota.usage import Grounds, Share, usage

UNKNOWN = KINDS["quota-unknown"].of


def short(grounds: Grounds) -> Iterator[Finding]:
    """What this deployment draws and does not get."""
    for metric in grounds.metrics:
        limit, lacking = grounds.limit(metric), grounds.short_by(metric)
        if lacking and isinstance(limit, QuotaLimit) and grounds.usage is not None:
            names = sorted({share.cluster.spec.name for share in grounds.creators(metric)})
            yield KINDS["quota-short-now"].of(
                Subject("quota", metric),
                f"quota {metric} in {grounds.region} is short by {lacking:,}: creating {', '.join(names)} needs "
                f"{grounds.created(metric):,}, limit {limit.limit:,}, used {grounds.usage.total(metric):,}",
                _fix(grounds, metric, limit, lacking, names),
                ways=(frozenset({metric}),),
            )


def _fix(grounds: Grounds, metric: str, limit: QuotaLimit, lacking: int, names: list[str]) -> str:
    clusters = () if isinstance(grounds.live.clusters, Unknown) else grounds.live.clusters
    catalog = grounds.live.catalog
    ours = catalog if isinstance(catalog, PublishedCatalog) else PublishedCatalog()
    replaced = sorted(
        cluster.id
        for cluster in clusters
        # Other stacks may use the same name for theirs.
        if cluster.id in ours.clusters.values()
        and cluster.labels.get(NAME_LABEL) in names
        and cluster.state in RUNNING_STATES
    )
    fixes = ["lower `replicas` in the stack file"]
    # Waiting alone frees nothing: an old generation goes with a deployment, and this one is refused.
    going = tuple(cluster for cluster in clusters if cluster.id in grounds.old and cluster.id not in replaced)
    if usage(going, (), old=grounds.old).old.get(metric, 0) >= lacking:
        named = join(sorted(cluster.id for cluster in going))
        them = "it" if len(going) == 1 else "them"
        fixes.insert(0, f"run pulumi up without this edit first, which deletes {named} once no job needs {them}")
    if replaced:
        fixes.insert(0, f"revert the edit (the new generation needs its machines beside those of {join(replaced)})")
    id_ = limit.quota_id or quota_id(metric)
    ask = f"ask for a limit of {limit.limit + lacking:,}" + (f" (quota id {id_})" if id_ else "")
    hope = outlook(grounds.live, metric)
    fixes.append(f"{ask}: {hope}" if hope else ask)
    return ", or ".join(fixes)


def beyond(grounds: Grounds) -> Iterator[Finding]:
    """Pools that can't reach their maximum."""
    for metric in grounds.metrics:
        room, ceiling = grounds.room(metric), grounds.ceiling(metric)
        if room is not None and ceiling > room and not grounds.short_by(metric):
            shares = grounds.shares(metric)
            yield KINDS["quota-short-at-most"].of(
                Subject("quota", metric),
                f"quota {metric} in {grounds.region}: {who(shares)} would draw {ceiling:,} at the maximum, "
                f"{room:,} can be had ({grounds.others(metric):,} are used by others): {at_most(shares, room)}",
                ways=(frozenset({metric}),),
            )


def unsure(grounds: Grounds) -> Iterator[Finding]:
    """Why it can't be told whether what is drawn now fits."""
    for metric in grounds.metrics:
        limit = grounds.limit(metric)
        if isinstance(limit, str) and not grounds.unchecked(metric):
            yield UNKNOWN(
                Subject("quota", grounds.region), f"cannot tell whether quota in {grounds.region} suffices: {limit}"
            )
    for what, part in (("clusters", grounds.live.clusters), ("jobs", grounds.live.jobs)):
        if isinstance(part, Unknown) and not grounds.live.skipped:
            yield UNKNOWN(Subject("quota", what), f"cannot tell what quota the {what} use: {part}")


def notes(grounds: Grounds) -> Iterator[Finding]:
    for metric in grounds.metrics:
        if grounds.unchecked(metric):
            words = f"{label(metric)} are not checked: the service lists no quota {metric}"
            yield UNKNOWN(Subject("quota", metric), words)
    for item in grounds.current:
        for pool in item.spec.pools:
            if pool.machine.disk.type == "hyperdisk-balanced":
                which = f"{item.spec.name}/{pool.name}"
                words = f"pool {which}: disks are not checked: no quota of hyperdisks is known"
                yield UNKNOWN(Subject("pool", which), words)
    for words in () if grounds.usage is None else grounds.usage.uncounted:
        yield UNKNOWN(Subject("quota"), words)


def cannot_run(grounds: Grounds, offers: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[Finding]:
    """Templates that no offer is left of."""
    for template, by_label in offers.items():
        if not any(item.available or item.dormant for item in by_label.values()):
            told = "; ".join(f"{label}: {item.why}" for label, item in by_label.items())
            lacking = tuple(
                frozenset(need.metric for need in needs if _lacks(grounds, need))
                for draw, needs in grounds.draws
                if draw.template == template and by_label[draw.label].lacks_quota
            )
            words = f"template {template} can't run by any of its capacity types: {told}"
            yield KINDS["no-offer-left"].of(Subject("template", template), words, ways=lacking)


def _lacks(grounds: Grounds, need: Need) -> bool:
    limit = grounds.limit(need.metric)
    return isinstance(limit, QuotaLimit) and not grounds.unchecked(need.metric) and lacks(limit, need.amount)


def who(shares: list[Share]) -> str:
    names = [f"{share.cluster.spec.name}/{share.pool.name}" for share in shares]
    if len(shares) == 1:
        return f"pool {names[0]}, {_size(shares[0].pool)}"
    return "pools " + ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _size(pool: PoolSpec) -> str:
    return f"{size(pool)} machine{'' if size(pool) == '1' else 's'}"


def at_most(shares: list[Share], room: int) -> str:
    if len(shares) == 1:
        return f"at most {max(room, 0) // shares[0].each:,} of {shares[0].pool.max:,} machines"
    return f"short by {sum(share.ceiling for share in shares) - room:,} at the maximum"

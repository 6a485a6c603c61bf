"""`assess`: may this deployment draw what it draws, and what would its pools and templates draw at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import RUNNING_STATES
from slipway.cluster import CurrentCluster, PoolSpec
from slipway.formatting import join
from slipway.labels import NAME_LABEL
from slipway.live import Live, QuotaLimit, Unknown
from slipway.quota.metrics import label, namespace, quota_id
from slipway.quota.offers import offer_lines, offer_verdicts, unavailable
from slipway.quota.report import UNLIMITED, Line, LineState, OfferDraw, OfferVerdict, QuotaReport
from slipway.quota.usage import Grounds, Share, usage


def assess(
    current: tuple[CurrentCluster, ...],
    live: Live,
    *,
    region: str,
    offers: tuple[OfferDraw, ...] = (),
    mode: str = "enforce",
    strict: bool = False,
    preview: bool,
    old: frozenset[str] = frozenset(),
) -> QuotaReport:
    """Judge a plan's current clusters and the templates' offers against the region's limits.

    What this `up` creates must fit at its initial sizes into the limit less everything that lives, with no credit for
    what it deletes. Ceilings are for later, when this stack's old generations (`old`, their ids) are gone: others alone
    are in their way. Ceilings and offers are reported, and must fit with `strict`. An offer is judged against the limit
    alone: the catalog outlives what runs now. What can't be told stops an `up` that creates something, and warns
    otherwise. Mode `warn` turns every error into a warning.
    """
    grounds = Grounds(current, live, region, offers, old)
    by_template = offer_verdicts(grounds)
    errors = [*_short(grounds), *_cannot_run(by_template)]
    warnings = list(_notes(grounds))
    (errors if strict else warnings).extend([*_beyond(grounds), *unavailable(grounds, by_template)])
    creates = any(not item.import_ for item in current)
    (errors if creates and not preview else warnings).extend(dict.fromkeys(_unsure(grounds)))
    if mode == "warn":
        warnings, errors = [*errors, *warnings], []
    lines = [*(_line(grounds, metric) for metric in grounds.metrics), *offer_lines(grounds)]
    return QuotaReport(tuple(lines), tuple(errors), tuple(warnings), by_template)


def _line(grounds: Grounds, metric: str) -> Line:
    limit, (state, verdict) = grounds.limit(metric), _verdict(grounds, metric)
    return Line(
        metric=metric,
        region=grounds.region,
        namespace=namespace(metric),
        label=label(metric),
        who=_who(grounds.shares(metric)),
        now=grounds.now(metric),
        ceiling=grounds.ceiling(metric),
        limit=limit.limit if isinstance(limit, QuotaLimit) else None,
        others=grounds.others(metric),
        verdict=verdict,
        increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        retiring=grounds.retiring(metric),
        enough=grounds.enough(metric),
        state=state,
        short=grounds.short_by(metric),
        drawn={f"{one.cluster.spec.name}/{one.pool.name}": one.ceiling for one in grounds.shares(metric)},
    )


def _verdict(grounds: Grounds, metric: str) -> tuple[LineState, str]:
    """By key, and in words."""
    if grounds.unchecked(metric):
        return "unchecked", "not checked: the service lists no such quota"
    limit = grounds.limit(metric)
    if isinstance(limit, QuotaLimit) and limit.limit == UNLIMITED:
        return "ok", "ok"
    room = grounds.room(metric)
    if room is None:
        return "unknown", "cannot tell"
    if short := grounds.short_by(metric):
        return "short", f"short by {short:,}"
    remarks = _remarks(grounds, metric, room)
    until = _remarks(grounds, metric, room - (grounds.retiring(metric) or 0))
    if not remarks and until:
        remarks = [f"{' and '.join(until)} until what retires is gone"]
    return ("tight", "; ".join(["ok now", *remarks])) if remarks else ("ok", "ok")


def _remarks(grounds: Grounds, metric: str, room: int) -> list[str]:
    """What does not fit into so much room."""
    shares = grounds.shares(metric)
    remarks = [_at_most(shares, room)] if grounds.ceiling(metric) > room else []
    if room - grounds.now(metric) < _largest_cluster(shares):
        remarks.append("no room for a rollover")
    return remarks


def _short(grounds: Grounds) -> Iterator[str]:
    """What this deployment draws and does not get."""
    for metric in grounds.metrics:
        limit, short = grounds.limit(metric), grounds.short_by(metric)
        if short and isinstance(limit, QuotaLimit) and grounds.usage is not None:
            names = sorted({share.cluster.spec.name for share in grounds.creators(metric)})
            yield (
                f"quota {metric} in {grounds.region} is short by {short:,}: creating {', '.join(names)} needs "
                f"{grounds.created(metric):,}, limit {limit.limit:,}, used {grounds.usage.total(metric):,}\n"
                f"  fix: {_fix(grounds, metric, limit, short, names)}"
            )


def _fix(grounds: Grounds, metric: str, limit: QuotaLimit, short: int, names: list[str]) -> str:
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
    if usage(going, (), old=grounds.old).old.get(metric, 0) >= short:
        named = join(sorted(cluster.id for cluster in going))
        them = "it" if len(going) == 1 else "them"
        fixes.insert(0, f"run pulumi up without this edit first, which deletes {named} once no job needs {them}")
    if replaced:
        fixes.insert(0, f"revert the edit (the new generation needs its machines beside those of {join(replaced)})")
    id_ = quota_id(metric)
    ask = f"ask for a limit of {limit.limit + short:,}" + (f" (quota id {id_})" if id_ else "")
    fixes.append(f"{ask}: {limit.increase}" if limit.increase else ask)
    return ", or ".join(fixes)


def _beyond(grounds: Grounds) -> Iterator[str]:
    """Pools that can't reach their maximum."""
    for metric in grounds.metrics:
        room, ceiling = grounds.room(metric), grounds.ceiling(metric)
        if room is not None and ceiling > room and not grounds.short_by(metric):
            shares = grounds.shares(metric)
            yield (
                f"quota {metric} in {grounds.region}: {_who(shares)} would draw {ceiling:,} at the maximum, "
                f"{room:,} can be had ({grounds.others(metric):,} are used by others): {_at_most(shares, room)}"
            )


def _unsure(grounds: Grounds) -> Iterator[str]:
    """Why it can't be told whether what is drawn now fits."""
    for metric in grounds.metrics:
        limit = grounds.limit(metric)
        if isinstance(limit, str) and not grounds.unchecked(metric):
            yield f"cannot tell whether quota in {grounds.region} suffices: {limit}"
    for what, part in (("clusters", grounds.live.clusters), ("jobs", grounds.live.jobs)):
        if isinstance(part, Unknown) and not grounds.live.skipped:
            yield f"cannot tell what quota the {what} use: {part}"


def _notes(grounds: Grounds) -> Iterator[str]:
    for metric in grounds.metrics:
        if grounds.unchecked(metric):
            yield f"{label(metric)} are not checked: the service lists no quota {metric}"
    for item in grounds.current:
        for pool in item.spec.pools:
            if pool.machine.disk.type == "hyperdisk-balanced":
                yield f"pool {item.spec.name}/{pool.name}: disks are not checked: no quota of hyperdisks is known"
    yield from () if grounds.usage is None else grounds.usage.uncounted


def _cannot_run(offers: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[str]:
    for template, by_label in offers.items():
        if not any(item.available or item.dormant for item in by_label.values()):
            yield f"template {template} can't run by any of its capacity types: " + "; ".join(
                f"{label}: {item.why}" for label, item in by_label.items()
            )


def _who(shares: list[Share]) -> str:
    names = [f"{share.cluster.spec.name}/{share.pool.name}" for share in shares]
    if len(shares) == 1:
        return f"pool {names[0]}, {_size(shares[0].pool)}"
    return "pools " + ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def _size(pool: PoolSpec) -> str:
    bounds = f"{pool.min}–{pool.max}" if pool.autoscaled else f"{pool.replicas}"
    return f"{bounds} machine{'' if bounds == '1' else 's'}"


def _at_most(shares: list[Share], room: int) -> str:
    if len(shares) == 1:
        return f"at most {max(room, 0) // shares[0].each:,} of {shares[0].pool.max:,} machines"
    return f"short by {sum(share.ceiling for share in shares) - room:,} at the maximum"


def _largest_cluster(shares: list[Share]) -> int:
    by_cluster: dict[str, int] = {}
    for share in shares:
        by_cluster[share.cluster.id] = by_cluster.get(share.cluster.id, 0) + share.initial
    return max(by_cluster.values())

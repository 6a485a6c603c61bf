"""`assess`: may this deployment draw what it draws, and what would its pools and templates draw at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.model import PublishedCatalog
from slipway.cluster import CurrentCluster, PoolSpec
from slipway.formatting import join
from slipway.labels import NAME_LABEL
from slipway.live import RUNNING_STATES, Live, QuotaLimit, Unknown
from slipway.quota.facts import UNLIMITED, Facts, Share
from slipway.quota.metrics import label, namespace, quota_id
from slipway.quota.offers import offer_lines, offer_verdicts, unavailable
from slipway.quota.report import Line, OfferDraw, OfferVerdict, QuotaReport
from slipway.quota.usage import usage


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
    facts = Facts(current, live, region, offers, old)
    by_template = offer_verdicts(facts)
    errors = [*_short(facts), *_no_way_left(by_template)]
    warnings = list(_notes(facts))
    (errors if strict else warnings).extend([*_beyond(facts), *unavailable(facts, by_template)])
    creates = any(not item.import_ for item in current)
    (errors if creates and not preview else warnings).extend(dict.fromkeys(_unsure(facts)))
    if mode == "warn":
        warnings, errors = [*errors, *warnings], []
    lines = [*(_line(facts, metric) for metric in facts.metrics), *offer_lines(facts)]
    return QuotaReport(tuple(lines), tuple(errors), tuple(warnings), by_template)


def _line(facts: Facts, metric: str) -> Line:
    limit = facts.limit(metric)
    return Line(
        metric=metric,
        region=facts.region,
        namespace=namespace(metric),
        label=label(metric),
        who=_who(facts.shares(metric)),
        now=facts.now(metric),
        ceiling=facts.ceiling(metric),
        limit=limit.limit if isinstance(limit, QuotaLimit) else None,
        others=facts.others(metric),
        verdict=_word(facts, metric),
        increase=limit.increase if isinstance(limit, QuotaLimit) else "",
        retiring=facts.retiring(metric),
        enough=facts.enough(metric),
    )


def _word(facts: Facts, metric: str) -> str:
    if facts.unchecked(metric):
        return "not checked: the service lists no such quota"
    limit = facts.limit(metric)
    if isinstance(limit, QuotaLimit) and limit.limit == UNLIMITED:
        return "ok"
    room = facts.room(metric)
    if room is None:
        return "cannot tell"
    if short := facts.short_by(metric):
        return f"short by {short:,}"
    remarks = _remarks(facts, metric, room)
    if remarks:
        return "; ".join(["ok now", *remarks])
    retiring = facts.retiring(metric) or 0
    until = _remarks(facts, metric, room - retiring)
    return "; ".join(["ok now", f"{' and '.join(until)} until what retires is gone"]) if until else "ok"


def _remarks(facts: Facts, metric: str, room: int) -> list[str]:
    """What does not fit into so much room."""
    shares = facts.shares(metric)
    remarks = [_at_most(shares, room)] if facts.ceiling(metric) > room else []
    if room - facts.now(metric) < _largest_cluster(shares):
        remarks.append("no room for a rollover")
    return remarks


def _short(facts: Facts) -> Iterator[str]:
    """What this deployment draws and does not get."""
    for metric in facts.metrics:
        limit, short = facts.limit(metric), facts.short_by(metric)
        if short and isinstance(limit, QuotaLimit) and facts.usage is not None:
            names = sorted({share.cluster.spec.name for share in facts.creators(metric)})
            yield (
                f"quota {metric} in {facts.region} is short by {short:,}: creating {', '.join(names)} needs "
                f"{facts.created(metric):,}, limit {limit.limit:,}, used {facts.usage.total(metric):,}\n"
                f"  fix: {_fix(facts, metric, limit, short, names)}"
            )


def _fix(facts: Facts, metric: str, limit: QuotaLimit, short: int, names: list[str]) -> str:
    clusters = () if isinstance(facts.live.clusters, Unknown) else facts.live.clusters
    catalog = facts.live.catalog
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
    going = tuple(cluster for cluster in clusters if cluster.id in facts.old and cluster.id not in replaced)
    if usage(going, (), old=facts.old).old.get(metric, 0) >= short:
        named = join(sorted(cluster.id for cluster in going))
        them = "it" if len(going) == 1 else "them"
        fixes.insert(0, f"run pulumi up without this edit first, which deletes {named} once no job needs {them}")
    if replaced:
        fixes.insert(0, f"revert the edit (the new generation needs its machines beside those of {join(replaced)})")
    id_ = quota_id(metric)
    ask = f"ask for a limit of {limit.limit + short:,}" + (f" (quota id {id_})" if id_ else "")
    fixes.append(f"{ask}: {limit.increase}" if limit.increase else ask)
    return ", or ".join(fixes)


def _beyond(facts: Facts) -> Iterator[str]:
    """Pools that can't reach their maximum."""
    for metric in facts.metrics:
        room, ceiling = facts.room(metric), facts.ceiling(metric)
        if room is not None and ceiling > room and not facts.short_by(metric):
            shares = facts.shares(metric)
            yield (
                f"quota {metric} in {facts.region}: {_who(shares)} would draw {ceiling:,} at the maximum, "
                f"{room:,} can be had ({facts.others(metric):,} are used by others): {_at_most(shares, room)}"
            )


def _unsure(facts: Facts) -> Iterator[str]:
    """Why what is drawn now can't be told to fit."""
    for metric in facts.metrics:
        limit = facts.limit(metric)
        if isinstance(limit, str) and not facts.unchecked(metric):
            yield f"cannot tell whether quota in {facts.region} suffices: {limit}"
    for what, part in (("clusters", facts.live.clusters), ("jobs", facts.live.jobs)):
        if isinstance(part, Unknown) and not facts.live.skipped:
            yield f"cannot tell what quota the {what} use: {part.api}: {part.why}; it needs {part.role}"


def _notes(facts: Facts) -> Iterator[str]:
    for metric in facts.metrics:
        if facts.unchecked(metric):
            yield f"{label(metric)} are not checked: the service lists no quota {metric}"
    for item in facts.current:
        for pool in item.spec.pools:
            if pool.disk.type == "hyperdisk-balanced":
                yield f"pool {item.spec.name}/{pool.name}: disks are not checked: no quota of hyperdisks is known"
    yield from () if facts.usage is None else facts.usage.uncounted


def _no_way_left(offers: Mapping[str, Mapping[str, OfferVerdict]]) -> Iterator[str]:
    for template, by_label in offers.items():
        if not any(item.available for item in by_label.values()):
            yield f"template {template} has no way left to run: " + "; ".join(
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

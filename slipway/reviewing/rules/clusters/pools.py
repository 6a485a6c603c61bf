"""Pools: their machines before and after, the jobs that need more, and pools that no template fits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from slipway.google.catalog.lookup import unused_pools
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog, Offer, Template
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Grade, Subject
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import job_spec, largest, taken
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.clusters.cluster_change import ClusterChange, edits, key_of, renames
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.templates.ways import compete, without_cluster
from slipway.reviewing.rules.words import machines, named, owned

_Place = tuple[str, str]
"""The names of a cluster and of its pool."""
_UNFIT = {
    "jobs of {} run as an account of their own, which the cluster does not allow": "serviceAccount.custom",
    "its machines are not those of {} any more": "pools.{}.machine",
    "its disks are not those of {} any more": "pools.{}.disk",
}
"""Reasons why templates don't fit a pool any more, with the beginnings of the edited keys."""


def pools(listed: Iterable[ClusterChange], change: Change) -> Iterator[Consequence]:
    idle = _idle(change.old)
    for cluster in listed:
        if cluster.old is None or cluster.new is None or cluster.stays:
            continue
        renamed = renames(cluster.old, cluster.new)
        for pool in cluster.old.pools:
            place, after = (cluster.name, pool.name), cluster.new.pool(renamed.get(pool.name, pool.name))
            if after is None:
                yield _gone(place, pool, unused=place in idle)
            else:
                place = cluster.name, after.name
                yield from (*_given_back(place, pool, after), *_most(place, pool, after, change))
        yield from _joined(cluster.old, cluster.new, renamed.values())
    yield from _unused(idle, change)
    yield from _minimum_below_default(change)


def _of_pool(row: str, place: _Place, *, key: str = "", part: str = "", **values: Any) -> Consequence:
    cluster, pool = place
    field = key_of(cluster, f"pools.{pool}.{key}".rstrip("."))
    return by_row(row, Subject("pool", "/".join(place), part), field=field, **values)


def _joined(old: Cluster, new: Cluster, renamed: Collection[str]) -> Iterator[Consequence]:
    """Find pools without GPUs that are new beside pools with some: all pools of a cluster are one resource."""
    scarce = any(pool.machine.accelerator for pool in new.pools)
    for pool in new.pools if scarce else ():
        if not pool.machine.accelerator and pool.name not in renamed and old.pool(pool.name) is None:
            yield _of_pool("joins-gpus", (new.name, pool.name))


def _gone(place: _Place, pool: Pool, *, unused: bool) -> Consequence:
    gpus, held = bool(pool.machine.accelerator), machines({pool.machine: pool.min})
    row = f"{'unused-' if unused else ''}pool-gone-{'empty' if not held else 'scarce' if gpus else 'plain'}"
    grade = None if gpus else Grade.NOTE if unused else Grade.WARNING
    edits = (Edit(pool.name, machines_in_words(pool), ""),)
    return _of_pool(row, place, held=held, grade=grade, edits=edits, cost=_idle_cost(pool))


def _given_back(place: _Place, old: Pool, new: Pool) -> Iterator[Consequence]:
    other = old.machine.kind != new.machine.kind
    if old.min and (other or new.min < old.min):
        yield _of_pool(
            f"{'other' if other else 'fewer'}-machines-{'scarce' if old.machine.accelerator else 'plain'}",
            place,
            given=machines({old.machine: old.min if other else old.min - new.min}),
            new=new.machine,
            old=old.machine,
            min=new.min,
            key="machine" if other else _low(new),
            edits=_both(old, new),
            cost=_idle_cost(old),
        )


def _most(place: _Place, old: Pool, new: Pool, change: Change) -> Iterator[Consequence]:
    """Yield what follows from another maximum, or a higher minimum, of the same machines."""
    if old.machine.kind != new.machine.kind:
        return
    if new.max < old.max and (new.autoscaled or old.min == new.min):
        yield _lower(place, old, new, change)
    further, more = new.max > old.max, new.min > old.min
    if further or more:
        row = "more-and-further" if more and further else "more" if more else "further"
        yield _of_pool(row, place, edits=_both(old, new), key=_high(new) if further else _low(new))


def _lower(place: _Place, old: Pool, new: Pool, change: Change) -> Consequence:
    asking = {name: largest(template, *place) for name, template in change.new.templates.items()}
    hit = [name for name, most in asking.items() if most > new.max]
    ways = tuple(without_cluster(change.new, place[0]))
    return _of_pool(
        "lower-maximum-hits" if hit else "capacity-lower-maximum",
        place,
        templates=named(map("`{}`".format, hit)),
        most=new.max,
        old=old.max,
        edits=_both(old, new),
        details=(
            *(f"`{name}` may ask for {asking[name]}" for name in hit),
            *_larger(hit, new, change),
            *(f"larger ones: {line}" for line in ways if any(f"`{name}`" in line for name in hit)),
            *(f"beyond {new.max}: {line}" for line in ways if not hit),
        ),
        key=_high(new),
    )


def _larger(templates: Sequence[str], pool: Pool, change: Change) -> Iterator[str]:
    """Yield recent jobs that would no longer fit."""
    recent = () if isinstance(change.recent, Unknown) else change.recent
    for job in {job.name: job for job in (*recent, *change.jobs)}.values():
        count = sum(group.count for group in job.machines if group.machine.type == pool.machine.type)
        if job.template in templates and count > pool.max:
            yield f"{owned([job], '')} took {count}"


def _unused(idle: frozenset[_Place], change: Change) -> Iterator[Consequence]:
    clusters = _clusters(change.new)
    for place in sorted(_idle(change.new) - idle):
        pool, known = _pool(clusters, place), _pool(change.old.clusters, place) is not None
        if pool and pool.max:
            monthly = pool.price_per_hour.known * pool.min * HOURS_OF_A_MONTH
            so, instead = _why_unused(place, monthly, change)
            grade = Grade.BLOCKING if known and monthly else None
            yield _of_pool("pool-unused", place, so=so, instead=instead, grade=grade, cost=_idle_cost(pool))


def _why_unused(place: _Place, monthly: Decimal, change: Change) -> tuple[str, str]:
    """Return why no template fits a pool any more, and what to do."""
    out = f"take pool {IT} out, which saves ${monthly:,.0f} a month" if monthly else f"take pool {IT} out"
    unused = f": unused, it costs ${monthly:,.0f} a month" if monthly else ""
    old, new, cluster = change.old, change.new, place[0]
    if _pool(old.clusters, place) is None:
        return "no template fits it", f"give it the machines that a template asks for, or {out}"
    before, after = old.clusters[cluster], new.clusters.get(cluster)
    users = {
        name: [offer for offer in template.offers if offer.cluster == cluster and place[1] in offer.pools]
        for name, template in old.templates.items()
    }
    stay = {name: offers for name, offers in users.items() if offers and name in new.templates}
    names = named(map("`{}`".format, stay))
    keys = [edit.key for edit in edits(before, after) if edit.after != "true"] if stay and after else []
    for why, starts in _UNFIT.items():
        for key in keys:
            if key.startswith(starts.format(place[1])):
                return why.format(names), f"keep `{key}` as it is{unused}"
    if stay and not any(_asks_alike(new.templates[name], offer) for name, offers in stay.items() for offer in offers):
        return (
            f"its machines or disks are not those of {names} any more",
            f"edit the pool likewise, or keep both as they are{unused}",
        )
    return "no template uses it any more", out


def _asks_alike(template: Template, before: Offer) -> bool:
    """Tell whether another way to run of a template still asks for the same machines and disks."""
    return any(_asked(offer) == _asked(before) for offer in template.offers if compete(offer, before))


def _asked(offer: Offer) -> list[tuple[Any, Any]]:
    return [(pool.get("machineSpec"), pool.get("diskSpec")) for pool in job_spec(offer).get("workerPoolSpecs") or ()]


def _minimum_below_default(change: Change) -> Iterator[Consequence]:
    old, new = change.old, change.new
    waiting: dict[_Place, list[tuple[str, int, str]]] = {}
    for name, template in new.templates.items():
        before = taken(old.templates[name]) if name in old.templates else {}
        for place, (needs, offer) in taken(template).items():
            was, pool = _pool(old.clusters, place), _pool(new.clusters, place)
            if was and pool and place in before and needs > pool.min and before[place][0] <= was.min:
                label = offer.label(template.kind, with_cluster=True)
                by = "" if label == "/".join(place) else f", as `{label}`"
                waiting.setdefault(place, []).append((name, needs, by))
    for place, some in waiting.items():
        was, pool = _pool(old.clusters, place), _pool(new.clusters, place)
        if was and pool:
            yield _below_default(place, some, was, pool)


def _below_default(place: _Place, some: Sequence[tuple[str, int, str]], was: Pool, pool: Pool) -> Consequence:
    names = [name for name, *_ in some]
    return _of_pool(
        "minimum-below-default",
        place,
        templates=named(map("`{}`".format, names)),
        most=max(needs for _, needs, _ in some),
        machine=pool.machine,
        min=pool.min,
        edits=_both(was, pool) if was.min != pool.min else (),
        details=[f"`{name}` takes {needs}{by}" for name, needs, by in some],
        part="" if len(some) > 1 else f"for template {names[0]}",
        key=_low(pool) if pool.min < was.min else "",
    )


def _idle(catalog: Catalog) -> frozenset[_Place]:
    """Return the pools that no template fits."""
    pools_by_place = {
        (name, pool.name): pool
        for name, cluster in _clusters(catalog).items()
        if not cluster.adopted
        for pool in cluster.pools
    }
    # Offers on a dormant cluster name no pools, and use it when it is there.
    offers = (offer for template in catalog.templates.values() for offer in template.offers)
    awaited = {offer.dormant for offer in offers}
    unused = unused_pools(pools_by_place, catalog.templates.values())
    return frozenset(place for place in unused if place[0] not in awaited)


def _clusters(catalog: Catalog) -> Mapping[str, Cluster]:
    return {**{cluster.name: cluster for cluster in catalog.coming}, **catalog.clusters}


def _pool(clusters: Mapping[str, Cluster], place: _Place) -> Pool | None:
    cluster, pool = place
    return clusters[cluster].pool(pool) if cluster in clusters else None


def _both(old: Pool, new: Pool) -> tuple[Edit, ...]:
    """Return the pool's machines before and after: `workers` `1–4 a3-highgpu-8g` → `1–6 a3-highgpu-8g`."""
    return (Edit(new.name, machines_in_words(old), machines_in_words(new)),)


def _idle_cost(pool: Pool) -> float:
    return float((pool.price_per_hour * pool.min).known)


def _low(pool: Pool) -> str:
    return "replicas.min" if pool.autoscaled else "replicas"


def _high(pool: Pool) -> str:
    return "replicas.max" if pool.autoscaled else "replicas"

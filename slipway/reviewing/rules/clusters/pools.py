"""Pools: their machines before and after, the jobs that need more, and pools that no template fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.base.formatting import join
from slipway.google.catalog.lookup import unused_pools, usual_offers
from slipway.model.catalog.clusters import Pool
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Template, case_in_words
from slipway.model.cluster_fields import machines_in_words, renamed_pools
from slipway.model.findings.finding import Grade, Subject
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import dollars
from slipway.reviewing.change.change import Change, Side
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import DEAR, largest, misfits, taken, too_large, whose
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import ClusterChange, key_of
from slipway.reviewing.rules.table import RowName, by_row
from slipway.reviewing.rules.words import in_backticks, machines, named, owned

_Place = tuple[str, str]
"""The names of a cluster and of its pool."""


def pools(listed: Iterable[ClusterChange], change: Change) -> Iterator[Consequence]:
    idle = _idle(change.of_all_teams[Side.BEFORE])
    for cluster in listed:
        old, new = cluster.old, cluster.new
        if old is None or new is None or cluster.stays:
            continue
        renamed = renamed_pools(old, new)
        for pool in old.pools:
            after = new.pool(renamed.get(pool.name, pool.name))
            place = cluster.name, (after or pool).name
            told = [*_most(place, pool, after, change)] if after else []
            # A cluster that is lost already has nothing to give back.
            if cluster.held and after:
                told = [*_given_back(place, pool, after, cluster), *told]
            elif cluster.held:
                told = [_gone(place, pool, cluster, unused=place in idle)]
            field = key_of(cluster.name, "alternatives") if cluster.reordered else ""
            yield from (replace(each, field=field or each.field) for each in told)
    yield from _unused(idle, change)
    yield from _minimum_below_default(change)


def _of_pool(row: RowName, place: _Place, *, key: str | None = "", **values: Any) -> Consequence:
    """Return a row's consequence for a pool. `key`, below its entry, caused it; None for no edit of the pool."""
    cluster, pool = place
    field = "" if key is None else key_of(cluster, f"pools.{pool}.{key}")
    return by_row(row, Subject("pool", "/".join(place)), field=field, **values)


def _lost(pool: Pool, cluster: ClusterChange) -> int:
    """Return how many of a pool's machines no pool of the new cluster has."""
    sides = (side.pools if side else () for side in (cluster.old, cluster.new))
    had, has = (sum(each.min for each in some if each.machine.kind == pool.machine.kind) for some in sides)
    return max(0, min(pool.min, had - has))


def _gone(place: _Place, pool: Pool, cluster: ClusterChange, *, unused: bool) -> Consequence:
    lost, edits = _lost(pool, cluster), (Edit(pool.name, machines_in_words(pool), ""),)
    grade = None if pool.machine.accelerator and lost else Grade.NOTE if unused else Grade.WARNING
    held, paid = machines([MachineGroup(pool.machine, lost)]), pool.price_per_hour * lost
    return _of_pool("pool-goes", place, grade=grade, edits=edits, cost=paid, held=held)


def _given_back(place: _Place, old: Pool, new: Pool, cluster: ClusterChange) -> Iterator[Consequence]:
    other = old.machine.kind != new.machine.kind
    lost = min(_lost(old, cluster), old.min if other else old.min - new.min)
    if lost > 0:
        key = "machine" if old.machine.type != new.machine.type else "accelerator"
        gpus, was = (each.machine.accelerator_count * each.min for each in (new, old))
        # What takes their place is found before these go.
        grown = old.machine.accelerator == new.machine.accelerator and gpus >= was and not cluster.in_place
        yield _of_pool(
            "other-machines" if other else "fewer-machines",
            place,
            grade=None if was and not grown else Grade.WARNING,
            given=machines([MachineGroup(old.machine, lost)]),
            new=new.machine,
            old=old.machine,
            left=new.min,
            ready=old.min,
            key=key if other else _size(new, "min"),
            edits=_both(old, new),
            cost=old.price_per_hour * old.min,
        )


def _most(place: _Place, old: Pool, new: Pool, change: Change) -> Iterator[Consequence]:
    """Yield what follows from another maximum, or a higher minimum of the same machines."""
    alike, more = old.machine.kind == new.machine.kind, max(new.min - old.min, 0)
    further = new.autoscaled and new.max > old.max
    if alike and (further or more):
        key, paid = _size(new, "max" if further else "min"), dollars(new.price_per_hour * more)
        yield _of_pool("pool-raised", place, edits=_both(old, new), key=key, more=more, further=further, paid=paid)
    if new.max >= old.max:
        return
    hit = [name for name, template in change.new.templates.items() if largest(template, *place) > new.max]
    # Of a pool of a fixed size the machines that it gives back are told.
    if not (hit or (alike and (new.autoscaled or old.min == new.min))):
        return
    limits = {there: pool.max for there, pool in _pools(change.new).items()}
    jobs = ((change.new.templates[name], job) for name in hit for job in change.jobs_by_template.get(name, ()))
    beyond = ((template, job) for template, job in jobs if too_large(job, template, limits))
    refused = [job for template, job in beyond if not too_large(job, template, {**limits, place: old.max})][:1]
    yield _of_pool(
        "capacity-lower-maximum",
        place,
        grade=Grade.BLOCKING if refused else None,
        job=owned(refused),
        templates=in_backticks(hit),
        most=new.max,
        one=new.max == 1,
        old=old.max,
        edits=_both(old, new),
        key=_size(new, "max"),
    )


def _unused(idle: frozenset[_Place], change: Change) -> Iterator[Consequence]:
    pools, before, new = _pools(change.new), _pools(change.old), change.new
    # A new template that can't be loaded may fit any of them.
    unknown = change.after.unloaded - change.old.templates.keys()
    refused = any(map(misfits, new.templates.values()))
    # One that has the machines of a pool that goes, and was idle, takes its place.
    gone = [before[place].machine for place in idle if place not in pools]
    for place in (
        () if unknown else sorted(_idle(change.of_all_teams[Side.AFTER], bare=bool(change.old.templates)) - idle)
    ):
        pool = pools[place]
        # What a refused template leaves is not free before that is mended.
        if (refused and pool == before.get(place)) or pool.machine in gone:
            continue
        paid, gpus = pool.price_per_hour * pool.min, pool.machine.accelerator
        yield _of_pool(
            "pool-unused",
            place,
            paid="" if paid.unknown else dollars(paid),
            grade=Grade.BLOCKING if place in before and (gpus or paid.known >= DEAR) else None,
            cost=paid,
            key=None if pool == before.get(place) else "",
        )


def _minimum_below_default(change: Change) -> Iterator[Consequence]:
    old, new = change.old, change.new
    old_pools, pools = _pools(old), _pools(new)
    waiting: dict[_Place, tuple[Pool, Pool, dict[str, int]]] = {}
    for name, template in new.templates.items():
        before = taken(old.templates[name]) if name in old.templates else {}
        for place, needs in taken(template).items():
            # It may have taken another pool of the cluster before.
            earlier = next((each for each in (place, *before) if each in before and each[0] == place[0]), place)
            was, pool = old_pools.get(earlier), pools.get(place)
            if was is None or pool is None or earlier not in before:
                continue
            lacks = needs - pool.min > max(before[earlier] - was.min, 0)
            sooner = {case_in_words(each.when): each for each in reversed(usual_offers(template)) if each.available}
            there = [offer for offer in sooner.values() if offer.cluster == place[0]]
            if lacks and there and needs <= pool.max:
                apart = whose(there, template) if _excepts(template, place, needs) else ""
                waiting.setdefault(place, (was, pool, {}))[2][f"`{name}`{apart}"] = needs
    for place, (was, pool, needs_of) in waiting.items():
        counts = sorted({*needs_of.values()})
        yield _of_pool(
            "minimum-below-default",
            place,
            templates=named(needs_of),
            most=join(map(str, counts), "or"),
            min=pool.min,
            edits=_both(was, pool) if was.name == pool.name and was.min != pool.min else (),
            key=_size(pool, "min") if was.name == pool.name and pool.min < was.min else None,
        )


def _excepts(template: Template, place: _Place, needs: int) -> bool:
    """Tell whether a team's usual jobs need another number of a pool's machines than everybody's."""
    teams = {offer.team for offer in template.offers} - {""}
    own = ([replace(each, when={}) for each in usual_offers(template, team=team) if each.team] for team in teams)
    return any(taken(replace(template, offers=tuple(offers))).get(place) != needs for offers in own)


def _idle(catalog: Catalog, *, bare: bool = False) -> frozenset[_Place]:
    """Return the pools that no template fits; of a stack without any template all where it is `bare`."""
    # Offers on a dormant cluster name no pools, and use it when it is there; so do those on a living one's alternative.
    awaited = {offer.dormant for offer in catalog.offers} - catalog.clusters.keys()
    others = awaited | {name for name, cluster in catalog.clusters.items() if cluster.adopted}
    pools = {place: pool for place, pool in _pools(catalog).items() if place[0] not in others}
    templates = catalog.templates.values()
    open_to = (replace(each, offers=tuple(offer for offer in each.offers if not offer.barred)) for each in templates)
    unused = tuple(pools) if bare and not templates else unused_pools(pools, open_to)
    # Of equal pools an offer names the first, and jobs find room on each.
    used = {(place[0], pool.machine) for place, pool in pools.items() if place not in unused}
    return frozenset(place for place in unused if (place[0], pools[place].machine) not in used)


def _pools(catalog: Catalog) -> Mapping[_Place, Pool]:
    return {(cluster.name, pool.name): pool for cluster in reversed(catalog.expected) for pool in cluster.pools}


def _both(old: Pool, new: Pool) -> tuple[Edit, ...]:
    """Return the pool's machines before and after: `workers` `1–4 a3-highgpu-8g` → `1–6 a3-highgpu-8g`."""
    return (Edit(new.name, machines_in_words(old), machines_in_words(new)),)


def _size(pool: Pool, end: str) -> str:
    return f"replicas.{end}" if pool.autoscaled else "replicas"

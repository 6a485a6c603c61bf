"""Pools: their machines before and after, the jobs that need more, and pools that no template fits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.base.formatting import join
from slipway.google.catalog.lookup import unused_pools
from slipway.model.capacity import POOL
from slipway.model.catalog.clusters import Pool
from slipway.model.catalog.model import Catalog, Template
from slipway.model.cluster import PROTECT
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Grade, Subject
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import dollars
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.usual import barred, compete, largest, misfits, taken, without_cluster
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import ClusterChange, key_of, renames, with_month
from slipway.reviewing.rules.table import RowName, by_row, say
from slipway.reviewing.rules.words import machines, named

_MUCH = 10
"""USD an hour from which machines without GPUs are grave, too."""
_Place = tuple[str, str]
"""The names of a cluster and of its pool."""


def pools(listed: Iterable[ClusterChange], change: Change) -> Iterator[Consequence]:
    idle = _idle(change.old)
    for cluster in listed:
        old, new = cluster.old, cluster.new
        if old is None or new is None or cluster.stays:
            continue
        renamed = renames(old, new)
        fresh = [pool for pool in new.pools if pool.name not in renamed.values() and old.pool(pool.name) is None]
        for pool in old.pools:
            after = new.pool(renamed.get(pool.name, pool.name))
            if after:
                place = cluster.name, after.name
                yield from (*_given_back(place, pool, after, change), *_most(place, pool, after, change))
                continue
            place, kept = (cluster.name, pool.name), renamed.values()
            # Several pools, smaller than one and of the same machines, may come in its place.
            parts = [each for each in new.pools if each.machine == pool.machine and each.name not in kept]
            if len(parts) > 1 and all(part.max < pool.max for part in parts):
                yield _split(place, pool, parts, change)
            else:
                yield _gone(place, pool, unused=place in idle)
        # All pools are one resource, so that GPUs and others beside them share their fate.
        scarce = any(pool.machine.accelerator for pool in new.pools if pool not in fresh)
        for pool in fresh if len(fresh) < len(new.pools) else ():
            if pool.machine.accelerator or scarce:
                grade = Grade.WARNING if pool.machine.accelerator else None
                yield _of_pool("pool-joins", (cluster.name, pool.name), grade=grade, scarce=grade)
    yield from _unused(idle, change)
    yield from _minimum_below_default(change)


def _of_pool(row: RowName, place: _Place, *, key: str = "", part: str = "", **values: Any) -> Consequence:
    cluster, pool = place
    field = key_of(cluster, f"pools.{pool}.{key}".rstrip("."))
    return by_row(row, Subject("pool", "/".join(place), part), field=field, **values)


def _split(place: _Place, pool: Pool, parts: list[Pool], change: Change) -> Consequence:
    most = max(part.max for part in parts)
    old = change.old.templates  # The new offers take one of the parts.
    names = [name for name in change.new.templates if name in old and largest(old[name], *place) > most]
    return _of_pool(
        "pool-split",
        place,
        as_kind="" if names else "pool-gone",
        grade=Grade.WARNING if names else Grade.NOTE,
        parts=named(f"`{part.name}`" for part in parts),
        most=most,
        old=pool.max,
        hits=named(map("`{}`".format, names)),
        edits=(Edit(pool.name, machines_in_words(pool), ", ".join(map(machines_in_words, parts))),),
    )


def _gone(place: _Place, pool: Pool, *, unused: bool) -> Consequence:
    gpus, held = bool(pool.machine.accelerator), machines([MachineGroup(pool.machine, pool.min)])
    grade = None if gpus else Grade.NOTE if unused else Grade.WARNING
    edits = (Edit(pool.name, machines_in_words(pool), ""),)
    paid = pool.price_per_hour * pool.min
    told: dict[str, Any] = {"held": held, "saved": with_month(paid), "unused": unused, "scarce": gpus}
    return _of_pool("pool-goes", place, grade=grade, edits=edits, cost=paid, **told)


def _given_back(place: _Place, old: Pool, new: Pool, change: Change) -> Iterator[Consequence]:
    other = old.machine.kind != new.machine.kind
    if old.min and (other or new.min < old.min):
        key = "machine" if old.machine.type != new.machine.type else "accelerator"
        scarce = bool(old.machine.accelerator)
        fewer: RowName = "fewer-machines-scarce" if scarce else "fewer-machines-plain"
        yield _of_pool(
            "other-machines" if other else fewer,
            place,
            scarce=scarce,
            grade=None if scarce else Grade.WARNING,
            given=machines([MachineGroup(old.machine, old.min if other else old.min - new.min)]),
            new=new.machine,
            old=old.machine,
            min=new.min,
            size=_size(new, "min"),
            ready=old.min,
            saved=with_month(old.price_per_hour * (old.min - new.min)),
            grows=new.autoscaled,
            key=key if other else _size(new, "min"),
            edits=_both(old, new),
            cost=old.price_per_hour * old.min,
        )


def _most(place: _Place, old: Pool, new: Pool, change: Change) -> Iterator[Consequence]:
    """Yield what follows from another maximum, or a higher minimum of the same machines."""
    alike, further, more = old.machine.kind == new.machine.kind, new.max > old.max, new.min > old.min
    if alike and (further or more):
        row: RowName = "pool-more" if more else "pool-further"
        row = "pool-more-and-further" if more and further else row
        saved = with_month(new.price_per_hour * max(new.min - old.min, 0))
        yield _of_pool(row, place, saved=saved, edits=_both(old, new), key=_size(new, "max" if further else "min"))
    if new.max >= old.max:
        return
    asking = {name: largest(template, *place) for name, template in change.new.templates.items()}
    hit = {name: most for name, most in asking.items() if most > new.max}
    # Of a pool of a fixed size the machines that it gives back are told.
    if not (hit or (alike and (new.autoscaled or old.min == new.min))):
        return
    ends = without_cluster(change.new, place[0])
    ways = [line for line in ends if not hit or any(f"`{name}`" in line for name in hit)]
    yield _of_pool(
        "lower-maximum-hits" if hit else "capacity-lower-maximum",
        place,
        templates=named(map("`{}`".format, hit)),
        most=new.max,
        old=old.max,
        edits=_both(old, new),
        details=(
            *(say("pool-asked", name=name, most=most) for name, most in hit.items()),
            *(say("pool-beyond", most=f"{new.max}", usual=bool(hit), goes=line) for line in ways),
        ),
        key=_size(new, "max"),
    )


def _unused(idle: frozenset[_Place], change: Change) -> Iterator[Consequence]:
    pools, before, new = _pools(change.new), _pools(change.old), change.new
    protected = [each.name for each in new.clusters.values() if each.replacement == PROTECT]
    # A new template that can't be loaded may fit any of them.
    unknown = change.after.unloaded - change.old.templates.keys()
    for place in () if unknown else sorted(_idle(change.new) - idle):
        pool = pools[place]
        paid, gpus = pool.price_per_hour * pool.min, pool.machine.accelerator
        hits = {
            name: old
            for name, old in change.old.templates.items()
            if any(offer.cluster == place[0] and place[1] in offer.pools for offer in old.offers)
        }
        stays = change.old.clusters.get(place[0]) == change.new.clusters.get(place[0])
        fits = [name for name, old in hits.items() if stays and _unlists(old, change.new.templates.get(name))]
        misfit = any(misfits(change.new.templates[name]) for name in hits if name in change.new.templates)
        every = (offer for each in new.templates.values() for offer in each.offers)
        shut = any(barred(offer) and offer.cluster == place[0] for offer in every)
        lost = place in before and (gpus or paid.known >= _MUCH)
        yield _of_pool(
            "pool-unused",
            place,
            misfit=misfit,
            templates="" if misfit else named(map("`{}`".format, fits)),
            theirs=join(f"`{team}`" for team in new.owners(place[0])) if shut else "",
            paid=with_month(paid),
            saves="" if place[0] in protected else with_month(paid),
            details=[say("pool-ran", name=name) for name in hits],
            grade=Grade.NOTE if misfit else Grade.BLOCKING if lost else None,
            cost=paid,
        )


def _unlists(old: Template, new: Template | None) -> bool:
    """Tell whether a template lists no pool any more, and runs what ran on one in other ways that are as they were."""
    offers, on_pools = new.offers if new else (), [each for each in old.offers if each.capacity_type == POOL]
    rest = [each for each in offers if each.available and any(compete(each, was) for was in on_pools)]
    return not any(offer.capacity_type == POOL for offer in offers) and any(offer in old.offers for offer in rest)


def _minimum_below_default(change: Change) -> Iterator[Consequence]:
    old, new = change.old, change.new
    old_pools, pools = _pools(old), _pools(new)
    waiting: dict[_Place, tuple[Pool, Pool, dict[str, int]]] = {}
    for name, template in new.templates.items():
        before = taken(old.templates[name]) if name in old.templates else {}
        for place, needs in taken(template).items():
            was, pool = old_pools.get(place), pools.get(place)
            if was and pool and place in before and pool.min < needs <= pool.max and before[place] <= was.min:
                waiting.setdefault(place, (was, pool, {}))[2][name] = needs
    for place, (was, pool, needs_of) in waiting.items():
        growth = pool.price_per_hour * (max(needs_of.values()) - pool.min)
        yield _of_pool(
            "minimum-below-default",
            place,
            templates=named(map("`{}`".format, needs_of)),
            most=max(needs_of.values()),
            machine=pool.machine,
            min=pool.min,
            grows=dollars(growth),
            dearer=with_month(growth),
            filled=named(f"`{name}`" for name, needs in needs_of.items() if needs == pool.max),
            edits=_both(was, pool) if was.min != pool.min else (),
            details=[f"`{name}` takes {needs}" for name, needs in needs_of.items()],
            part="" if len(needs_of) > 1 else f"for template {next(iter(needs_of))}",
            key=_size(pool, "min") if pool.min < was.min else "",
        )


def _idle(catalog: Catalog) -> frozenset[_Place]:
    pools = _pools(catalog)
    templates = catalog.templates.values()
    open_to = (replace(each, offers=tuple(offer for offer in each.offers if not barred(offer))) for each in templates)
    unused = unused_pools(pools, open_to)
    # Of equal pools an offer names the first, and jobs find room on each.
    used = {(place[0], pool.machine) for place, pool in pools.items() if place not in unused}
    # Offers on a dormant cluster name no pools, and use it when it is there.
    awaited = {offer.dormant for template in catalog.templates.values() for offer in template.offers}
    others = awaited | {name for name, cluster in catalog.clusters.items() if cluster.adopted}
    alone = (place for place in unused if (place[0], pools[place].machine) not in used)
    return frozenset(place for place in alone if place[0] not in others)


def _pools(catalog: Catalog) -> Mapping[_Place, Pool]:
    clusters = {**{cluster.name: cluster for cluster in catalog.coming}, **catalog.clusters}
    return {(name, pool.name): pool for name, cluster in clusters.items() for pool in cluster.pools}


def _both(old: Pool, new: Pool) -> tuple[Edit, ...]:
    """Return the pool's machines before and after: `workers` `1–4 a3-highgpu-8g` → `1–6 a3-highgpu-8g`."""
    return (Edit(new.name, machines_in_words(old), machines_in_words(new)),)


def _size(pool: Pool, end: str) -> str:
    return f"replicas.{end}" if pool.autoscaled else "replicas"

"""Machines of clusters: given back, found anew, both generations at once; and what a pool keeps and may take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.clusters import Cluster, Pool
from slipway.cluster_fields import machines_in_words
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.generations.action import What
from slipway.prices import Price, dollars
from slipway.review.change import Change, come_by_time, gone_by_time
from slipway.review.clusters.clusters import key_of, scarce, told
from slipway.review.clusters.succession import Succession, always, renames, successions
from slipway.review.usual import taken
from slipway.review.words import machines, summed

_ANEW = "capacity-found-anew"


def capacity(change: Change) -> Iterator[Finding]:
    for one in successions(change):
        if one.old and one.new and not one.stays:
            renamed = renames(one.old, one.new)
            for name, pool in one.old.pools.items():
                after = one.new.pools.get(renamed.get(name, name))
                yield from _resized(one.name, pool, after) if after else (_gone(one.name, pool),)
            if one.is_made:
                yield from _anew(one, one.old, one.new)
        yield from _overlap(one)
    yield from _under_another_name(change)
    yield from _minimum_below_default(change)


def held_price(one: Succession) -> Price:
    """USD an hour of the old generation's machines as long as they are there, at the pools' prices."""
    prices = {pool.machine: pool.price_per_hour for pool in (one.old.pools.values() if one.old else ())}
    return sum((prices.get(held.machine, Price(complete=False)) * held.count for held in one.held), Price())


def _gone(cluster: str, pool: Pool) -> Finding:
    gpus, held = bool(pool.machine.accelerator), machines({pool.machine: pool.min})
    kept = f"; {held} given back{', and may not come again' if gpus else ''}" if held else ""
    return KINDS["pool-gone"].of(
        Subject("pool", f"{cluster}/{pool.name}"),
        f"Pool `{cluster}/{pool.name}` ({machines_in_words(pool)}) is not there any more{kept}",
        grade=None if gpus else Grade.WARNING,
        field=key_of(cluster, f"pools.{pool.name}"),
        cost=float((pool.price_per_hour * pool.min).known),
    )


def _resized(cluster: str, old: Pool, new: Pool) -> Iterator[Finding]:
    subject, where = Subject("pool", f"{cluster}/{new.name}"), f"`{cluster}/{new.name}`"
    other, gpus = _kind_of(old) != _kind_of(new), bool(old.machine.accelerator)
    if old.min and (other or new.min < old.min):
        fewer = f"takes `{new.machine}` in place of `{old.machine}`"
        fewer = fewer if other else f"keeps {new.min} `{new.machine}` in place of {old.min}"
        given = machines({old.machine: old.min if other else old.min - new.min})
        yield KINDS["capacity-given-back"].of(
            subject,
            f"{where} {fewer}: {given} given back{', and may not come again' if gpus else ''}",
            grade=None if gpus else Grade.WARNING,
            field=_key(cluster, new, "machine" if other else _low(new)),
            cost=float((old.price_per_hour * old.min).known),
        )
    if other:
        return
    if new.max < old.max and (new.autoscaled or old.min == new.min):
        words = f"{where} can't grow beyond {new.max} `{new.machine}`, {old.max} before"
        yield KINDS["capacity-lower-maximum"].of(subject, words, field=_key(cluster, new, _high(new)))
    raised = [f"at least {old.min} → {new.min}"] if new.min > old.min else []
    raised += [f"at most {old.max} → {new.max}"] if new.max > old.max else []
    if raised:
        words = f"{where}: {' and '.join(raised)} `{new.machine}`"
        key = _high(new) if new.max > old.max else _low(new)
        yield KINDS["capacity-raised"].of(subject, words, field=_key(cluster, new, key))


def _anew(one: Succession, old: Cluster, new: Cluster) -> Iterator[Finding]:
    found, up = machines(summed(always(new))), machines(summed(one.held))
    words = f"`{new.id}` begins with no machines and finds its own: the {up} of `{old.id}` are not handed on"
    if found:
        tries = "its alternatives are tried, and then " if new.instead else ""
        when, meanwhile = "", f"`{old.id}` stays"
        if one.in_place:
            when, meanwhile = f" when `{old.id}` is gone", f"there is no `{one.name}` meanwhile"
        words = f"{found} to be found for `{new.id}`{when}: "
        words += f"if there are none, {tries}the deployment waits, and {meanwhile}"
    if found or up:
        yield told(_ANEW, one.name, words, grade=None if scarce(new) else Grade.NOTE, key=one.key)
    words = f"The first jobs on `{new.id}` load their image anew: its image cache is empty"
    yield told("image-cache-empty", one.name, words)


def _overlap(one: Succession) -> Iterator[Finding]:
    if not (one.is_made and one.old and one.new) or one.in_place or not one.held:
        return
    more, price = machines(summed(always(one.new))), held_price(one)
    beside = f"{more} more at once" if more else "machines of both as they grow"
    until = f"until `{one.old.id}` is gone{'' if one.retires else ', at the end of this deployment'}"
    words = f"Both generations of `{one.name}` are there {until}: {beside}, and {dollars(price)} for the old one's"
    grade = None if one.retires or scarce(one.new) or scarce(one.old) else Grade.NOTE
    words = f"{words} {machines(summed(one.held))}"
    yield told("generations-overlap", one.name, words, grade=grade, key=one.key, cost=price)


def _under_another_name(change: Change) -> Iterator[Finding]:
    """Tell of scarce machines that are made while the same go: to rename a cluster hands nothing on, nor do seasons
    that take turns."""
    some, come, gone = list(successions(change)), come_by_time(change), gone_by_time(change)
    going = [(one, one.old) for one in some if one.old and one.new is None and one.held]
    # Of what is said of one cluster the last counts: one whose end nobody announced.
    going.sort(key=lambda pair: pair[0].name not in gone)
    for one in (one for one in some if not one.old and not one.there):
        for other, old in going if one.new and scarce(one.new) else ():
            asked = always(one.new) if one.new else ()
            if not {group.machine for group in asked} & {group.machine for group in other.held}:
                continue
            turn = one.name in come and other.name in gone
            when = f", whose season begins as `{other.name}` goes, as was announced" if turn else ""
            first = turn or old.id in change.ids(What.DELETE_FIRST)
            beside = "" if first else f", and cost {dollars(held_price(other))} beside them until they are gone"
            words = f"{machines(summed(asked))} to be found for `{one.new.id if one.new else ''}`{when}: the "
            words += f"{machines(summed(other.held))} of `{old.id}` are not handed on{beside}"
            yield told(_ANEW, one.name, words, grade=Grade.NOTE if turn else None, key="", cost=held_price(other))


def _minimum_below_default(change: Change) -> Iterator[Finding]:
    old, new = change.old, change.new
    if old is None or new is None:
        return
    for name, template in new.templates.items():
        before = taken(old.templates[name]) if name in old.templates else {}
        for place, (needs, offer) in taken(template).items():
            was, pool = _pool(old.clusters, *place), _pool(new.clusters, *place)
            if was is None or pool is None or place not in before:
                continue
            where = "/".join(place)
            if needs > pool.min and before[place][0] <= was.min:
                kept = f"{pool.min}" if was.min == pool.min else f"{was.min} → {pool.min}"
                by = offer.label(template.kind, with_cluster=True)
                yield KINDS["minimum-below-default"].of(
                    Subject("pool", where, f"for template {name}"),
                    f"A usual submission of `{name}` by `{by}` takes {needs} `{pool.machine}` of `{where}`, "
                    f"which keeps {kept}: it waits for the pool to grow",
                    field=_key(place[0], pool, _low(pool)),
                )


def _pool(clusters: Mapping[str, Cluster], cluster: str, pool: str) -> Pool | None:
    return clusters[cluster].pools.get(pool) if cluster in clusters else None


def _kind_of(pool: Pool) -> tuple[str, str | None, int]:
    return pool.machine.type, pool.machine.accelerator, pool.machine.accelerator_count


def _key(cluster: str, pool: Pool, field: str) -> str:
    return key_of(cluster, f"pools.{pool.name}.{field}")


def _low(pool: Pool) -> str:
    return "replicas.min" if pool.autoscaled else "replicas"


def _high(pool: Pool) -> str:
    return "replicas.max" if pool.autoscaled else "replicas"

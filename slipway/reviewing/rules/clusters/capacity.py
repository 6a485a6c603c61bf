"""Machines of clusters: given back, newly acquired, both generations at once; and a pool's minimum and maximum."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from slipway.deploying.generations.action import What
from slipway.google.catalog.lookup import unused_pools
from slipway.google.live import Unknown
from slipway.model.catalog.clusters import Cluster, Pool
from slipway.model.catalog.model import Catalog
from slipway.model.cluster_fields import machines_in_words
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.prices import dollars
from slipway.reviewing.change.change import Change, come_by_time, gone_by_time
from slipway.reviewing.change.usual import largest, taken
from slipway.reviewing.rules.clusters.clusters import key_of, scarce, told
from slipway.reviewing.rules.clusters.succession import Succession, always, held_price, renames, successions
from slipway.reviewing.rules.words import machines, named, owned, summed

_ANEW = "capacity-found-anew"


def capacity(change: Change) -> Iterator[Finding]:
    idle = _idle(change.old)
    for one in successions(change):
        if one.old and one.new and not one.stays:
            renamed = renames(one.old, one.new)
            for pool in one.old.pools:
                after = one.new.pool(renamed.get(pool.name, pool.name))
                yield from _resized(one.name, pool, after, change) if after else (_gone(one.name, pool, idle),)
            if one.is_made:
                yield from _anew(one, one.old, one.new)
        yield from _overlap(one)
    yield from _under_another_name(change)
    yield from _unused(change)
    yield from _minimum_below_default(change)


def _unused(change: Change) -> Iterator[Finding]:
    if change.new is None:
        return
    was = _idle(change.old)
    before = change.old.clusters if change.old else {}
    for cluster, name, pool in _idle_pools(change.new):
        if (cluster, name) not in was and pool.max:
            made = "" if cluster in change.new.clusters else " once it is made"
            monthly = pool.price_per_hour.known * pool.min * HOURS_OF_A_MONTH
            known = _pool(before, cluster, name) is not None
            costs = f", and it costs ${monthly:,.0f} a month{made}" if monthly else ""
            yield KINDS["pool-unused"].of(
                Subject("pool", f"{cluster}/{name}"),
                f"No job can run on pool `{cluster}/{name}`",
                more=f": no template {'uses it any more' if known else 'fits it'}{costs}",
                grade=Grade.BLOCKING if known and monthly else None,
                field=key_of(cluster, f"pools.{name}"),
                cost=float((pool.price_per_hour * pool.min).known),
            )


def _idle(catalog: Catalog | None) -> Collection[tuple[str, str]]:
    return {one[:2] for one in _idle_pools(catalog)} if catalog else ()


def _idle_pools(catalog: Catalog) -> Iterator[tuple[str, str, Pool]]:
    coming = {one.name: one for one in catalog.coming}
    clusters = {name: one for name, one in {**coming, **catalog.clusters}.items() if not one.adopted}
    pools = {(name, pool.name): pool for name, one in clusters.items() for pool in one.pools}
    for cluster, name in unused_pools(pools, catalog.templates.values()):
        yield cluster, name, pools[cluster, name]


def _gone(cluster: str, pool: Pool, idle: Collection[tuple[str, str]]) -> Finding:
    gpus, held = bool(pool.machine.accelerator), machines({pool.machine: pool.min})
    kept = f"; its {held} {'may not come again' if gpus else 'are given back'}" if held else ""
    unused, name = (cluster, pool.name) in idle, f"`{cluster}/{pool.name}`"
    return KINDS["pool-gone"].of(
        Subject("pool", f"{cluster}/{pool.name}"),
        f"Pool {name} goes, which no template fits" if unused else f"Nobody can submit to pool {name} any more",
        more=f" ({machines_in_words(pool)}){kept}",
        grade=None if gpus else Grade.NOTE if unused else Grade.WARNING,
        field=key_of(cluster, f"pools.{pool.name}"),
        cost=float((pool.price_per_hour * pool.min).known),
    )


def _resized(cluster: str, old: Pool, new: Pool, change: Change) -> Iterator[Finding]:
    subject, where = Subject("pool", f"{cluster}/{new.name}"), f"`{cluster}/{new.name}`"
    other, gpus = old.machine.kind != new.machine.kind, bool(old.machine.accelerator)
    if old.min and (other or new.min < old.min):
        fewer = f"takes `{new.machine}` in place of `{old.machine}`"
        fewer = fewer if other else f"keeps {new.min} `{new.machine}` in place of {old.min}"
        given = machines({old.machine: old.min if other else old.min - new.min})
        yield KINDS["capacity-given-back"].of(
            subject,
            f"{where} {fewer}",
            more=f": {given} given back{', and may not come again' if gpus else ''}",
            grade=None if gpus else Grade.WARNING,
            field=_key(cluster, new, "machine" if other else _low(new)),
            cost=float((old.price_per_hour * old.min).known),
        )
    if other:
        return
    if new.max < old.max and (new.autoscaled or old.min == new.min):
        templates = change.new.templates if change.new else {}
        asking = {name: largest(one, cluster, new.name) for name, one in templates.items()}
        hit = [name for name, most in asking.items() if most > new.max]
        did, key = list(_larger(hit, new, change)), _key(cluster, new, _high(new))
        words, more, clause = f"{where} can't grow beyond {new.max} `{new.machine}`", f", {old.max} before", ""
        if hit:
            clause = f"jobs with more than {new.max} machines never start on {where}"
            words = f"Jobs of {named(f'`{name}`' for name in hit)} never start on {where} with more than {new.max}"
            more = f" `{new.machine}`, {old.max} before{f'; {named(did)}' if did else ''}"
        details = [f"`{name}` may ask for {asking[name]}" for name in hit] + did
        yield KINDS["capacity-lower-maximum"].of(subject, words, more=more, clause=clause, details=details, field=key)
    raised = [f"always keeps more machines, {old.min} → {new.min}"] if new.min > old.min else []
    raised += [f"may grow further, {old.max} → {new.max}"] if new.max > old.max else []
    if raised:
        words = f"{where} {' and '.join(raised)} `{new.machine}`"
        key = _high(new) if new.max > old.max else _low(new)
        yield KINDS["capacity-raised"].of(subject, words, field=_key(cluster, new, key))


def _larger(templates: Sequence[str], pool: Pool, change: Change) -> Iterator[str]:
    """Yield recent jobs that would no longer fit."""
    for job in change.recent if not isinstance(change.recent, Unknown) else ():
        count = sum(group.count for group in job.machines if group.machine.type == pool.machine.type)
        if job.template in templates and count > pool.max:
            yield f"{owned([job], '')} took {count}"


def _anew(one: Succession, old: Cluster, new: Cluster) -> Iterator[Finding]:
    found, up = machines(summed(always(new))), machines(summed(one.held))
    words = f"The new cluster begins with no machines and finds its own: the {up} of the old one are not handed on"
    if found:
        tries = "its alternatives are tried, and then " if new.alternatives else ""
        when, meanwhile = "", "the old cluster stays"
        if one.in_place:
            when, meanwhile = " when the old ones are gone", f"there is no `{one.name}` meanwhile"
        words = f"{found} must be found{when}: "
        words += f"if there are none, {tries}the deployment waits, and {meanwhile}"
    if found or up:
        clause = f"{found} must be found for the new cluster" if found and scarce(new) else ""
        yield told(_ANEW, one.name, words, clause=clause, grade=None if scarce(new) else Grade.NOTE, key=one.key)
    words = "The first jobs on the new cluster start slower: their images are not there yet"
    yield told("image-cache-empty", one.name, words)


def _overlap(one: Succession) -> Iterator[Finding]:
    if not (one.is_made and one.old and one.new) or one.in_place or not one.held:
        return
    price = held_price(one)
    more, less = machines(summed(always(one.new))) or "machines as it grows", machines(summed(one.held))
    until = "" if one.retires else ", until this deployment ends"
    words = f"The old cluster's {less} cost {dollars(price)} beside the new one's {more}{until}"
    grade = None if one.retires or scarce(one.new) or scarce(one.old) else Grade.NOTE
    yield told("generations-overlap", one.name, words, grade=grade, key=one.key, cost=price)


def _under_another_name(change: Change) -> Iterator[Finding]:
    """Find scarce machines that are made while equal ones go: renaming a cluster hands nothing on, nor do alternating
    seasons."""
    some, come, gone = list(successions(change)), come_by_time(change), gone_by_time(change)
    going = [(one, one.old) for one in some if one.old and one.new is None and one.held]
    # The last finding of a cluster counts: one whose end was not announced.
    going.sort(key=lambda pair: pair[0].name not in gone)
    for one in (one for one in some if not one.old and not one.there):
        for other, old in going if one.new and scarce(one.new) else ():
            asked = always(one.new) if one.new else ()
            if not {group.machine for group in asked} & {group.machine for group in other.held}:
                continue
            turn = one.name in come and other.name in gone
            when = f", as its season begins and that of `{other.name}` ends" if turn else ""
            first = turn or old.id in change.ids(What.DELETE_FIRST)
            beside = "" if first else f", and cost {dollars(held_price(other))} beside them until they are gone"
            words = f"{machines(summed(asked))} must be found for `{one.name}`{when}: the "
            words += f"{machines(summed(other.held))} of `{other.name}` are not handed on{beside}"
            yield told(_ANEW, one.name, words, grade=Grade.NOTE if turn else None, key="", cost=held_price(other))


def _minimum_below_default(change: Change) -> Iterator[Finding]:
    old, new = change.old, change.new
    if old is None or new is None:
        return
    waiting: dict[tuple[str, str], list[tuple[str, int, str]]] = {}
    pools: dict[tuple[str, str], tuple[Pool, Pool]] = {}
    for name, template in new.templates.items():
        before = taken(old.templates[name]) if name in old.templates else {}
        for place, (needs, offer) in taken(template).items():
            was, pool = _pool(old.clusters, *place), _pool(new.clusters, *place)
            if was and pool and place in before and needs > pool.min and before[place][0] <= was.min:
                by = offer.label(template.kind, with_cluster=True)
                waiting.setdefault(place, []).append((name, needs, by))
                pools[place] = was, pool
    for place, some in waiting.items():
        yield _below_default(place, some, *pools[place])


def _below_default(place: tuple[str, str], some: Sequence[tuple[str, int, str]], was: Pool, pool: Pool) -> Finding:
    where, most = "/".join(place), max(needs for _, needs, _ in some)
    kept = f"{pool.min}" if was.min == pool.min else f"{pool.min}, {was.min} before"
    several = len(some) > 1
    return KINDS["minimum-below-default"].of(
        Subject("pool", where, "" if several else f"for template {some[0][0]}"),
        f"Usual jobs of {named(f'`{name}`' for name, _, _ in some)} wait until pool `{where}` has grown",
        more=f": they take {'up to ' * several}{most} `{pool.machine}`, and it keeps {kept}",
        details=(f"`{name}` takes {needs}" for name, needs, _ in some) if several else _by(some[0][2], where),
        field=_key(place[0], pool, _low(pool)) if pool.min < was.min else "",
    )


def _by(label: str, where: str) -> tuple[str, ...]:
    return () if label == where else (f"as `{label}`",)


def _pool(clusters: Mapping[str, Cluster], cluster: str, pool: str) -> Pool | None:
    return clusters[cluster].pool(pool) if cluster in clusters else None


def _key(cluster: str, pool: Pool, field: str) -> str:
    return key_of(cluster, f"pools.{pool.name}.{field}")


def _low(pool: Pool) -> str:
    return "replicas.min" if pool.autoscaled else "replicas"


def _high(pool: Pool) -> str:
    return "replicas.max" if pool.autoscaled else "replicas"

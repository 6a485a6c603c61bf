"""Machines of clusters that follow others: found anew, paid beside the old ones, or others in their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from slipway.base.formatting import join
from slipway.deploying.generations.action import What
from slipway.model.catalog.clusters import Cluster, Pool, PricedAlternative
from slipway.model.cluster import IN_PLACE, Alternative
from slipway.model.cluster_fields import compare_pools, machines_in_words, same_pools
from slipway.model.findings.finding import Grade
from slipway.model.prices import Price, dollars, signed
from slipway.reviewing.change.change import Change, come_by_time, gone_by_time
from slipway.reviewing.change.usual import machine_types
from slipway.reviewing.consequence import IT, Consequence
from slipway.reviewing.rules.clusters.cluster_change import (
    ClusterChange,
    minimum_machines,
    of_cluster,
    price,
    scarce,
    within,
)
from slipway.reviewing.rules.templates.usage import facts
from slipway.reviewing.rules.templates.ways import without_cluster
from slipway.reviewing.rules.words import have_ended, machines, named, summed

_ANEW = "capacity-found-anew"


def new_machines(listed: Sequence[ClusterChange], change: Change) -> Iterator[Consequence]:
    for cluster in listed:
        if cluster.new and cluster.is_replaced:
            yield from _anew(cluster, cluster.new)
        yield from _alternatives(cluster, change)
    yield from _under_another_name(listed, change)


def _anew(cluster: ClusterChange, new: Cluster) -> Iterator[Consequence]:
    name, found, up = cluster.name, machines(summed(minimum_machines(new))), machines(summed(cluster.held))
    grade = None if scarce(new) else Grade.NOTE
    who, does = "", f"{found} must be found"
    if cluster.in_place and found:
        does, so = f"{found} must be found when the old ones are gone", f"until then there is no {IT}; {within(new)}"
    elif found and new.alternatives:
        so = f"if there are none, its alternatives are tried at once; {within(new)}"
    elif found:
        so = f"the old cluster stays meanwhile; {within(new)}"
    else:
        who, does = "The new cluster", "begins with no machines and finds its own"
        so = f"the {up} of the old one are not handed on"
    if found or up:
        yield of_cluster(_ANEW, name, does, who=who, so=so, grade=grade, key=cluster.key)
    who, so = f"The first jobs on the new {IT}", "their images are not there yet"
    yield of_cluster("image-cache-empty", name, "start slower", who=who, so=so)
    if cluster.held and not cluster.in_place:
        until = have_ended(cluster.jobs, "") if cluster.jobs else "a later deployment"
        more = price(new)
        does = f"both are paid, {dollars(more)} more, until {until}" if more.known else f"both are paid until {until}"
        does = does if cluster.retires else "the old one is paid until this deployment ends"
        so, cost = f"{dollars(cluster.held_price)} for the old one's {up}", cluster.held_price
        grade = None if cluster.retires or cluster.scarce else Grade.NOTE
        yield of_cluster("generations-overlap", name, does, who="", so=so, grade=grade, key=cluster.key, cost=cost)


def _under_another_name(listed: Sequence[ClusterChange], change: Change) -> Iterator[Consequence]:
    """Find scarce machines made while equal ones go: neither a new name nor a season hands machines on."""
    come, gone = come_by_time(change), gone_by_time(change)
    going = [(other, other.old) for other in listed if other.old and other.new is None and other.held]
    # The last consequence of a cluster counts: one whose end was not announced.
    going.sort(key=lambda pair: pair[0].name not in gone)
    for cluster in listed:
        wanted = minimum_machines(cluster.new) if cluster.new and not (cluster.old or cluster.new_in_cloud) else ()
        for other, old in going if cluster.new and scarce(cluster.new) else ():
            if not {group.machine for group in wanted} & {group.machine for group in other.held}:
                continue
            turn = cluster.name in come and other.name in gone
            held, cost = machines(summed(other.held)), dollars(other.held_price)
            so = f"the {held} of `{other.name}` are not handed on"
            if turn:
                so = f"its season begins as that of `{other.name}` ends, whose {held} are not handed on"
            elif old.id not in change.ids(What.DELETE_FIRST):
                until = "they are gone" if other.retires else "this deployment ends"
                so = f"the {held} of `{other.name}` are not handed on, and cost {cost} beside them until {until}"
            does = f"{machines(summed(wanted))} must be found for {IT}"
            grade = Grade.NOTE if turn else None
            yield of_cluster(_ANEW, cluster.name, does, who="", so=so, grade=grade, key="", cost=other.held_price)


def _alternatives(cluster: ClusterChange, change: Change) -> Iterator[Consequence]:
    """Find the possible alternatives of a cluster to be made; and for another one, a change of the list."""
    new = cluster.new
    if new is None or new.alternative:
        return
    name, listed, before = cluster.name, new.alternatives, cluster.old.alternatives if cluster.old else ()
    may = [_option(new, number, other, home=change.new.region) for number, other in enumerate(listed, 1)]
    if listed and not cluster.new_in_cloud and not (cluster.stays and not cluster.gone):
        was = change.old.clusters.get(name) or cluster.dormant_before
        dearer = Price(max(_idle(other.pools).known for other in listed) - price(new).known)
        lost, unfit = machines(summed(cluster.held)) if cluster.is_replaced else "", _unfit(new, change)
        ends = f"it stays so until the stack file says otherwise, and the old one goes with its {lost}" if lost else ""
        so = facts(unfit, f"up to {signed(dearer.known)}" if dearer.known > 0 else "", ends)
        may += [f"then {line}" for line in without_cluster(change.new, name) if unfit]
        grade = Grade.BLOCKING if unfit and lost and cluster.scarce else None
        kind, does = "cluster-may-become", "is made of others where its machines can't be had"
        if was is not None and alike(listed, was.alternatives):
            kind, does = "cluster-may-still-become", f"{does}, as was announced"
        yield of_cluster(kind, name, does, so=so, details=may, grade=grade, key="alternatives", cost=dearer)
    elif cluster.old and not listed and (before or cluster.old.alternative):
        kind, does = "cluster-may-become", "has no other machines or region to be made of any more"
        so = f"where its own can't be had, there is no {IT}"
        yield of_cluster(kind, name, does, so=so, grade=Grade.NOTE, key="alternatives")
    elif listed != before and cluster.stays:
        kind, does = "cluster-may-become", "may be made of others when it is made again"
        so = "the one that runs stays as it is"
        yield of_cluster(kind, name, does, so=so, details=may, grade=Grade.NOTE, key="alternatives")


def _unfit(cluster: Cluster, change: Change) -> str:
    """Return the alternatives' machines that no template asks for."""
    templates = change.new.templates.values()
    asked = {kind for template in templates for offer in template.offers for kind in machine_types(offer)}
    may = {pool.machine.type for other in cluster.alternatives for pool in other.pools}
    return f"no template asks for {join(f'`{kind}`' for kind in sorted(may - asked))}" if may - asked else ""


def standing_alternatives(change: Change) -> Iterator[str]:
    for cluster in change.new.clusters.values():
        if cluster.alternative:
            in_place = cluster.replacement == IN_PLACE
            where = "in the place of this one, which goes first" if in_place else "beside this one"
            far = f" in {cluster.region}, whose jobs' {_far(change.new.region)}" if cluster.region else ""
            yield (
                f"`{cluster.name}` is there as its alternative {cluster.alternative}{far}, and stays until the stack "
                f"file says otherwise: take that out of `alternatives` to have it made as asked for first, {where}"
            )


def alike(listed: Sequence[Alternative], before: Sequence[Alternative]) -> bool:
    """Tell whether these are the same machines in the same regions and order, whatever their present cost."""
    return len(listed) == len(before) and all(
        option.region == was.region and same_pools(was.pools, option.pools)
        for option, was in zip(listed, before, strict=True)
    )


def _option(first: Cluster, number: int, other: PricedAlternative, *, home: str) -> str:
    """Return `alternative 1: 1–4 a2-highgpu-8g, −$62.10/h idle`; `alternative 2 in us-east4: the same machines, …`"""
    if not other.region:
        return f"alternative {number}: {_words(first, other.pools)}"
    return f"alternative {number} in {other.region}: {_words(first, other.pools)}, {_far(home)}"


def _far(home: str) -> str:
    return f"results stay there, and what is read from {home} crosses regions, at a price"


def _words(first: Cluster, pools: Iterable[Pool]) -> str:
    differs = tuple(
        f"{pool.name} {machines_in_words(pool)}"
        for pool in pools
        if compare_pools(pool.name, first.pool(pool.name), pool)
    )
    first_idle, idle = price(first), _idle(pools)
    more = signed(idle.known - first_idle.known) if idle.complete and first_idle.complete else dollars(idle)
    return f"{named(differs) or 'the same machines'}, {more} idle"


def _idle(pools: Iterable[Pool]) -> Price:
    return sum((pool.price_per_hour * pool.min for pool in pools), Price())

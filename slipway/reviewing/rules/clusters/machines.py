"""Machines of clusters that follow others: found anew, paid beside the old ones, or others in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from slipway.base.formatting import join
from slipway.deploying.generations.action import What, Why
from slipway.model.capacity import POOL
from slipway.model.catalog.clusters import Cluster
from slipway.model.cluster import Alternative
from slipway.model.cluster_fields import same_pools
from slipway.model.findings.finding import Grade
from slipway.model.prices import Price, dollars
from slipway.reviewing.change.change import Change, come_by_time
from slipway.reviewing.change.usual import has_tasks, machine_types
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.cluster_change import ClusterChange, held_up, of_cluster, price
from slipway.reviewing.rules.table import say
from slipway.reviewing.rules.words import have_ended, in_backticks, machines


def new_machines(listed: Sequence[ClusterChange], change: Change) -> Iterator[Consequence]:
    come = come_by_time(change)
    gone = {action.cluster for action in change.of(What.REST) if action.why is Why.SEASON}
    going = [(other, other.old) for other in listed if other.old and other.new is None and other.held]
    # The last consequence of a cluster counts: one whose end was not announced.
    going.sort(key=lambda pair: pair[0].name not in gone)
    for cluster in listed:
        if cluster.new and cluster.is_replaced:
            yield from _anew(cluster, cluster.new, change)
        if cluster.new:
            yield from alternatives(cluster, change)
        wanted = cluster.new.minimum_machines if cluster.new and not (cluster.old or cluster.new_in_cloud) else ()
        # Neither a new name nor a season hands scarce machines on.
        for other, old in going:
            if not {group.machine for group in wanted} & {group.machine for group in other.held}:
                continue
            in_turn = cluster.name in come and other.name in gone
            yield of_cluster(
                "renamed",
                cluster.name,
                found=machines(wanted),
                other=other.name,
                key="",
                grade=None if old.scarce and not in_turn else Grade.NOTE,
                cost=other.held_price,
            )


def _anew(cluster: ClusterChange, new: Cluster, change: Change) -> Iterator[Consequence]:
    name, key, paid = cluster.name, cluster.key, cluster.held_price
    if found := machines(new.minimum_machines):
        yield of_cluster("capacity-found-anew", name, grade=None if new.scarce else Grade.NOTE, key=key, found=found)
    # Without quota for the new one there are no two.
    if cluster.held and not (cluster.in_place or name in held_up(change)):
        grade, held = None if cluster.retires or cluster.scarce else Grade.NOTE, cluster.read and dollars(paid)
        until = have_ended(cluster.jobs) if cluster.jobs and cluster.retires else ""
        yield of_cluster(
            "generations-overlap",
            name,
            grade=grade,
            key=key,
            cost=paid,
            held=held,
            until=until,
            goes=not cluster.retires,
        )


def alternatives(cluster: ClusterChange, change: Change) -> Iterator[Consequence]:
    """Tell of another list of alternatives, of which a cluster may be made, now or later."""
    new, was = cluster.new or cluster.dormant_after, cluster.old or cluster.dormant_before
    before = was.alternatives if was else ()
    if new is None or new.alternative or (cluster.new_in_cloud and not cluster.stays):
        return
    # Those that were listed before are news only where machines that live are given up for them.
    fresh = [other for other in new.alternatives if not any(alike([other], [each]) for each in before)]
    if len(new.alternatives) < len(before) and not (fresh or (new.alternatives and cluster.is_replaced)):
        yield of_cluster("alternatives-gone", cluster.name, key="alternatives", left=new.alternatives)
        return
    if not new.alternatives:
        return
    listed = new.alternatives if cluster.is_replaced else fresh or new.alternatives
    had, asked = (
        {kind for offer in side.offers if offer.capacity_type == POOL for kind in machine_types(offer)}
        for side in (change.old, change.new)
    )
    types = dict.fromkeys(pool.machine.type for other in listed for pool in other.pools)
    lacking = "" if has_tasks(change.new) else join(f"`{kind}`" for kind in sorted(types.keys() - asked))
    deserted = [kind for kind in types if lacking and kind in had - asked]
    again = alike(new.alternatives, before)
    if again and not deserted and not (lacking and (cluster.made or cluster.gone)):
        return
    most = max((price(other) for other in listed), key=lambda price: price.known)
    own = {pool.machine.type for pool in new.pools}
    of = join(f"`{kind}`" for kind in types if kind not in own)
    regions = join(dict.fromkeys(other.region for other in listed if other.region), "or")
    lost, dearer = cluster.is_replaced and cluster.held, Price(most.known - price(new).known)
    far = regions and not any(other.region for other in before)
    stays = cluster.stays or cluster.new is None
    warns = lost or deserted or (not again and (not stays or lacking or far or (not before and dearer.known > 0)))
    yield of_cluster(
        "cluster-may-become",
        cluster.name,
        others=join(filter(None, (of and f"of {of}", regions and f"in {regions}")), "or"),
        lacking=lacking,
        deserted=in_backticks(deserted) if again and not lost else "",
        several=listed[1:],
        most=dollars(most),
        grade=Grade.BLOCKING if lacking and lost and cluster.scarce and not again else None if warns else Grade.NOTE,
        key=cluster.key if cluster.is_replaced else "" if again else "alternatives",
        cost=dearer,
    )


def standing_alternatives(change: Change) -> Iterator[str]:
    for cluster in change.new.clusters.values():
        if cluster.alternative:
            yield say("stands-as-alternative", name=cluster.name, number=cluster.alternative, region=cluster.region)


def alike(listed: Sequence[Alternative], before: Sequence[Alternative]) -> bool:
    """Tell whether these are the same machines in the same regions and order, whatever their present cost."""
    if [each.region for each in listed] != [each.region for each in before]:
        return False
    return all(same_pools(was.pools, each.pools) for each, was in zip(listed, before, strict=True))

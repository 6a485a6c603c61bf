"""Clusters that the engine makes, or keeps, otherwise than the program says of them: what it says may be edited too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Catalog
from slipway.cloud.answers import MISREAD
from slipway.cloud.clusters import PersistentResource, ResourcePool
from slipway.cluster_fields import NAMES
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import join
from slipway.generations.published_clusters import departures
from slipway.machines.spec import MachineGroup
from slipway.prices import Price, dollars, hourly
from slipway.review.change import Change
from slipway.review.clusters.deletions import CLUSTER_TYPE
from slipway.review.inputs import said
from slipway.review.touched import Fate, Touched
from slipway.review.words import machines, named, several, summed

_MAKING = (Fate.CREATED, Fate.REPLACED, Fate.ADOPTED)


def unsaid_clusters(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if not one.type.startswith(CLUSTER_TYPE):
            continue
        if one.fate is Fate.FORGOTTEN or (one.goes and not one.destroyed):
            words = (
                f"`{one.physical}` stays in the cloud with its machines, paid as before, and nothing tends it any more"
            )
            yield KINDS["resource-forgotten"].of(Subject("cluster", one.physical), words, grade=Grade.BLOCKING)
        if one.fate in _MAKING:
            yield from _made(one, change)
        elif one.fate is Fate.CHANGED:
            yield from _kept_otherwise(one)


def _made(one: Touched, change: Change) -> Iterator[Finding]:
    after, id_ = change.after, str(one.becomes.get("name", one.name))
    if after is None or id_ in after.kept:
        return
    cluster = after.catalog.cluster_named(id_)
    if cluster is None:
        does = "is adopted" if one.fate is Fate.ADOPTED else "is made"
        has, cost = _machines(one.becomes, after.catalog)
        words = f"`{id_}` {does} and is in no stack file, catalog or sum of money: {has}, {dollars(cost)}"
        yield KINDS["cluster-unsaid"].of(Subject("cluster", id_), words, cost=float(cost.known))
    elif cluster.adopted:
        words = f"`{id_}` is adopted, and the engine would have it as its own, to change and to delete"
        yield KINDS["cluster-unsaid"].of(Subject("cluster", id_), words)
    elif found := tuple(_differences(one, cluster, after.catalog)):
        words = f"`{id_}` is made otherwise than the program says: {named(found)}"
        yield KINDS["cluster-unsaid"].of(Subject("cluster", id_), words, details=several(found))


def _machines(inputs: Mapping[str, Any], catalog: Catalog) -> tuple[str, Price]:
    try:
        pools = [ResourcePool.read(body) for body in inputs.get("resourcePools") or ()]
    except MISREAD:
        pools = []
    if not pools:
        return "machines that nobody can tell", Price(complete=False)
    has = machines(summed(MachineGroup(pool.machine, max(pool.replicas, pool.min or 0)) for pool in pools))
    region = str(inputs.get("location") or catalog.region)
    prices = (hourly(pool.machine, region) * max(pool.replicas, pool.min or 0) for pool in pools)
    return has or "no machine yet", sum(prices, Price())


def _differences(one: Touched, cluster: Cluster, catalog: Catalog) -> Iterator[str]:
    """What the engine is asked for, beside what the program publishes. A cluster that it takes over keeps its labels
    and its display name, whatever the program says."""
    inputs, sides = one.becomes, {"project": catalog.project, "location": cluster.region or catalog.region}
    for key, place in sides.items():
        if inputs.get(key) != place:
            yield f"`{key}` is {said(inputs.get(key))}, said to be {said(place)}"
    try:
        asked = PersistentResource.read(inputs).spec
    except MISREAD:
        yield "its fields can't be read"
        return
    for each in departures(cluster, asked, catalog.stack):
        if not (one.fate is Fate.ADOPTED and each.key.startswith(NAMES)):
            yield f"`{each.key}` is {said(each.after or None)}, said to be {said(each.before or None)}"


def _kept_otherwise(one: Touched) -> Iterator[Finding]:
    if one.old is None or one.new is None:
        return
    does: list[str] = []
    if one.old.stays != one.new.stays:
        does.append(f"{'stays in the cloud, paid,' if one.new.stays else 'goes'} when it leaves the stack")
    if one.old.protected != one.new.protected:
        does.append("can't be deleted, so the deployment that would fails" if one.new.protected else "can be deleted")
    if does:
        words = f"`{one.physical}` {join(does)} from now on; no stack file says so"
        yield KINDS["cluster-protection"].of(Subject("cluster", one.physical), words)

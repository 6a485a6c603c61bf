"""The life of a persistent resource as pure steps: made, rebooted, scaled, deleted, and what time does to it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ...clock import timestamp
from ...training_settings import TrainingSettings
from .records import Cluster, Pool, State, pool_of

CREATING = "Create PersistentResource request received. Checking project configuration and quota..."
READY = "Your persistent resource is ready."
REBOOTING = "Waiting for persistent resource shut down."


def created(name: str, body: Mapping[str, Any], operation: str, now: datetime, rules: TrainingSettings) -> Cluster:
    """Return a new cluster in PROVISIONING."""
    moment = timestamp(now)
    return Cluster(
        name=name,
        body=body,
        pools=tuple(pool_of(spec) for spec in body["resourcePools"]),
        state="PROVISIONING",
        create_time=moment,
        update_time=moment,
        change="create",
        due=_after(now, rules.delay(rules.create_seconds)),
        operation=operation,
    )


def rebooted(cluster: Cluster, operation: str, now: datetime, rules: TrainingSettings) -> Cluster:
    return replace(
        cluster,
        state="REBOOTING",
        pools=tuple(replace(pool, target=None, due=None, idle_since=None) for pool in cluster.pools),
        change="reboot",
        due=_after(now, rules.delay(rules.reboot_seconds)),
        operation=operation,
        update_time=timestamp(now),
    )


def deleted(cluster: Cluster, operation: str, now: datetime, rules: TrainingSettings) -> Cluster:
    due = _after(now, rules.delay(rules.delete_seconds))
    return replace(
        cluster, state="STOPPING", change="delete", due=due, operation=operation, update_time=timestamp(now), fate=None
    )


def settled(cluster: Cluster, now: datetime, *, busy: bool) -> Cluster | None:
    """Return the cluster after every change due by `now`, None when it is gone. `busy`: jobs hold machines."""
    moment = timestamp(now)
    if cluster.change is None or cluster.due is None or cluster.due > moment:
        return cluster
    if cluster.change == "delete":
        return cluster if busy else None
    if busy:
        return cluster
    calm = replace(cluster, change=None, due=None, fate=None, update_time=moment)
    if cluster.fate is not None:
        return replace(calm, state="ERROR", error=cluster.fate)
    pools = cluster.pools
    if cluster.change == "reboot":
        pools = tuple(replace(pool, replicas=pool.minimum or pool.replicas) for pool in pools)
    return replace(calm, state="RUNNING", error=None, pools=pools, start_time=cluster.start_time or cluster.due)


def scaled(cluster: Cluster, needed: Mapping[str, int], now: datetime, rules: TrainingSettings) -> Cluster:
    """Return the cluster with its autoscaled pools moved towards `needed`: replicas in use and waited for, by pool id.

    A pool grows at once when more is needed than it has, and shrinks when it has been idle long enough.
    """
    if not cluster.takes_jobs:
        return cluster
    pools = tuple(
        _scaled(pool, needed.get(pool.id, 0), now, rules) if pool.autoscaled else pool for pool in cluster.pools
    )
    changing = any(pool.target is not None for pool in pools)
    state: State = "UPDATING" if changing else "RUNNING"
    if pools == cluster.pools and state == cluster.state:
        return cluster
    sizes = [pool.replicas for pool in pools] != [pool.replicas for pool in cluster.pools]
    update_time = timestamp(now) if sizes or state != cluster.state else cluster.update_time
    return replace(cluster, pools=pools, state=state, update_time=update_time)


def _scaled(pool: Pool, needed: int, now: datetime, rules: TrainingSettings) -> Pool:
    moment = timestamp(now)
    wanted = min(max(needed, pool.minimum or 1), pool.ceiling)
    if pool.target is not None:
        grown = max(pool.target, wanted) if pool.target > pool.replicas else pool.target
        if pool.due is None or pool.due > moment:
            return replace(pool, target=grown)
        # A pool that was shrinking keeps the machines that jobs took meanwhile.
        return replace(pool, replicas=max(grown, wanted), target=None, due=None, idle_since=None)
    if wanted > pool.replicas:
        seconds = rules.delay(rules.scale_up_seconds)
        if seconds <= 0:
            return replace(pool, replicas=wanted, idle_since=None)
        return replace(pool, target=wanted, due=_after(now, seconds), idle_since=None)
    if wanted == pool.replicas:
        return replace(pool, idle_since=None)
    if pool.idle_since is None:
        return replace(pool, idle_since=moment)
    if _after(datetime.fromisoformat(pool.idle_since), rules.delay(rules.scale_idle_seconds)) > moment:
        return pool
    seconds = rules.delay(rules.scale_down_seconds)
    if seconds <= 0:
        return replace(pool, replicas=wanted, idle_since=None)
    return replace(pool, target=wanted, due=_after(now, seconds), idle_since=None)


def _after(now: datetime, seconds: float) -> str:
    return timestamp(now + timedelta(seconds=seconds))

"""What exists in the cloud, as read once before anything is decided: each part a value, or why it is unknown.

Types only. Reading is somebody else's; deciding takes these as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slipway.catalog.model import PublishedCatalog
from slipway.cluster import Disk

RUNNING_STATES = frozenset({"RUNNING", "UPDATING"})
"""Of clusters that take jobs."""

ENDED_STATES = frozenset(
    f"{kind}_STATE_{state}"
    for kind in ("JOB", "PIPELINE")
    for state in ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")
)


@dataclass(frozen=True)
class Unknown:
    """It could not be read. `api` is the method or host, `identity` who asked, `role` the role that would do."""

    why: str
    api: str
    role: str
    identity: str = ""


@dataclass(frozen=True)
class LivePool:
    """`replicas` are the machines there now, `used` those that run jobs; `min` and `max` only when autoscaled."""

    id: str
    machine_type: str
    accelerator_type: str | None
    accelerator_count: int
    disk: Disk
    replicas: int
    used: int
    min: int | None
    max: int | None


@dataclass(frozen=True)
class LiveCluster:
    """A persistent resource. `state` is the API's word (RUNNING, ERROR, …); `error` its message, or empty."""

    id: str
    state: str
    labels: Mapping[str, str]
    pools: tuple[LivePool, ...]
    create_time: datetime | None = None
    error: str = ""

    @property
    def in_use(self) -> bool:
        """Machines run something, whatever the lists of jobs say: those lag."""
        return any(pool.used for pool in self.pools)


@dataclass(frozen=True)
class JobReplicas:
    """Equal replicas of a job's worker pool, one machine each."""

    machine_type: str
    accelerator_type: str | None
    accelerator_count: int
    replicas: int
    disk: Disk


@dataclass(frozen=True)
class LiveJob:
    """A job of any kind. `cluster_id` is the persistent resource it names, None when it runs beside the pools.

    `spot`: its machines draw preemptible quota, as Spot and flex-start do. `kind`: "custom job", "hyperparameter tuning
    job" or "training pipeline". `state` is the API's word. `buckets` are all that its request names: for packages,
    outputs, in arguments.
    """

    name: str
    display_name: str
    state: str
    cluster_id: str | None
    labels: Mapping[str, str]
    create_time: datetime | None
    start_time: datetime | None
    end_time: datetime | None
    replicas: tuple[JobReplicas, ...]
    spot: bool
    kind: str
    service_account: str = ""
    buckets: frozenset[str] = frozenset()

    def needs(self, name: str) -> bool:
        """Whether it runs as an account of this address, or reads or writes in a bucket of this name."""
        return name == self.service_account or name in self.buckets

    @property
    def ended(self) -> bool:
        """A state nobody has heard of counts as not ended: nothing is deleted under it."""
        return self.state in ENDED_STATES


@dataclass(frozen=True)
class Use:
    """What a deletion would end: `jobs` that have not ended, and the ids of `unlisted` clusters, whose machines are in
    use although no list has a job on them."""

    jobs: tuple[LiveJob, ...] = ()
    unlisted: tuple[str, ...] = ()


INCREASABLE = "increase can be requested"


@dataclass(frozen=True)
class QuotaLimit:
    """A limit in a region; -1 is unlimited. `increase`: whether more can be had, in words."""

    metric: str
    region: str
    limit: int
    increase: str = ""


@dataclass(frozen=True)
class Live:
    """One region of one project. `limits` by metric name without the service. `catalog` is None when none is published.

    `service_accounts`: display names by address. `beside` is what is published in the bucket that is asked for, where
    the stack has its catalog in another one yet.
    `skipped` says that nothing was read on purpose (SLIPWAY_LIVE=skip).
    """

    clusters: tuple[LiveCluster, ...] | Unknown
    jobs: tuple[LiveJob, ...] | Unknown
    limits: Mapping[str, QuotaLimit] | Unknown
    catalog: PublishedCatalog | Unknown | None
    buckets: frozenset[str] | Unknown = frozenset()
    service_accounts: Mapping[str, str] | Unknown = field(default_factory=dict)
    skipped: bool = False
    beside: PublishedCatalog | Unknown | None = None

"""Live resources, read once before any decision: each part a value, or the reason why it is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.quotas import QuotaPreference
from slipway.model.catalog.model import Catalog


@dataclass(frozen=True)
class Unknown:
    """A part that could not be read. `api` is the host and the method, empty where nothing was asked. `identity` is the
    caller, `role` the sufficient role or another remedy, `on` the resource it is granted on, if known. `off`: the
    project does not use the API at all."""

    why: str
    api: str
    role: str
    identity: str = ""
    on: str = ""
    off: bool = False

    def __str__(self) -> str:
        """Return `storage.googleapis.com as ada@acme.example: denied; it needs roles/storage.objectViewer`."""
        if not self.api:
            return self.why
        return f"{self.api}{f' as {self.identity}' if self.identity else ''}: {self.why}; it needs {self.role}"

    @property
    def fix(self) -> str:
        """The way to have it read: `ask for roles/cloudquotas.viewer on project acme`."""
        on = f" on {self.on}" if self.on else ""
        granted = self.role.startswith("roles/")
        return f"ask for {self.role}{on}" if granted else f"the same command again; it needs {self.role}"


@dataclass(frozen=True)
class Use:
    """The use that a deletion would end: `jobs` that have not ended, and ids of `unlisted` clusters, whose machines are
    busy without a listed job. `unready`: by id the states of clusters that the cloud does not delete now, as it deletes
    or reboots them. `clusters`: the ids of all that the stack made, None where only one resource was asked about."""

    jobs: tuple[VertexJob, ...] = ()
    unlisted: tuple[str, ...] = ()
    unready: Mapping[str, str] = field(default_factory=dict)
    clusters: frozenset[str] | None = field(default=None, compare=False)


Neighbours = Mapping[str, PublishedCatalog | Unknown] | Unknown
"""Catalogs of the project by their buckets; an unreadable one is Unknown, and all are where they can't be listed."""
UNLIMITED = -1


class Increase(StrEnum):
    """The chance of a higher limit, as text."""

    UNTOLD = ""
    POSSIBLE = "increase can be requested"
    IMPOSSIBLE = "no increase can be requested"
    TOO_LITTLE_HISTORY = "no increase: too little usage history"
    NO_BILLING = "no increase: no valid billing account"
    UNSUPPORTED = "no increase: not supported for this quota"


@dataclass(frozen=True)
class QuotaLimit:
    """A limit in a region; -1 is unlimited. `quota_id`: the name to ask for it."""

    metric: str
    region: str
    limit: int
    increase: Increase = Increase.UNTOLD
    quota_id: str = ""


@dataclass(frozen=True)
class Live:
    """A stack's view of its project: its own region, and the others that its clusters are in or may come to be in.

    `limits` of its own region by metric name without the service, and those of the other ones by their names in
    `limits_elsewhere`; `preferences`, the requests for quota, by their ids. `catalog` is None when none is published.

    `service_accounts`: display names by address. `skipped` tells that nothing was read on purpose (SLIPWAY_LIVE=skip).
    `last_ends`: the end of the last job on each cluster, by the cluster's id, as far back as some `idleLimit` needs it;
    empty where none does. `recent` are the newest jobs, ended ones too, if asked for. `time` is this machine's at the
    reading, or the cloud's own where that is wrong; None if unknown. `by_hand`: those of `buckets` that look as if
    somebody else had made them; `lacking`: by bucket, the settings that the stack would give it, as gcloud's flags;
    `locations`: where they are. `neighbours` are read where the stack drops a grant that another one may need.
    """

    clusters: tuple[PersistentResource, ...] | Unknown
    jobs: tuple[VertexJob, ...] | Unknown
    limits: Mapping[str, QuotaLimit] | Unknown
    catalog: PublishedCatalog | Unknown | None
    buckets: frozenset[str] | Unknown = frozenset()
    by_hand: frozenset[str] = frozenset()
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    locations: Mapping[str, str] = field(default_factory=dict)
    service_accounts: Mapping[str, str] | Unknown = field(default_factory=dict)
    skipped: bool = False
    last_ends: Mapping[str, datetime] | Unknown = field(default_factory=dict)
    preferences: Mapping[str, QuotaPreference] | Unknown = field(default_factory=dict)
    time: datetime | None = None
    limits_elsewhere: Mapping[str, Mapping[str, QuotaLimit] | Unknown] = field(default_factory=dict)
    recent: tuple[VertexJob, ...] | Unknown = ()
    neighbours: Neighbours = field(default_factory=dict)

    @property
    def deployed(self) -> Catalog | None:
        """The published catalog, where there is one that this version reads."""
        return self.catalog.whole if isinstance(self.catalog, PublishedCatalog) else None

    def limit(self, metric: str) -> QuotaLimit | None:
        """Return the limit in the stack's own region; None also where limits could not be read."""
        return None if isinstance(self.limits, Unknown) else self.limits.get(metric)

    def without(self, ids: Iterable[str]) -> Live:
        """Return the live resources without these clusters."""
        gone = frozenset(ids)
        if isinstance(self.clusters, Unknown) or not gone:
            return self
        return replace(self, clusters=tuple(one for one in self.clusters if one.id not in gone))

    def at(self, region: str, *, home: bool) -> Live:
        """Return the live resources of one region: the users of its quota, and its limits. `home`: it is the stack's
        own. Resources without a region are there."""
        if not self.limits_elsewhere:
            return self
        here = (region, "") if home else (region,)
        unread = Unknown(f"the limits of {region} were not read", "cloudquotas.googleapis.com", "none")
        clusters, jobs = self.clusters, self.jobs
        return replace(
            self,
            clusters=clusters
            if isinstance(clusters, Unknown)
            else tuple(one for one in clusters if one.region in here),
            jobs=jobs if isinstance(jobs, Unknown) else tuple(one for one in jobs if one.region in here),
            limits=self.limits if home else self.limits_elsewhere.get(region, unread),
            preferences=self.preferences if home else {},
        )

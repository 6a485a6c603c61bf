"""Live resources, read once before any decision: each part a value, or the reason why it is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.permissions import Bound
from slipway.google.quotas import QuotaPreference
from slipway.model.catalog.model import Catalog
from slipway.model.draw import Draw


@dataclass(frozen=True)
class Unknown:
    """A part that could not be read."""

    why: str
    #: The host and the method, empty where nothing was asked.
    api: str
    #: The sufficient role, or another remedy.
    role: str
    identity: str = ""
    #: The resource that the role is granted on, if known.
    on: str = ""
    #: The project does not use the API at all.
    off: bool = False
    #: It is a bucket, and another project's: no role of this one helps.
    foreign: bool = False
    #: The way out where no role helps, as Google's reason tells.
    advice: str = ""

    def __str__(self) -> str:
        """Return `storage.googleapis.com as ada@acme.example: denied; it needs roles/storage.objectViewer`."""
        if not self.api:
            return self.why
        remedy = self.advice or f"it needs {self.role}"
        return f"{self.api}{f' as {self.identity}' if self.identity else ''}: {self.why}; {remedy}"

    @property
    def passing(self) -> bool:
        """Tell whether the same command may read it later, without anybody's help."""
        return bool(self.api) and not (self.advice or self.role.startswith("roles/"))

    @property
    def fix(self) -> str:
        """The way to have it read: `ask for roles/cloudquotas.viewer on project acme`."""
        if self.advice:
            return self.advice
        if not self.role.startswith("roles/"):
            return f"the same command again; it needs {self.role}"
        return f"ask for {self.role}{f' on {self.on}' if self.on else ''}"


@dataclass(frozen=True)
class InUse:
    """The use that a deletion would end."""

    jobs: tuple[VertexJob, ...] = ()
    #: Ids of clusters whose machines are busy without a listed job.
    busy_without_job: tuple[str, ...] = ()
    #: By id, the states of clusters that the cloud does not delete now, as it deletes or reboots them.
    unready: Mapping[str, str] = field(default_factory=dict)
    #: The ids of all that the stack made; None where only one resource was asked about.
    clusters: frozenset[str] | None = field(default=None, compare=False)


Neighbours = Mapping[str, PublishedCatalog | Unknown] | Unknown
"""Catalogs of the project by their buckets; an unreadable one is Unknown, and all are where they can't be listed."""


class Increase(StrEnum):
    """The chance of a higher limit, as text."""

    UNTOLD = ""
    POSSIBLE = "increase can be requested"
    IMPOSSIBLE = "no increase can be requested"
    TOO_LITTLE_HISTORY = "no increase: too little usage history"
    NO_BILLING = "no increase: no valid billing account"
    UNSUPPORTED = "no increase: not supported for this quota"
    FIXED = "no increase: Google has fixed it, so it can't be raised"


@dataclass(frozen=True)
class QuotaLimit:
    #: Without the service's name.
    metric: str
    region: str
    #: -1 is unlimited.
    limit: int
    increase: Increase = Increase.UNTOLD
    #: The name under which a higher limit is asked for.
    quota_id: str = ""

    def lacks(self, amount: int) -> int:
        """Return by how much the limit alone is too small for an amount; 0 where it suffices."""
        return Draw(amount, self.limit).short


@dataclass(frozen=True)
class Live:
    """A stack's view of its project: its own region, and the others that its clusters are in or may come to be in."""

    clusters: tuple[PersistentResource, ...] | Unknown
    jobs: tuple[VertexJob, ...] | Unknown
    #: The limits of the stack's own region, by metric without the service's name.
    limits: Mapping[str, QuotaLimit] | Unknown
    #: None when none is published.
    catalog: PublishedCatalog | Unknown | None
    buckets: frozenset[str] | Unknown = frozenset()
    #: The names of the packages in the catalog's bucket; None if they were not read.
    packages: frozenset[str] | Unknown | None = None
    #: The roles on resources, by `StateGrant.on`, whose policies were asked for and could be read.
    granted: Mapping[str, frozenset[Bound]] = field(default_factory=dict)
    #: Those of `buckets` that look as if somebody else had made them.
    by_hand: frozenset[str] = frozenset()
    #: By bucket, the settings that the stack would give it, as gcloud's flags.
    lacking: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: By bucket, where it is.
    locations: Mapping[str, str] = field(default_factory=dict)
    #: Display names by address.
    service_accounts: Mapping[str, str] | Unknown = field(default_factory=dict)
    skipped: bool = False
    #: Ids of the stack's clusters that Pulumi's state has.
    in_state: frozenset[str] = frozenset()
    #: The end of the last job on each cluster, by the cluster's id, as far back as some `idleLimit` needs it; empty
    #: where none does.
    last_ends: Mapping[str, datetime] | Unknown = field(default_factory=dict)
    #: The requests for quota in the stack's own region, by the quota's id.
    preferences: Mapping[str, QuotaPreference] | Unknown = field(default_factory=dict)
    #: This machine's time at the reading, or the cloud's own where that is wrong; None if unknown.
    time: datetime | None = None
    #: The limits of the other regions, by their names.
    limits_elsewhere: Mapping[str, Mapping[str, QuotaLimit] | Unknown] = field(default_factory=dict)
    #: The newest jobs, ended ones too, if asked for.
    recent: tuple[VertexJob, ...] | Unknown = ()
    #: Read where the stack drops a grant that another stack may need.
    neighbours: Neighbours = field(default_factory=dict)
    #: Everybody's roles on the project; read where the stack grants new ones.
    policy: frozenset[Bound] | Unknown = frozenset()
    #: The customers of Google's whose members the organisation permits, none for all; read likewise.
    permitted: tuple[str, ...] | Unknown = ()

    @property
    def deployed(self) -> Catalog | None:
        """The published catalog, where there is one that this version reads."""
        return self.catalog.whole if isinstance(self.catalog, PublishedCatalog) else None

    def limit(self, metric: str) -> QuotaLimit | None:
        """Return the limit in the stack's own region; None also where limits could not be read."""
        return None if isinstance(self.limits, Unknown) else self.limits.get(metric)

    def without(self, ids: Iterable[str]) -> Live:
        gone = frozenset(ids)
        if isinstance(self.clusters, Unknown) or not gone:
            return self
        return replace(self, clusters=tuple(cluster for cluster in self.clusters if cluster.id not in gone))

    def at(self, region: str, *, home: bool) -> Live:
        """Return the live resources of one region (`home`: the stack's own): the users of its quota, and its limits."""
        if not self.limits_elsewhere:  # All of it is of one region.
            return self
        here = (region, "") if home else (region,)
        clusters, jobs = self.clusters, self.jobs
        if not isinstance(clusters, Unknown):
            clusters = tuple(cluster for cluster in clusters if cluster.region in here)
        if not isinstance(jobs, Unknown):
            jobs = tuple(job for job in jobs if job.region in here)
        if home:
            return replace(self, clusters=clusters, jobs=jobs)
        unread = Unknown(why=f"the limits of {region} were not read", api="cloudquotas.googleapis.com", role="none")
        limits = self.limits_elsewhere.get(region, unread)
        return replace(self, clusters=clusters, jobs=jobs, limits=limits, preferences={})

"""The frozen picture of a stack and its regions at one moment: everything that the doctor reads. Types only."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from slipway.base.errors import Fault
from slipway.base.formatting import span
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.google.live import Neighbours, Unknown
from slipway.google.monitoring import Series
from slipway.google.permissions import Bound
from slipway.google.quota.report import QuotaReport
from slipway.google.storage import StoredObject
from slipway.model.budget import Ledger
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import ClusterSpec
from slipway.model.findings.finding import Subject
from slipway.model.machines.spec import MachineGroup
from slipway.model.origin import Origin
from slipway.model.prices import Price, per_hour
from slipway.model.state import State
from slipway.operating.doctor.place import Place, text_at
from slipway.using.jobs.pause import Pause
from slipway.using.sessions.listing import SessionRow

LONGEST_RUN = timedelta(hours=3)
"""The time after which CI ends a deployment; it is longer than the wait for any cluster."""
_REVOKE = {
    "bucket": "gcloud storage buckets remove-iam-policy-binding gs://",
    "account": "gcloud iam service-accounts remove-iam-policy-binding ",
    "project": "gcloud projects remove-iam-policy-binding ",
}


@dataclass(frozen=True)
class Backend:
    """The engine's knowledge of the stack."""

    address: str
    #: None where the backend has no such stack.
    state: State | Unknown | None
    #: Names of resources that a run is making or deleting, or was when it was killed.
    pending: tuple[str, ...] = ()
    #: All of `pending` are deleted.
    deletes: bool = False
    #: The stack exists, and its state has no resource at all.
    empty: bool = False


@dataclass(frozen=True)
class Submission:
    """A submission that this machine recorded, to which no answer came, and that no process holds."""

    request_id: str
    template: str
    when: datetime
    #: The words after the template that send the same again; None where they are not known.
    words: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Need:
    """A role that commands need."""

    #: The resource that it is granted on.
    on: str
    #: One permission, which stands for the role.
    permission: str
    role: str
    verbs: str


@dataclass(frozen=True)
class Policy:
    """The present grants on a resource."""

    on: Subject
    bound: frozenset[Bound]
    #: The only members that are compared, as other members' grants are not the stack's; empty for all.
    ours: frozenset[str] = frozenset()

    def revoke(self, grant: Bound) -> str:
        """Return the command that takes a grant away."""
        if grant.condition:
            which = " --all"
        elif any(other.condition for other in self.bound):
            which = " --condition=None"  # Where other grants have conditions, gcloud requires a condition's name.
        else:
            which = ""
        who = f"--member={shlex.quote(grant.member)} --role={grant.role}{which}"
        return f"{_REVOKE[self.on.what]}{shlex.quote(self.on.name)} {who}"


@dataclass(frozen=True)
class UnseenPolicy(Unknown):
    """A policy that could not be read."""

    of: Subject = field(kw_only=True)
    #: The service no longer has the resource.
    gone: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Picture(Place):
    """A place with its resources at one moment: each part a value, an `Unknown` with its reason, or None where it was
    not read."""

    now: datetime
    #: None without a catalog.
    published: PublishedCatalog | Unknown | None
    clusters: tuple[PersistentResource, ...] | Unknown
    jobs: tuple[VertexJob, ...] | Unknown
    #: The newest jobs made since `recent_since`, ended ones too.
    recent: tuple[VertexJob, ...] | Unknown
    recent_since: datetime
    quota: QuotaReport | Unknown | None = None
    last_ends: Mapping[str, datetime] | Unknown = field(default_factory=dict)
    backend: Backend | None = None
    submissions: tuple[Submission, ...] = ()
    packages: tuple[StoredObject, ...] | Unknown = ()
    #: The roles that the caller lacks.
    gaps: tuple[Need, ...] | Unknown = ()
    #: The subjects of commits since the catalog's that touch deployed files, newest first.
    commits: tuple[str, ...] = ()
    #: One for each bucket and account, and for the project.
    policies: tuple[Policy | UnseenPolicy, ...] = ()
    #: Catalogs of the project, read where a policy has members whom one of them may name.
    neighbours: Neighbours = field(default_factory=dict)
    #: The fault of this machine's clock: then `now` is the cloud's time.
    clock: Fault | None = None
    #: The clusters that the stack's file declares; none without one, or where it has mistakes.
    declared: tuple[ClusterSpec, ...] = ()
    #: The parts that were not read and why, a phrase each.
    unseen: tuple[str, ...] = ()
    other_regions: tuple[str, ...] = ()
    use: tuple[Series, ...] | Unknown = ()
    #: Those of its jobs that are sessions, by the job's name, as far as they could be read.
    sessions: Mapping[str, SessionRow] = field(default_factory=dict)
    #: The spent part of the stack's budget, or the reason why that is not known.
    ledger: Ledger | str | None = None
    pauses: Mapping[str, Pause] | Unknown | None = None

    @property
    def offered(self) -> PublishedCatalog:
        """The catalog; an empty one where none could be read."""
        return self.published if isinstance(self.published, PublishedCatalog) else PublishedCatalog()

    @property
    def catalog(self) -> Catalog | None:
        return self.offered.whole

    @property
    def may_be_deploying(self) -> bool:
        """Tell whether a deployment may be at work: by the state, or by the catalog's age where that was not read."""
        if self.backend is not None and not isinstance(self.backend.state, Unknown):
            return bool(self.backend.pending)
        return self.offered.age is None or self.offered.age < LONGEST_RUN

    @property
    def origin(self) -> Origin:
        return self.catalog.origin if self.catalog else Origin(self.stack)

    @property
    def up(self) -> str:
        return self.origin.up

    @property
    def destroy(self) -> str:
        return f"to take the stack down: {self.origin.command('destroy')}"

    @property
    def go_on(self) -> tuple[str, str]:
        """Both ways to go on: a killed `up` and a killed `destroy` look the same."""
        keep = f"to keep it: {self.up}, which makes what its {self.origin.noun} asks for"
        return "type again what was killed, unless it is still at work", f"{self.destroy}; {keep}"

    @property
    def contact(self) -> str:
        """The address that Google may ask about quota; empty where the stack's file has none."""
        return text_at(self.document, "slipway:quota", "contactEmail") if self.document else ""

    def line(self, *keys: str) -> str:
        """Return the place of a cluster's key, `stacks/Pulumi.dev.yaml:14`; the key alone without a checkout."""
        if self.document is None:
            return self.origin.key(".".join(("slipway:persistentResources", *keys)))
        return f"{self.document.file}:{self.document.line(('config', 'slipway:persistentResources', *keys))}"

    @property
    def there(self) -> Mapping[str, PersistentResource]:
        """The clusters by id; none where they could not be read."""
        clusters = () if isinstance(self.clusters, Unknown) else self.clusters
        adopted = self.offered.adopted  # They are in the stack's own region, and another may have a cluster of that id.
        return {cluster.id: cluster for cluster in clusters if cluster.id not in adopted or self.at_home(cluster)}

    def at_home(self, resource: PersistentResource | VertexJob) -> bool:
        """Tell whether a resource is in the stack's own region, or has no region."""
        return resource.region in ("", self.region)

    def called(self, cluster: PersistentResource) -> str:
        """Return `cluster gpu-1a2b3c4`; `cluster gpu-1a2b3c4 in us-east4` outside the stack's own region."""
        return f"cluster {cluster.id}" + ("" if self.at_home(cluster) else f" in {cluster.region}")

    def jobs_on(self, cluster: PersistentResource) -> tuple[VertexJob, ...]:
        jobs = () if isinstance(self.jobs, Unknown) else self.jobs
        return tuple(job for job in jobs if job.is_on(cluster) and not job.ended)

    def per_hour(self, cluster: PersistentResource, *pools: ResourcePool) -> Price:
        """Return the price of the present machines, in these of its pools or in all."""
        region = cluster.region or self.region
        return per_hour((MachineGroup(pool.machine, pool.replicas) for pool in pools or cluster.pools), region)

    def cost(self, job: VertexJob) -> Price:
        return per_hour(job.machines, job.region or self.region, job.capacity_type)

    def since(self, moment: datetime) -> str:
        """Return the time since a moment: `3 h 12 min`."""
        return span((self.now - moment).total_seconds())

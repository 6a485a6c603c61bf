"""The frozen picture of a stack and its regions at one moment: everything that the doctor reads. Types only."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from slipway.base.errors import Fault
from slipway.base.formatting import span
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.google.monitoring import Series
from slipway.google.permissions import Bound
from slipway.google.quota.report import QuotaReport
from slipway.google.storage import StoredObject
from slipway.model.budget import Ledger
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Subject
from slipway.model.machines.spec import MachineGroup
from slipway.model.prices import Price, per_hour
from slipway.model.state import State
from slipway.operating.doctor.place import Place, text_at
from slipway.using.jobs.demand import on

_REVOKE = {
    "bucket": "gcloud storage buckets remove-iam-policy-binding gs://",
    "account": "gcloud iam service-accounts remove-iam-policy-binding ",
    "project": "gcloud projects remove-iam-policy-binding ",
}
WAITS = frozenset({"JOB_STATE_QUEUED", "JOB_STATE_PENDING"})
"""The states of a job without machines yet."""


@dataclass(frozen=True)
class Backend:
    """The engine's knowledge of the stack. `state` is None where it has no such stack. `pending`: names of resources
    that a run is making or deleting, or was when it was killed; `deletes`: all of them are deleted."""

    address: str
    state: State | Unknown | None
    pending: tuple[str, ...] = ()
    deletes: bool = False


@dataclass(frozen=True)
class Submission:
    """A submission that this machine recorded, to which no answer came, and that no process holds. `words` are the
    words after the template that send the same again; None where they are not known."""

    request_id: str
    template: str
    when: datetime
    words: tuple[str, ...] | None = ()


@dataclass(frozen=True)
class Need:
    """A role that commands (`verbs`) need, and one permission that stands for it. `on` is the resource it is granted
    on."""

    on: str
    permission: str
    role: str
    verbs: str


@dataclass(frozen=True)
class Policy:
    """The present grants on a resource. `ours`: the only members that are compared, as other members' grants are not
    the stack's; empty for all."""

    on: Subject
    bound: frozenset[Bound]
    ours: frozenset[str] = frozenset()

    def revoke(self, one: Bound) -> str:
        """Return the command that takes a grant away. Where other grants have conditions, gcloud requires the
        condition's name."""
        which = " --all" if one.condition else " --condition=None" if any(b.condition for b in self.bound) else ""
        who = f"--member={shlex.quote(one.member)} --role={one.role}{which}"
        return f"{_REVOKE[self.on.what]}{shlex.quote(self.on.name)} {who}"


@dataclass(frozen=True)
class UnseenPolicy(Unknown):
    """The policy of `of`, which could not be read; `gone`: the service no longer has the resource."""

    of: Subject = field(kw_only=True)
    gone: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, kw_only=True)
class Picture(Place):
    """A place with its resources at one moment: each part a value, an `Unknown` with its reason, or None where it was
    not read.

    `published` is None without a catalog. `recent` are the newest jobs made since `recent_since`, ended ones too.
    `commits`: the subjects of those since the catalog's that touch deployed files, newest first. `policies`: one for
    each bucket and account and for the project. `clock`: the fault of this machine's, as `now` is the cloud's then.
    `unseen`: the parts that were not read and why, a phrase each. `use`: the recent utilization of the stack's jobs.
    `ledger`: the spent part of the stack's budget, or why that is not known.
    """

    now: datetime
    published: PublishedCatalog | Unknown | None
    clusters: tuple[PersistentResource, ...] | Unknown
    jobs: tuple[VertexJob, ...] | Unknown
    recent: tuple[VertexJob, ...] | Unknown
    recent_since: datetime
    quota: QuotaReport | Unknown | None = None
    backend: Backend | None = None
    submissions: tuple[Submission, ...] = ()
    packages: tuple[StoredObject, ...] | Unknown = ()
    gaps: tuple[Need, ...] | Unknown = ()
    commits: tuple[str, ...] = ()
    policies: tuple[Policy | UnseenPolicy, ...] = ()
    clock: Fault | None = None
    unseen: tuple[str, ...] = ()
    other_regions: tuple[str, ...] = ()
    use: tuple[Series, ...] | Unknown = ()
    ledger: Ledger | str | None = None

    @property
    def offered(self) -> PublishedCatalog:
        """The catalog; an empty one where none could be read."""
        return self.published if isinstance(self.published, PublishedCatalog) else PublishedCatalog()

    @property
    def catalog(self) -> Catalog | None:
        return self.offered.whole

    @property
    def up(self) -> str:
        return f"pulumi up --stack {self.stack}"

    @property
    def destroy(self) -> str:
        return f"to take the stack down: SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {self.stack}"

    @property
    def go_on(self) -> tuple[str, str]:
        """Both ways to go on: a killed `up` and a killed `destroy` look the same."""
        keep = f"to keep it: {self.up}, which makes what its file asks for"
        return "type again what was killed, unless it is still at work", f"{self.destroy}; {keep}"

    @property
    def contact(self) -> str:
        """The address that Google may ask about quota; empty where the stack's file has none."""
        return text_at(self.document, "slipway:quota", "contactEmail") if self.document else ""

    def line(self, *keys: str) -> str:
        """Return the place of a cluster's key, `stacks/Pulumi.dev.yaml:14`; `its stack file` without a checkout."""
        if self.document is None:
            return "its stack file"
        return f"{self.document.file}:{self.document.line(('config', 'slipway:persistentResources', *keys))}"

    @property
    def there(self) -> Mapping[str, PersistentResource]:
        """The clusters by id; none where they could not be read. Adopted ones are in the stack's own region, and
        another region may have a cluster of that id."""
        clusters = () if isinstance(self.clusters, Unknown) else self.clusters
        return {one.id: one for one in clusters if one.id not in self.offered.adopted or self.at_home(one)}

    def at_home(self, one: PersistentResource | VertexJob) -> bool:
        """Tell whether it is in the stack's own region, or has no region."""
        return one.region in ("", self.region)

    def called(self, cluster: PersistentResource) -> str:
        """Return `cluster gpu-1a2b3c4`; `cluster gpu-1a2b3c4 in us-east4` outside the stack's own region."""
        return f"cluster {cluster.id}" + ("" if self.at_home(cluster) else f" in {cluster.region}")

    def jobs_on(self, cluster: PersistentResource) -> tuple[VertexJob, ...]:
        jobs = () if isinstance(self.jobs, Unknown) else self.jobs
        return tuple(job for job in jobs if on(job, cluster) and not job.ended)

    def per_hour(self, cluster: PersistentResource, *pools: ResourcePool) -> Price:
        """Return the price of the present machines, in these of its pools or in all."""
        region = cluster.region or self.region
        return per_hour((MachineGroup(pool.machine, pool.replicas) for pool in pools or cluster.pools), region)

    def cost(self, job: VertexJob) -> Price:
        return per_hour(job.machines, job.region or self.region, job.capacity_type)

    def since(self, moment: datetime) -> str:
        """Return the time since a moment: `3 h 12 min`."""
        return span((self.now - moment).total_seconds())

"""Questions for each part of the live resources. An unreadable part is `Unknown` with a reason, never empty.

Only a disabled API counts as empty, and only where the caller says so (in preview): nothing can live behind it. A new
project begins like that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, TypeVar

from slipway.google.answers import Json
from slipway.google.catalog.document import PublishedCatalog, published
from slipway.google.clusters import PersistentResource
from slipway.google.connection import Connection
from slipway.google.failures import Call, CloudError, Denied, NotFound, Unauthenticated
from slipway.google.jobs import VertexJob, last_ends
from slipway.google.live import Increase, QuotaLimit, Unknown
from slipway.google.messages import message
from slipway.google.permissions import Bound, Holder
from slipway.google.quotas import SERVICE, QuotaInfo, QuotaPreference, ReadQuota
from slipway.google.storage import Location, md5
from slipway.model.catalog.model import NAME, PACKAGES
from slipway.model.kinds import CUSTOM_JOB, KINDS, JobKind
from slipway.model.labels import STACK_LABEL
from slipway.model.season import moment_text

Found = TypeVar("Found")

_VERTEX, _QUOTAS = "roles/aiplatform.viewer", "roles/cloudquotas.viewer"
_OBJECTS, _BUCKETS = "roles/storage.objectViewer", "roles/storage.bucketViewer"
_ACCOUNTS = "roles/iam.serviceAccountViewer"
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Recent:
    """The newest jobs of the last `days`, ended ones too."""

    days: int
    most: int
    #: Empty for jobs of all stacks.
    stack: str = ""
    #: The parts of the time that are read at once, as a list is read page by page.
    windows: int = 1

    def filter(self, window: int, now: datetime) -> str:
        """Return the API's filter for jobs of one part of the time; the first is the latest."""
        step = timedelta(days=self.days) / self.windows
        parts = [f'labels.{STACK_LABEL}="{self.stack}"'] if self.stack else []
        parts.append(f'create_time>="{moment_text(now - (window + 1) * step)}"')
        if window:
            parts.append(f'create_time<"{moment_text(now - window * step)}"')
        return " AND ".join(parts)

    def newest(self, jobs: Iterable[VertexJob]) -> tuple[VertexJob, ...]:
        return tuple(sorted(jobs, key=lambda job: job.create_time or _LATEST, reverse=True)[: self.most])


@dataclass(frozen=True)
class LiveScope:
    """The place and the parts to read."""

    project: str
    region: str
    catalog_bucket: str = ""
    buckets: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    catalog: str = NAME
    #: The metrics whose limits matter; None for all of training.
    metrics: frozenset[str] | None = frozenset()
    #: Reads a listed quota.
    read_quota: ReadQuota = QuotaInfo.read
    now: datetime | None = None
    #: Ended jobs are read where they were made within this time before now; None for none.
    ends_within: timedelta | None = None
    recent: Recent | None = None
    elsewhere: tuple[str, ...] = ()
    #: Regions that are left out where they can't be read, and why that does no harm.
    spared: Mapping[str, str] = field(default_factory=dict)
    #: The packages in the catalog's bucket matter.
    packages: bool = False
    #: Resources whose policies matter, by `StateGrant.on`.
    granted: Mapping[str, tuple[Holder, str]] = field(default_factory=dict)
    #: Other stacks' catalogs matter.
    neighbours: bool = False
    #: So does the project's policy.
    policy: bool = False
    kinds: tuple[JobKind, ...] = tuple(KINDS.values())


class Reader:
    """A reader with a method for each list, each of which may run in a thread of its own."""

    def __init__(
        self,
        connection: Connection,
        wanted: LiveScope,
        identity: str = "",
        *,
        off_is_empty: bool = False,
        where: str = "",
    ) -> None:
        """Make a reader. `where` names another region than the stack's in a failure."""
        self.connection, self.wanted, self.where = connection, wanted, where
        self.identity, self.off_is_empty = identity, off_is_empty
        self.vertex = connection.vertex(wanted.project, wanted.region)
        self.warnings: list[str] = []

    def at(self, region: str) -> Reader:
        """Return a reader of one region, which names it in failures if it is another one."""
        if region == self.wanted.region:
            return self
        wanted = replace(self.wanted, region=region)
        other = Reader(self.connection, wanted, self.identity, off_is_empty=self.off_is_empty, where=f" in {region}")
        other.warnings = self.warnings
        return other

    def clusters(self) -> tuple[PersistentResource, ...] | Unknown:
        return self._of_vertex("persistentResources.list", self.vertex.persistent_resources, ())

    def cluster(self, id_: str) -> PersistentResource | Unknown | None:
        """Return a cluster from its own answer; None when it does not exist."""
        method = "persistentResources.get"
        return self._of_vertex(method, lambda: self.vertex.persistent_resource(id_), None, may_lack=True)

    def jobs(self, kind: JobKind) -> tuple[VertexJob, ...] | Unknown:
        """Return the jobs that have not ended."""
        return self._of_vertex(f"{kind.collection}.list", lambda: tuple(self.vertex.active_jobs(kind)), ())

    def last_ends(self, since: datetime) -> Mapping[str, datetime] | Unknown:
        """Return the end of the last job on each cluster, by the cluster's id, among jobs made since then."""
        made = f'create_time>"{moment_text(since)}"'
        what = f"{CUSTOM_JOB.collection}.list"
        return self._of_vertex(what, lambda: last_ends(self.vertex.jobs_of_every_kind(made)), {})

    def recent(self, kind: JobKind, recent: Recent, window: int, now: datetime) -> tuple[VertexJob, ...] | Unknown:
        """Return the newest jobs of one kind, in one part of the time before `now`."""
        made = recent.filter(window, now)
        what = f"{kind.collection}.list"
        return self._of_vertex(what, lambda: tuple(islice(self.vertex.jobs(kind, made), recent.most)), ())

    def limits(self, metrics: frozenset[str] | None) -> Mapping[str, QuotaLimit] | Unknown:
        quotas = self.connection.quotas(self.wanted.project)
        return self._of_quotas(
            "quotaInfos.list", lambda: limits(quotas.infos(metrics, self.wanted.read_quota), self.wanted.region)
        )

    def preferences(self) -> Mapping[str, QuotaPreference] | Unknown:
        """Return preferences by the id of the quota."""
        asked = self.connection.quotas(self.wanted.project).preferences(self.wanted.region)
        return self._of_quotas("quotaPreferences.list", lambda: {each.quota_id: each for each in asked})

    def _of_quotas(self, method: str, get: Callable[[], Found]) -> Found | Unknown:
        """Return an answer of Cloud Quotas. Limits hold also where nobody may read them as the API is switched off."""
        try:
            return get()
        except CloudError as error:
            return unanswered(error, f"cloudquotas.googleapis.com {method}", _QUOTAS, self.identity)

    def policy(self) -> frozenset[Bound] | Unknown:
        """Return everybody's roles on the project."""
        return self.policy_of("project", self.wanted.project)

    def policy_of(self, what: Holder, name: str) -> frozenset[Bound] | Unknown:
        """Return everybody's roles on a resource."""
        try:
            return self.connection.permissions(self.wanted.project).policy(what, name)
        except CloudError as error:
            return unanswered(error, "cloudresourcemanager.googleapis.com getIamPolicy", error.role, self.identity)

    def permitted(self) -> tuple[str, ...] | Unknown:
        """Return the customers of Google's whose members the organisation permits."""
        permissions = self.connection.permissions(self.wanted.project)
        try:
            return permissions.permitted()
        except CloudError as error:
            return unanswered(error, "orgpolicy.googleapis.com getEffectivePolicy", error.role, self.identity)

    def _of_vertex(
        self, method: str, get: Callable[[], Found], empty: Found, *, may_lack: bool = False
    ) -> Found | Unknown:
        return self.asked(f"aiplatform.googleapis.com {method}{self.where}", _VERTEX, get, empty, may_lack=may_lack)

    def catalog(self, bucket: str = "") -> PublishedCatalog | Unknown | None:
        """Return the catalog in a bucket, without one in the stack's present bucket."""
        wanted, storage = self.wanted, self.connection.storage
        at = Location(bucket or wanted.catalog_bucket, wanted.catalog)

        def existing() -> PublishedCatalog:
            content = storage.read(at)
            return replace(published(content, str(at)), age=storage.age(at), digest=md5(content))

        return self.asked(f"storage.googleapis.com {at}", _OBJECTS, existing, None, may_lack=True)

    def packages(self) -> frozenset[str] | Unknown:
        """Return the names of the packages in the catalog's bucket; none if there is no bucket."""
        at, storage = Location(self.wanted.catalog_bucket, PACKAGES), self.connection.storage
        nothing: frozenset[str] = frozenset()

        def existing() -> frozenset[str]:
            return frozenset(stored.at.name for stored in storage.objects(at))

        return self.asked(f"storage.googleapis.com {at}", _OBJECTS, existing, nothing, may_lack=True)

    def buckets(self) -> tuple[Json, ...] | Unknown:
        """Return the service's descriptions of the project's buckets."""
        project, storage = self.wanted.project, self.connection.storage
        api = f"storage.googleapis.com buckets.list {project}"
        return self.asked(api, _BUCKETS, lambda: tuple(storage.buckets(project)), ())

    def bucket(self, name: str) -> Mapping[str, Mapping[str, Any]] | Unknown:
        """Return the service's description by a bucket's name; empty when it does not exist."""
        api, storage = f"storage.googleapis.com buckets.get {name}", self.connection.storage
        nothing: Mapping[str, Mapping[str, Any]] = {}
        found = self.asked(api, _BUCKETS, lambda: {name: storage.bucket(name)}, nothing, may_lack=True)
        if not isinstance(found, Unknown) or found.role != _BUCKETS or isinstance(listed := self.buckets(), Unknown):
            return found
        return found if any(bucket.get("name") == name for bucket in listed) else replace(found, foreign=True)

    def service_account(self, address: str) -> Mapping[str, str] | Unknown:
        """Return the display name by the address; empty when it does not exist."""
        project = self.wanted.project
        call = Call(f"look at service account {address}", "iam.serviceAccounts.get", f"project {project}")
        url = f"{self.connection.endpoints.of('iam')}projects/{project}/serviceAccounts/{address}"

        def existing() -> Mapping[str, str]:
            return {address: str(self.connection.session.get(url, call).get("displayName", ""))}

        return self.asked("iam.googleapis.com serviceAccounts.get", _ACCOUNTS, existing, {}, may_lack=True)

    def asked(
        self, api: str, role: str, get: Callable[[], Found], empty: Found, *, may_lack: bool = False
    ) -> Found | Unknown:
        """Return an API's answer. With `may_lack`, a missing resource is empty; a list is never taken to be so.

        `role` is the caller's missing role after a refusal, "" for the one that the refusal names.
        """
        try:
            return get()
        except CloudError as error:
            if may_lack and isinstance(error, NotFound):
                return empty
            if self.off_is_empty and error.switched_off:
                self.warnings.append(f"{api}: the API is switched off in {self.wanted.project}, so nothing lives there")
                return empty
            return unanswered(error, api, role or error.role, self.identity)


def unanswered(error: CloudError, api: str, role: str, identity: str) -> Unknown:
    """Return the Unknown of a failure. `role` helps only where a role was missing."""
    advice = ""
    if error.lacks_role:
        remedy = role
    elif error.reason or isinstance(error, Denied):
        remedy, advice = "", error.fix
    elif isinstance(error, Unauthenticated):
        remedy = "a fresh login: gcloud auth application-default login"
    else:
        remedy = "the API to answer"
    return Unknown(
        why=(error.why if error.reason else error.message) or str(error),
        api=api,
        role=remedy,
        identity=identity,
        on=error.call.on,
        off=error.switched_off,
        advice=advice,
    )


def merged(parts: Iterable[Mapping[str, Found] | Unknown]) -> Mapping[str, Found] | Unknown:
    """Merge parts by name; an unreadable part makes the whole unknown."""
    whole: dict[str, Found] = {}
    for part in parts:
        if isinstance(part, Unknown):
            return part
        whole |= part
    return whole


def all_or_unknown(parts: Iterable[Iterable[Found] | Unknown]) -> tuple[Found, ...] | Unknown:
    """Join lists; an unreadable list makes the whole unknown."""
    whole: list[Found] = []
    for part in parts:
        if isinstance(part, Unknown):
            return part
        whole += part
    return tuple(whole)


_INCREASES = {
    None: Increase.POSSIBLE,
    "NOT_ENOUGH_USAGE_HISTORY": Increase.TOO_LITTLE_HISTORY,
    "NO_VALID_BILLING_ACCOUNT": Increase.NO_BILLING,
    "NOT_SUPPORTED": Increase.UNSUPPORTED,
}


def limits(infos: Iterable[QuotaInfo], region: str) -> dict[str, QuotaLimit]:
    """Return the limits of a region by metric, without the service's name."""
    by_metric: dict[str, QuotaLimit] = {}
    for info in infos:
        metric = info.metric.removeprefix(f"{SERVICE}/")
        limit = info.limit(region)
        if limit is not None:
            increase = Increase.FIXED if info.fixed else _INCREASES.get(info.ineligibility, Increase.IMPOSSIBLE)
            by_metric[metric] = QuotaLimit(metric, region, limit=limit, increase=increase, quota_id=info.id)
    return by_metric


def quota_info(body: Json) -> QuotaInfo:
    """Return a quota, without a newer API's fields and reasons. Raises ValueError for values of another type."""
    from google.protobuf.json_format import ParseDict, ParseError

    empty = message("google.cloud.cloudquotas_v1", "resources", "QuotaInfo")()
    try:
        info = ParseDict(dict(body), empty, ignore_unknown_fields=True)
    except ParseError as error:
        raise ValueError(str(error)) from error
    eligibility = info.quota_increase_eligibility
    reason = None
    if not eligibility.is_eligible:
        reason = eligibility.IneligibilityReason.Name(eligibility.ineligibility_reason)
    return QuotaInfo(
        metric=info.metric,
        limits=tuple(
            (tuple(dimension.applicable_locations), dimension.details.value) for dimension in info.dimensions_infos
        ),
        ineligibility=reason,
        id=info.quota_id,
        fixed=info.is_fixed,
    )

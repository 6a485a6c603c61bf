"""Everything a deployment decides on, read at once. What can't be read is `Unknown` with a reason, never empty.

Only an API that is switched off counts as empty, and only where the caller says so (in preview): nothing can live
behind it. A new project begins like that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from slipway.catalog.document import PublishedCatalog, published
from slipway.catalog.model import NAME
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.connection import Connection
from slipway.cloud.failures import Call, CloudError, Denied, NotFound
from slipway.cloud.jobs import VertexJob
from slipway.cloud.quotas import QuotaInfo, QuotaPreference, ReadQuota
from slipway.cloud.storage import Location
from slipway.deployment.adopted_buckets import lacks, made_by_us
from slipway.deployment.quota_limits import limits
from slipway.generations.dormant import last_ends
from slipway.kinds import CUSTOM_JOB, KINDS, Kind
from slipway.live import Live, QuotaLimit, Unknown
from slipway.season import moment_text

Found = TypeVar("Found")

# No answer of one API, in one region, may depend on how many others are asked: a list of jobs for each kind, one of
# clusters, one of limits, one of what was asked for, two catalogs, two buckets, an account and the ended jobs.
_AT_ONCE = len(KINDS) + 9
_VERTEX, _QUOTAS = "roles/aiplatform.viewer", "roles/cloudquotas.viewer"
_OBJECTS, _BUCKETS = "roles/storage.objectViewer", "roles/storage.bucketViewer"
_ACCOUNTS = "roles/iam.serviceAccountViewer"
_SWITCHED_OFF = ("has not been used in project", "is disabled")


@dataclass(frozen=True)
class LiveScope:
    """Where to look. `service_account` and `trainers` are addresses, `catalog` the catalog object's name, `published`
    the bucket that has it now, where that is another one than it will be in.

    `metrics` are those whose limits matter, and `read_quota` turns what is listed of one into a value. Ended jobs are
    looked at where they were made after `jobs_since`; None for none. `elsewhere`: other regions to look for clusters
    and jobs in.
    """

    project: str
    region: str
    catalog_bucket: str = ""
    work_bucket: str = ""
    service_account: str = ""
    trainers: tuple[str, ...] = ()
    catalog: str = NAME
    metrics: frozenset[str] = frozenset()
    read_quota: ReadQuota = QuotaInfo.read
    published: str = ""
    jobs_since: datetime | None = None
    elsewhere: tuple[str, ...] = ()


def skipped() -> Live:
    """Nothing was read, on purpose. For preview alone."""
    unread = Unknown("SLIPWAY_LIVE=skip", "none", "none")
    return Live(clusters=(), jobs=(), limits=unread, catalog=None, skipped=True)


def read(
    connection: Connection, wanted: LiveScope, *, identity: str = "", off_is_empty: bool
) -> tuple[Live, list[str]]:
    """What lives, and warnings. With `off_is_empty` an API that is switched off has nothing in it, with a warning.

    Sends nothing but GETs. Raises nothing for an API's refusal: that becomes `Unknown`, with `identity` in it.
    """
    reader = Reader(connection, wanted, identity, off_is_empty=off_is_empty)
    places = [reader, *(reader.elsewhere(region) for region in wanted.elsewhere)]
    at_once = _AT_ONCE + len(wanted.trainers) + (len(KINDS) + 2) * len(wanted.elsewhere)
    with ThreadPoolExecutor(at_once, thread_name_prefix="live") as threads:
        clusters = [threads.submit(place.clusters) for place in places]
        found = [threads.submit(place.jobs, kind) for place in places for kind in KINDS.values()]
        limits = [threads.submit(place.limits) for place in places]
        preferences = threads.submit(reader.preferences)
        catalog = threads.submit(reader.catalog)
        beside = threads.submit(reader.catalog_beside)
        buckets = [threads.submit(reader.bucket, name) for name in (wanted.catalog_bucket, wanted.work_bucket)]
        accounts = [threads.submit(reader.service_account, one) for one in (wanted.service_account, *wanted.trainers)]
        ends = threads.submit(reader.last_ends)
        adopted = merged(future.result() for future in buckets)
        live = Live(
            clusters=all_or_unknown(future.result() for future in clusters),
            jobs=all_or_unknown(future.result() for future in found),
            limits=limits[0].result(),
            limits_elsewhere={region: one.result() for region, one in zip(wanted.elsewhere, limits[1:], strict=True)},
            catalog=catalog.result(),
            buckets=adopted if isinstance(adopted, Unknown) else frozenset(adopted),
            by_hand=frozenset()
            if isinstance(adopted, Unknown)
            else frozenset(
                name for name, body in adopted.items() if not made_by_us(body, catalog=name == wanted.catalog_bucket)
            ),
            lacking={}
            if isinstance(adopted, Unknown)
            else {name: lacks(body, catalog=name == wanted.catalog_bucket) for name, body in adopted.items()},
            service_accounts=merged(future.result() for future in accounts),
            beside=beside.result(),
            last_ends=ends.result(),
            preferences=preferences.result(),
            time=connection.session.time,
        )
    return live, reader.warnings


def jobs(reader: Reader) -> tuple[VertexJob, ...] | Unknown:
    """The jobs of every kind that have not ended."""
    return all_or_unknown(reader.jobs(kind) for kind in KINDS.values())


class Reader:
    """One method per list, each of which may run in a thread of its own."""

    def __init__(
        self, connection: Connection, wanted: LiveScope, identity: str = "", *, off_is_empty: bool = False
    ) -> None:
        self.connection, self.wanted = connection, wanted
        self.identity, self.off_is_empty = identity, off_is_empty
        self.vertex = connection.vertex(wanted.project, wanted.region)
        self.warnings: list[str] = []
        self.where = ""

    def elsewhere(self, region: str) -> Reader:
        """The same in another region."""
        other = Reader(
            self.connection, replace(self.wanted, region=region), self.identity, off_is_empty=self.off_is_empty
        )
        other.warnings, other.where = self.warnings, f" in {region}"
        return other

    def clusters(self) -> tuple[PersistentResource, ...] | Unknown:
        return self._read(
            f"aiplatform.googleapis.com persistentResources.list{self.where}",
            _VERTEX,
            self.vertex.persistent_resources,
            (),
        )

    def cluster(self, id_: str) -> PersistentResource | Unknown | None:
        """One cluster by its own word; None when it is not there."""
        api = f"aiplatform.googleapis.com persistentResources.get{self.where}"
        return self._read(api, _VERTEX, lambda: self.vertex.persistent_resource(id_), None, may_lack=True)

    def jobs(self, kind: Kind) -> tuple[VertexJob, ...] | Unknown:
        """Those that have not ended."""
        api = f"aiplatform.googleapis.com {kind.collection}.list{self.where}"
        return self._read(api, _VERTEX, lambda: tuple(self.vertex.active_jobs(kind)), ())

    def last_ends(self) -> Mapping[str, datetime] | Unknown:
        """When the last job on each cluster ended, by the cluster's id, of the jobs made since `jobs_since`."""
        since = self.wanted.jobs_since
        if since is None:
            return {}

        def ended() -> Mapping[str, datetime]:
            places = self.connection.vertex(self.wanted.project, self.wanted.region, self.wanted.elsewhere)
            return last_ends(places.jobs_of_every_kind(f'create_time>"{moment_text(since)}"'))

        return self._read(f"aiplatform.googleapis.com {CUSTOM_JOB.collection}.list", _VERTEX, ended, {})

    def limits(self) -> Mapping[str, QuotaLimit] | Unknown:
        quotas = self.connection.quotas(self.wanted.project)
        return self._read(
            "cloudquotas.googleapis.com quotaInfos.list",
            _QUOTAS,
            lambda: limits(quotas.infos(self.wanted.metrics, self.wanted.read_quota), self.wanted.region),
            {},
        )

    def preferences(self) -> Mapping[str, QuotaPreference] | Unknown:
        """By the id of the quota. Where the API is switched off that is said of its limits already."""
        quotas, api = self.connection.quotas(self.wanted.project), "cloudquotas.googleapis.com quotaPreferences.list"
        try:
            return {one.quota_id: one for one in quotas.preferences(self.wanted.region)}
        except CloudError as error:
            return unanswered(error, api, _QUOTAS, self.identity)

    def catalog(self) -> PublishedCatalog | Unknown | None:
        return self._catalog(self.wanted.published or self.wanted.catalog_bucket)

    def catalog_beside(self) -> PublishedCatalog | Unknown | None:
        """What is published in the bucket that is asked for, where the stack publishes in another one yet."""
        wanted = self.wanted
        return self._catalog(wanted.catalog_bucket) if wanted.published not in ("", wanted.catalog_bucket) else None

    def _catalog(self, bucket: str) -> PublishedCatalog | Unknown | None:
        storage, at = self.connection.storage, Location(bucket, self.wanted.catalog)

        def existing() -> PublishedCatalog:
            return replace(published(storage.read(at), str(at)), age=storage.age(at))

        return self._read(f"storage.googleapis.com {at}", _OBJECTS, existing, None, may_lack=True)

    def bucket(self, name: str) -> Mapping[str, Mapping[str, Any]] | Unknown:
        """What the service says of it, by its name; empty when it is not there."""

        def existing() -> Mapping[str, Mapping[str, Any]]:
            return {name: self.connection.storage.bucket(name)}

        api = f"storage.googleapis.com buckets.get {name}"
        return self._read(api, _BUCKETS, existing, {}, may_lack=True)

    def service_account(self, address: str) -> Mapping[str, str] | Unknown:
        """Its display name by its address; empty when it is not there."""
        project = self.wanted.project
        call = Call(f"look at service account {address}", "iam.serviceAccounts.get", f"project {project}")
        url = f"{self.connection.endpoints.iam}projects/{project}/serviceAccounts/{address}"

        def existing() -> Mapping[str, str]:
            return {address: str(self.connection.session.get(url, call).get("displayName", ""))}

        return self._read("iam.googleapis.com serviceAccounts.get", _ACCOUNTS, existing, {}, may_lack=True)

    def _read(
        self, api: str, role: str, get: Callable[[], Found], empty: Found, *, may_lack: bool = False
    ) -> Found | Unknown:
        """With `may_lack`, what is not there is empty; a list is never taken to be so."""
        try:
            return get()
        except CloudError as error:
            if may_lack and isinstance(error, NotFound):
                return empty
            off = isinstance(error, Denied) and self.off_is_empty
            if off and any(words in error.message for words in _SWITCHED_OFF):
                self.warnings.append(f"{api}: the API is switched off in {self.wanted.project}, so nothing lives there")
                return empty
            return unanswered(error, api, role, self.identity)


def unanswered(error: CloudError, api: str, role: str, identity: str) -> Unknown:
    """`role` helps only where something was refused."""
    needs = role if isinstance(error, Denied) else "the API to answer"
    return Unknown(error.message or str(error), api, needs, identity)


def merged(parts: Iterable[Mapping[str, Found] | Unknown]) -> Mapping[str, Found] | Unknown:
    """What is there, by its name; where one can't be read, nobody knows."""
    found: dict[str, Found] = {}
    for part in parts:
        if isinstance(part, Unknown):
            return part
        found |= part
    return found


def all_or_unknown(parts: Iterable[Iterable[Found] | Unknown]) -> tuple[Found, ...] | Unknown:
    """What several lists have together: where one can't be read, nobody knows."""
    found: list[Found] = []
    for part in parts:
        if isinstance(part, Unknown):
            return part
        found += part
    return tuple(found)

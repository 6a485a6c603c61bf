"""A snapshot of a stack's regions, read at once for every decision and report: program, review, doctor, schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slipway.base.clock import right_time
from slipway.google.connection import Connection
from slipway.google.live import Live, Neighbours, Unknown
from slipway.google.live_reader import LiveScope, Reader, Recent, all_or_unknown, merged
from slipway.google.permissions import Bound
from slipway.model.kinds import CUSTOM_JOB, JobKind

AT_ONCE = 256
"""The most threads, which begin as needed: so many that no request waits until another one's thread is free."""
_BUCKETS_AT_ONCE = 32
ENCRYPTION_FLAG = "--default-encryption-key"
CATALOG, _CLUSTERS, _ENDS = "the catalog", "clusters", "ended jobs"
_QUOTA, _REQUESTS, _NEIGHBOURS = "quota", "requests for quota", "catalogs of other stacks"
_PACKAGES, _GRANTED = "packages", "roles on "
_POLICY, _PERMITTED = "the project's policy", "the organisation's policy on members"


class Snapshot:
    """The parts of the live resources, each read by a thread on first use.

    Times are the cloud's where this machine's clock is wrong: a reading by the wrong time is repeated.
    """

    def __init__(
        self,
        connection: Connection,
        wanted: LiveScope,
        threads: Executor,
        identity: str = "",
        *,
        off_is_empty: bool = False,
    ) -> None:
        self.reader = Reader(connection, wanted, identity, off_is_empty=off_is_empty)
        self._wanted, self._threads = wanted, threads
        self._kinds = {f"{kind.words}s": kind for kind in wanted.kinds}
        self._readers: dict[str, Reader] = {}
        self._ends_within = wanted.ends_within
        #: By the part and its region, empty for parts of the whole project.
        self._asked: dict[tuple[str, str], Future[Any]] = {}

    @property
    def parts(self) -> Mapping[str, Future[Any]]:
        at_home = ("", self._wanted.region)
        return {
            what if region in at_home else f"{what} in {region}": part for (what, region), part in self._asked.items()
        }

    def ask(self, what: str, read: Callable[[], object], region: str = "") -> None:
        self._asked[what, region] = self._threads.submit(read)

    def found(self, what: str, nothing: object = None, region: str = "") -> Any:
        """Wait for a part; `nothing` where it was not asked for."""
        part = self._asked.get((what, region))
        return nothing if part is None else part.result()

    def look_in(self, regions: Iterable[str]) -> None:
        """Ask for the clusters and jobs of these regions."""
        for region in regions:
            self._readers[region] = reader = self.reader.at(region)
            self.ask(_CLUSTERS, reader.clusters, region)
            for words, kind in self._kinds.items():
                self.ask(words, partial(reader.jobs, kind), region)
            self._look_back(region, self._wanted.now)

    def look_at_quota(self, metrics: frozenset[str] | None) -> None:
        """Ask for the limits of these metrics, None for all, in the snapshot's regions, and for requests for more."""
        for region, reader in self._readers.items():
            self.ask(_QUOTA, partial(reader.limits, metrics), region)
        self.ask(_REQUESTS, self.reader.preferences)

    def look_at_ends(self, within: timedelta | None) -> None:
        """Ask for the end of the last job on each cluster in the snapshot's regions, among jobs of that age at most."""
        self._ends_within = within
        for region in self._readers:
            self._ask_for_ends(region, self._wanted.now)

    def live(self) -> Live:
        """Wait for all requested parts, and return them."""
        wanted, session = self._wanted, self.reader.connection.session
        for part in tuple(self._asked.values()):
            part.result()
        time = right_time(wanted.now, session.time) if wanted.now else session.time
        if time != wanted.now:  # The parts that depend on it were read by a wrong clock.
            for region in self._readers:
                self._look_back(region, time)
        regions = [region for region in self._readers if not self._warn_if_unreadable(region)]

        def everywhere(*parts: str) -> Any:
            return all_or_unknown(self.found(part, (), region) for region in regions for part in parts)

        limits = {region: self.found(_QUOTA, {}, region) for region in self._readers}
        buckets = merged(self.found(name, {}) for name in wanted.buckets)
        bodies = {} if isinstance(buckets, Unknown) else buckets
        recent = everywhere(*self._recent)
        return Live(
            clusters=everywhere(_CLUSTERS),
            jobs=everywhere(*self._kinds),
            limits=limits.pop(wanted.region, {}),
            limits_elsewhere=limits,
            catalog=self.found(CATALOG),
            packages=self.found(_PACKAGES),
            granted=self._granted(),
            buckets=buckets if isinstance(buckets, Unknown) else frozenset(buckets),
            by_hand=frozenset(
                name for name, body in bodies.items() if not made_by_us(body, catalog=name == wanted.catalog_bucket)
            ),
            lacking={name: lacks(body, catalog=name == wanted.catalog_bucket) for name, body in bodies.items()},
            locations={name: str(body.get("location", "")).lower() for name, body in bodies.items()},
            service_accounts=merged(self.found(name, {}) for name in wanted.accounts),
            last_ends=merged(self.found(_ENDS, {}, region) for region in regions),
            preferences=self.found(_REQUESTS, {}),
            time=time,
            neighbours=self.found(_NEIGHBOURS, {}),
            policy=self.found(_POLICY, frozenset()),
            permitted=self.found(_PERMITTED, ()),
            recent=recent if isinstance(recent, Unknown) or not wanted.recent else wanted.recent.newest(recent),
        )

    def _granted(self) -> Mapping[str, frozenset[Bound]]:
        """Return the readable policies: a caller that can't read one may still deploy."""
        policies = {on: self.found(f"{_GRANTED}{on}") for on in self._wanted.granted}
        return {on: policy for on, policy in policies.items() if not isinstance(policy, Unknown)}

    @property
    def _recent(self) -> Mapping[str, tuple[JobKind, Recent, int]]:
        """The kind and the window of each part of the newest jobs, by the part's name."""
        wanted = self._wanted.recent
        if wanted is None:
            return {}
        parts: dict[str, tuple[JobKind, Recent, int]] = {}
        for words, kind in self._kinds.items():
            # Of tuning jobs and pipelines there are few, so that a list of them is a page.
            recent = wanted if kind is CUSTOM_JOB else replace(wanted, windows=1)
            for window in range(recent.windows):
                of_window = f", part {window + 1}" if window else ""
                parts[f"{words} of the last {recent.days} days{of_window}"] = kind, recent, window
        return parts

    def _look_back(self, region: str, now: datetime | None) -> None:
        self._ask_for_ends(region, now)
        for part, (kind, recent, window) in self._recent.items():
            if now:
                self.ask(part, partial(self._readers[region].recent, kind, recent, window, now), region)

    def _ask_for_ends(self, region: str, now: datetime | None) -> None:
        if now and self._ends_within:
            self.ask(_ENDS, partial(self._readers[region].last_ends, now - self._ends_within), region)

    def _warn_if_unreadable(self, region: str) -> bool:
        """Tell whether a region is to be left out: it can be spared, and a part of it could not be read."""
        if region not in self._wanted.spared:
            return False
        parts = (part.result() for (_, at), part in self._asked.items() if at == region)
        unread = next((part for part in parts if isinstance(part, Unknown)), None)
        if unread:
            self.reader.warnings.append(f"not looked at {region}, {self._wanted.spared[region]}: {unread.why}")
        return unread is not None


def skipped(why: str) -> Live:
    """Return the Live of a preview that reads nothing, on purpose."""
    unread = Unknown(why=why, api="none", role="none")
    return Live(clusters=(), jobs=(), limits=unread, catalog=None, skipped=True)


def read(
    connection: Connection, wanted: LiveScope, *, identity: str = "", off_is_empty: bool
) -> tuple[Live, list[str]]:
    """Read the wanted live resources, with warnings.

    With `off_is_empty` a disabled API has nothing in it, with a warning. Changes nothing. Raises nothing for an
    API's refusal: that becomes `Unknown`, with `identity` in it.
    """
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="live") as threads:
        snapshot = Snapshot(connection, wanted, threads, identity, off_is_empty=off_is_empty)
        reader = snapshot.reader
        snapshot.look_in((wanted.region, *wanted.elsewhere))
        if wanted.metrics != frozenset():
            snapshot.look_at_quota(wanted.metrics)
        if wanted.catalog_bucket:
            snapshot.ask(CATALOG, reader.catalog)
        if wanted.packages:
            snapshot.ask(_PACKAGES, reader.packages)
        for on, (what, name) in wanted.granted.items():
            snapshot.ask(f"{_GRANTED}{on}", partial(reader.policy_of, what, name))
        if wanted.neighbours:
            snapshot.ask(_NEIGHBOURS, partial(neighbours, reader))
        if wanted.policy:
            snapshot.ask(_POLICY, reader.policy)
            snapshot.ask(_PERMITTED, reader.permitted)
        for name in wanted.buckets:
            snapshot.ask(name, partial(reader.bucket, name))
        for name in wanted.accounts:
            snapshot.ask(name, partial(reader.service_account, name))
        return snapshot.live(), reader.warnings


def neighbours(reader: Reader) -> Neighbours:
    """Return the catalogs of the project, this stack's own as well."""
    # A catalog in an adopted bucket does not count: whoever may write there, a former submitter too, could keep a
    # grant by naming themselves in it.
    listed = reader.buckets()
    if isinstance(listed, Unknown):
        return listed
    names = [str(bucket["name"]) for bucket in listed if made_by_us(bucket, catalog=True)]
    with ThreadPoolExecutor(_BUCKETS_AT_ONCE, thread_name_prefix="catalogs") as threads:
        catalogs = zip(names, threads.map(reader.catalog, names), strict=True)
        return {name: catalog for name, catalog in catalogs if catalog is not None}


def made_by_us(bucket: Mapping[str, Any], *, catalog: bool) -> bool:
    """Tell whether Slipway made a bucket: from its first moment on a catalog's has a rule for old packages, and a work
    bucket one for old claims.

    A work bucket of ours that is declared as a catalog's counts as adopted: a destruction empties a catalog's bucket,
    and this one has people's results.
    """
    prefix = "packages/" if catalog else "claims/"
    rules = bucket.get("lifecycle", {}).get("rule", [])
    return any(prefix in rule.get("condition", {}).get("matchesPrefix", []) for rule in rules)


def lacks(bucket: Mapping[str, Any], *, catalog: bool) -> tuple[str, ...]:
    """Return the settings in which a bucket differs from Slipway's own, as the flags of gcloud that set them.

    Lifecycle rules are not among them: the owner decides how long objects are kept.
    """
    access = bucket.get("iamConfiguration", {})
    missing = {
        "--uniform-bucket-level-access": not access.get("uniformBucketLevelAccess", {}).get("enabled"),
        "--public-access-prevention": access.get("publicAccessPrevention") != "enforced",
        "--versioning": catalog and not bucket.get("versioning", {}).get("enabled"),
        "--clear-retention-period": bool(bucket.get("retentionPolicy")),
        ENCRYPTION_FLAG: not bucket.get("encryption", {}).get("defaultKmsKeyName"),
    }
    return tuple(flag for flag, is_missing in missing.items() if is_missing)

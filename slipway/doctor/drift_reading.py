"""What drift is compared with, read at once; the thin shell. What can't be read is said, and hides nothing else."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.cloud.connection import Connection
from slipway.cloud.failures import CloudError
from slipway.cloud.permissions import Bound
from slipway.deployment.live_reader import LiveScope, Reader, unanswered
from slipway.doctor.cluster_drift import of_clusters
from slipway.doctor.drift import Drift, Policy, of_engine, of_policies, together
from slipway.live import Unknown
from slipway.review.deployed import published_in
from slipway.review.preview import Preview

_REVIEWER = "roles/iam.securityReviewer"
_NOT_READ = "clusters and policies: nothing but the engine's events was looked at (--no-live)"
Found = TypeVar("Found")


@dataclass(frozen=True)
class Drifted:
    """`unread`: what could not be compared, a sentence each."""

    found: tuple[Drift, ...]
    unread: tuple[str, ...] = ()


def drifted(preview: Preview, connection: Connection | None, identity: str) -> Drifted:
    """Of one stack. Without a connection nothing but the events is looked at, which is said."""
    unread = [] if preview.complete else [f"all of it: {preview.why}"]
    live: list[Drift] = []
    bucket = published_in(preview)
    if connection is None:
        unread.append(_NOT_READ)
    elif not bucket:
        unread.append("clusters and policies: no catalog is deployed")
    else:
        live, missed = _live(preview, connection, bucket, identity)
        unread = [*unread, *missed]
    return Drifted(together(of_engine(preview), live), tuple(unread))


def _live(preview: Preview, connection: Connection, bucket: str, identity: str) -> tuple[list[Drift], list[str]]:
    catalog = Reader(connection, LiveScope("", "", bucket), identity).catalog()
    if not isinstance(catalog, PublishedCatalog) or catalog.whole is None:
        why = str(catalog) if isinstance(catalog, Unknown) else "it is not there, or another version wrote it"
        return [], [f"clusters and policies: the catalog can't be read: {why}"]
    whole = catalog.whole
    reader = Reader(connection, LiveScope(whole.project, whole.region), identity)
    with ThreadPoolExecutor(8, thread_name_prefix="drift") as threads:
        clusters = threads.submit(reader.clusters)
        asked = [threads.submit(_policy, on, ours, ask, identity) for on, ours, ask in _policies(connection, whole)]
        there, policies = clusters.result(), [one.result() for one in asked]
    unread = [f"clusters: {there}"] if isinstance(there, Unknown) else []
    unread += [f"who may do what: {one}" for one in policies if isinstance(one, Unknown)]
    found = [] if isinstance(there, Unknown) else list(of_clusters(whole, there))
    read = [one for one in policies if isinstance(one, Policy)]
    return [*found, *of_policies(preview, read)], unread


Ask = Callable[[], frozenset[Bound]]


def _policies(connection: Connection, catalog: Catalog) -> list[tuple[str, frozenset[str], Ask]]:
    """Of the project only what the trainers have there is the stack's."""
    ask, project = connection.permissions, catalog.project
    trainers = [one for one in (catalog.trainer, *catalog.trainers.values()) if one]
    members = frozenset(f"serviceAccount:{one}" for one in trainers)
    buckets = [one for one in (catalog.catalog_bucket, catalog.work_bucket) if one]
    found: list[tuple[str, frozenset[str], Ask]] = []
    for name in buckets:
        found.append((f"bucket {name}", frozenset(), lambda name=name: ask.policy_of_bucket(name)))  # type: ignore[misc]
    for address in dict.fromkeys(trainers):
        found.append(
            (f"account {address}", frozenset(), lambda address=address: ask.policy_of_account(project, address))  # type: ignore[misc]
        )
    if members:
        found.append((f"project {project}", members, lambda: ask.policy_of_project(project)))
    return found


def _policy(on: str, ours: frozenset[str], ask: Ask, identity: str) -> Policy | Unknown:
    try:
        return Policy(on, ask(), ours)
    except CloudError as error:
        return unanswered(error, f"getIamPolicy of {on}", _REVIEWER, identity)

"""What drift is compared with, read at once; the thin shell. What can't be read is said, and hides nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.cloud.connection import Connection
from slipway.deployment.live_reader import LiveScope, Reader, all_or_unknown
from slipway.doctor.access import read_policies
from slipway.doctor.drift import by_hand, of_clusters, of_engine, of_labels, of_policies, together
from slipway.doctor.picture import Policy
from slipway.findings.finding import Finding
from slipway.live import Unknown
from slipway.review.deployed import published_in
from slipway.review.preview import Preview


@dataclass(frozen=True)
class Drifted:
    """`unread`: what could not be compared, a sentence each."""

    found: tuple[Finding, ...]
    unread: tuple[str, ...] = ()


def drifted(preview: Preview, connection: Connection | None, identity: str) -> Drifted:
    """Without a connection nothing but the events is looked at, which is said."""
    unread = [] if preview.complete else [f"all of it: {preview.why}"]
    live: list[Finding] = []
    engine = tuple(of_engine(preview))
    bucket = published_in(preview)
    if connection is None:
        unread.append("clusters and policies: nothing but the engine's events was looked at (--no-live)")
    elif not bucket:
        unread.append("clusters and policies: no catalog is deployed")
    else:
        catalog = Reader(connection, LiveScope("", "", bucket), identity).catalog()
        if isinstance(catalog, PublishedCatalog) and catalog.whole is not None:
            live, missed = _live(preview, connection, catalog.whole, identity)
            unread = [*unread, *missed]
            engine = tuple(by_hand(engine, catalog.whole))
        else:
            why = str(catalog) if isinstance(catalog, Unknown) else "it is not there, or another version wrote it"
            unread.append(f"clusters and policies: the catalog can't be read: {why}")
    return Drifted(together(engine, live), tuple(unread))


def _live(preview: Preview, connection: Connection, whole: Catalog, identity: str) -> tuple[list[Finding], list[str]]:
    # An idle alternative elsewhere that nobody offers is no drift.
    regions = dict.fromkeys(map(whole.region_of, ("", *whole.clusters)))
    readers = [Reader(connection, LiveScope(whole.project, one), identity) for one in regions]
    with ThreadPoolExecutor(7 + len(readers), thread_name_prefix="drift") as threads:
        clusters = [threads.submit(reader.clusters) for reader in readers]
        asked = read_policies(threads, connection, whole, identity)
        buckets = [one for one in (whole.catalog_bucket, whole.work_bucket) if one]
        labels = [threads.submit(_labels, readers[0], name) for name in buckets]
        there = all_or_unknown(one.result() for one in clusters)
        who, labelled = asked(), [one.result() for one in labels]
    unread = [f"clusters: {there}"] if isinstance(there, Unknown) else []
    unread += [f"who may do what: {one}" for one in who if isinstance(one, Unknown)]
    found = [] if isinstance(there, Unknown) else list(of_clusters(whole, there))
    unread += [f"labels: {one}" for one in labelled if isinstance(one, Unknown)]
    known = {name: one for name, one in zip(buckets, labelled, strict=True) if not isinstance(one, Unknown)}
    found += of_labels(preview, known)
    read = [one for one in who if isinstance(one, Policy)]
    return [*found, *of_policies(preview, read)], unread


def _labels(reader: Reader, bucket: str) -> Mapping[str, str] | Unknown:
    found = reader.bucket(bucket)
    if isinstance(found, Unknown):
        return found
    labels = found[bucket].get("labels") if bucket in found else Unknown(f"bucket {bucket} is not there", "", "")
    return labels if isinstance(labels, (Mapping, Unknown)) else {}

"""The table of pools as values, without a cloud."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from syrupy.assertion import SnapshotAssertion

from slipway.catalog.model import Catalog
from slipway.cloud.jobs import VertexJob
from slipway.jobs.pool_rows import RECENT, rows, upcoming
from slipway.season import Season
from tests.slipway.quota.region import cluster, cpu, h100, job

from .test_quota import CATALOG


def test_a_failed_cluster_has_no_machines_and_costs_nothing_now() -> None:  # N2, Z8
    """Its pools tell what it was to have; it is not billed."""
    failed = replace(cluster("h100-1a2b3c4", h100()), state="ERROR", error="no machines")
    (row,) = rows(CATALOG, [failed], (), ())
    assert (row.state, row.pool.used, row.pool.replicas) == ("ERROR", 0, 0)
    assert row.price(row.pool.replicas).known == Decimal(0)
    (lives,) = rows(CATALOG, [replace(failed, state="RUNNING")], (), ())
    assert lives.pool.replicas == 1 and (row.min, row.max) == (lives.min, lives.max)


def test_a_pool_has_not_idled_since_a_job_of_an_earlier_cluster_with_the_same_id() -> None:
    made = datetime(2026, 12, 1, tzinfo=UTC)
    anew = replace(cluster("h100-1a2b3c4", h100()), create_time=made)
    ended = replace(job(h100(), 1, on=anew.id, state="JOB_STATE_SUCCEEDED"), end_time=made - timedelta(days=300))
    (row,) = rows(CATALOG, [anew], (), (ended,))
    assert row.idle_since is None
    later = replace(ended, end_time=made + timedelta(hours=1))
    (row,) = rows(CATALOG, [anew], (), (ended, later))
    assert row.idle_since == later.end_time


NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
H100 = replace(cluster("h100-1a2b3c4", h100()), create_time=NOW - timedelta(days=20))


def _ended(made: timedelta, ended: timedelta, *, on: str = "lab") -> VertexJob:
    done = job(h100() if on == H100.id else cpu(), 1, on=on, state="JOB_STATE_SUCCEEDED")
    return replace(done, create_time=NOW - made, end_time=NOW - ended)


SWEEP = tuple(_ended(timedelta(hours=24), timedelta(hours=23)) for _ in range(RECENT))
"""As `vertex.jobs` gives them: the newest alone. A job of H100 that was made before may have ended an hour ago."""


def _limited(days: float) -> Catalog:
    (declared,) = CATALOG.clusters.values()
    return replace(CATALOG, clusters={"h100": replace(declared, season=Season(idle_limit=timedelta(days=days)))})


def test_a_pool_whose_jobs_are_older_than_those_that_were_read_is_not_said_to_have_had_none() -> None:
    (row,) = rows(CATALOG, [H100], (), SWEEP)
    assert row.unread and row.idle(NOW) == f"none of the newest {RECENT} jobs"
    (row,) = rows(CATALOG, [H100], (), SWEEP[1:])
    assert not row.unread and row.idle(NOW) == "no job yet"
    (row,) = rows(CATALOG, [replace(H100, create_time=NOW - timedelta(hours=23))], (), SWEEP)
    assert not row.unread and row.idle(NOW) == "no job yet", "all jobs since it was made were read"
    (row,) = rows(CATALOG, [H100], (), (*SWEEP[1:], _ended(timedelta(days=3), timedelta(hours=1), on=H100.id)))
    assert not row.unread and row.idle(NOW) == "1 h"
    (row,) = rows(CATALOG, [replace(H100, state="PROVISIONING")], (job(h100(), 1, on=H100.id),), SWEEP)
    assert not row.unread and row.idle(NOW) == "–"


def test_an_idle_limit_has_no_date_where_nobody_read_the_last_job(snapshot: SnapshotAssertion) -> None:
    """`is given up 2026-11-04 12:00 UTC, in 0 s ... (no job for 20 days ...)` was said of a pool whose job had ended an
    hour ago, and which `pulumi up` kept."""
    (due,) = upcoming(_limited(3), [H100], (), SWEEP, NOW)
    assert due.at is None and not due.now
    assert due.words(NOW) == snapshot
    ran = _ended(timedelta(days=3), timedelta(hours=1), on=H100.id)
    (due,) = upcoming(_limited(3), [H100], (), (*SWEEP[1:], ran), NOW)
    assert due.at == NOW + timedelta(days=3, hours=-1)
    assert due.why == snapshot
    (due,) = upcoming(_limited(30), [H100], (), (ran, *SWEEP[2:]), NOW)
    assert due.at == NOW + timedelta(days=30, hours=-1) and due.why == snapshot
    earlier = _ended(timedelta(days=300), timedelta(days=299), on=H100.id)
    (due,) = upcoming(_limited(30), [H100], (), (*SWEEP[1:], earlier), NOW)
    assert due.at == NOW + timedelta(days=10), "that one was on an earlier cluster with the same id"


def test_a_pool_says_whose_jobs_have_its_machines() -> None:  # N19
    def of(user: str, count: int, state: str = "RUNNING") -> VertexJob:
        one = job(h100(), count, on=H100.id, state=f"JOB_STATE_{state}")
        started = NOW if state == "RUNNING" else None
        return replace(one, labels={"slipway-user": user} if user else {}, start_time=started, display_name=f"j{count}")

    busy = (of("ada", 1), of("grace", 4), of("ada", 2), of("", 1), of("ci", 1, "QUEUED"))
    (row,) = rows(CATALOG, [H100], busy, ())
    assert [(one.name, one.machines) for one in row.holders] == [("grace", 4), ("ada", 3), ("j1", 1)]
    assert (row.waiting, row.getting_ready) == (1, 0)
    several = (of("ci", 1, "QUEUED"), of("ci", 2, "QUEUED"), of("ada", 3, "PENDING"))
    (row,) = rows(CATALOG, [H100], several, ())
    assert (row.waiting, row.getting_ready) == (2, 1), "the service has accepted one"
    (row,) = rows(CATALOG, [replace(H100, state="PROVISIONING")], several, ())
    assert (row.waiting, row.getting_ready) == (3, 0), "all wait for the cluster"

"""The table of pools as values, without a cloud."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from slipway.cli.pools import rows
from tests.slipway.quota.region import cluster, h100, job

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

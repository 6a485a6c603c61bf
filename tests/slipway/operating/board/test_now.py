"""A stack at one moment: whose machines they are, who waits and why, and quota with a limit. # N19"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.quota.report import QuotaRow
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import UNKNOWN
from slipway.operating.board.now import Share, gauges, pools_now, queue
from slipway.operating.pool_rows import Holder, PoolRow
from tests.builders import jobs

CPU = MachineSpec("n1-standard-8")
NOW = datetime(2026, 11, 24, tzinfo=UTC)
NAME = "projects/1/locations/us-central1/persistentResources/cpu-1a2b3c4"


def row(used: int, live: int, most: int | None, *holders: Holder) -> PoolRow:
    pool = ResourcePool("workers", CPU, live, used, None if most is None else 1, most)
    cluster = PersistentResource(NAME, "RUNNING", {}, (pool,))
    return PoolRow("cpu", "us-central1", cluster, pool, False, (), None, False, UNKNOWN, holders)


def shares(one: PoolRow) -> list[tuple[str, str, int]]:
    (pool,) = pools_now([one])
    return [(share.what, share.user, share.machines) for share in pool.shares]


def test_machines_are_somebodys_free_or_yet_to_come() -> None:
    assert shares(row(3, 4, 6, Holder("ada", 2, ("tune",)), Holder("ci", 1, ("eval",)))) == [
        *(("busy", "ada", 2), ("busy", "ci", 1), ("free", "", 1), ("room", "", 2)),
    ]


def test_what_is_busy_with_no_job_of_a_list_is_nobodys() -> None:
    assert shares(row(3, 3, None, Holder("ada", 1, ("tune",)))) == [("busy", "ada", 1), ("busy", "", 2)]


def test_lists_that_lag_make_no_machine_twice() -> None:
    assert shares(row(0, 2, 2, Holder("ada", 2, ("tune",)))) == [("busy", "ada", 2)]


def test_a_price_that_nobody_knows_is_none() -> None:
    (pool,) = pools_now([row(0, 1, 1)])
    assert pool.price_per_hour_now is None and pool.shares == (Share("free", 1),)


def test_the_oldest_waits_first_and_each_says_for_what_and_why() -> None:
    newer = jobs.job("1", on="cpu-1a2b3c4", state="QUEUED", replicas=2, create_time=NOW - timedelta(hours=1))
    older = jobs.job("2", state="QUEUED", replicas=2, create_time=NOW - timedelta(hours=3))
    found = list(queue((newer, older, jobs.job("9")), [row(2, 2, 2).cluster], {"cpu-1a2b3c4": "cpu"}, NOW))
    assert [(one.id, one.on, one.machines) for one in found] == [("2", "on-demand", 2), ("1", "cpu", 2)]
    assert "quota" in found[0].why and "cpu/workers" in found[1].why


def test_offers_beside_the_pools_are_no_gauge() -> None:
    of_pool = QuotaRow("m_cpus", "us-central1", "pool cpu", 8, 16, 100, 4, "ok", retiring=2)
    of_offer = QuotaRow("m_cpus", "us-central1", "offer", None, 16, 100, 4, "ok")
    (one,) = gauges([of_pool, of_offer])
    assert (one.now, one.ceiling, one.others, one.limit) == (8, 16, 6, 100)

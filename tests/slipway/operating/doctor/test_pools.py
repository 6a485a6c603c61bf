"""Pools that are paid for and idle, and jobs that pay for machines beside them. # N10 B4"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from syrupy.assertion import SnapshotAssertion

from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding
from slipway.model.labels import STACK_LABEL
from slipway.model.season import Season
from tests.slipway.operating.doctor.picture import CPU, FILE, found, lives, published
from tests.slipway.reviewing.builders import NOW, catalog, cluster, job, offer, template

DONE = replace(job("done", on=CPU, state="SUCCEEDED"), end_time=NOW - timedelta(days=2))


def test_an_idle_pool_says_what_it_cost_since_its_last_job_and_where_it_stands() -> None:
    one = found(lives(), jobs=(), recent=(DONE,))["pool-idle"]
    assert one.sentence == "pool cpu/workers has been idle for 2 days, $22.26 since its last job"
    assert one.fix == f"remove the pool in {FILE}:6"
    assert one.means == "an `idleLimit` on the cluster does that by itself"
    larger = found(lives(replicas=2), jobs=(), recent=(DONE,))["pool-idle"]
    assert "$44.52" in larger.sentence


def test_without_any_job_the_cluster_s_age_counts_or_as_far_back_as_was_looked() -> None:
    assert "idle for 9 days" in found(lives(), jobs=(), recent=())["pool-idle"].sentence
    long = found(lives(days=29.9), jobs=(), recent=())["pool-idle"].sentence
    assert "for 30 days" in long and long.endswith("and no job on it")
    assert "for at least 30 days" in found(lives(days=80), jobs=(), recent=())["pool-idle"].sentence


def test_jobs_of_an_earlier_cluster_with_the_same_id_do_not_count() -> None:
    """One that was made anew, as for another season, has not idled since the last job of the one before."""
    assert found(lives(days=0.5), jobs=(), recent=(DONE,)) == {}
    sentence = found(lives(days=1.5), jobs=(), recent=(DONE,))["pool-idle"].sentence
    assert sentence == "pool cpu/workers has been idle for 36 h, $16.70 and no job on it"


def test_a_pool_in_use_or_idle_since_today_is_none_of_it() -> None:
    recent = (replace(DONE, end_time=NOW - timedelta(hours=20)),)
    assert found(lives(), jobs=(), recent=recent) == {}
    assert found(lives(used=1), jobs=(), recent=()) == {}, "a job that no list shows yet"
    assert found(lives(), jobs=(job("waits", on=CPU, state="PENDING"),), recent=()) == {}
    assert found(lives(state="STOPPING"), jobs=(), recent=()) == {}
    assert found(lives(replicas=0), jobs=(), recent=()) == {}


def test_an_idle_limit_is_waited_for_and_then_a_deployment_does_it() -> None:  # B6
    def told(days: float) -> Mapping[str, Finding]:
        limited = cluster("cpu", id=CPU.id, season=Season(idle_limit=timedelta(days=days)))
        return found(lives(), jobs=(), recent=(DONE,), published=published(catalog(limited)))

    assert told(3) == {}
    assert told(1.5)["pool-idle"].fix == "pulumi up --stack prod"


def test_what_was_not_read_is_not_called_idle() -> None:
    denied = Unknown("denied", "aiplatform.googleapis.com customJobs.list", "roles/aiplatform.viewer", "ada")
    assert set(found(lives(), jobs=(), recent=denied)) == {"unread-part"}
    assert set(found(lives(), jobs=denied, recent=())) == {"unread"}


def test_a_job_beside_a_pool_that_has_its_machines_free(snapshot: SnapshotAssertion) -> None:
    beside = job("alone", strategy="STANDARD")
    told = published(catalog(CPU, template("lora")))
    one = found(lives(used=1), jobs=(beside,), published=told)["job-beside-pool"]
    assert one.sentence == snapshot
    assert one.fix == "slipway submit lora --capacity pool"
    by_hand = replace(beside, labels={})
    assert found(lives(used=1), jobs=(by_hand,), published=told)["job-beside-pool"].fix == "slipway templates"
    without = published(catalog(CPU, template("lora", offer("spot"))))
    assert found(lives(used=1), jobs=(beside,), published=without)["job-beside-pool"].fix == "slipway templates"
    assert found(lives(used=1), jobs=(replace(beside, labels={STACK_LABEL: "dev"}),), published=told) == {}


def test_a_job_beside_a_full_pool_or_of_other_machines_is_as_it_should_be() -> None:
    assert found(lives(used=4), jobs=(job("alone"),)) == {}
    assert found(lives(used=1), jobs=(job("alone", replicas=4),)) == {}
    other = replace(CPU.pools[0].machine, type="n1-standard-4")
    assert found(lives(used=1), jobs=(job("alone", machine=other),)) == {}

"""Why a job waits, in words, and what somebody who waits hears of a service that does not answer: at once, rarely
then, and not for ever. # N4 # N9"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.failures import Answer, Call, Unavailable, failure
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.using.context import Clock, Context
from slipway.using.jobs.follower import Contact
from slipway.using.jobs.wait_reader import read_why
from slipway.using.jobs.waiting import wait_reason
from tests.builders import jobs

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
N1 = MachineSpec("n1-standard-8")
POOL = ResourcePool("workers", N1, 2, 2, 1, 2)
CLUSTER = PersistentResource("projects/1/locations/r/persistentResources/cpu-1", "RUNNING", {}, (POOL,), NOW)
WAITING = jobs.job("digits", on="cpu-1", state="QUEUED", replicas=2, create_time=NOW)
HOLDER = jobs.job("tune", on="cpu-1", user="ada", replicas=2, start_time=NOW - timedelta(minutes=3))


def why(job: VertexJob = WAITING, cluster: PersistentResource | None = CLUSTER, *others: VertexJob) -> str:
    return wait_reason(job, cluster, "cpu", (job, *others), NOW)


def test_a_full_pool_and_who_has_it(snapshot: SnapshotAssertion) -> None:  # N9
    assert why(WAITING, CLUSTER, HOLDER) == snapshot


def test_a_pool_that_grows() -> None:  # N9
    growing = replace(CLUSTER, state="UPDATING", pools=(replace(POOL, replicas=1, used=0),))
    assert why(WAITING, growing) == "pool grows: cpu/workers has 1 free, needs 2, grows 1 → 2 of 2 machines"


def test_an_earlier_job_may_start_first_and_a_later_one_is_only_another(snapshot: SnapshotAssertion) -> None:  # N9
    idle = replace(CLUSTER, pools=(replace(POOL, used=0),))
    assert why(WAITING, idle) == "queued by the service"
    other = replace(WAITING, name="projects/1/locations/r/customJobs/3", create_time=NOW - timedelta(minutes=1))
    assert why(WAITING, idle, other) == snapshot
    later = replace(other, create_time=NOW + timedelta(minutes=1))
    assert why(WAITING, idle, later) == "queued by the service: machines are free; 1 job waits as well"


def test_a_cluster_that_failed_meanwhile() -> None:
    assert why(WAITING, replace(CLUSTER, state="ERROR", error="no machines")) == "cluster cpu is ERROR: no machines"
    assert why(WAITING, replace(CLUSTER, state="PROVISIONING")) == "cluster cpu is PROVISIONING"


def test_getting_ready_is_no_waiting_for_machines() -> None:
    assert why(replace(WAITING, state="JOB_STATE_PENDING"), CLUSTER) == "accepted, getting ready to run"
    lost = replace(WAITING, state="JOB_STATE_PENDING", start_time=NOW, persistent_resource_id="", strategy="SPOT")
    assert why(lost, None) == "lost its machines, waits for others"


FLEX = {"strategy": "FLEX_START", "max_wait": 7200.0, "create_time": NOW}
STOCK_OUT = "STOCKOUT: 1 × n1-standard-8 were not available. Resources are insufficient in region: r. (try 1 of 3)"


@pytest.mark.parametrize(
    ("changes", "word", "said"),
    [
        ({}, STOCK_OUT, "waits for machines; the service says: STOCKOUT"),
        ({}, "", "accepted, getting ready to run"),
        ({}, "All 1 × n1-standard-8 are there.", "accepted, getting ready to run; the service says: All 1"),
        ({"start_time": NOW}, STOCK_OUT, "lost its machines, waits for others; the service says: STOCKOUT"),
        ({"state": "JOB_STATE_QUEUED"}, STOCK_OUT, "queued by the service: its quota is in use, or "),
        # No field tells that its machines are there: nothing is claimed against what the service says.
        (FLEX, "", "in the queue of flex-start: 2 h are left"),
        (FLEX, "Pulling image python:3.11...", "flex-start: 2 h are left; the service says: Pulling image"),
    ],
)
def test_what_the_service_tells_of_is_what_a_job_waits_for(
    changes: dict[str, Any], word: str, said: str
) -> None:  # N9, W1
    beside = replace(WAITING, **{"state": "JOB_STATE_PENDING", "persistent_resource_id": "", **changes})
    assert read_why(cast(Any, None), beside, "", NOW, lambda job: word)(NOW).startswith(said)


def test_a_cluster_that_cannot_be_read_is_said() -> None:
    assert "can't be read" in why(WAITING, None)


BUSY = failure(Call("read job 1"), Answer(503, "UNAVAILABLE", "busy"))


class Hands:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.at = 0.0
        begun = datetime(2026, 11, 21, 12, 1, tzinfo=UTC)
        self.clock = Clock(lambda: begun + timedelta(seconds=self.at), lambda: self.at)


def test_it_is_said_at_once_then_rarely_and_given_up_after_a_while(snapshot: SnapshotAssertion) -> None:
    hands = Hands()
    contact = Contact(hands.clock, 3600.0)
    assert contact.lost(BUSY) == "no contact (busy); still trying for 1 h; Ctrl-C loses nothing: the job goes on"
    said: list[str] = []
    for hands.at in range(5, 3600, 5):
        said += filter(None, [contact.lost(BUSY)])
    assert set(said) == snapshot and len(said) == 11
    hands.at = 3601.0
    with pytest.raises(Unavailable):
        contact.lost(BUSY)


def test_an_answer_begins_it_anew() -> None:
    hands = Hands()
    contact = Contact(hands.clock, 60.0, goes_on="the runs go on")
    assert contact.lost(BUSY).endswith(": the runs go on")
    hands.at = 59.0
    contact.there()
    hands.at = 90.0
    assert contact.lost(BUSY).startswith("no contact (busy)")


def test_what_only_shows_something_is_never_given_up() -> None:
    hands = Hands()
    contact = Contact(hands.clock, float("inf"), "logs are unread")
    assert contact.lost(BUSY).startswith("logs are unread (busy)")
    hands.at = 86_400.0
    assert contact.lost(BUSY).startswith("logs are unread since")


def test_how_long_is_a_setting() -> None:
    assert Context(environ={}).no_contact == 3600.0
    assert Context(environ={"SLIPWAY_NO_CONTACT": "12h"}).no_contact == 43_200.0
    with pytest.raises(ConfigError):
        assert Context(environ={"SLIPWAY_NO_CONTACT": "long"}).no_contact

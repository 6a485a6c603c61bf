"""A cluster is made or the person is told, whatever the service answers: refused, lost, stocked out, slow. # N2"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError, PolicyError, ResourceError, SlipwayError, WaitTimeout
from slipway.deploying.creation.cluster_creation import ClusterCreation
from slipway.deploying.creation.creation_context import CreationContext, CreationPolicy
from slipway.deploying.creation.parallel_creation import PATIENCE, creation_policy
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.model.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.machines.spec import MachineSpec

from .vertex import LABELS, OPERATION, RUNS, Script, Step, Waits, cluster, gone, refused, taken, unanswered, unreachable

ID = "cpu-1a2b3c4"
BEGAN = datetime(2026, 11, 20, 14, tzinfo=UTC)


def new(
    id_: str = ID, machines: str = "1 n1-standard-8", within: float | None = None, other: int = 0
) -> CurrentCluster:
    count, machine = machines.split()
    pool = PoolSpec("all", MachineSpec(machine), int(count), int(count), False, int(count))
    within_s = None if within is None else timedelta(seconds=within)
    spec = ClusterSpec("cpu", (pool,), display_name=id_, create_within=within_s, alternative=other)
    return CurrentCluster(spec, id_, LABELS["slipway-hash"], import_=False)


NEW = new()
QUOTA = "Quota exceeded for custom_model_training_nvidia_h100_gpus."
STOCK_OUT = "Resources are insufficient in region: us-central1. Try a different region or use a different accelerator."
JOB = VertexJob("j/1", "tune", "JOB_STATE_QUEUED", {}, persistent_resource_id=ID)


class Story:
    """What happened while a cluster was made."""

    def __init__(
        self, posts: list[Step], looks: list[Step], *, use: InUse | Unknown | None = None, ends: Step = OPERATION
    ) -> None:
        self.vertex, self.waits, self.said, self.warned = Script(posts, looks), Waits(), [""][:0], [""][:0]
        self.vertex.ends = ends
        free = InUse() if use is None else use
        self.cloud = CreationContext(
            LABELS["slipway-stack"],
            self.vertex,
            lambda _: free,
            self.said.append,
            self.warned.append,
            self.waits.now,
            self.waits.pause,
            lambda: BEGAN + timedelta(seconds=self.waits.now()),
        )
        self.id = ""

    def make(self, new: CurrentCluster = NEW, *failed: str, insists: bool = False, **policy: Any) -> Story:
        policed = CreationPolicy(insists=insists, **{"refused": 100, "made": 1000, "again": 60, **policy})
        self.id = ClusterCreation(new, self.cloud, policed, failed).run()
        return self

    def fails(self, kind: type[SlipwayError] = ResourceError, new: CurrentCluster = NEW, **policy: Any) -> Any:
        with pytest.raises(kind) as caught:
            self.make(new, **policy)
        assert caught.value.why and caught.value.fix, "an error says what, why, and what to type"
        return caught.value


def test_it_is_made_by_one_request_and_waited_for(snapshot: SnapshotAssertion) -> None:
    story = Story([OPERATION], [cluster("PROVISIONING"), cluster("PROVISIONING"), RUNS]).make()
    assert story.vertex.sent == [f"POST {ID}"]
    assert story.vertex.bodies == [NEW.request("dev")]
    assert story.waits.slept == [1, 2]
    assert story.said == snapshot


def test_one_that_takes_too_long_is_left_to_the_next_run_which_is_said() -> None:
    error = Story([OPERATION], [cluster("PROVISIONING")]).fails(WaitTimeout, made=7200)
    assert error.what.startswith(f"cluster {ID} is still being made")
    assert "deploy again" in error.fix and "up to two hours" in error.fix


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_refusal_is_said_at_once_in_the_services_words_and_tried_again(status: int) -> None:
    story = Story([refused(status, QUOTA), refused(status, QUOTA), OPERATION], [gone(), gone(), RUNS])
    if status == 429:
        story.vertex.looks = [RUNS]
    story.make()
    assert len(story.warned) == 1 and QUOTA in story.warned[0] and "up to 2 min" in story.warned[0]
    assert story.vertex.sent == [f"POST {ID}"] * 3
    assert story.waits.slept == [1, 2]


def test_a_refusal_for_quota_has_an_end_of_its_own() -> None:
    story = Story([refused(429, QUOTA)], [gone()])
    error = story.fails(PolicyError, refused=15 * 60)
    assert ID in error.what and "(21 tries in 15 min)" in error.what
    assert error.why == QUOTA
    assert "slipway quota" in error.fix and "deploy again" in error.fix and "nothing of it is left" in error.fix
    assert sum(story.waits.slept) <= 15 * 60
    assert max(story.waits.slept) == 60


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_no_second_try_can_mend_ends_at_once(status: int) -> None:
    story = Story([refused(status, "Permission denied")], [gone()])
    with pytest.raises(SlipwayError, match="could not create cluster"):
        story.make()
    assert story.vertex.sent == [f"POST {ID}"] and story.waits.slept == []


@pytest.mark.parametrize("lost", [unanswered(), refused(500), refused(502)])
def test_a_lost_answer_is_looked_up_and_gone_on_with(lost: Exception) -> None:
    story = Story([lost], [cluster("PROVISIONING"), cluster("PROVISIONING"), RUNS]).make()
    assert story.vertex.sent == [f"POST {ID}"], "one request: the cluster was there"
    assert story.warned == []
    assert story.said[0].startswith(f"cluster {ID} was made although")


def test_a_server_in_trouble_that_made_nothing_says_so() -> None:
    error = Story([refused(500, "Internal error")], [gone()]).fails()
    assert "it is refused" in error.what and "nothing of it is left" in error.fix


def test_an_accepted_one_that_is_not_there_yet_is_awaited() -> None:
    assert Story([OPERATION], [gone(), gone(), RUNS]).make().vertex.sent == [f"POST {ID}"]


def test_where_nothing_answers_it_gives_up_soon() -> None:
    story = Story([unreachable()], [gone()])
    error = story.fails(refused=900, unreachable=20)
    assert "it gets no answer" in error.what and sum(story.waits.slept) <= 20


def test_a_name_that_our_own_request_took_is_no_conflict() -> None:
    assert Story([taken()], [RUNS]).make().vertex.sent == [f"POST {ID}"]


def test_a_name_that_somebody_else_took_ends_at_once() -> None:
    error = Story([taken()], [cluster("RUNNING", labels={})]).fails()
    assert ID in error.what and "somebody else made it" in error.what
    assert "generation" in error.fix


def test_a_stock_out_is_cleared_away_and_tried_again() -> None:
    looks: list[Step] = [cluster("PROVISIONING"), failed(), failed(), failed(), cluster("STOPPING"), gone(), RUNS]
    story = Story([OPERATION], looks).make()
    assert story.vertex.sent == [f"POST {ID}", f"DELETE {ID}", f"POST {ID}"]
    assert any(line.startswith(f"deleting cluster {ID}: it failed ({STOCK_OUT})") for line in story.said)
    assert len(story.warned) == 1 and STOCK_OUT in story.warned[0] and "up to 2 min" in story.warned[0]


def test_a_stock_out_that_lasts_ends_and_says_what_the_next_up_does() -> None:
    looks: list[Step] = [failed(), failed(), gone()] * 50
    story = Story([OPERATION], looks)
    error = story.fails()
    assert sum(line.startswith(f"cluster {ID} is accepted") for line in story.said) == 1
    assert "ERROR (8 tries in" in error.what
    assert error.why == STOCK_OUT
    assert "deploy again" in error.fix and "nothing of it is left" in error.fix


def test_a_wait_says_what_for_which_try_and_until_when() -> None:
    story = Story([OPERATION], [failed(), failed(), gone()] * 200)
    story.fails(new=new(machines="4 a3-highgpu-8g", within=7200), refused=1)
    waits = [line for line in story.said if "waits for" in line]
    words = "waits for 4 a3-highgpu-8g: try {} was in vain, the next one in {} s, the last one by 2026-11-20 16:00 UTC"
    assert waits[:2] == [f"cluster {ID} {words.format(n, n)}" for n in (1, 2)]
    assert 3 < len(waits) < 20, "once in a while"
    assert "for up to 2 h" in story.warned[0], "the stack file's, not the usual patience"


def test_a_wait_of_days_has_no_end_but_its_own() -> None:
    """Its pauses double, and Python's numbers end at 2¹⁰²⁴ seconds."""
    story = Story([OPERATION], [failed(), failed(), gone()] * 1600)
    assert "tries in 25 h)" in story.fails(new=new(within=25 * 3600)).what


def test_a_person_who_insists_on_a_patience_has_it_whatever_the_stack_file_says() -> None:
    story = Story([OPERATION], [failed(), failed(), gone()] * 200)
    story.fails(new=new(within=7200), refused=30, insists=True)
    assert "for up to 30 s" in story.warned[0]


def test_a_lost_answer_before_a_stock_out_leaves_no_doubt() -> None:
    story = Story([unanswered(), OPERATION], [gone(), *[failed(), failed(), gone()] * 50])
    assert "it ended in ERROR" in story.fails().what


OTHERS = tuple(new(f"cpu-other{n}", f"{n} n1-standard-4", other=n) for n in (1, 2))
OPEN = replace(NEW, alternatives=OTHERS)


def test_without_machines_the_alternatives_are_tried_in_their_order_and_then_all_again() -> None:
    looks: list[Step] = [failed(), failed(), gone()] * 4
    story = Story([OPERATION], [*looks, RUNS])
    assert story.make(OPEN).id == OTHERS[0].id
    posts = [request for request in story.vertex.sent if request.startswith("POST")]
    assert posts == [f"POST {request}" for request in (ID, "cpu-other1", "cpu-other2", ID, "cpu-other1")]
    assert story.waits.slept.count(1) == len(story.waits.slept), "a pause after each round, none between"
    assert STOCK_OUT in story.warned[0] and "as cpu-other1 (alternative 1)" in story.warned[0]
    assert any("or 2 n1-standard-4: try 3" in line for line in story.said)


def test_each_alternative_is_tried_once_however_short_the_patience() -> None:
    story = Story([OPERATION], [failed(), failed(), gone()] * 50)
    error = story.fails(new=OPEN, refused=0)
    assert ID in error.what and "2 alternatives (3 tries in" in error.what
    assert [line.partition(":")[0] for line in error.why.splitlines()] == [
        f"{ID}, 1 n1-standard-8",
        "cpu-other1 (alternative 1), 1 n1-standard-4",
        "cpu-other2 (alternative 2), 2 n1-standard-4",
    ]
    assert error.why.count(STOCK_OUT) == 3


def test_quota_that_is_short_of_one_is_no_hindrance_of_the_next() -> None:
    assert Story([refused(429, QUOTA), OPERATION], [gone(), RUNS]).make(OPEN).id == OTHERS[0].id


def test_a_cluster_that_quota_never_permits_is_asked_for_once() -> None:
    story = Story([refused(429, QUOTA)] * 2, [gone()] * 2)
    error = story.fails(PolicyError, hopeless=frozenset({"cpu"}))
    assert "(one try)" in error.what and QUOTA in error.why and not story.waits.slept
    assert "slipway quota" in error.fix and "more time" not in error.fix
    assert Story([refused(429, QUOTA), OPERATION], [gone(), RUNS]).make(insists=True, hopeless=frozenset({"cpu"})).id


def test_what_may_have_been_made_is_never_left_for_an_alternative() -> None:
    """Both would be billed."""
    story = Story([unanswered()], [gone()])
    assert "may have been made" in story.fails(new=OPEN).what
    assert set(story.vertex.sent) == {f"POST {ID}"}


@pytest.mark.parametrize(
    ("use", "why"),
    [
        (InUse((JOB,)), f"cluster {ID} is not deleted: 1 job has not ended"),
        (
            Unknown("denied", "customJobs.list", "roles/aiplatform.viewer"),
            f"cluster {ID} is not deleted: can't tell whether jobs run on it",
        ),
    ],
)
def test_a_failed_one_that_may_have_jobs_stays_which_is_said(use: InUse | Unknown, why: str) -> None:
    story = Story([OPERATION, taken()], [failed()], use=use)
    error = story.fails(refused=0)
    assert story.vertex.sent == [f"POST {ID}"]
    assert f"the failed cluster {ID} stays" in error.fix and f"({why})" in error.fix
    assert "the next deployment" in story.warned[0]


def test_a_failure_that_no_second_try_mends_is_cleared_and_said() -> None:
    denied = cluster("ERROR", "The key can't be used.", 7)
    story = Story([OPERATION], [denied, denied, denied, gone()])
    assert story.fails().why == "The key can't be used."
    assert story.vertex.sent == [f"POST {ID}", f"DELETE {ID}"]


def test_failed_ones_of_earlier_runs_are_cleared_first() -> None:
    story = Story([OPERATION], [failed(), failed(), gone(), cluster("RUNNING", id_=f"{ID}-2")]).make(new(f"{ID}-2"), ID)
    assert story.vertex.sent == [f"DELETE {ID}", f"POST {ID}-2"]


def test_a_failed_one_that_outlives_its_deletion_is_not_waited_for_for_ever() -> None:
    """The service took the request, and its work on it failed."""
    story = Story([OPERATION, taken()], [failed()])
    error = story.fails(refused=0, cleared=30)
    assert story.waits.now() <= 40
    assert (
        f"the failed cluster {ID} stays" in error.fix
        and f"{ID} (cluster state ERROR) could not be deleted" in error.fix
    )


def test_one_that_came_back_to_life_is_left_alone() -> None:
    story = Story([OPERATION], [RUNS, cluster("RUNNING", id_=f"{ID}-2")]).make(new(f"{ID}-2"), ID)
    assert story.vertex.sent == [f"POST {ID}-2"]


def test_a_look_that_fails_for_a_moment_does_not_end_it() -> None:
    assert Story([OPERATION], [refused(503), unanswered(), RUNS]).make().vertex.sent == [f"POST {ID}"]


def test_a_look_that_is_denied_says_that_the_cluster_is_being_made() -> None:
    error = Story([OPERATION], [refused(401, "expired")]).fails()
    assert ID in error.what and "can't be watched" in error.what
    assert "deploy again" in error.fix


@pytest.mark.parametrize(("silence", "bound"), [(unreachable(), 20), (refused(503), 100)])
def test_a_service_that_stays_silent_is_not_watched_for_ever(silence: Exception, bound: float) -> None:
    story = Story([OPERATION], [silence])
    error = story.fails(unreachable=20)
    assert "can't be watched" in error.what and "deploy again" in error.fix
    assert bound <= sum(story.waits.slept) < bound + 15


def test_a_patience_that_is_none_is_refused_before_anything() -> None:
    with pytest.raises(ConfigError) as caught:
        creation_policy({PATIENCE: "long"})
    assert caught.value.what == "invalid SLIPWAY_CREATE_PATIENCE: 'long'"
    assert "15m" in caught.value.fix


def failed() -> Step:
    return cluster("ERROR", STOCK_OUT, 8)

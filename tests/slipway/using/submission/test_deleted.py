"""A job that somebody deletes: what it ran is never run again unasked, nor told as another job's success."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import AnswerUnknown, Cancelled, ResourceError
from slipway.google.failures import CloudError
from slipway.using.jobs.claimant import JobGoneError, OtherJobError, original
from slipway.using.jobs.follower import Follower
from slipway.using.submission.submission_request import SubmissionRequest

from .fallback_command import FAULTS, POOL_REGIONS, STARTS, Told, command
from .service import Context, Killed, Service, is_passing

WAITS_FOR_THE_POOL = SubmissionRequest("digits", waits={"pool": 10.0}, then=("spot",))


def elsewhere(service: Service) -> None:
    """The next command is typed on another machine, which has no journal of it."""
    service.notes.clear()


def test_a_job_that_is_deleted_while_it_is_waited_for_does_not_go_on() -> None:
    """`hello-1 goes on; come back with …` was printed, and then that there is no such job."""
    service = Service(launcher=True, starts=[None])
    job = command(service, again=False, asked=SubmissionRequest("digits", capacity_type="pool")).attempt.job
    context: Any = Context(service)
    service.delete(service.jobs[0])
    with pytest.raises(ResourceError) as raised:
        list(Follower(context.vertex, job, clock=context.clock).events())
    assert "was deleted while it was waited for" in raised.value.what and raised.value.exit_code == 4


def test_a_job_that_ran_and_was_deleted_is_gone_on_another_machine_too(snapshot: SnapshotAssertion) -> None:  # N7
    """Another one was sent, whose launcher ends with 0: what had failed was told as succeeded, and nothing ran."""
    service = Service(launcher=True, starts=[0])
    command(service, again=False)
    service.delete(service.jobs[0])
    for _ in range(2):
        elsewhere(service)
        with pytest.raises(JobGoneError) as raised:
            command(service, again=True)
    assert service.jobs == [] and service.runs == ["7000"]
    assert raised.value.render().splitlines() == snapshot
    with pytest.raises(JobGoneError):
        command(service, again=True)  # By the journal of the last command, too.


def test_a_job_that_started_and_that_no_list_shows_yet_is_found_by_its_claim(snapshot: SnapshotAssertion) -> None:  # N7
    service, show = Service(launcher=True, starts=[0], lag=1e9), Told()
    command(service, again=False)
    elsewhere(service)
    assert command(service, again=True, show=show).attempt.job.id == "7000"
    assert show.notes == snapshot
    assert len(service.jobs) == 1


def test_a_job_that_was_deleted_before_it_started_is_sent_again() -> None:  # N7
    service = Service(launcher=True, starts=[None, 0], faults={"take": ["kill"]})
    with pytest.raises(Killed):
        command(service, again=False)
    service.dead = False
    service.delete(service.jobs[0])
    elsewhere(service)
    assert command(service, again=True).attempt.job.id == "7001"
    assert service.runs == ["7001"]


def test_a_job_that_was_given_up_and_deleted_since_is_followed_by_the_next() -> None:  # N3, N7
    """It was told as gone with the advice to use another request id, by which the next one would have run twice."""
    service = Service(launcher=True, starts=[None, None], faults={"cancel": ["killed"]})
    with pytest.raises(Killed):
        command(service, again=False, asked=WAITS_FOR_THE_POOL)
    service.dead = False
    first = command(service, again=True, asked=WAITS_FOR_THE_POOL).attempt.job.id
    service.delete(service.jobs[0])
    assert command(service, again=True, asked=WAITS_FOR_THE_POOL).attempt.job.id == first == "7001"
    service.end_of_days()
    assert service.runs == ["7001"]


ON_THE_POOL = SubmissionRequest("digits", capacity_type="pool")


def test_while_its_claim_can_not_be_read_nothing_is_sent_for_a_job_that_is_gone() -> None:  # N7
    """A copy was sent, accepted and told as succeeded, which ended without having run."""
    service = Service(launcher=True)
    command(service, again=False, asked=ON_THE_POOL)
    service.end_of_days()
    service.delete(service.jobs[0])
    elsewhere(service)
    service.faults["read"] = ["busy"]
    with pytest.raises(CloudError) as raised:
        command(service, again=True, asked=ON_THE_POOL)
    assert is_passing(raised.value) and service.jobs == []
    with pytest.raises(JobGoneError):
        command(service, again=True, asked=ON_THE_POOL)


def test_what_the_journal_knows_is_told_while_the_claim_can_not_be_read() -> None:  # N7
    service = Service(launcher=True, starts=[0])
    command(service, again=False, asked=ON_THE_POOL)
    service.faults["read"] = ["busy", "busy"]
    assert command(service, again=True, asked=ON_THE_POOL).attempt.job.id == "7000"
    service.faults["read"] = ["busy"]
    service.delete(service.jobs[0])
    with pytest.raises(JobGoneError):
        command(service, again=True, asked=ON_THE_POOL)


def test_who_may_not_read_claims_can_submit_by_an_id_all_the_same() -> None:
    service = Service(launcher=True, starts=[0], faults={"read": ["denied"]})
    assert command(service, again=True, asked=ON_THE_POOL).attempt.fresh


@given(
    faults=st.fixed_dictionaries(dict.fromkeys(("create", "get", "list", "cancel", "take", "read"), FAULTS)),
    starts=STARTS,
    lag=st.sampled_from([0.0, 20.0, 1e9]),
    pool_region=POOL_REGIONS,
    deletes=st.lists(st.sampled_from(["", "newest", "oldest"]), max_size=5),
    moves=st.lists(st.booleans(), max_size=5),
)
def test_whatever_is_deleted_nothing_runs_twice_and_what_is_told_has_run(  # N2, N3, N7
    faults: dict[str, list[str]],
    starts: list[int | None],
    lag: float,
    pool_region: str,
    deletes: list[str],
    moves: list[bool],
) -> None:
    """The command is typed again after each kill and error, and once more when it is done. Between two of them somebody
    deletes a job, and goes to another machine."""
    service = Service(launcher=True, lag=lag, faults=faults, starts=starts, pool_region=pool_region)
    for attempt in range(60):
        service.dead, result = False, None
        try:
            result = command(service, again=attempt > 0)
        except JobGoneError:
            break
        except (Killed, AnswerUnknown, Cancelled):
            pass
        except CloudError as problem:
            assert is_passing(problem), problem
        which = deletes.pop(0) if deletes else ""
        if which and service.jobs:
            service.delete(service.jobs[-1 if which == "newest" else 0])
        if moves and moves.pop(0):
            elsewhere(service)
        if result and not deletes and not moves and not which:
            break
    else:
        raise AssertionError("it never ended")
    deleted = {job.id for job in service.deleted}
    if result is None:
        assert deleted.issuperset(service.runs), "another request id would run it twice"
    service.end_of_days()
    assert len(service.runs) <= 1
    if result is None and not lag:
        assert deleted.issuperset(service.runs)
    if result is not None:
        told = result.attempt.job
        ran = [job for job in service.jobs if job.ran and job.body["labels"] == told.labels]
        assert ran or told.id in deleted


def test_who_waits_for_a_copy_is_told_of_the_one_that_ran() -> None:  # N7
    faults = {"create": ["lost"]}
    service = Service(launcher=True, starts=[None], pool_region="europe-west4", faults=faults, lag=1e9)
    with pytest.raises(AnswerUnknown):
        command(service, again=False)
    elsewhere(service)
    service.starts = [None]
    service.faults["take"] = ["kill"]
    with pytest.raises(Killed):
        command(service, again=True)
    service.dead = False
    service.end_of_days()
    context: Any = Context(service)
    ran, copy = [context.vertex.job(job.name) for job in service.jobs]
    assert copy.state == "JOB_STATE_SUCCEEDED" and service.runs == [ran.id]

    def seen() -> Any:
        return original(context.vertex, context.connection.storage, copy)

    assert seen() == ran
    service.stored[f"gs://work/claims/{copy.labels['slipway-request']}"] = copy.id
    assert seen() is None, "it is the one itself"
    service.stored[f"gs://work/claims/{copy.labels['slipway-request']}"] = ran.id
    other = replace(copy, labels={**copy.labels, "slipway-template": "other"})
    with pytest.raises(OtherJobError) as another:
        original(context.vertex, context.connection.storage, other)
    assert "template is digits, here other" in another.value.why, "it never ran, as the id was another one's"
    service.delete(service.jobs[0])
    with pytest.raises(JobGoneError, match=f"{copy.display_name} was a copy of {ran.id}, which is gone") as raised:
        seen()
    assert copy.id in raised.value.why
    service.faults["read"] = ["busy"]
    assert seen() is None, "nobody can tell"

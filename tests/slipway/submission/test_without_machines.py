"""A job that ended because its machines never came is moved on as planned, however the others can be read just then."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from slipway.cloud.failures import Answer, CloudError, failure
from slipway.submission.candidates import SubmissionRequest
from slipway.submission.choice import JudgedCandidate, obstacle

from .fallback_command import Told, command
from .service import CALL, Job
from .test_choice import BUSY, judged
from .test_unread_offers import UNREAD, Silent

SPOT_THEN_POOL = SubmissionRequest("digits", waits={"spot": 600.0}, then=("pool",))


@dataclass
class StockedOut(Silent):
    """The first job ends without machines when it is looked at, after so many `seconds`."""

    looks: int = 0
    state: str = "JOB_STATE_FAILED"
    seconds: float = 0.0

    def _pass(self, job: Job) -> None:
        if job is not self.jobs[0]:
            super()._pass(job)
        elif job.ended is None and self.time >= self.seconds:
            job.state, job.ended = self.state, self.time
            job.body = {**job.body, "error": {"code": 8, "message": "Resources are insufficient in region"}}


@pytest.mark.parametrize("state", ["JOB_STATE_FAILED", "JOB_STATE_EXPIRED"])
@pytest.mark.parametrize("launcher", [True, False])
def test_while_the_other_cannot_be_looked_at_it_is_asked_again(launcher: bool, state: str) -> None:  # N3
    """The submission ended with exit code 4 and was forgotten; it was told that the job, which had ended, stays."""
    show, service = Told(), StockedOut(launcher=launcher, starts=[None, 0], looks=3, state=state)
    done = command(service, again=False, asked=SPOT_THEN_POOL, show=show)
    service.end_of_days()
    assert done.attempt.job.id == "7001" and service.runs == ["7001"]
    (note,) = show.notes
    name = service.jobs[0].body["displayName"]
    assert name in note and "looked at again every minute" in note
    assert service.jobs[1].created == 120, "it was looked at three times"


@pytest.mark.parametrize("fault", ["catalog", "take"])
@pytest.mark.parametrize("launcher", [True, False])
def test_nor_does_a_catalog_or_a_claim_that_fails_for_a_moment_end_it(fault: str, launcher: bool) -> None:  # N3
    show, service = Told(), StockedOut(launcher=launcher, starts=[None, 0], faults={fault: ["busy", "busy"]})
    done = command(service, again=False, asked=SPOT_THEN_POOL, show=show)
    service.end_of_days()
    assert done.attempt.job.id == "7001" and service.runs == ["7001"]
    (note,) = show.notes
    assert ("looked at again" if fault == "catalog" else "could not be given up") in note and "stays" not in note


def test_after_an_hour_without_an_answer_it_is_the_end() -> None:  # N3
    show, service = Told(), StockedOut(launcher=True, starts=[None, 0], looks=10**9)
    assert command(service, again=False, asked=SPOT_THEN_POOL, show=show).attempt.job.id == "7000"
    assert 3600 <= service.time < 3700 and len(show.notes) == 1 and len(service.jobs) == 1


def denied() -> CloudError:
    return failure(CALL, Answer(403, "PERMISSION_DENIED", "may not read cluster cpu-1"))


@pytest.mark.parametrize(
    "service",
    [
        StockedOut(launcher=True, starts=[None, 0], looks=10**9, problem=denied),
        StockedOut(launcher=True, starts=[None, 0], faults={"catalog": ["denied"]}),
    ],
    ids=["pool", "catalog"],
)
def test_where_the_others_may_not_be_read_it_is_the_end_at_once(service: StockedOut) -> None:  # N3
    """The stock-out was told an hour late: whoever lacks a role lacks it with each look."""
    show = Told()
    assert command(service, again=False, asked=SPOT_THEN_POOL, show=show).attempt.job.id == "7000"
    (note,) = show.notes
    name = service.jobs[0].body["displayName"]
    first = note.splitlines()[0]
    assert name in first and first.endswith("was not moved on")
    assert service.time < 60


def test_where_one_of_the_others_may_not_be_read_and_one_can_not_just_then_it_is_asked_again() -> None:  # N3
    may_not = JudgedCandidate(judged("pool", UNREAD).candidate, replace(UNREAD, barred=True))
    just_then = judged("spot", UNREAD)
    for judging, unread, again in (
        ([may_not], True, False),
        ([just_then], True, True),
        ([may_not, just_then], True, True),
        ([may_not, judged("spot", BUSY)], True, False),
        ([judged("spot", BUSY)], False, False),
    ):
        found = obstacle(judging)
        assert found and (found.unread, found.again) == (unread, again)


def test_where_the_others_surely_can_not_run_it_is_the_end_at_once() -> None:  # N3
    show = Told()
    service = StockedOut(launcher=True, starts=[None, 0], limit=3)
    asked = SubmissionRequest("digits", waits={"pool": 600.0}, then=("spot",))
    assert command(service, again=False, asked=asked, show=show).attempt.job.id == "7000"
    (note,) = show.notes
    name = service.jobs[0].body["displayName"]
    assert f"{name}, which got no machines" in note and "looked at again" not in note
    assert service.time < 60


def test_the_others_are_looked_at_when_it_ends_also_where_that_was_done_a_moment_ago() -> None:  # N3
    """Its wait had run out, the pool could not be read, and it ended before the next look: nothing was looked at."""
    asked = SubmissionRequest("digits", waits={"spot": 10.0}, then=("pool",))
    service = StockedOut(launcher=True, starts=[None, 0], looks=1, seconds=20.0)
    done = command(service, again=False, asked=asked)
    assert done.attempt.job.id == "7001" and service.jobs[1].created < 60

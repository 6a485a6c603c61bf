"""A cancel of a submission that moves on, at any call of whoever sends it: nothing runs after it, or is left."""

from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import Cancelled
from slipway.using.jobs.claimant import original
from slipway.using.submission import cancelling
from slipway.using.submission.submission_request import SubmissionRequest

from .cancelled_service import CancelledService, typed
from .fallback_command import STARTS, Told, catalog, command
from .service import Context, Killed, Service

MOVES = SubmissionRequest("digits", waits={"pool": 10.0, "spot": 10.0}, then=("on-demand",))


@given(
    launcher=st.booleans(),
    cancel_at=st.integers(1, 60),
    after=st.booleans(),
    newest=st.booleans(),
    kills=st.booleans(),
    starts=STARTS,
    lag=st.sampled_from([0.0, 20.0, 1e9]),
)
def test_after_a_cancel_nothing_runs_and_nothing_is_left(
    launcher: bool, cancel_at: int, after: bool, newest: bool, kills: bool, starts: list[int | None], lag: float
) -> None:
    """`cancelling …` was said, and then the job on demand started and was paid."""  # N3
    service = CancelledService(
        launcher=launcher, cancel_at=cancel_at, after=after, newest=newest, kills=kills, starts=starts, lag=lag
    )
    typed(service, lambda again: command(service, again=again, asked=MOVES))
    if not service.cancelled:
        return
    left = [job.id for job in service.jobs if job.ended is None]
    service.end_of_days()
    assert service.runs == list(service.ran_before), "user code began after it"
    assert left == [], "a job is left that was paid"


@pytest.mark.parametrize("lag", [0.0, 1e9])
def test_a_cancel_just_before_the_next_job_is_sent_ends_that_one_before_its_code(lag: float) -> None:  # N3
    service = CancelledService(launcher=True, starts=[None, 0, 0], lag=lag)
    create = service.create_job

    def create_job(*arguments: Any) -> Any:
        if len(service.jobs) == 1:
            service.cancel_one()
        return create(*arguments)

    service.create_job = create_job  # type: ignore[assignment, method-assign]
    show = Told()
    with pytest.raises(Cancelled) as raised:
        command(service, again=False, asked=MOVES, show=show)
    assert "was cancelled" in raised.value.what and "another request id" in raised.value.fix
    assert len(service.jobs) == 2 and all(job.ended is not None for job in service.jobs)
    service.end_of_days()
    assert service.runs == []


def test_the_same_request_is_cancelled_on_another_machine_too() -> None:  # N3, N7
    service = CancelledService(launcher=True, starts=[None, None])
    service.faults["take"] = ["kill"]
    with pytest.raises(Killed):
        command(service, again=False, asked=MOVES)
    service.dead = False
    service.cancel_one()
    service.notes.clear()
    service.delete(service.jobs[0])
    for _ in range(2):
        with pytest.raises(Cancelled) as raised:
            command(service, again=True, asked=MOVES)
    assert "not sent" in raised.value.what and service.jobs == []


def test_a_bucket_that_hangs_delays_no_cancel(monkeypatch: pytest.MonkeyPatch) -> None:
    """`jobs cancel` printed nothing for 200 s, and cancelled nothing, though Vertex AI answered."""
    monkeypatch.setattr(cancelling, "NOTED_FIRST_S", 0.01)
    service, asked, told = Service(launcher=True, starts=[None]), Event(), list[str]()
    command(service, again=False, asked=SubmissionRequest("digits", capacity_type="pool"))
    context: Any = Context(service, catalog(launcher=True))
    create, cancel = service.create, service.cancel
    service.create = lambda *given, **more: asked.wait(5) and create(*given, **more)  # type: ignore[method-assign]

    def cancel_and_tell(name: str) -> None:
        cancel(name)
        asked.set()

    service.cancel = cancel_and_tell  # type: ignore[method-assign]
    job = context.vertex.job(service.jobs[0].name)
    done = cancelling.cancel_submissions(context, [[job]], told.append)
    assert [each.name for each in done.asked] == [job.name] and not done.problems
    assert told == ["gs://work has not answered yet; the jobs are cancelled meanwhile"]
    assert service.stored["gs://work/claims/r1"] == "cancelled"


@pytest.mark.parametrize(("end", "said"), [("moved", "moved on"), ("cancelled", "was cancelled")])
def test_a_job_that_ended_well_without_its_claim_is_no_success(end: str, said: str) -> None:  # N7
    """A launcher of an older release ends with 0 there, before the service has ended the job."""
    service = Service(launcher=True, starts=[0], stored={"gs://work/claims/r1": end})
    job = command(service, again=False, asked=SubmissionRequest("digits", capacity_type="pool")).attempt.job
    context: Any = Context(service, catalog(launcher=True))
    with pytest.raises(Cancelled) as raised:
        original(context.vertex, context.connection.storage, context.vertex.job(job.name))
    assert said in raised.value.why

"""Moving on, in any order of starts, faults, lagging lists, lost answers and kills."""

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import AnswerUnknown
from slipway.google.failures import CloudError
from slipway.using.jobs.claim import Claim
from slipway.using.submission.costs import Spending
from slipway.using.submission.fallback_step import AttemptStatus, FallbackStep, next_step
from slipway.using.submission.lookup import going_on
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionResult

from .cancelled_service import typed
from .fallback_command import FAULTS, POOL_REGIONS, STARTS, Told, catalog, command
from .service import Context, Journal, Killed, Service

WAITS = AttemptStatus(
    launcher=True,
    claim=Claim.FREE,
    started=False,
    ended=False,
    stopped=False,
    without_machines=False,
    overdue=False,
    next=False,
)


def status(**changes: Any) -> AttemptStatus:
    return replace(WAITS, **changes)


@pytest.mark.parametrize(
    ("seen", "then"),
    [
        (status(), FallbackStep.WAIT),
        (status(next=True), FallbackStep.WAIT),
        (status(overdue=True), FallbackStep.WAIT),
        (status(overdue=True, next=True), FallbackStep.TAKE),
        (status(overdue=True, next=True, started=True), FallbackStep.KEEP),
        (status(overdue=True, next=True, claim=Claim.STARTED), FallbackStep.KEEP),
        (status(stopped=True, ended=True, overdue=True, next=True), FallbackStep.KEEP),
        (status(ended=True, without_machines=True), FallbackStep.KEEP),
        (status(ended=True, without_machines=True, next=True), FallbackStep.TAKE),
        (status(ended=True, without_machines=True, unread=True), FallbackStep.WAIT),
        (status(ended=True, unread=True), FallbackStep.KEEP),
        (status(ended=True, next=True), FallbackStep.KEEP),
        (status(claim=Claim.CANCELLED, overdue=True, next=True), FallbackStep.CANCEL),
        (status(claim=Claim.CANCELLED, stopped=True), FallbackStep.KEEP),
        (status(claim=Claim.CANCELLED, ended=True, without_machines=True, next=True), FallbackStep.KEEP),
        (status(claim=Claim.GIVEN_UP), FallbackStep.CANCEL),
        (status(claim=Claim.GIVEN_UP, started=True), FallbackStep.CANCEL),
        (status(claim=Claim.GIVEN_UP, stopped=True), FallbackStep.NEXT),
        (status(claim=Claim.GIVEN_UP, started=True, ended=True), FallbackStep.NEXT),
        (status(launcher=False, claim=Claim.GIVEN_UP), FallbackStep.CANCEL),
        (status(launcher=False, claim=Claim.GIVEN_UP, started=True), FallbackStep.KEEP),
        (status(launcher=False, claim=Claim.GIVEN_UP, stopped=True), FallbackStep.WAIT),
        (status(launcher=False, claim=Claim.GIVEN_UP, stopped=True, ended=True), FallbackStep.NEXT),
        (status(launcher=False, claim=Claim.GIVEN_UP, stopped=True, ended=True, started=True), FallbackStep.LOST),
        (status(launcher=False, claim=Claim.GIVEN_UP, ended=True, started=True), FallbackStep.KEEP),
    ],
)
def test_what_is_seen_decides_what_is_done(seen: AttemptStatus, then: FallbackStep) -> None:  # N3
    assert next_step(seen) is then


@given(st.builds(AttemptStatus, *[st.booleans()] * 1, st.sampled_from(Claim), *[st.booleans()] * 7))
def test_a_job_that_runs_is_never_cancelled_and_never_followed_by_another(seen: AttemptStatus) -> None:  # N3
    """Unless somebody cancels it. With a launcher a job runs whose claim it has; without one, a job that the service
    shows as started."""
    then = next_step(seen)
    runs = seen.claim is Claim.STARTED if seen.launcher else seen.started and not seen.ended and not seen.stopped
    if runs and seen.claim is not Claim.CANCELLED:
        assert then in (FallbackStep.KEEP, FallbackStep.WAIT)
    if then is FallbackStep.NEXT:
        assert seen.claim is Claim.GIVEN_UP and (seen.ended or seen.stopped)
        assert seen.launcher or not seen.started


def typed_until_it_is_done(service: Service, renewed_after: int = 60, lacks: str = "") -> SubmissionResult | None:
    """The same command, again after each kill and each error that passes. None when it says that it sends no more.

    `renewed_after`: so many commands see the first generation of the pool's cluster, and the offer that is lost then.
    """
    attempts = count()

    def once(again: bool) -> SubmissionResult:
        deployed = next(attempts) >= renewed_after
        return command(service, again=again, renewed=deployed, lacks=lacks if deployed else "")

    return typed(service, once)


CALLS = dict.fromkeys(("create", "get", "list", "cancel", "take", "note", "read", "catalog"), FAULTS)
DEPLOYED = st.tuples(st.sampled_from([1, 2, 3, 60]), st.sampled_from(["", "pool", "spot"]))


@given(st.fixed_dictionaries(CALLS), STARTS, st.sampled_from([0.0, 20.0, 90.0, 1e9]), POOL_REGIONS, DEPLOYED)
def test_with_a_launcher_it_runs_once_whatever_happens(  # N2, N3, N7
    faults: dict[str, list[str]], starts: list[int | None], lag: float, pool_region: str, deployed: tuple[int, str]
) -> None:
    service = Service(launcher=True, lag=lag, faults=faults, starts=starts, pool_region=pool_region)
    done = typed_until_it_is_done(service, *deployed)
    assert done is not None
    assert len(service.runs) <= 1 and service.ended_runs == []
    service.end_of_days()
    assert len(service.runs) == 1 and service.ended_runs == []
    assert done.attempt.job.labels["slipway-request"] == next(
        job.body["labels"]["slipway-request"] for job in service.jobs if job.id == service.runs[0]
    )


SENDING = st.lists(st.sampled_from(["", "kill", "busy", "lost"]), max_size=4)


@given(st.fixed_dictionaries({**CALLS, "create": SENDING}), STARTS, POOL_REGIONS, DEPLOYED)
def test_an_image_runs_at_most_once_where_no_list_lags(  # N2, N3, N7
    faults: dict[str, list[str]], starts: list[int | None], pool_region: str, deployed: tuple[int, str]
) -> None:
    service = Service(launcher=False, faults=faults, starts=starts, pool_region=pool_region)
    done = typed_until_it_is_done(service, *deployed)
    assert len(service.runs) <= 1
    assert service.ended_runs == (service.runs if done is None else [])
    assert done or service.runs
    service.end_of_days()
    assert len(service.runs) == 1


WAITS_FOR_THE_POOL = SubmissionRequest("digits", waits={"pool": 10.0}, then=("spot",))


@pytest.mark.parametrize("launcher", [True, False])
@pytest.mark.parametrize(
    ("killed", "renewed", "lacks"),
    [("cancel", False, ""), ("cancel", True, ""), ("take", True, ""), ("cancel", False, "pool")],
)
def test_killed_as_it_is_given_up_or_before_it_moves_on_after_a_deployment_too(  # N3, N7
    launcher: bool, killed: str, renewed: bool, lacks: str
) -> None:
    """Nothing was to be sent again, and the job that was left ended without having run, or waited for ever."""
    service = Service(launcher=launcher, faults={killed: ["kill"]}, starts=[None, 0])
    asked = SubmissionRequest("digits") if lacks else WAITS_FOR_THE_POOL
    with pytest.raises(Killed):
        command(service, again=False, asked=asked)
    service.dead = False
    done = command(service, again=True, asked=asked, renewed=renewed, lacks=lacks)
    assert done.attempt.job.id == "7001"
    service.end_of_days()
    assert service.runs == ["7001"]


@pytest.mark.parametrize("launcher", [True, False])
@pytest.mark.parametrize("renewed", [False, True])
def test_killed_while_the_next_job_waits_it_stays_with_that_one_after_a_deployment_too(  # N3, N7
    launcher: bool, renewed: bool
) -> None:
    """It said that the job was cancelled, which was the first one, and whoever submitted again had two runs."""
    asked = SubmissionRequest("digits", waits={"pool": 10.0, "spot": 10.0}, then=("on-demand",))
    service = Service(launcher=launcher, faults={"take": ["", "kill"]}, starts=[None, None, None])
    with pytest.raises(Killed):
        command(service, again=False, asked=asked)
    service.dead = False
    service.limit = 0  # Nothing else can run: it stays.
    service.jobs[1].starts_after = 0
    done = command(service, again=True, asked=asked, renewed=renewed)
    assert done.attempt.job.id == "7001"
    service.end_of_days()
    assert service.runs == ["7001"] and len(service.jobs) == 2


def test_a_claim_that_storage_does_not_take_is_told_once_and_tried_again() -> None:  # N4
    """It waited on without a word: `looks at spot again in 0:59`, for as long as the service was away."""
    show, service = Told(), Service(launcher=True, starts=[None, 0], faults={"take": ["busy"] * 3})
    asked = SubmissionRequest("digits", waits={"pool": 10.0}, then=("spot",))
    done = command(service, again=False, asked=asked, show=show)
    assert done.attempt.job.id == "7001", "it moved on as soon as it could"
    (note,) = show.notes
    assert "could not be given up" in note
    assert note.endswith("Ctrl-C loses nothing")


ASKED = SubmissionRequest("digits", waits={"pool": 10.0, "spot": 10.0}, then=("on-demand",))


def interrupted(**faults: list[str]) -> Service:
    service = Service(launcher=True, faults=faults, starts=[None, None, None])
    with pytest.raises((Killed, AnswerUnknown)):
        command(service, again=False, asked=ASKED)
    service.dead = False
    return service


def left(service: Service) -> list[str]:
    context: Any = Context(service, catalog(launcher=True))
    journal: Any = Journal(service)
    return [job.id for job in going_on(context, journal, "r1")]


def test_the_job_that_follows_one_that_was_given_up_goes_on() -> None:  # N3, N7
    service = interrupted(take=["", "kill"])
    assert service.jobs[0].ended is not None and left(service) == ["7001"]
    service.cancel(service.jobs[1].name)
    assert left(service) == []


def test_a_job_that_no_list_shows_is_found_by_the_journal_and_what_can_not_be_read_has_not_ended() -> None:  # N7
    service = interrupted(take=["kill"])
    service.faults["list"] = ["busy"]
    with pytest.raises(CloudError):
        left(service)
    service.lag = 1e9
    assert left(service) == ["7000"]
    service.delete(service.jobs[0])
    assert left(service) == []


def test_where_an_answer_was_lost_a_list_that_lags_tells_nothing() -> None:  # N7
    service = interrupted(create=["killed"])
    service.lag = 50.0
    with pytest.raises(AnswerUnknown):
        left(service)
    service.time += 50.0
    assert left(service) == ["7000"]


@dataclass
class Undecided(Told):
    """A person who agrees to the costs of a submission, and to no others later."""

    interrupts: bool = False

    def confirm(self, costs: Spending) -> None:
        self.asked.append(costs)
        if len(self.asked) > 1:
            raise KeyboardInterrupt if self.interrupts else costs.refusal


@pytest.mark.parametrize("interrupts", [True, False], ids=["no", "nobody to ask"])
@pytest.mark.parametrize("launcher", [True, False])
def test_what_nobody_confirms_costs_no_job_its_place_in_the_queue(launcher: bool, interrupts: bool) -> None:  # N3
    """The waiting job was given up first, and then the price of the next one was asked about."""
    show, service = Undecided(interrupts=interrupts), Service(launcher=launcher, starts=[40])
    done = command(service, again=False, asked=WAITS_FOR_THE_POOL, show=show, confirm_above=0.0)
    assert done.attempt.job.id == "7000" and service.runs == ["7000"] and len(service.jobs) == 1
    assert len(show.asked) == 2, "once, and not every minute"
    (note,) = show.notes
    assert note.startswith("not confirmed: ") and note.endswith(" stays on pool cpu")

"""A race in three regions against the model of the service: kills, lost answers, lists that lag, and cancels. (N23)"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import AnswerUnknown, Cancelled, ConfigError, PolicyError, WaitTimeout
from slipway.google.failures import Answer, Unavailable, failure
from slipway.google.jobs import VertexJob
from slipway.model.kinds import JobKind
from slipway.using.jobs.claimant import JobGoneError, OtherJobError
from slipway.using.jobs.race import decided, outrun, read_race
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.cancelling import cancel_job, cancel_submissions, with_copies
from slipway.using.submission.choice import Choice, JudgedCandidate
from slipway.using.submission.costs import region_lines
from slipway.using.submission.delivery import RetryPolicy
from slipway.using.submission.journal import SubmissionJournal
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.submitter import Submitter

from .cancelled_service import CancelledService, typed
from .fallback_command import FAULTS, Told, catalog
from .service import CALL, HOME, Context, Journal, Killed, Service

EAST, WEST = "us-east5", "europe-west4"
REGIONS = (HOME, EAST, WEST)
RACE = SubmissionRequest("digits", race=(), capacity_type="spot")
STARTS = st.lists(st.none() | st.integers(0, 30), min_size=3, max_size=6)


@dataclass
class Regions(CancelledService):
    """The model with three regions."""

    newest: bool = True
    after: bool = True
    #: Regions that answer no call.
    silent: tuple[str, ...] = ()
    #: Until when a region takes no job, in seconds.
    limited: Mapping[str, float] = field(default_factory=dict)
    #: Regions that are out of machines, so that their jobs end before they begin.
    out: tuple[str, ...] = ()
    #: When a region has machines, in seconds.
    begins: Mapping[str, float] = field(default_factory=dict)
    #: Regions whose lists can't be read.
    unlisted: tuple[str, ...] = ()
    #: The cancels that a region does not take, before it takes one.
    no_cancels: dict[str, int] = field(default_factory=dict)

    @property
    def context(self) -> Any:
        deployed = replace(catalog(launcher=self.launcher), other_regions=(EAST, WEST), confirm_above=1000.0)
        return Context(self, deployed)

    def jobs_listed(self, filter: str, regions: tuple[str, ...]) -> list[VertexJob]:
        """List the jobs, of which some may start just then."""
        self._require_answer(*regions)
        if {*regions} & {*self.unlisted}:
            raise failure(CALL, Answer(503, "UNAVAILABLE", "out of order"))
        for job in self.jobs:
            self._pass(job)
        return super().jobs_listed(filter, regions)

    def create_job(self, kind: JobKind, body: Mapping[str, Any], region: str) -> VertexJob:
        self._require_answer(region)
        if self.time < self.limited.get(region, 0):
            raise failure(CALL, Answer(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric"))
        made = super().create_job(kind, body, region)
        if region in self.out:
            self.jobs[-1].state, self.jobs[-1].ended = "JOB_STATE_FAILED", self.time
        return made

    def job(self, name: str) -> VertexJob:
        self._require_answer(name.split("/")[3])
        return super().job(name.replace("projects/p/", "projects/1/"))

    def cancel(self, name: str) -> None:
        region = name.split("/")[3]
        if self.no_cancels.get(region, 0) > 0:
            self.no_cancels[region] -= 1
            raise failure(CALL, Answer(503, "UNAVAILABLE", "busy"))
        super().cancel(name)

    def _require_answer(self, *regions: str) -> None:
        if {*regions} & {*self.silent}:
            raise failure(CALL, Answer(503, "UNAVAILABLE", "out of order"))

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        for job in self.jobs:
            if self.time >= self.begins.get(job.region, inf):
                self.start(job)
        assert self.time < 100_000, "nothing ever ends"


def race(
    service: Regions, *, again: bool = False, asked: SubmissionRequest = RACE, show: Any = None
) -> SubmissionResult:
    """Run the command, typed once."""
    context, journal = service.context, Journal(service)
    prepared = prepare(context.catalog, asked, "ada")
    submitter = Submitter(context, journal, show or Told(), RetryPolicy())  # type: ignore[arg-type]
    return submitter.submit(prepared, "r1", repeated=again)


def service(**fields: Any) -> Regions:
    return Regions(launcher=True, regions=REGIONS, **fields)


def states(service: Service) -> dict[str, str]:
    return {job.region: job.state.removeprefix("JOB_STATE_") for job in service.jobs}


def test_the_first_region_with_machines_runs_and_the_others_are_cancelled() -> None:
    there = service(starts=[None, 2, None])
    show = Told()
    result = race(there, show=show)
    assert result.attempt.job.region == EAST
    assert states(there) == {HOME: "CANCELLED", EAST: "RUNNING", WEST: "CANCELLED"}
    assert there.runs == [result.attempt.job.id]
    assert len({job.body["displayName"] for job in there.jobs}) == 1, "one name is one submission"
    assert any("us-east5 won" in note for note in show.notes), show.notes


def test_a_race_that_one_region_alone_can_run_is_told_as_none() -> None:
    there = service()
    prepared = prepare(there.context.catalog, RACE, "ada")
    first, *others = (JudgedCandidate(each, Verdict(Outcome.BESIDE, "runs")) for each in prepared.candidates)
    (line,) = region_lines(prepared, Choice(first, legs=(first,), hopeless=tuple(others)))
    assert line == f"  no race: of its regions {HOME} alone can run it"
    line, *_ = region_lines(prepared, Choice(first, legs=(first,)))
    assert line.startswith(f"  a race in {prepared.candidates[0].region}, "), line
    assert all(region in line for region in REGIONS), "the others are there already, and race too"


def test_no_leg_is_sent_to_a_paused_stack_and_those_that_wait_go_on() -> None:  # N24
    there, show = service(starts=[None, 2, None], stored={"gs://work/pauses/1": "{}"}), Told()
    show.note = lambda text: there.stored.update({"gs://work/pauses/1.resumed": "bob"})
    assert race(there, show=show).attempt.job.region == EAST
    assert len(there.jobs) == 3 and {job.created for job in there.jobs} >= {10.0}
    del there.stored["gs://work/pauses/1.resumed"]
    assert race(there, again=True).attempt.job.region == EAST and len(there.jobs) == 3


def test_a_leg_that_a_pause_held_back_is_sent_once_it_is_over() -> None:  # N24
    there = service(starts=[None, None, 2])
    there.faults["create"] = ["", "", "kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead, there.stored["gs://work/pauses/1"], sleep = False, "{}", there.sleep

    def resumed(seconds: float) -> None:
        sleep(seconds)
        if there.time > 100 and len(there.jobs) == 2:
            there.stored["gs://work/pauses/1.resumed"] = "bob"

    there.sleep = resumed  # type: ignore[method-assign]
    assert race(there, again=True).attempt.job.region == WEST
    assert len(there.jobs) == 3 and there.jobs[2].created > 100, "not before"


def test_a_leg_whose_machines_come_second_is_told_as_outrun() -> None:
    """Such a leg succeeds at once, which reads as if two had run."""
    there = service(starts=[2, 2, None])
    result = race(there)
    legs = [there.context.vertex.job(job.name) for job in there.jobs]
    (second,) = (leg for leg in legs if leg.state == "JOB_STATE_SUCCEEDED" and leg.id != result.attempt.job.id)
    winner = result.attempt.job
    seen = read_race(there.context, winner)
    assert f"{winner.region} won; {second.region} outrun, {WEST} cancelled" in seen.words, seen.words
    assert outrun(there.context.connection.storage, legs) == {second.name}


@given(
    create=FAULTS,
    lists=FAULTS,
    note=st.lists(st.sampled_from(["", "", "lost", "kill"]), max_size=4),
    cancel=st.lists(st.sampled_from(["", "kill", "killed", "busy"]), max_size=4),
    starts=STARTS,
    lag=st.sampled_from([0.0, 20.0]),
)
def test_whatever_befalls_the_sender_one_leg_runs_and_none_is_left(
    create: list[str], lists: list[str], note: list[str], cancel: list[str], starts: list[int | None], lag: float
) -> None:
    there = service(starts=[*starts, 1], lag=lag)
    there.faults = {"create": create, "list": lists, "note": note, "cancel": cancel}
    if not any(start is not None for start in starts[:3]):
        there.starts[0] = 3
    result = typed(there, lambda again: race(there, again=again))
    assert result is not None
    assert there.runs == [result.attempt.job.id]
    there.faults, there.time = {}, there.time + lag
    decided(there.context, result.attempt.job, lambda _: None)
    left = [job.region for job in there.jobs if job.ended is None and not job.ran]
    there.end_of_days()
    assert there.runs == [result.attempt.job.id], "another one ran"
    assert left == [], "a leg is left"


@given(cancel_at=st.integers(1, 60), kills=st.booleans(), starts=STARTS, lag=st.sampled_from([0.0, 20.0]))
def test_after_a_cancel_no_leg_runs_and_none_is_left(
    cancel_at: int, kills: bool, starts: list[int | None], lag: float
) -> None:
    there = service(cancel_at=cancel_at, kills=kills, starts=[*starts, 1], lag=lag)
    if not any(start is not None for start in starts[:3]):
        there.starts[0] = 9
    ended = typed(there, lambda again: race(there, again=again))
    if not there.cancelled:
        return
    if ended:
        there.dead, there.time = False, there.time + lag
        decided(there.context, ended.attempt.job, lambda _: None)
    left = [job.region for job in there.jobs if job.ended is None]
    there.end_of_days()
    assert there.runs == list(there.ran_before), "user code began after it"
    assert left == [], "a leg is left"


def test_the_same_request_from_another_machine_finds_the_race() -> None:
    there = service(starts=[None, None, 60])
    there.faults["read"] = ["", "", "", "kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead, made = False, len(there.jobs)
    there.notes.clear()
    result = race(there, again=True)
    assert made == len(there.jobs) == 3 and not result.attempt.fresh
    assert there.runs == [result.attempt.job.id]


def test_a_region_without_quota_is_left_out_and_said() -> None:
    there = service(starts=[2, None], region_limits={WEST: 0})
    show = Told()
    race(there, show=show)
    assert set(states(there)) == {HOME, EAST}
    (left_out,) = show.choices[0].hopeless
    assert left_out.candidate.region == WEST and "europe-west4" in str(left_out.reasons)


def test_quota_in_no_region_refuses() -> None:
    there = service(limit=0)
    with pytest.raises(PolicyError) as raised:
        race(there)
    assert all(region in raised.value.why for region in REGIONS) and there.jobs == []


def test_a_region_that_refuses_leaves_the_race_to_the_others() -> None:
    there = service(starts=[4, None])
    there.faults["create"] = ["", "refused"]
    show = Told()
    result = race(there, show=show)
    assert set(states(there)) == {HOME, WEST} and result.attempt.job.region == HOME
    assert any("us-east5" in note and "no such machine" in note for note in show.notes)


def test_a_region_that_takes_nothing_for_a_while_keeps_no_other_one_waiting() -> None:
    there = service(starts=[None, None, 4])
    there.faults["create"] = ["", "limited", "", "limited"]
    result = race(there)
    assert [job.region for job in there.jobs] == [HOME, WEST, EAST] and result.attempt.job.region == EAST


def test_once_a_region_has_won_no_other_one_is_asked() -> None:
    """The winner was reported 60 s late, the losers waited meanwhile, and another leg was sent to lose."""
    there = service(limited={WEST: 30.0}, begins={EAST: 5.0})
    show = Told()
    result = race(there, show=show)
    assert result.attempt.job.region == EAST and there.time < 10
    assert states(there) == {HOME: "CANCELLED", EAST: "RUNNING"}
    assert any("us-east5 won" in note for note in show.notes), show.notes


def test_a_region_that_takes_no_cancel_for_a_while_delays_neither_the_report_nor_the_other_cancels() -> None:
    there, show = service(begins={EAST: 5.0}), Told()
    told = dict[str, float]()
    show.note = lambda text: told.setdefault(text, there.time)  # type: ignore[assignment]
    there.faults["cancel"] = ["busy"] * 1000
    assert race(there, show=show).attempt.job.region == EAST and there.time < 90
    (won,) = (at for text, at in told.items() if "us-east5 won" in text)
    assert won < 8 and any("slipway jobs cancel 7002" in text for text in told), told


def test_a_winner_that_is_known_by_two_names_is_no_loser_of_its_own() -> None:
    """Vertex AI names a job by the project's number, and a look asks for it by the project's id."""
    there = service(begins={EAST: 3.0}, lag=30.0)
    show = Told()
    winner = race(there, show=show).attempt.job
    seen = read_race(there.context, winner, known=[winner.name.replace("projects/1/", "projects/p/"), winner.name])
    assert [leg.region for leg in seen.legs].count(EAST) == 1 and f"{EAST} running" not in seen.words
    assert not any(f"{EAST} running" in note for note in show.notes), show.notes


def test_a_time_out_names_the_regions_where_a_leg_waits() -> None:
    there = service(out=(HOME,), limited={WEST: inf})
    there.faults["read"] = ["", "", "", "", "kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead, vertex = False, there.context.vertex
    east = next(job for job in there.jobs if job.region == EAST)
    with pytest.raises(WaitTimeout) as raised:
        decided(there.context, vertex.job(east.name), lambda _: None, timeout=30)
    assert raised.value.why == f"it waits on in {EAST}"
    ended = vertex.job(there.jobs[0].name)
    there.silent = (EAST,)
    with pytest.raises(WaitTimeout) as raised:
        decided(there.context, ended, lambda _: None, timeout=30)
    assert raised.value.why == f"{EAST} does not answer"


def lost_leg(lag: float = 0.0, **fields: Any) -> Regions:
    """The answer of the first region is lost, after its leg was made."""
    there = service(starts=[None, None, None], lag=lag, begins={EAST: 3.0}, **fields)
    there.faults["create"] = ["lost"]
    return there


@pytest.mark.parametrize("lag", [0.0, 8.0, 30.0])
def test_a_leg_whose_answer_was_lost_keeps_nothing_waiting_and_is_cancelled_when_another_one_wins(lag: float) -> None:
    """Exit code 0, and the leg had machines later."""
    there, show = lost_leg(lag), Told()
    assert race(there, show=show).attempt.job.region == EAST
    assert max(job.created for job in there.jobs) < 5, "a region waited for the search in another one"
    assert states(there) == {HOME: "CANCELLED", EAST: "RUNNING", WEST: "CANCELLED"}
    assert there.time < lag + 10


def test_a_lost_leg_that_no_list_can_show_is_no_success_and_the_same_command_ends_it() -> None:
    there = lost_leg(unlisted=(HOME,))
    with pytest.raises(AnswerUnknown) as unknown:
        race(there)
    unknown.value.to_go_on("the same command")
    assert f"may wait in {HOME}" in unknown.value.what and "the same command   (" in unknown.value.fix
    assert states(there) == {HOME: "QUEUED", EAST: "RUNNING", WEST: "CANCELLED"}
    with pytest.raises(AnswerUnknown):
        race(there, again=True)
    there.unlisted = ()
    assert race(there, again=True).attempt.job.region == EAST and states(there)[HOME] == "CANCELLED"


def test_a_lost_leg_that_takes_no_cancel_for_a_while_is_cancelled_later() -> None:
    """One answer of its region ended the command with that error, and nothing named the leg that waited."""
    there = lost_leg(8.0, no_cancels={HOME: 3})
    assert race(there).attempt.job.region == EAST
    assert states(there) == {HOME: "CANCELLED", EAST: "RUNNING", WEST: "CANCELLED"}


@pytest.mark.parametrize("lag", [8.0, 30.0])
def test_a_lost_leg_that_takes_no_cancel_is_named_and_is_no_success(lag: float) -> None:
    there = lost_leg(lag, no_cancels={HOME: 1000})
    with pytest.raises(AnswerUnknown) as unknown:
        race(there)
    assert f"waits in {HOME} and could not be cancelled" in unknown.value.what and there.time < 90
    assert states(there) == {HOME: "QUEUED", EAST: "RUNNING", WEST: "CANCELLED"}
    there.no_cancels = {}
    assert race(there, again=True).attempt.job.region == EAST and states(there)[HOME] == "CANCELLED"


@pytest.mark.parametrize("lag", [0.0, 8.0, 30.0])
def test_a_leg_whose_answer_was_lost_may_win(lag: float) -> None:
    there = lost_leg(lag)
    there.begins = {HOME: 3.0}
    assert race(there).attempt.job.region == HOME
    assert states(there) == {HOME: "RUNNING", EAST: "CANCELLED", WEST: "CANCELLED"}


@pytest.mark.parametrize("busy", [0, 1000])
@pytest.mark.parametrize("lag", [0.0, 8.0, 30.0])
def test_a_cancel_ends_a_leg_whose_answer_was_lost_too(lag: float, busy: int) -> None:
    there = lost_leg(lag, no_cancels={EAST: busy})
    there.begins, sleep = {}, there.sleep

    def sleep_and_cancel(seconds: float) -> None:
        sleep(seconds)
        there.stored["gs://work/claims/r1"] = "cancelled"

    there.sleep = sleep_and_cancel  # type: ignore[method-assign]
    with suppress(Cancelled, Unavailable):
        assert race(there).attempt.job.ended
    left = [region for region, state in states(there).items() if state == "QUEUED"]
    assert states(there)[HOME] == "CANCELLED" and left in ([], [EAST] if busy else [])


@pytest.mark.parametrize(("seconds", "out"), [(150.0, (HOME, WEST)), (3000.0, ())])
def test_a_region_that_takes_none_for_long_is_asked_again_as_nobody_else_has_machines(
    seconds: float, out: tuple[str, ...]
) -> None:
    there, show = service(starts=[None, None, 4], limited={EAST: seconds}, out=out), Told()
    assert race(there, show=show).attempt.job.region == EAST and there.time >= seconds
    assert any("us-east5" in note for note in show.notes) and len(show.choices) == 1


def test_the_same_command_sends_to_a_region_that_took_none_once_the_others_have_no_machines() -> None:
    there = service(starts=[None, None, 4], limited={EAST: 300.0}, out=(HOME, WEST))
    sleep = there.sleep

    def killed(seconds: float) -> None:
        sleep(seconds)
        if there.time > 100:
            raise Killed

    there.sleep = killed  # type: ignore[method-assign]
    with pytest.raises(Killed):
        race(there)
    there.sleep, there.time = sleep, 300.0  # type: ignore[method-assign]
    assert set(states(there).values()) == {"FAILED"}
    assert race(there, again=True).attempt.job.region == EAST


def test_a_leg_that_somebody_ended_leaves_nothing_to_be_sent() -> None:
    there = service(starts=[None, None, 4], limited={EAST: 300.0}, out=(HOME, WEST))
    create = there.create_job

    def create_job(*arguments: Any) -> Any:
        made = create(*arguments)
        there.jobs[0].state = "JOB_STATE_CANCELLED"
        return made

    there.create_job = create_job  # type: ignore[assignment, method-assign]
    assert race(there).attempt.job.ended and set(states(there)) == {HOME, WEST}


def test_a_region_without_quota_keeps_nobody_from_a_race_that_is_sent() -> None:
    there = service(starts=[None, 30], region_limits={WEST: 0})
    there.faults["read"] = [*[""] * 5, "kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead = False
    assert race(there, again=True).attempt.job.region == EAST


def test_a_race_goes_on_where_a_region_does_not_answer() -> None:
    there = service(starts=[None, 0, None], silent=(WEST,))
    show = Told()
    with pytest.raises(AnswerUnknown):
        race(there, again=True, show=show)
    assert set(states(there)) == {HOME, EAST} and any("spot in europe-west4: " in note for note in show.notes)
    assert race(there, again=True).attempt.job.region == EAST
    assert states(there) == {HOME: "CANCELLED", EAST: "RUNNING"}


@pytest.mark.parametrize("region", [HOME, WEST])
def test_a_region_that_falls_silent_keeps_nobody_from_the_winner_nor_from_cancelling(region: str) -> None:
    there = service(starts=[None, 12, None])
    with pytest.raises(Killed):
        there.faults["read"] = ["", "", "", "", "kill"]
        race(there)
    there.dead, there.silent, told = False, (region,), list[str]()
    (other,) = {HOME, WEST} - {region}
    stands = decided(there.context, there.context.vertex.job(there.jobs[1].name), told.append)
    assert stands.region == EAST and states(there)[other] == "CANCELLED" and states(there)[region] == "QUEUED"
    assert any(f"{region} does not answer" in line and "asked again" not in line for line in told)
    there.silent = ()
    decided(there.context, stands, told.append)
    assert states(there)[region] == "CANCELLED"


def test_a_cancel_ends_the_legs_that_this_machine_has_sent_and_a_list_hides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = service(starts=[None, None, None], lag=30.0)
    there.faults["read"] = ["", "", "", "", "kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead, context = False, there.context
    monkeypatch.setattr(SubmissionJournal, "find", lambda *_: Journal(there))
    job = context.vertex.job(there.jobs[1].name)
    assert with_copies(context, job, lambda _: None) == [job], "lists hide the others"
    done = cancel_submissions(context, [[job]], lambda _: None)
    assert len(done.asked) == 3 and [*states(there).values()] == ["CANCELLED"] * 3


def test_a_cancel_that_the_races_sender_is_first_to_heed_is_not_refused() -> None:
    """`jobs cancel` of a live race ended with exit code 4, though all of it was cancelled as asked."""
    there = service(starts=[None, None, None])
    there.faults["read"] = ["", "", "", "", "kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead, vertex = False, there.context.vertex
    for leg in [vertex.job(job.name) for job in there.jobs]:
        vertex.cancel(leg.name)
        cancel_job(vertex, leg, there.context.now)
    assert [*states(there).values()] == ["CANCELLED"] * 3


def test_where_the_winner_falls_silent_the_others_are_cancelled_and_it_is_waited_for() -> None:
    there = service(starts=[None, 1, None])
    there.faults["cancel"] = ["kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead, there.silent, told = False, (EAST,), list[str]()
    with pytest.raises(WaitTimeout):
        decided(there.context, there.context.vertex.job(there.jobs[0].name), told.append, timeout=30)
    assert told[-1].endswith("us-east5 does not answer; it is asked again, and after Ctrl-C the same command goes on")
    assert states(there) == {HOME: "CANCELLED", EAST: "RUNNING", WEST: "CANCELLED"}


def test_a_leg_that_ends_without_machines_leaves_the_race_to_the_others() -> None:
    there = service(starts=[None, None, 20])
    show = Told()
    create = there.create_job

    def create_job(*arguments: Any) -> Any:
        if len(there.jobs) == 2:
            there.jobs[0].state, there.jobs[0].ended = "JOB_STATE_FAILED", there.time
        return create(*arguments)

    there.create_job = create_job  # type: ignore[assignment, method-assign]
    assert race(there, show=show).attempt.job.region == WEST


def test_a_winner_that_was_deleted_is_told_and_ends_the_others() -> None:
    there = service(starts=[None, 1, None])
    there.faults["cancel"] = ["kill"]
    with pytest.raises(Killed):
        race(there)
    there.dead = False
    there.delete(there.jobs[1])
    with pytest.raises(JobGoneError):
        race(there, again=True)
    assert set(states(there).values()) == {"CANCELLED"}


def test_a_request_of_a_race_is_no_single_job() -> None:
    there = service(starts=[1])
    race(there)
    with pytest.raises(OtherJobError) as raised:
        race(there, again=True, asked=SubmissionRequest("digits", capacity_type="spot"))
    assert "race" in raised.value.fix


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (replace(RACE, race=("us-west1", HOME)), "no place in region"),
        (replace(RACE, race=(HOME,)), "two regions"),
        (replace(RACE, capacity_type="pool"), "one capacity type"),
        (replace(RACE, then=("on-demand",)), "one capacity type"),
        (replace(RACE, waits={"spot": 30.0}), "one capacity type"),
    ],
)
def test_what_can_not_race_is_refused(asked: SubmissionRequest, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        race(service(), asked=asked)
    assert said in raised.value.what


def test_without_a_launcher_nothing_races() -> None:
    with pytest.raises(ConfigError) as raised:
        race(Regions(launcher=False, regions=REGIONS))
    assert "launcher" in raised.value.why

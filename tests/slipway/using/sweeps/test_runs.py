"""Runs that are left of a sweep, from its journal and what the service lists, and where its runs go. # N3 # N7"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from slipway.base.errors import PolicyError, ResourceError, SlipwayError
from slipway.google.jobs import VertexJob
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import Choice, JudgedCandidate, broken
from slipway.using.sweeps.runs import (
    KnownRuns,
    Run,
    RunsAgain,
    being_cancelled,
    copies,
    known_runs,
    latest,
    remaining_runs,
    runs_in_words,
)
from slipway.using.sweeps.sweep_choice import GroupChoice, choose_group
from tests.slipway.using.submission.test_choice import BUSY, FINE, FULL, NEVER, judged


def job(run: Run, state: str = "JOB_STATE_SUCCEEDED", number: int = 1, sweep: str = "s") -> VertexJob:
    """One that had its machines, unless it waits for them."""
    labels = {"slipway-run": run.label, "slipway-request": run.request_id(sweep)}
    began = {} if state == "JOB_STATE_QUEUED" else {"startTime": "2026-11-20T10:00:00Z"}
    return VertexJob.read({"name": f"jobs/{run.label}/{number}", "state": state, "labels": labels, **began})


def facts(*listed: VertexJob, jobs: dict[Run, str] | None = None, open_: dict[Run, float] | None = None) -> KnownRuns:
    return known_runs("s", jobs or {}, open_ or {}, listed)


def test_kinds_of_runs_to_send_once_more_are_told_apart() -> None:
    failed, cancelled, both = (RunsAgain(*asked).words for asked in ((True, False), (False, True), (True, True)))
    assert both == ["has failed", "was cancelled"] and (failed, cancelled) == (both[:1], both[1:])


@pytest.mark.parametrize("text", ["", "a", "1-b", "-1", "1-2-3"])
def test_other_labels_name_none(text: str) -> None:
    assert Run.of(VertexJob.read({"name": "jobs/1", "labels": {"slipway-run": text}})) is None


def test_a_run_whose_job_was_deleted_is_sent_once_more_only_where_somebody_asks() -> None:  # N7
    known = facts(job(Run(0)), jobs={Run(1): "jobs/1"}).with_found({Run(1): None, Run(2): None})
    left = remaining_runs(4, known, retry=False)
    assert (left.send, left.done, left.gone, left.failed) == ((Run(3),), 3, (1, 2), 0)
    assert remaining_runs(4, known, retry=True).send == (Run(1, 1), Run(2, 1))
    assert remaining_runs(4, known.with_found({Run(2, 1): None}), retry=True).send == (Run(1, 1), Run(2, 2))


def test_a_run_whose_claim_a_cancel_has_taken_is_sent_as_its_next_attempt_and_not_unless_somebody_asks() -> None:
    known = facts(job(Run(0)), open_={Run(1): 5.0}).with_cancelled([Run(1), Run(2)])
    left = remaining_runs(4, known, retry=False)
    assert (left.send, left.done, left.cancelled) == ((Run(3),), 3, 2)
    assert not left.look and list(left.jobs) == [Run(0)]
    assert remaining_runs(4, known, retry=True).send == ()
    assert remaining_runs(4, known, retry=False, recall=True).send == (Run(1, 1), Run(2, 1), Run(3))


def test_what_was_accepted_is_not_sent_again_wherever_that_is_known_from() -> None:  # N7
    left = remaining_runs(4, facts(job(Run(1)), jobs={Run(0): "jobs/0"}), retry=False)
    assert left.send == (Run(2), Run(3)) and left.done == 2


def test_a_run_that_was_being_sent_is_looked_for_first() -> None:  # N7
    left = remaining_runs(3, facts(open_={Run(1): 5.0}), retry=False)
    assert left.send == (Run(0), Run(2)) and left.look == {Run(1): 5.0}
    runs = remaining_runs(3, facts(job(Run(1)), open_={Run(1): 5.0}), retry=False)
    assert runs.send == (Run(0), Run(2)) and not runs.look and runs.done == 1


def test_a_run_that_is_gone_or_was_sent_once_more_is_not_looked_for() -> None:  # N7
    known = facts(open_={Run(0): 5.0, Run(1): 5.0})
    assert remaining_runs(2, known.with_found({Run(1): None}), retry=False).look == {Run(0): 5.0}
    assert remaining_runs(2, known.with_found({Run(1): None}), retry=True).send == (Run(1, 1),)
    outcome = known.with_found({Run(1): job(Run(1))})
    assert outcome.open == {Run(0): 5.0} and outcome.jobs == {Run(1): "jobs/1/1"}
    again = facts(job(Run(1, 1)), open_={Run(0): 5.0, Run(1): 5.0})
    assert remaining_runs(2, again, retry=False).look == {Run(0): 5.0}


def test_a_run_that_was_sent_and_never_started_is_sent_again_whatever_else_is() -> None:  # N7
    known = facts(job(Run(0)), job(Run(1))).without([Run(1)]).with_found({Run(0): None})
    assert remaining_runs(3, known, retry=False).send == (Run(1), Run(2))
    assert remaining_runs(3, known, retry=True).send == (Run(0, 1), Run(1))
    again = facts(job(Run(0), "JOB_STATE_CANCELLED"), jobs={Run(0, 1): "jobs/0-1/1"}).without([Run(0, 1)])
    assert remaining_runs(1, again, retry=True).send == remaining_runs(1, again, retry=False).send == (Run(0, 1),)
    assert not remaining_runs(1, again.with_found({Run(0, 1): None}), retry=False).send


def test_a_job_under_another_request_id_is_no_run_of_it() -> None:
    assert remaining_runs(1, facts(job(Run(0), sweep="other")), retry=False).send == (Run(0),)


def test_failed_and_expired_runs_are_retried_and_no_others() -> None:
    states = ["FAILED", "EXPIRED", "CANCELLED", "SUCCEEDED", "RUNNING", "QUEUED"]
    listed = [job(Run(index), f"JOB_STATE_{state}") for index, state in enumerate(states)]
    assert remaining_runs(7, facts(*listed), retry=True).send == (Run(0, 1), Run(1, 1))


def test_the_last_attempt_counts() -> None:  # N7
    first, again = job(Run(0), "JOB_STATE_FAILED"), job(Run(0, 1), "JOB_STATE_RUNNING")
    assert remaining_runs(1, facts(first, again), retry=True).send == ()
    assert remaining_runs(1, facts(first, job(Run(0, 1), "JOB_STATE_FAILED")), retry=True).send == (Run(0, 2),)
    assert remaining_runs(1, facts(first, open_={Run(0, 1): 5.0}), retry=True).send == ()


def test_a_copy_that_ended_by_itself_does_not_hide_a_failed_run() -> None:
    ran, copy = job(Run(0), "JOB_STATE_FAILED"), job(Run(0), "JOB_STATE_SUCCEEDED", 2)
    for listed in ((ran, copy), (copy, ran)):
        assert remaining_runs(1, facts(*listed), retry=True).send == (Run(0, 1),)


def test_failed_runs_are_counted_apart_from_those_that_were_sent_once_more() -> None:  # N7
    listed = job(Run(0)), job(Run(1), "JOB_STATE_FAILED"), job(Run(1, 1)), job(Run(2), "JOB_STATE_EXPIRED")
    left = remaining_runs(4, facts(*listed), retry=False)
    assert (left.send, left.done, left.failed, left.repeated) == ((Run(3),), 3, 1, 1)
    retried = remaining_runs(4, facts(*listed), retry=True)
    assert (retried.send, retried.done, retried.failed, retried.repeated) == ((Run(2, 1),), 2, 0, 1)


def test_of_a_run_the_last_attempt_counts_and_no_copy_of_it() -> None:  # N7
    ran, copy = job(Run(0), "JOB_STATE_RUNNING"), job(Run(0), "JOB_STATE_SUCCEEDED", 2)
    first, again = job(Run(1), "JOB_STATE_FAILED"), job(Run(1, 1), "JOB_STATE_QUEUED")
    for listed in ((ran, copy, first, again), (again, first, copy, ran)):
        assert latest(listed) == {0: ran, 1: again}


def test_runs_are_named_by_their_numbers_and_many_of_them_counted() -> None:
    assert runs_in_words([3]) == "run 3" and runs_in_words([0, 3]) == "runs 0 and 3"
    assert runs_in_words(range(7)) == "runs 0, 1, 2, 3, 4 and 2 more"


def test_a_cancelled_sweep_goes_on_with_what_was_cancelled_and_what_was_never_sent() -> None:  # N7
    states = ["SUCCEEDED", "CANCELLED", "FAILED", "RUNNING", "CANCELLING"]
    listed = [job(Run(index), f"JOB_STATE_{state}") for index, state in enumerate(states)]
    left = remaining_runs(6, facts(*listed), retry=False, recall=True)
    assert left.send == (Run(1, 1), Run(5)) and (left.done, left.failed) == (4, 1)
    both = remaining_runs(6, facts(*listed), retry=True, recall=True)
    assert both.send == (Run(1, 1), Run(2, 1), Run(5))
    plain = remaining_runs(6, facts(*listed), retry=False)
    assert plain.send == (Run(5),) and plain.cancelled == 2 and being_cancelled(facts(*listed)) == 1
    once = remaining_runs(2, facts(*listed[:2], job(Run(1, 1), "JOB_STATE_RUNNING")), retry=False, recall=True)
    assert once.send == () and once.repeated == 1


@pytest.mark.parametrize("state", ["JOB_STATE_FAILED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED"])
def test_a_copy_that_never_had_machines_does_not_undo_a_run_that_succeeded(state: str) -> None:  # N7
    """Somebody cancelled it in the queue, or there were no machines for it: another job ran."""
    ran, copy = job(Run(0)), replace(job(Run(0), state, 2), start_time=None)
    for listed in ((ran, copy), (copy, ran)):
        assert remaining_runs(1, facts(*listed), retry=True, recall=True).send == ()
        assert latest(listed) == {0: ran} and copies(listed) == {copy.name}


def test_the_claim_tells_which_of_two_jobs_ran() -> None:  # N7
    ran, copy = job(Run(0)), job(Run(0), "JOB_STATE_FAILED", 2)
    assert copies((ran, copy)) == {ran.name}, "what succeeded may have ended by itself, unless the claim tells more"

    def claimed(jobs: list[VertexJob]) -> VertexJob:
        return next(job for job in jobs if job is ran)

    assert copies((copy, ran, job(Run(1))), claimed) == {copy.name} and latest((copy, ran), claimed) == {0: ran}


GONE = ResourceError("cluster h100 is gone", why="404", fix="pulumi up")
UNREAD = Verdict(Outcome.UNKNOWN, "cannot tell whether it starts now")
MAY_WAIT = replace(FULL, outcome=Outcome.MAY_WAIT)
STARTS = Verdict(Outcome.STARTS, "starts now")


def dormant(edit: str = "") -> JudgedCandidate:
    asleep = judged("pool", NEVER)
    offer = replace(asleep.candidate.offer, cluster="", dormant="h100")
    return replace(asleep, candidate=replace(asleep.candidate, offer=offer, edit=edit))


def chosen(*options: JudgedCandidate, then: tuple[str, ...] = ()) -> GroupChoice:
    verdicts = {id(option.candidate): option for option in options}

    def judge(some: Iterable[Candidate]) -> Iterator[JudgedCandidate]:
        return (verdicts[id(candidate)] for candidate in some)

    return choose_group("t", [option.candidate for option in options], judge, then)


def by(choice: Choice | SlipwayError | None) -> str:
    assert isinstance(choice, Choice)
    return choice.taken.candidate.offer.capacity_type


@pytest.mark.parametrize("waiting", [FULL, MAY_WAIT, replace(FULL, outcome=Outcome.WAITS)])
def test_a_pool_that_can_ever_run_them_is_waited_for(waiting: Verdict) -> None:
    """All of them went on demand at once, unasked."""
    choice = chosen(judged("pool", waiting), judged("flex-start", BUSY), judged("spot", FINE))
    assert (by(choice.first), by(choice.sooner)) == ("pool", "spot")
    assert choice.sooner and [candidate.candidate.label for candidate in choice.sooner.passed] == [
        "pool h100",
        "flex-start",
    ]


def test_what_can_never_run_them_is_left_without_a_question() -> None:
    choice = chosen(judged("pool", NEVER), judged("spot", BUSY), judged("on-demand", FINE))
    assert (by(choice.first), by(choice.sooner)) == ("spot", "on-demand")
    assert isinstance(choice.first, Choice) and [candidate.candidate.label for candidate in choice.first.passed] == [
        "pool h100"
    ]


def test_only_the_types_that_are_named_may_be_taken_in_their_order() -> None:
    options = (judged("pool", FULL), judged("on-demand", FINE), judged("spot", FINE), judged("flex-start", BUSY))
    assert by(chosen(*options, then=("spot", "on-demand")).sooner) == "spot"
    assert by(chosen(*options, then=("flex-start", "on-demand")).sooner) == "on-demand"
    assert chosen(*options, then=("flex-start",)).sooner is None
    assert chosen(*options, then=("pool",)).sooner is None, "that is the first one"


@pytest.mark.parametrize("first", [broken(judged("pool", FULL).candidate, GONE), dormant()])
def test_a_cluster_that_takes_no_jobs_now_can_run_them_later(first: JudgedCandidate) -> None:
    choice = chosen(first, judged("spot", FINE))
    assert isinstance(choice.first, SlipwayError) and by(choice.sooner) == "spot"
    assert chosen(first, judged("spot", BUSY)).sooner is None


def test_a_cluster_that_only_an_edit_brings_back_can_not() -> None:
    assert by(chosen(dormant("a later `until`"), judged("spot", FINE)).first) == "spot"


def test_runs_that_nothing_can_ever_run_are_refused() -> None:
    with pytest.raises(PolicyError, match="can't run now with any of its capacity types"):
        chosen(judged("pool", NEVER), judged("spot", NEVER))


def test_of_several_clusters_the_one_with_room_is_taken() -> None:
    other = judged("pool", STARTS)
    free = replace(other, candidate=replace(other.candidate, offer=replace(other.candidate.offer, cluster="a100")))
    choice = chosen(judged("pool", FULL), free, judged("spot", FINE))
    assert isinstance(choice.first, Choice) and choice.first.taken is free and choice.sooner is None

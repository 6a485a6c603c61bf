"""Where the runs of a sweep go: to the first capacity type that can ever run them, unless another is named. # N3 N7"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from slipway.errors import PolicyError, ResourceError, SlipwayError
from slipway.jobs.verdict import Outcome, Verdict
from slipway.submission.candidates import Candidate
from slipway.submission.choice import Choice, JudgedCandidate, broken
from slipway.sweeps.sweep_choice import GroupChoice, choose_group
from tests.slipway.submission.test_choice import BUSY, FINE, FULL, NEVER, judged

GONE = ResourceError("cluster h100 is gone", why="404", fix="pulumi up")
UNREAD = Verdict(Outcome.UNKNOWN, "cannot tell whether it starts now")
MAY_WAIT = replace(FULL, outcome=Outcome.MAY_WAIT)
STARTS = Verdict(Outcome.STARTS, "starts now")


def dormant(edit: str = "") -> JudgedCandidate:
    asleep = judged("pool", NEVER)
    offer = replace(asleep.candidate.offer, cluster="", dormant="h100")
    return replace(asleep, candidate=replace(asleep.candidate, offer=offer, edit=edit))


def chosen(*options: JudgedCandidate, then: tuple[str, ...] = ()) -> GroupChoice:
    verdicts = {id(one.candidate): one for one in options}

    def judge(some: Iterable[Candidate]) -> Iterator[JudgedCandidate]:
        return (verdicts[id(one)] for one in some)

    return choose_group("t", [one.candidate for one in options], judge, then)


def by(choice: Choice | SlipwayError | None) -> str:
    assert isinstance(choice, Choice)
    return choice.taken.candidate.offer.capacity_type


@pytest.mark.parametrize("waiting", [FULL, MAY_WAIT, replace(FULL, outcome=Outcome.WAITS)])
def test_a_pool_that_can_ever_run_them_is_waited_for(waiting: Verdict) -> None:
    """All of them went on demand at once, unasked."""
    found = chosen(judged("pool", waiting), judged("flex-start", BUSY), judged("spot", FINE))
    assert (by(found.first), by(found.sooner)) == ("pool", "spot")
    assert found.sooner and [one.candidate.label for one in found.sooner.passed] == ["pool h100", "flex-start"]


def test_where_the_first_type_starts_no_other_is_looked_at() -> None:
    assert chosen(judged("pool", STARTS), judged("spot", FINE)).sooner is None
    assert chosen(judged("pool", UNREAD), judged("spot", FINE)).sooner is None, "it may start"


def test_what_can_never_run_them_is_left_without_a_question() -> None:
    found = chosen(judged("pool", NEVER), judged("spot", BUSY), judged("on-demand", FINE))
    assert (by(found.first), by(found.sooner)) == ("spot", "on-demand")
    assert isinstance(found.first, Choice) and [one.candidate.label for one in found.first.passed] == ["pool h100"]


def test_only_the_types_that_are_named_may_be_taken_in_their_order() -> None:
    options = (judged("pool", FULL), judged("on-demand", FINE), judged("spot", FINE), judged("flex-start", BUSY))
    assert by(chosen(*options, then=("spot", "on-demand")).sooner) == "spot"
    assert by(chosen(*options, then=("flex-start", "on-demand")).sooner) == "on-demand"
    assert chosen(*options, then=("flex-start",)).sooner is None
    assert chosen(*options, then=("pool",)).sooner is None, "that is the first one"


@pytest.mark.parametrize("first", [broken(judged("pool", FULL).candidate, GONE), dormant()])
def test_a_cluster_that_takes_no_jobs_now_can_run_them_later(first: JudgedCandidate) -> None:
    found = chosen(first, judged("spot", FINE))
    assert isinstance(found.first, SlipwayError) and by(found.sooner) == "spot"
    assert chosen(first, judged("spot", BUSY)).sooner is None


def test_a_cluster_that_only_an_edit_brings_back_can_not() -> None:
    assert by(chosen(dormant("a later `until`"), judged("spot", FINE)).first) == "spot"


def test_runs_that_nothing_can_ever_run_are_refused() -> None:
    with pytest.raises(PolicyError, match="can't run now with any of its capacity types"):
        chosen(judged("pool", NEVER), judged("spot", NEVER))


def test_of_several_clusters_the_one_with_room_is_taken() -> None:
    other = judged("pool", STARTS)
    free = replace(other, candidate=replace(other.candidate, offer=replace(other.candidate.offer, cluster="a100")))
    found = chosen(judged("pool", FULL), free, judged("spot", FINE))
    assert isinstance(found.first, Choice) and found.first.taken is free and found.sooner is None

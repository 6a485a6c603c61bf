"""The first offer that can run is taken, others are told with their reasons; the team that it counts for. # N3 # N19"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.model.catalog.model import Catalog, Offer
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.prices import UNKNOWN
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidates import Candidate, PreparedSubmission, SubmissionRequest, prepare
from slipway.using.submission.choice import JudgedCandidate, broken, choose, not_taken
from slipway.using.submission.later_offers import LaterOffers
from slipway.using.submission.request import Request

from .fallback_command import catalog
from .service import Context, Service

FULL = Verdict(Outcome.FULL, "pool full: h100/workers has 1 of 1 machine busy with tune-27b-x1", holder="tune-27b-x1")
BUSY = Verdict(Outcome.WAITS, "flex-start: …", ("quota h100_gpus us-central1: needs 8, limit 8, used 8",))
NEVER = Verdict(Outcome.NEVER, "can never run on spot machines", ("quota cpus us-central1: needs 24, limit 1",))
FINE = Verdict(Outcome.BESIDE, "quota suffices")


def judged(offer: str, verdict: Verdict, wait: float | None = None) -> JudgedCandidate:
    place = Offer(offer, True, "", "h100" if offer == "pool" else "", (), UNKNOWN, {})
    return JudgedCandidate(Candidate(place, CUSTOM_JOB, lambda: Request("r1", "dev", "t", {}), wait), verdict)


def test_the_first_that_can_run_is_taken_with_why_the_others_were_not(snapshot: SnapshotAssertion) -> None:
    choice = choose("t", [judged("pool", FULL), judged("flex-start", BUSY), judged("spot", FINE), judged("x", FINE)])
    assert choice.taken.candidate.offer.capacity_type == "spot"
    assert [not_taken(one) for one in choice.passed] == snapshot


def test_no_more_is_judged_than_is_needed() -> None:
    def judging() -> object:
        yield judged("pool", Verdict(Outcome.STARTS, "starts now"))
        raise AssertionError("nobody needs to know")

    assert choose("t", judging()).passed == ()  # type: ignore[arg-type]


def test_the_only_offer_that_can_ever_run_is_waited_for() -> None:
    assert choose("t", [judged("spot", NEVER), judged("pool", FULL)]).taken.candidate.offer.capacity_type == "pool"


@pytest.mark.parametrize(
    ("verdicts", "taken"),
    [
        ([(Outcome.FULL, 12), (Outcome.FULL, 1), (Outcome.FULL, 3)], "b"),
        ([(Outcome.FULL, 12), (Outcome.FULL, None), (Outcome.FULL, 1)], "a"),
        ([(Outcome.FULL, 0), (Outcome.MAY_WAIT, 1)], "b"),
        ([(Outcome.MAY_WAIT, 1), (Outcome.FULL, 0)], "a"),
        ([(Outcome.WAITS, 0), (Outcome.FULL, 9)], "b"),
        ([(Outcome.WAITS, None), (Outcome.MAY_WAIT, 2), (Outcome.MAY_WAIT, 1)], "c"),
        ([(Outcome.FULL, None), (Outcome.MAY_WAIT, None), (Outcome.MAY_WAIT, 1)], "b"),
    ],
)
def test_machines_that_are_free_come_before_a_shorter_queue(
    verdicts: list[tuple[Outcome, int | None]], taken: str
) -> None:
    """A cluster that was full for days was taken before one with two machines of three free, where one job waited."""
    those = [on(name, replace(FULL, outcome=what, queue=n)) for name, (what, n) in zip("abc", verdicts, strict=False)]
    assert choose("t", those).taken.candidate.offer.cluster == taken


def on(cluster: str, verdict: Verdict) -> JudgedCandidate:
    one = judged("pool", verdict)
    return replace(one, candidate=replace(one.candidate, offer=replace(one.candidate.offer, cluster=cluster)))


def test_a_planned_wait_is_kept_though_another_offer_could_run_now() -> None:
    assert (
        choose("t", [judged("pool", FULL, wait=1800.0), judged("spot", FINE)]).taken.candidate.offer.capacity_type
        == "pool"
    )


def test_where_several_offers_would_wait_the_choice_is_a_persons(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(PolicyError) as error:
        choose("gemma2-lora", [judged("pool", FULL), judged("flex-start", BUSY)])
    assert str(error.value).splitlines() == snapshot
    assert error.value.exit_code == 5
    chosen = choose("t", [judged("pool", FULL), judged("flex-start", BUSY)], may_wait=True)
    assert chosen.taken.candidate.offer.capacity_type == "pool"


def test_where_quota_is_short_the_fix_is_a_command(snapshot: SnapshotAssertion) -> None:  # Z2
    """It works as it is typed, whatever parameters made the job that large."""
    short = replace(NEVER, lacking=(("preemptible_cpus", 24), ("preemptible_nvidia_l4_gpus", 4)))
    with pytest.raises(PolicyError) as error:
        choose("t", [judged("spot", short)])
    assert error.value.fix.splitlines()[1:] == snapshot
    other = replace(NEVER, lacking=(("nvidia_l4_gpus", 4),))
    with pytest.raises(PolicyError) as error:  # Spot needs both of its own, on-demand a third one instead.
        choose("t", [judged("spot", short), judged("flex-start", short), judged("on-demand", other)])
    assert error.value.fix.splitlines()[1:] == snapshot
    with pytest.raises(PolicyError) as error:
        choose("t", [judged("pool", FULL), judged("flex-start", replace(BUSY, lacking=(("h100_gpus", 16),)))])
    assert "h100_gpus=16" in error.value.fix


def test_a_cluster_that_only_an_edit_brings_back_is_not_waited_for() -> None:  # B6, N3
    """`wait until it is there again` was said of a season that has ended and has no later one."""
    offer = Offer("pool", False, "out of season since …", "", (), UNKNOWN, {}, dormant="big")
    over = replace(judged("pool", NEVER), verdict=Verdict(Outcome.NEVER, "can't run now on big", (offer.why,)))
    over = replace(over, candidate=replace(over.candidate, offer=offer, edit="a later `until`"))
    coming = replace(over, candidate=replace(over.candidate, offer=replace(offer, dormant="cpu"), edit=""))
    edit = "have a later `until` of big put into the stack file"
    for seen, ways in (
        ([over], [edit, "or ask for less, or for something else: slipway templates show t"]),
        ([over, judged("spot", NEVER)], [edit, "or ask for less, or for something else: slipway templates show t"]),
        ([coming, over], ["wait until cpu is there again: slipway pools", f"or {edit}"]),
    ):
        with pytest.raises(PolicyError) as error:
            choose("t", seen)
        assert error.value.fix.splitlines()[:2] == ways


def test_a_broken_cluster_is_the_news_where_no_other_offer_is_left() -> None:
    gone = broken(judged("pool", FULL).candidate, ResourceError("cluster h100 is gone", why="404", fix="pulumi up"))
    with pytest.raises(ResourceError, match="cluster h100 is gone") as error:
        choose("t", [gone, judged("spot", NEVER)])
    assert error.value.exit_code == 4 and "needs 24, limit 1" in error.value.why
    assert choose("t", [gone, judged("spot", FINE)]).taken.candidate.offer.capacity_type == "spot"


def test_a_reason_that_all_offers_share_is_said_once_and_quota_only_where_it_lacks(snapshot: SnapshotAssertion) -> None:
    small = Verdict(Outcome.NEVER, "can never run", ("27b has 54.5 GB of weights: take H100",))
    with pytest.raises(PolicyError) as error:
        choose("gemma2-lora", [judged("spot", small), judged("flex-start", small)])
    assert str(error.value).splitlines() == snapshot


VISION, LANGUAGE, ADA = "group:vision@acme.example", "group:Language.Models@acme.example", "user:ada@acme.example"
TRAINER, EVALS, OTHER = (f"{name}@acme-ml.iam.gserviceaccount.com" for name in ("trainer", "evals", "other"))


def stack(*members: str, team: str = "", account: str = TRAINER, evals: tuple[str, ...] = ()) -> Catalog:
    """A stack whose template has a label `team`, if any, and runs as one of two trainers."""
    found = catalog(launcher=True)
    template = found.templates["digits"]

    def labelled(request: Any) -> Any:
        own = {"team": team} if team else {}
        job = {**request["jobSpec"], "serviceAccount": account}
        return {**request, "labels": {**request["labels"], **own}, "jobSpec": job}

    offers = tuple(replace(offer, request=labelled(offer.request)) for offer in template.offers)
    return replace(
        found, templates={"digits": replace(template, offers=offers)}, submitters={TRAINER: members, EVALS: evals}
    )


def prepared(of: Catalog, flag: str = "", variable: str = "") -> PreparedSubmission:
    return prepare(of, SubmissionRequest("digits", team=flag), "ada", variable)


TEAMS = {
    "the template's comes first": (stack(VISION, LANGUAGE, team="judges"), "", "vision", "judges"),
    "the only group": (stack(VISION, ADA), "", "", "vision"),
    "and may be named, whatever the variable says": (stack(VISION), "vision", "elsewhere", "vision"),
    "as a label has it": (stack(LANGUAGE), "", "", "language-models"),
    "two groups, and nobody says which": (stack(VISION, LANGUAGE), "", "", ""),
    "the variable": (stack(VISION, LANGUAGE), "", "vision", "vision"),
    "the flag before the variable": (stack(VISION, LANGUAGE), "language.models", "vision", "language-models"),
    "groups of another trainer do not count": (stack(VISION, evals=(LANGUAGE,)), "", "", "vision"),
    "all groups, for an account that is no trainer": (stack(VISION, account=OTHER, evals=(LANGUAGE,)), "", "", ""),
    "no group: the variable is of other stacks": (stack(ADA), "", "vision", ""),
    "names that no label can have": (stack("group:@", "group:***@acme.example"), "", "", ""),
}


@pytest.mark.parametrize(("of", "flag", "variable", "team"), TEAMS.values(), ids=TEAMS)
def test_a_submission_counts_for_a_team(of: Catalog, flag: str, variable: str, team: str) -> None:
    found = prepared(of, flag, variable)
    labels = found.candidates[0].body["labels"]
    assert (found.team, labels.get("slipway-team", "")) == (team, team)


@pytest.mark.parametrize(
    ("of", "flag", "variable", "says"),
    [
        (stack(VISION, LANGUAGE, team="judges"), "vision", "", "leave out --team"),
        (stack(VISION, LANGUAGE), "", "judges", "--team vision or --team language-models"),
        (stack(), "vision", "", "leave out --team"),
        (stack(VISION, LANGUAGE), "***", "vision", "--team vision or --team language-models"),
    ],
)
def test_a_team_that_may_not_submit_it_is_refused(of: Catalog, flag: str, variable: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        prepared(of, flag, variable)
    assert refused.value.fix == says


def test_a_submission_counts_for_one_team_by_whichever_offer_it_starts() -> None:  # N3
    """The stack lets another group submit while it waits."""
    began, now = stack(VISION), replace(stack(VISION, LANGUAGE), commit="b" * 40)
    context: Any = Context(Service(launcher=True, published=now), began)
    later = LaterOffers.after(context, prepared(began).under("r1"), 0).anew()
    assert later.prepared.catalog is now
    assert {one.body["labels"]["slipway-team"] for one in later.candidates} == {"vision"}

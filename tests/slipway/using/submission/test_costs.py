"""Before a job is sent: the budget, what it may cost in all, and who is asked. # W2 # N7 # N9 # N16 # N19 # Z8"""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.base import codec
from slipway.base.errors import PolicyError
from slipway.model.budget import Budget, Ledger, shares
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import PIPELINE_JOB, TUNING_JOB
from slipway.model.origin import Origin
from slipway.model.prices import Price
from slipway.using.jobs.earlier_jobs import Times
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.budget_check import check_budget
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import JudgedCandidate
from slipway.using.submission.costs import RunTotal, Spending, run_total, spending, spending_at_once
from slipway.using.submission.prepared import prepare
from slipway.using.submission.request import Request
from slipway.using.submission.submission_request import SubmissionRequest

from .fallback_command import Told, catalog, command
from .service import Killed, Service

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LEDGER = Ledger(NOW - timedelta(minutes=40), "2026-11", 60_000, 90_000, {"vision": 27_600, "speech": 100}, {"ada": 480})
BUDGET = Budget(80_000, {"Vision": 30_000}, {"ada": 500})


def told(budget: Budget, ledger: Ledger | str = LEDGER, *, team: str = "vision", user: str = "ada") -> list[str]:
    lines: list[str] = []
    check_budget(budget, ledger, origin=Origin("prod"), stack="prod", team=team, user=user, now=NOW, tell=lines.append)
    return lines


def test_who_has_spent_most_of_it_is_warned_with_its_age(snapshot: SnapshotAssertion) -> None:
    assert told(BUDGET) == snapshot
    assert told(BUDGET, team="speech", user="ben") == []


@pytest.mark.parametrize("over", [{"stack": 60_000}, {"teams": {"vision": 27_600}}])
def test_what_is_spent_up_is_refused_only_where_the_stack_enforces_it(over: dict[str, object]) -> None:
    """A team's limit was to be raised in slipway:budget, while slipway:teams had it."""
    budget = replace(BUDGET, **over)  # type: ignore[arg-type]
    assert any("100 %" in line for line in told(budget))
    with pytest.raises(PolicyError) as caught:
        told(replace(budget, enforce=True))
    assert caught.value.exit_code == 5
    key = "slipway:budget.stack" if "stack" in over else "slipway:teams.vision.budget or slipway:budget.teams.vision"
    assert f"have {key} raised" in caught.value.fix


def test_a_user_is_self_declared_and_only_warned() -> None:
    assert "160 %" in told(Budget(users={"ada": 300}, enforce=True))[0]


@pytest.mark.parametrize("ledger", ["no hourly run has told", replace(LEDGER, month="2026-10")])
def test_nobody_is_refused_for_what_nobody_knows(ledger: Ledger | str) -> None:
    (line,) = told(Budget(stack=1, enforce=True), ledger)
    assert line.startswith("budget not checked") and "the deployer: slipway record" in line


def test_an_old_ledger_tells_its_age() -> None:
    assert told(Budget(stack=1e9), LEDGER) == []
    assert "5 h" in told(Budget(stack=1e9), replace(LEDGER, at=NOW - timedelta(hours=5)))[0]


@pytest.mark.parametrize("ledger", [LEDGER, replace(LEDGER, spent=0, teams={}), "no hourly run has told"])
@pytest.mark.parametrize("budget", [Budget(stack=0), Budget(teams={"Vision": 0})])
def test_a_budget_of_nothing_is_spent_up_before_anything_is(budget: Budget, ledger: Ledger | str) -> None:
    """With nothing spent it let the first jobs pass."""
    assert any("may spend nothing" in line for line in told(budget, ledger))
    with pytest.raises(PolicyError) as caught:
        told(replace(budget, enforce=True), ledger)
    assert caught.value.fix and "next month" not in caught.value.fix
    (share,) = shares(budget, replace(LEDGER, spent=0, teams={}), "prod", "vision", "")
    assert share.spent_up and not share.warns, "as it should be"


@pytest.mark.parametrize("spent", ["NaN", "Infinity", "1e400", "-1", '"all"', "null"])
def test_a_ledger_of_no_amounts_is_none(spent: str) -> None:
    text = f'{{"at": "2026-11-20T11:20:00Z", "month": "2026-11", "spent": {spent}, "teams": {{"vision": 1}}}}'
    with pytest.raises(codec.MalformedError):
        codec.read(Ledger, json.loads(text))


def test_a_ledger_is_raised_by_an_earlier_one_of_its_month_in_each_amount() -> None:
    """Needs jobs that can't be read: idle machines made up for them in the sum, and teams had spent nothing."""
    before = replace(LEDGER, spent=900.0, forecast=950.0, teams={"vision": 95.0, "nlp": 1.0}, users={})
    now = replace(LEDGER, spent=905.0, forecast=None, teams={"nlp": 2.0}, users={"ada": 3.0})
    highest = replace(now, teams={"nlp": 2.0, "vision": 95.0})
    assert now.at_least(before) == highest == highest.at_least(now)
    assert replace(now, spent=1.0, forecast=2.0).at_least(before) == replace(highest, spent=900.0, forecast=900.0)
    assert now.at_least(replace(before, month="2020-01")) == now


FINE = Verdict(Outcome.BESIDE, "spot: runs on its own")
TOOK = Times(240.0, 540.0, 11)
EACH = Price(Decimal("3.60"))


def candidate(by: str, timeout: str | None = None, **body: Any) -> Candidate:
    prepared = prepare(catalog(launcher=True), SubmissionRequest("digits"), "ada")
    offered = next(candidate for candidate in prepared.candidates if candidate.offer.capacity_type == by)
    spec: dict[str, Any] = dict(offered.body["jobSpec"])
    if timeout:
        spec["scheduling"] = {**spec["scheduling"], "timeout": timeout}
    key = "trialJobSpec" if body else "jobSpec"
    request = replace(offered.request, body={**body, key: spec}, kind=TUNING_JOB if body else offered.kind)
    return replace(offered, make=lambda: request, kind=request.kind)


def total(by: str = "spot", times: Times | None = None, **changes: Any) -> RunTotal | None:
    return run_total(catalog(launcher=True), JudgedCandidate(candidate(by, **changes), FINE, times=times))


def test_the_rate_times_what_earlier_runs_took_and_at_most_its_timeout(snapshot: SnapshotAssertion) -> None:
    total = RunTotal(EACH, TOOK, 7200.0)
    assert total.usual == (Price(Decimal("0.24")), Price(Decimal("0.54"))) and total.most == Price(Decimal("7.2"))
    assert total.words == snapshot


def test_without_earlier_runs_the_timeout_alone_counts(snapshot: SnapshotAssertion) -> None:
    assert RunTotal(EACH, None, 7200.0).words == snapshot
    run_total = total(timeout="7200s")
    assert run_total is not None and (run_total.times, run_total.longest) == (None, 7200.0)
    week = total()
    assert week is not None and week.longest == 7 * 24 * 3600, "the service ends every job then"


def test_what_is_a_bound_has_no_least_and_what_lacks_a_part_no_most(snapshot: SnapshotAssertion) -> None:
    bound = RunTotal(replace(EACH, at_most=True), TOOK, 3600.0)
    assert bound.usual is not None and bound.usual[0] is None
    assert "up to $0.54 in 4–9" in bound.words
    part = RunTotal(Price(EACH.known, complete=False), None, 3600.0)
    assert part.words == snapshot


def test_trials_come_in_rounds_and_do_not_use_all_machines_all_the_time() -> None:
    run_total = total(timeout="3600s", maxTrialCount=5, parallelTrialCount=2, studySpec={})
    assert run_total is not None and run_total.longest == 3 * 3600
    usual = replace(run_total, times=TOOK).usual
    assert usual is not None and usual[0] is None


def test_a_pool_is_paid_for_anyway() -> None:
    assert total("pool") is None


def test_little_money_is_told_as_little() -> None:
    assert "under $0.01 in 1 s" in RunTotal(EACH, Times(1, 1, 3), 3600).words


MOVING = SubmissionRequest("digits", waits={"pool": 60.0}, then=("spot", "on-demand"))


def deployed(above: float) -> Catalog:
    return replace(catalog(launcher=True), confirm_above=above)


def with_machine(request: Request, machine: str) -> Request:
    spec: dict[str, Any] = request.body["jobSpec"]
    pools = [{**pool, "machineSpec": {"machineType": machine}} for pool in spec["workerPoolSpecs"]]
    return replace(request, body={**request.body, "jobSpec": {**spec, "workerPoolSpecs": pools}})


def of(above: float, *types: str) -> Spending | None:
    """Return the costs of a submission that may take these."""
    prepared = prepare(deployed(above), SubmissionRequest("digits"), "ada")
    return spending(
        prepared, [candidate for candidate in prepared.candidates if candidate.offer.capacity_type in types]
    )


def test_the_dearest_counts_and_pools_do_not() -> None:
    dearest = of(0.01, "pool", "spot", "on-demand")
    assert dearest is not None and dearest.what == "digits by on-demand"
    assert dearest == of(0.01, "on-demand") and dearest.price.known > 0.2
    spot = of(0.01, "spot")
    assert spot is not None and spot.price.known < dearest.price.known
    assert of(0.01, "pool") is None and of(0.01) is None


def test_nobody_is_asked_below_the_limit() -> None:
    dearest = of(0.01, "on-demand")
    assert dearest is not None
    assert of(float(dearest.price.known), "on-demand") is None
    assert of(float(dearest.price.known) - 0.0001, "on-demand") is not None


def test_what_has_no_known_price_is_more_than_any_limit() -> None:
    (_, spot, _) = prepare(deployed(1000), SubmissionRequest("digits"), "ada").candidates
    unpriced = replace(spot, make=lambda: with_machine(spot.request, "a4-highgpu-8g"))
    costs = spending_at_once(deployed(1000), "digits", [(unpriced, 2)])
    assert costs is not None and "price unknown" in costs.words


@pytest.mark.parametrize(("items", "asks"), [({"raw": "[1, 2]"}, False), ({"inputParameter": "names"}, True)])
def test_a_pipeline_whose_loop_a_run_alone_knows_is_more_than_any_limit(items: dict[str, str], asks: bool) -> None:
    (_, spot, _) = prepare(deployed(1000), SubmissionRequest("digits"), "ada").candidates
    loop = {"componentRef": {"name": "a"}, "parameterIterator": {"items": items}}
    spec = {
        "root": {"dag": {"tasks": {"a": loop}}},
        "components": {"a": {"executorLabel": "a"}},
        "deploymentSpec": {"executors": {"a": {"container": {"image": "python:3.11"}}}},
    }
    request = replace(spot.request, kind=PIPELINE_JOB, body={**spot.request.body, "pipelineSpec": spec})
    costs = spending_at_once(deployed(1000), "digits", [(replace(spot, kind=PIPELINE_JOB, make=lambda: request), 1)])
    assert ("/h and more" in costs.words if costs else False) is asks


def test_a_stack_that_sets_no_limit_asks_above_a_dollar_an_hour() -> None:
    """From Python a job took $30 an hour on demand where the pool was full, and nobody had been asked. # N25"""
    assert catalog(launcher=True).confirm_above == 1
    (_, spot, _) = prepare(catalog(launcher=True), SubmissionRequest("digits"), "ada").candidates
    assert spending_at_once(catalog(launcher=True), "digits", [(spot, 1)]) is None
    assert spending_at_once(catalog(launcher=True), "digits", [(spot, 100)]) is not None


def test_runs_at_once_are_added() -> None:
    (pool, spot, _) = prepare(deployed(1), SubmissionRequest("digits"), "ada").candidates
    total = spending_at_once(deployed(0), "digits", [(spot, 1)])
    assert total is not None and spending_at_once(deployed(1), "digits", [(spot, 1), (pool, 500)]) is None
    many = spending_at_once(deployed(1), "digits", [(spot, 100), (pool, 500)])
    assert many is not None and many.price.known == 100 * total.price.known and many.what.startswith("100 runs of")


def test_nothing_is_sent_that_nobody_confirms() -> None:
    service, asked = Service(launcher=True, starts=[0]), SubmissionRequest("digits", capacity_type="spot")
    with pytest.raises(PolicyError, match="nobody has confirmed"):
        command(service, again=False, asked=asked, confirm_above=0.01)
    assert service.jobs == []
    assert command(service, again=True, asked=asked, show=Told(agrees=True), confirm_above=0.01).attempt.fresh


def test_what_it_may_move_on_to_is_asked_about_before_it_waits() -> None:
    """A job went on demand in the night, unasked."""
    with pytest.raises(PolicyError, match="digits by on-demand"):
        command(Service(launcher=True, starts=[None]), again=False, asked=MOVING, confirm_above=0.01)
    show = Told(agrees=True)
    done = command(Service(launcher=True, starts=[None, 0]), again=False, asked=MOVING, show=show, confirm_above=0.01)
    assert done.attempt.job.id == "7001" and show.asked[0].what == "digits by on-demand"


def test_who_resumes_it_is_asked_before_anything_is_given_up() -> None:
    """Else the place in the queue is lost, and nothing sent in its stead."""
    service = Service(launcher=True, starts=[None, 0], faults={"create": ["killed"]})
    with pytest.raises(Killed):
        command(service, again=False, asked=MOVING, show=Told(agrees=True), confirm_above=0.01)
    service.dead = False
    with pytest.raises(PolicyError, match="digits by on-demand"):
        command(service, again=True, asked=MOVING, confirm_above=0.01)
    assert [job.ended for job in service.jobs] == [None], "it waits where it is"
    done = command(service, again=True, asked=MOVING, show=Told(agrees=True), confirm_above=0.01)
    assert done.attempt.job.id == "7001"

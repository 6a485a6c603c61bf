"""What a run costs in all, before it is sent: as long as earlier ones took, and as its timeout permits. # Z8 # N9"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from syrupy.assertion import SnapshotAssertion

from slipway.jobs.earlier_jobs import Times
from slipway.jobs.verdict import Outcome, Verdict
from slipway.kinds import TUNING_JOB
from slipway.prices import Price
from slipway.submission.candidates import Candidate, SubmissionRequest, prepare
from slipway.submission.choice import JudgedCandidate
from slipway.submission.costs import RunTotal, run_total
from slipway.submission.request import Request

from .fallback_command import catalog

FINE = Verdict(Outcome.BESIDE, "spot: runs on its own")
TOOK = Times(240.0, 540.0, 11)
EACH = Price(Decimal("3.60"))


def candidate(by: str, timeout: str | None = None, **body: Any) -> Candidate:
    prepared = prepare(catalog(launcher=True), SubmissionRequest("digits"), "ada")
    found = next(one for one in prepared.candidates if one.offer.capacity_type == by)
    spec: dict[str, Any] = dict(found.body["jobSpec"])
    if timeout:
        spec["scheduling"] = {**spec["scheduling"], "timeout": timeout}
    key = "trialJobSpec" if body else "jobSpec"
    request = replace(found.request, body={**body, key: spec}, kind=TUNING_JOB if body else found.kind)
    return changed(found, request)


def changed(one: Candidate, request: Request) -> Candidate:
    return replace(one, make=lambda: request, kind=request.kind)


def total(by: str = "spot", times: Times | None = None, **changes: Any) -> RunTotal | None:
    return run_total(catalog(launcher=True), JudgedCandidate(candidate(by, **changes), FINE, times=times))


def test_the_rate_times_what_earlier_runs_took_and_at_most_its_timeout(snapshot: SnapshotAssertion) -> None:
    one = RunTotal(EACH, TOOK, 7200.0)
    assert one.usual == (Price(Decimal("0.24")), Price(Decimal("0.54"))) and one.most == Price(Decimal("7.2"))
    assert one.words == snapshot


def test_without_earlier_runs_the_timeout_alone_counts(snapshot: SnapshotAssertion) -> None:
    assert RunTotal(EACH, None, 7200.0).words == snapshot
    found = total(timeout="7200s")
    assert found is not None and (found.times, found.longest) == (None, 7200.0)
    week = total()
    assert week is not None and week.longest == 7 * 24 * 3600, "the service ends every job then"


def test_what_is_a_bound_has_no_least_and_what_lacks_a_part_no_most(snapshot: SnapshotAssertion) -> None:
    bound = RunTotal(replace(EACH, at_most=True), TOOK, 3600.0)
    assert bound.usual is not None and bound.usual[0] is None
    assert "up to $0.54 in 4–9" in bound.words
    part = RunTotal(Price(EACH.known, complete=False), None, 3600.0)
    assert part.words == snapshot


def test_trials_come_in_rounds_and_do_not_use_all_machines_all_the_time() -> None:
    found = total(timeout="3600s", maxTrialCount=5, parallelTrialCount=2, studySpec={})
    assert found is not None and found.longest == 3 * 3600
    usual = replace(found, times=TOOK).usual
    assert usual is not None and usual[0] is None


def test_a_pool_is_paid_for_anyway() -> None:
    assert total("pool") is None


def test_little_money_is_told_as_little() -> None:
    assert "under $0.01 in 1 s" in RunTotal(EACH, Times(1, 1, 3), 3600).words

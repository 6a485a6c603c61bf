"""What is done with an attempt that waits, by what is seen of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.jobs.claim import Claim
from slipway.submission.fallback_step import AttemptStatus, FallbackStep, next_step

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
    """With a launcher a job runs whose claim it has; without one, a job that the service shows as started."""
    then = next_step(seen)
    runs = seen.claim is Claim.STARTED if seen.launcher else seen.started and not seen.ended and not seen.stopped
    if runs:
        assert then in (FallbackStep.KEEP, FallbackStep.WAIT)
    if then is FallbackStep.NEXT:
        assert seen.claim is Claim.GIVEN_UP and (seen.ended or seen.stopped)
        assert seen.launcher or not seen.started

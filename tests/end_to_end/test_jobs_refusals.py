"""Jobs that are not there, that have ended, or that end badly. (B1, D4)"""

from __future__ import annotations

from typing import Any

import pytest

from tests.checkouts.checkout import Checkout

pytestmark = pytest.mark.journey


@pytest.fixture(scope="module")
def finished(deployed: Checkout) -> Any:
    """A job that ran to its end on the shared pool."""
    return deployed.submit("--wait")


def test_a_job_that_has_ended_cannot_be_cancelled(deployed: Checkout, finished: Any) -> None:
    name = finished["displayName"]
    done = deployed.slipway("jobs", "cancel", name)
    assert done.code == 4, done.said
    assert f"error: job {name} has ended" in done.err
    assert "why: succeeded" in done.err
    assert f"fix: slipway jobs show {name}" in done.err
    assert deployed.job_state(finished["name"]) == "JOB_STATE_SUCCEEDED"


def test_an_unknown_job_is_refused_with_the_nearest_name(deployed: Checkout, finished: Any) -> None:
    mistyped = finished["displayName"][:-1]
    for command in (("logs", mistyped), ("show", mistyped), ("cancel", mistyped), ("wait", mistyped)):
        done = deployed.slipway("jobs", *command)
        assert done.code == 4, done.said
        assert f"error: no job '{mistyped}' in slipway-local, us-central1" in done.err
        assert "  fix: nap-" in done.err and "else slipway jobs list" in done.err
    unknown = deployed.slipway("jobs", "logs", "1234567890")
    assert unknown.code == 4, unknown.said
    assert "none of that name" in unknown.err


def test_a_job_that_fails_ends_the_command_with_its_exit_code_and_its_own_words(deployed: Checkout) -> None:
    done = deployed.slipway("submit", "nap", "-p", "say=hello", "-p", "end=badly", "--follow")
    assert done.code == 4, done.said
    assert "the word is hello" in done.out
    assert "slept well" in done.out
    assert "failed" in done.err
    assert "Traceback" not in done.err


def test_a_job_that_is_still_running_at_the_timeout_goes_on(deployed: Checkout) -> None:
    job = deployed.submit("-p", "seconds=600")
    late = deployed.slipway("jobs", "wait", job["displayName"], "--timeout", "1s")
    assert late.code == 9, late.said
    assert f"fix: slipway jobs wait {job['displayName']}" in late.err
    assert deployed.slipway("jobs", "cancel", job["displayName"]).code == 0
    ended = deployed.slipway("jobs", "wait", job["displayName"])
    assert ended.code == 8, ended.said

"""The service's rate limits, under a clock that stands still. (N7)"""

from datetime import UTC, datetime

import pytest

from local.cloud.clock import ManualClock
from local.cloud.rate_limits import Limits
from local.cloud.settings import Settings
from local.cloud.wire import ApiError
from tests.local.cloud.calling import JOBS, Calling
from tests.local.cloud.vertex.bodies import job_body

NUMBER = "100000000001"
START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def test_sixty_submissions_a_minute_and_region_by_default() -> None:
    clock = ManualClock(START)
    limits = Limits(clock, Settings, NUMBER)
    for second in range(60):
        limits.take("submit", "us-central1")
        clock.advance(0.5 if second < 59 else 0)
    with pytest.raises(ApiError) as refused:
        limits.take("submit", "us-central1")
    assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")
    detail = refused.value.details[0]
    assert detail["reason"] == "RATE_LIMIT_EXCEEDED" and detail["metadata"]["quota_limit_value"] == "60"
    limits.take("submit", "europe-west4")
    limits.take("call", "us-central1")


def test_the_window_slides() -> None:
    clock = ManualClock(START)
    limits = Limits(clock, lambda: Settings(submissions_per_minute=2), NUMBER)
    limits.take("submit", "r")
    clock.advance(40)
    limits.take("submit", "r")
    clock.advance(20)
    limits.take("submit", "r")
    with pytest.raises(ApiError):
        limits.take("submit", "r")


def test_zero_is_no_limit() -> None:
    limits = Limits(ManualClock(START), lambda: Settings(submissions_per_minute=0), NUMBER)
    for _ in range(1000):
        limits.take("submit", "r")


def test_a_wrong_request_counts_and_a_full_minute_is_said_before_what_is_wrong(calling: Calling) -> None:
    calling.set(submissions_per_minute=1)
    assert calling.refused("POST", f"{JOBS}?colour=red", {}).code == 400  # refused before it is counted
    assert calling.refused("POST", JOBS, {}, role="previewer").code == 403
    assert calling.refused("POST", JOBS, {}).code == 400
    for body in ({}, job_body()):
        assert calling.refused("POST", JOBS, body).code == 429
    assert calling.refused("POST", JOBS, {}, role="previewer").code == 403

"""What of an interrupted submission goes on, of whichever of its attempts."""

from __future__ import annotations

from typing import Any

import pytest

from slipway.cloud.failures import CloudError
from slipway.errors import AnswerUnknown
from slipway.submission.candidates import SubmissionRequest
from slipway.submission.lookup import going_on

from .fallback_command import catalog, command
from .service import Context, Journal, Killed, Service

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


def test_a_job_that_no_list_shows_is_found_by_the_journal() -> None:  # N7
    service = interrupted(take=["kill"])
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


def test_what_can_not_be_read_does_not_count_as_ended() -> None:  # N7
    service = interrupted(take=["kill"])
    service.faults["list"] = ["busy"]
    with pytest.raises(CloudError):
        left(service)

"""A stack that has left a region which does not answer any more: what is at home is sent, found and cancelled. # N2"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from .stack import Stack, held
from .test_fallback import packaged
from .test_submission_run import lost
from .test_sweep import every_job, points

LEFT = "europe-west4"
DOWN = {"kind": "unavailable", "match": f"/locations/{LEFT}/"}
TOLD = f"! not looked at {LEFT}, where stack"


@pytest.fixture
def stack(small: Stack) -> Stack:
    return small


@pytest.fixture
def left(stack: Stack) -> Iterator[Stack]:
    stack.catalog["formerRegions"] = [LEFT]
    stack.publish()
    yield stack


def test_a_sweep_is_sent_and_awaited(left: Stack) -> None:  # N7
    held(left)
    packaged(left)
    words = ("submit", "hello", "--sweep", points(left, 3))
    with left.faults(DOWN, lost()):
        sent = left.well(*words)
        assert sent.err.count(TOLD) == 1 and len(every_job(left)) == 3
        waiting = left.run(*words, "--wait", "--timeout", "1s")
    assert waiting.code == 9 and len(every_job(left)) == 3, waiting.err


def test_a_sweep_of_images_is_not_sent_as_nothing_would_keep_a_second_job_from_running(left: Stack) -> None:  # N7
    with left.faults(DOWN):
        refused = left.run("submit", "hello", "--sweep", points(left, 3))
    assert refused.code == 4 and LEFT in refused.err and every_job(left) == []


def test_a_sweep_is_cancelled_and_what_was_not_looked_at_is_said(left: Stack) -> None:
    held(left)
    sent = left.run("submit", "hello", "--sweep", points(left, 2), "--output", "json")
    cancel = ("jobs", "cancel", "--sweep", sent.json["sweep"])
    with left.faults(DOWN):
        done = left.run(*cancel)
        again = left.run(*cancel)
    for one in (done, again):
        assert one.code == 4 and f"sweep {sent.json['sweep']} may go on where" in one.err
        assert f"slipway jobs cancel --sweep {sent.json['sweep']}" in one.err
    assert re.fullmatch(r"cancelling 2 of 2 jobs of sweep \S+\n", done.out) and not again.out
    assert {job["state"] for job in every_job(left)} <= {"JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED"}


def test_a_submission_with_an_id_of_its_own_is_sent_and_a_lost_answer_is_looked_up(left: Stack) -> None:  # N7
    held(left)
    packaged(left)
    with left.faults(DOWN, lost()):
        sent = left.well("submit", "hello", "--request-id", "r1", "--output", "json")
        again = left.well("submit", "hello", "--request-id", "r1", "--output", "json")
    assert again.json["job"]["name"] == sent.json["job"]["name"], again.err
    assert TOLD in sent.err

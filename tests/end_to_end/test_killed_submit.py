"""`kill -9` of `slipway submit`: the same command with the same request id gives exactly one run. (D4, N4)"""

import json
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
CREATE = "POST .*/customJobs$"
RUNNING = ["JOB_STATE_RUNNING"]


@pytest.fixture
def request_id() -> str:
    return f"once-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def command(request_id: str) -> tuple[str, ...]:
    return ("slipway", "submit", "nap", "-p", f"say={request_id}", "--request-id", request_id)


@pytest.fixture
def machines_taken(deployed: Checkout) -> Iterator[list[str]]:
    """The names of jobs that run on every machine that the pool may have."""
    ids = [f"takes-{uuid.uuid4().hex[:12]}" for _ in range(2)]
    for id_ in ids:
        deployed.submit("-p", "seconds=600", "--request-id", id_)
    wait_for(lambda: [job["state"] for id_ in ids for job in deployed.jobs(id_)] == RUNNING * 2, "both machines work")
    names = [job["name"] for id_ in ids for job in deployed.jobs(id_)]
    yield names
    for name in names:
        deployed.cloud.cancel(name)


def ran_once(checkout: Checkout, request_id: str, jobs: int = 1) -> list[Any]:
    """All jobs of the request have succeeded, and exactly one of them ran the person's code."""
    wait_for(lambda: all(job["state"] == "JOB_STATE_SUCCEEDED" for job in checkout.jobs(request_id)), "they end well")
    made = checkout.jobs(request_id)
    assert len(made) == jobs
    logs = [checkout.slipway("jobs", "logs", job["name"].rsplit("/", 1)[-1]).out for job in made]
    assert sum(f"the word is {request_id}" in log for log in logs) == 1, logs
    assert sum("a copy of job" in log for log in logs) == jobs - 1, logs
    return made


def test_killed_before_it_sends_the_same_command_sends_once(
    deployed: Checkout, faults: Faults, command: tuple[str, ...], request_id: str
) -> None:
    faults({"kind": "delay", "match": "GET .*/persistentResources/", "seconds": 5, "times": 1})
    killed = deployed.start(*command, role="submitter")
    killed.until(lambda: deployed.journal(f"{request_id}.lock"), "it looks at the pool")
    killed.kill()
    assert deployed.jobs(request_id) == []
    again = deployed.slipway(*command[1:], "--wait", SLIPWAY_LOOK_FOR="1s")
    assert again.code == 0, again.said
    ran_once(deployed, request_id)


@pytest.mark.smoke
def test_killed_after_it_sent_the_same_command_finds_the_job_and_sends_nothing(
    deployed: Checkout, faults: Faults, command: tuple[str, ...], request_id: str
) -> None:
    lost = {"kind": "lost-answer", "match": CREATE, "times": 1}
    lagging = {"kind": "lagging-list", "match": "GET .*/customJobs", "seconds": 4}
    faults(lost, lagging)
    killed = deployed.start(*command, role="submitter")
    killed.until(lambda: "looking whether the job was made" in killed.said, "the answer is lost")
    killed.kill()
    (written,) = deployed.journal(f"{request_id}.json")
    assert json.loads(written.read_text())["state"] == "sending"
    again = deployed.slipway(*command[1:])
    assert again.code == 0, again.said
    assert "nothing is sent again" in again.out
    ran_once(deployed, request_id)


def test_sent_again_from_another_machine_while_lists_lag_only_one_of_the_two_jobs_runs(
    deployed: Checkout, faults: Faults, machines_taken: list[str], command: tuple[str, ...], request_id: str
) -> None:
    """The first waits until the second has been sent: once it has begun, it is found by its claim."""
    lost = {"kind": "lost-answer", "match": CREATE, "times": 1}
    lagging = {"kind": "lagging-list", "match": "GET .*/customJobs", "seconds": 60}
    faults(lost, lagging)
    killed = deployed.start(*command, role="submitter")
    killed.until(lambda: "looking whether the job was made" in killed.said, "the answer is lost")
    killed.kill()
    (written,) = deployed.journal(f"{request_id}.json")
    written.unlink()
    again = deployed.slipway(*command[1:])
    assert again.code == 0, again.said
    faults()
    for name in machines_taken:
        deployed.cloud.cancel(name)
    ran_once(deployed, request_id, jobs=2)
    told = deployed.slipway(*command[1:])
    assert told.code == 0, told.said
    assert "nothing is sent again" in told.out

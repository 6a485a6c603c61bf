"""A sample of what `make bench-faults` plays, chosen by a seed: points of trouble, and edits with a job running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bench.faults import points, sequences
from bench.faults.play import told
from bench.faults.proxy import Strike, standing_before
from bench.faults.stage import ProxiedCloud, Stage
from tests.checkouts.checkout import Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

SEED, POINTS = 11, 2
# A minute's patience, a second machine, and the cloud of others, are left to the bench.
LEFT_OUT = ("timeout", "slow", "again", "kill-cloud", "lag")


def on_stage(checkout: Checkout, folder: Path) -> Iterator[Stage]:
    """The checkout's commands through a proxy, where its calls can be seen and stopped."""
    with standing_before(lambda: checkout.cloud.url) as proxy:
        cloud = ProxiedCloud(checkout.cloud.state, checkout.cloud.variables, proxy)
        yield Stage(folder, cloud, proxy, replace(checkout, cloud=cloud))


@pytest.fixture
def shared(deployed: Checkout, tmp_path: Path) -> Iterator[Stage]:
    yield from on_stage(deployed, tmp_path)


@pytest.fixture
def mine(checkout: Checkout, tmp_path: Path) -> Iterator[Stage]:
    yield from on_stage(checkout, tmp_path)


@pytest.mark.long
def test_a_submission_into_trouble_and_once_more_is_one_job(shared: Stage) -> None:
    # N2, N4
    def command(request: str) -> tuple[str, ...]:
        return ("slipway", "submit", "nap", "-p", "say=x", "--request-id", request, "--capacity", "pool")

    shared.proxy.begin()
    assert shared.run(command("sample-clean"), "submitter", {}).code == 0
    every = [point for point in points.of("submit", shared.proxy.calls, False) if point.fault not in LEFT_OUT]
    for number, point in enumerate(points.drawn(every, SEED)[:POINTS]):
        request = f"sample-{number}"
        shared.proxy.begin(Strike(point, shared.kill_of_command(point.fault)))
        first = shared.run(command(request), "submitter", {})
        shared.proxy.begin()
        again = shared.run(command(request), "submitter", {})
        assert again.code == 0, (point, again.said)
        assert told(first, point), (point, first.said)
        assert ran(shared, request) == 1, point


def ran(stage: Stage, request: str) -> int:
    """How many jobs of a request ran the person's code, once all have ended."""
    wait_for(lambda: all("endTime" in job for job in stage.checkout.jobs(request)), "they end")
    made = stage.checkout.jobs(request)
    if len(made) < 2:
        return len(made)
    logs = [stage.checkout.slipway("jobs", "logs", job["name"].rsplit("/", 1)[-1]).out for job in made]
    return sum("the word is" in log for log in logs)


@pytest.mark.long
def test_edits_with_a_job_running_kill_nothing_and_leave_nothing(mine: Stage) -> None:
    # N1, B6
    played = sequences.play(mine, SEED, length=1)
    assert (played.outcome, played.why) == ("held", "")

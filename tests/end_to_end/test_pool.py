"""One pool, several people: it starts what fits, grows, says who holds it, and shrinks back. (B1, B2, P3, N9)"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.checkouts.checkout import VERTEX, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey


@pytest.fixture
def checkout(deployed: Checkout) -> Iterator[Checkout]:
    """The shared stack, without jobs before and after."""
    wait_for(lambda: not unfinished(deployed), "earlier jobs have ended")
    yield deployed
    for job in unfinished(deployed):
        cancel(deployed, job["displayName"])
    wait_for(lambda: not unfinished(deployed), "the jobs have ended")
    deployed.cloud.rest("POST", "/vertex-local/settings", {"scale_idle_seconds": "300"})


def unfinished(checkout: Checkout) -> list[Any]:
    return [job for job in checkout.jobs() if job["state"] in ("JOB_STATE_PENDING", "JOB_STATE_RUNNING")]


def sleeper(checkout: Checkout, person: str) -> Any:
    """A submission of a job that sleeps for long: the whole document."""
    flags = ("-p", f"say={person}", "-p", "seconds=600", "--output", "json")
    done = checkout.slipway("submit", "nap", *flags, SLIPWAY_USER=person)
    assert done.code == 0, done.said
    return done.json


def cancel(checkout: Checkout, job: str) -> None:
    """Cancel a job, whoever submitted it."""
    done = checkout.slipway("jobs", "cancel", job, "--yes")
    assert done.code == 0, done.said


def running(checkout: Checkout, submission: Any) -> bool:
    return checkout.job_state(submission["job"]["name"]) == "JOB_STATE_RUNNING"


def live(checkout: Checkout) -> int:
    """The pool's machines, as the service counts them."""
    (cluster,) = checkout.clusters()
    (pool,) = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{cluster}")["resourcePools"]
    return int(pool["replicaCount"])


def told(checkout: Checkout) -> int:
    """The same, as `slipway pools` says it."""
    (pool,) = checkout.slipway("pools", "--output", "json").json["pools"]
    return int(pool["live"])


def test_the_pool_grows_with_demand_says_who_holds_it_and_shrinks_back(checkout: Checkout) -> None:
    checkout.cloud.rest("POST", "/vertex-local/settings", {"scale_idle_seconds": "0"})
    wait_for(lambda: live(checkout) == 1, "the pool is at its minimum")
    checkout.cloud.rest("POST", "/vertex-local/settings", {"scale_idle_seconds": "300"})
    first = sleeper(checkout, "ada")
    assert first["verdict"]["outcome"] == "starts-now"
    wait_for(lambda: running(checkout, first), "the first job runs")
    second = sleeper(checkout, "grace")
    assert second["verdict"]["outcome"] == "scales-up"
    wait_for(lambda: running(checkout, second), "the second job runs")
    assert told(checkout) == 2
    (pool,) = checkout.slipway("pools", "--output", "json").json["pools"]
    assert {holder["name"]: holder["machines"] for holder in pool["holders"]} == {"ada": 1, "grace": 1}

    # The deployer records it as the hourly run does; who may submit reads who used what, and no more. # N19 # P5
    recorded = checkout.slipway("record", role="deployer")
    assert recorded.code == 0 and "2 of 2 machines busy" in recorded.out, recorded.said
    used = checkout.slipway("usage", "--since", "1h", "--output", "json").json
    assert {"ada", "grace"} <= {row["name"] for row in used["rows"]} and used["unread"] == []

    third = sleeper(checkout, "ada")
    assert third["verdict"]["outcome"] == "pool-full"
    for job, person in ((first, "ada"), (second, "grace")):
        assert f"{job['job']['displayName']} ({person}" in third["verdict"]["text"]
    shown = checkout.slipway("jobs", "show", third["job"]["displayName"], "--output", "json").json["job"]
    assert "2 of 2 machines" in shown["waitsFor"]

    cancel(checkout, first["job"]["displayName"])
    wait_for(lambda: running(checkout, third), "the third job runs")
    for job in (second, third):
        cancel(checkout, job["job"]["displayName"])
    checkout.cloud.rest("POST", "/vertex-local/settings", {"scale_idle_seconds": "0"})
    wait_for(lambda: live(checkout) == 1, "the pool shrinks back to its minimum")
    assert told(checkout) == 1

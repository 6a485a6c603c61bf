"""A cluster that can't be had holds up nothing else of its deployment, with the real engine. # N1 # N2 # B6"""

from collections.abc import Callable
from typing import Any

import pytest

from tests.checkouts.checkout import MACHINE, VERTEX, Checkout
from tests.checkouts.nap import NAP, NAP_TASK
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

CPU, MORE, LATE = ({"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": most}}}} for most in (2, 3, 4))
WAITS = "cluster late is not there yet: a deployment offers it when it runs"


def edit(checkout: Checkout, word: str, **clusters: Any) -> None:
    """The template's summary, its code, and clusters."""
    (checkout.folder / "templates" / "nap.py").write_text(NAP.replace("says a word", f"says a {word} word"))
    (checkout.folder / "jobs" / "nap" / "task.py").write_text(NAP_TASK.replace("slept well", f"slept {word}"))
    checkout.write(persistentResources=clusters)


def summary(checkout: Checkout) -> str:
    (template,) = checkout.slipway("templates", "--output", "json").json["templates"]
    return str(template["summary"])


@pytest.mark.deployed
def test_all_else_is_deployed_while_a_cluster_is_waited_for_and_where_it_is_not_made(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    settings(create_error="late-")
    edit(checkout, "kind", cpu=CPU, late=LATE)
    up = checkout.begin("up")
    up.until(lambda: "cluster late-" in up.said and "waits for 1 n1-standard-4" in up.said, "it waits")
    assert summary(checkout) == "says a kind word and sleeps"
    assert WAITS in checkout.slipway("pools").err
    job = checkout.submit()
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_SUCCEEDED", "a job runs")
    assert "slept kind" in checkout.slipway("jobs", "logs", job["displayName"]).out
    settings(create_error="")
    assert up.process.wait() == 0, up.said

    # It gives up: what could be made is offered, and the next one goes on.
    settings(create_error="late-")
    edit(checkout, "short", cpu=MORE, late={**LATE, "generation": 2}, other=CPU)
    failed = checkout.pulumi("up", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code == 1 and "cluster late-" in failed.said and "could not be made" in failed.said, failed.said
    assert summary(checkout) == "says a short word and sleeps"
    pools = {pool["cluster"]: pool for pool in checkout.slipway("pools", "--output", "json").json["pools"]}
    assert pools.keys() > {"cpu", "late", "other"} and pools["cpu"]["max"] == 3 and pools["late"]["max"] == 4
    assert checkout.job_state(checkout.submit("--wait")["name"]) == "JOB_STATE_SUCCEEDED"
    settings(create_error="")
    checkout.up()
    assert len(checkout.clusters()) == 3
    checkout.at_rest()

    # Where one is made again under its id, the catalog is as it was: the engine sees no change of it, and Slipway has
    # withdrawn what was not there.
    cpu = checkout.outputs()["clusters"]["cpu"]
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{cpu}")
    wait_for(lambda: cpu not in checkout.clusters(), "somebody has deleted it")
    checkout.up()
    assert checkout.clusters()[cpu] == "RUNNING"
    assert checkout.submit()["labels"]["slipway-capacity-type"] == "pool"
    checkout.at_rest()

"""A race of regions under one claim, on the local cloud: the first whose machines come runs. (N23)"""

import json
from collections.abc import Iterator

import pytest

from tests.checkouts.checkout import MACHINE, PROJECT, REGION, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

FAR, FARTHER = "europe-west4", "us-east5"
RACE = ("slipway", "submit", "nap", "--race", "-p", "say=first", "-p", "seconds=60")


def supply(checkout: Checkout, *without: str) -> None:
    """Leave regions without machines."""
    none = [
        {"at": 0, "region": region, "machine": MACHINE["machine"], "strategy": "any", "machines": 0}
        for region in without
    ]
    checkout.cloud.rest("POST", "/vertex-local/scenario", {"supply": none})


@pytest.fixture
def raced(checkout: Checkout) -> Iterator[Checkout]:
    template = checkout.folder / "templates" / "nap.py"
    template.write_text(template.read_text().replace('"pool", "spot"', '"on-demand",'))
    checkout.write(persistentResources={}, regions=[FAR, FARTHER])
    checkout.up()
    supply(checkout, REGION, FAR, FARTHER)
    yield checkout
    checkout.cloud.rest("DELETE", "/vertex-local/scenario")


def legs(checkout: Checkout, request: str) -> dict[str, str]:
    """The states of a request's jobs, by region."""
    return {
        job["name"].split("/")[3]: job["state"].removeprefix("JOB_STATE_")
        for region in (REGION, FAR, FARTHER)
        for job in checkout.cloud.every(f"/v1/projects/{PROJECT}/locations/{region}/customJobs", "customJobs")
        if job["labels"].get("slipway-request") == request
    }


def test_the_first_region_with_machines_runs_and_the_others_are_cancelled(raced: Checkout) -> None:
    racing = raced.start(*RACE, "--request-id", "race-1", role="submitter")
    racing.until(lambda: len(legs(raced, "race-1")) == 3, "each region has a job")
    supply(raced, REGION, FARTHER)
    assert racing.process.wait(300) == 0, racing.said
    wait_for(
        lambda: legs(raced, "race-1") == {REGION: "CANCELLED", FAR: "RUNNING", FARTHER: "CANCELLED"}, "one is left"
    )
    assert f"a race in {REGION}, {FAR} and {FARTHER}" in racing.said
    assert f"{FAR} won" in racing.said

    shown = raced.slipway("jobs", "show", "race-1", "--output", "json")
    job = json.loads(shown.out)["job"]
    assert job["region"] == FAR and [leg["region"] for leg in job["race"]] == [REGION, FAR, FARTHER]
    assert f"{FAR} won; {REGION} cancelled, {FARTHER} cancelled" in raced.slipway("jobs", "show", "race-1").said

    left = next(leg for leg in job["race"] if leg["region"] == REGION)
    of_one = json.loads(raced.slipway("jobs", "show", left["name"], "--output", "json").out)["job"]
    assert of_one["region"] == REGION, "a number is that job's alone"

    replayed = json.loads(raced.slipway("what-if", "--output", "json").out)
    assert (replayed["jobs"], replayed["neverStarted"], replayed["unknown"]) == (1, 0, [])
    raced.write(persistentResources={}, regions=[])
    fewer = json.loads(raced.slipway("what-if", "--output", "json").out)
    assert fewer["unknown"] == ["on-demand"], "no job has had machines at home"

    again = raced.slipway(*RACE[1:], "--request-id", "race-1")
    assert again.code == 0 and len(legs(raced, "race-1")) == 3, again.said
    assert raced.slipway("jobs", "cancel", job["displayName"]).code == 0


def test_a_killed_sender_leaves_the_claim_to_decide_and_the_next_look_cancels_the_others(raced: Checkout) -> None:
    racing = raced.start(*RACE, "--request-id", "race-2", role="submitter")
    racing.until(lambda: len(legs(raced, "race-2")) == 3, "each region has a job")
    racing.kill()
    supply(raced, REGION)
    wait_for(lambda: {legs(raced, "race-2")[region] for region in (FAR, FARTHER)} >= {"RUNNING"}, "one runs")
    waited = raced.slipway("jobs", "wait", "race-2")
    assert waited.code == 0, waited.said
    ended = legs(raced, "race-2")
    wait_for(lambda: legs(raced, "race-2")[REGION] == "CANCELLED", "nothing is left queued")
    assert "RUNNING" not in ended.values(), ended


def test_a_cancel_amid_a_race_ends_all_of_it(raced: Checkout) -> None:
    racing = raced.start(*RACE, "--request-id", "race-3", role="submitter")
    racing.until(lambda: len(legs(raced, "race-3")) == 3, "each region has a job")
    done = raced.slipway("jobs", "cancel", "race-3")
    assert done.code == 0, done.said
    assert racing.process.wait(300) == 8, racing.said
    wait_for(lambda: set(legs(raced, "race-3").values()) == {"CANCELLED"}, "all have ended")

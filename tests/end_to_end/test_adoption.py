"""A cluster that somebody else made is adopted, used and left, with the real engine, and lives on as it is. # N13"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.checkouts.checkout import MACHINE, VERTEX, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

POOL = {
    "id": "all",
    "machineSpec": {"machineType": MACHINE["machine"]},
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    "replicaCount": "1",
    "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "2"},
}
LIKE_IT = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}, "serviceAccount": {"custom": True}}


@pytest.fixture
def theirs(checkout: Checkout) -> Iterator[str]:
    """Made by hand, without a label. It goes at the end: others use the cloud too."""
    id_ = f"team-{checkout.stack}"
    account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    body = {"resourcePools": [POOL], "resourceRuntimeSpec": account, "displayName": "of team a"}
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", body)
    wait_for(lambda: lives(checkout, id_)["state"] == "RUNNING", "their cluster runs")
    yield id_
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{id_}")


def lives(checkout: Checkout, id_: str) -> Any:
    found = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{id_}")
    return {key: found.get(key) for key in ("state", "createTime", "displayName", "labels", "resourceRuntimeSpec")}


def up(checkout: Checkout, **clusters: Any) -> str:
    checkout.write(persistentResources=clusters)
    return checkout.up()


def test_adopted_used_left_and_destroyed_around_it_lives_on(checkout: Checkout, theirs: str) -> None:
    before = lives(checkout, theirs)
    said = up(checkout, theirs={"id": theirs, **LIKE_IT})
    assert f"cluster theirs: {theirs}, adopted, running; no deployment changes or deletes it" in said
    assert checkout.outputs()["clusters"] == {"theirs": theirs}
    assert not [one for one in checkout.resources() if "aiPersistentResource" in one["type"]]

    # Whoever submits finds it like any other.
    job = checkout.submit("-p", "seconds=600")
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
    assert checkout.cloud.rest("GET", f"/v1/{job['name']}")["jobSpec"]["persistentResourceId"] == theirs
    (pool,) = checkout.slipway("pools", "--output", "json").json["pools"]
    assert (pool["cluster"], pool["clusterId"]) == ("theirs", theirs), pool

    # The entry goes; the cluster and the job on it stay.
    said = up(checkout, cpu=LIKE_IT)
    assert f"{theirs} is not offered as theirs any more, and is kept, as it was adopted, and so is the job" in said
    assert checkout.outputs()["clusters"].keys() == {"cpu"}
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    up(checkout, cpu=LIKE_IT, theirs={"id": theirs, **LIKE_IT})
    assert checkout.pulumi("preview", "--expect-no-changes").code == 0
    checkout.cloud.cancel(job["name"])
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job is cancelled")

    done = checkout.destroy()
    assert done.code == 0, done.said
    assert f"cluster {theirs} is kept, as it was adopted" in done.said
    assert checkout.clusters() == {} and lives(checkout, theirs) == before

"""A cluster, buckets and an account that somebody else made are adopted, used and left, with the real engine, and live
on as they are. # N13"""

from typing import Any

import pytest
import yaml

from tests.checkouts.checkout import MACHINE, PROJECT, REGION, VERTEX, Checkout
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


CLOSED = "no template can run on cluster plain: it was made without custom service accounts"
ACCOUNTS = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}


@pytest.fixture
def theirs(checkout: Checkout) -> str:
    """Made by hand, without a label."""
    return made(checkout, f"team-{checkout.stack}", resourceRuntimeSpec=ACCOUNTS, displayName="of team a")


def made(checkout: Checkout, id_: str, **body: Any) -> str:
    path = f"{VERTEX}/persistentResources?persistentResourceId={id_}"
    checkout.cloud.rest("POST", path, {"resourcePools": [POOL], **body})
    wait_for(lambda: lives(checkout, id_)["state"] == "RUNNING", "their cluster runs")
    return id_


def lives(checkout: Checkout, id_: str) -> Any:
    answer = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{id_}")
    return {key: answer.get(key) for key in ("state", "createTime", "displayName", "labels", "resourceRuntimeSpec")}


def up(checkout: Checkout, **clusters: Any) -> str:
    named = {"catalogBucket": bucket(checkout, "catalog"), "workBucket": bucket(checkout, "results")}
    workspace = {"submitters": ["group:ml-engineers@company.example"], "trainer": f"{checkout.stack}-jobs", **named}
    checkout.write(persistentResources=clusters, workspace=workspace)
    return checkout.up()


def bucket(checkout: Checkout, purpose: str) -> str:
    if purpose == "catalog":
        return checkout.catalog.removeprefix("gs://")
    return f"{PROJECT}-{checkout.stack}-{purpose}"


def made_by_hand(checkout: Checkout) -> None:
    """With rules of their owner's, and neither versions nor any say over the public."""
    for purpose, location in (("catalog", "US"), ("results", REGION.upper())):
        rule = {"action": {"type": "Delete"}, "condition": {"age": 7, "matchesPrefix": ["tmp/"]}}
        body = {"name": bucket(checkout, purpose), "location": location, "lifecycle": {"rule": [rule]}}
        checkout.cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", body)
    account = {"accountId": f"{checkout.stack}-jobs", "serviceAccount": {"displayName": "of team a"}}
    checkout.cloud.rest("POST", f"/v1/projects/{PROJECT}/serviceAccounts", account)


def settings(checkout: Checkout) -> list[Any]:
    every = (checkout.cloud.rest("GET", f"/storage/v1/b/{bucket(checkout, word)}") for word in ("catalog", "results"))
    account = f"/v1/projects/{PROJECT}/serviceAccounts/{checkout.stack}-jobs@{PROJECT}.iam.gserviceaccount.com"
    found = (*every, checkout.cloud.rest("GET", account))
    return [{key: bucket[key] for key in bucket.keys() - {"updated", "etag", "metageneration"}} for bucket in found]


def test_adopted_used_left_and_destroyed_around_it_lives_on(checkout: Checkout, theirs: str) -> None:
    made_by_hand(checkout)
    before, others = lives(checkout, theirs), settings(checkout)
    name = f"{VERTEX.removeprefix('/v1/')}/persistentResources/{theirs}"
    printed = checkout.slipway("pools", "adopt", name, "--print", role="deployer")
    said = up(checkout, theirs=yaml.safe_load(printed.out)[theirs])
    others_own = "another owner has it, and deployments never change or delete it"
    assert f"cluster theirs: adopted cluster none → {theirs}: {others_own}" in said
    assert checkout.outputs()["clusters"] == {"theirs": theirs}
    assert not [resource for resource in checkout.resources() if "aiPersistentResource" in resource["type"]]

    assert settings(checkout) == others
    command = f"gcloud storage buckets update gs://{bucket(checkout, 'catalog')} --uniform-bucket-level-access"
    assert f"fix: {command} --public-access-prevention --versioning" in said

    # Whoever submits finds it like any other.
    job = checkout.running_job()
    assert checkout.cloud.rest("GET", f"/v1/{job['name']}")["jobSpec"]["persistentResourceId"] == theirs
    (pool,) = checkout.slipway("pools", "--output", "json").json["pools"]
    assert (pool["cluster"], pool["clusterId"]) == ("theirs", theirs), pool

    assert checkout.slipway("schedule", "--output", "json").json["due"] == []
    assert theirs not in checkout.slipway("doctor", role="owner").said

    # The entry goes; the cluster and the job on it stay.
    said = up(checkout, cpu=LIKE_IT)
    assert f"cluster theirs: adopted cluster {theirs} → none: {others_own}" in said
    assert checkout.outputs()["clusters"].keys() == {"cpu"}
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    # One that gcloud made by default takes no job of a template, and that is said.
    plain = {"id": made(checkout, "plain"), "pools": LIKE_IT["pools"], "serviceAccount": {"custom": False}}
    assert CLOSED in up(checkout, cpu=LIKE_IT, theirs={"id": theirs, **LIKE_IT}, plain=plain)
    assert CLOSED in checkout.slipway("pools").err and CLOSED in checkout.slipway("check", checkout.stack).said
    checkout.at_rest()
    checkout.end(job)

    done = checkout.destroy()
    assert done.code == 0, done.said
    assert f"{theirs} is kept" in done.said
    assert checkout.clusters() == {} and lives(checkout, theirs) == before
    for purpose in ("catalog", "results"):
        assert f"bucket gs://{bucket(checkout, purpose)} stays" in done.said
    account = f"{checkout.stack}-jobs@{PROJECT}.iam.gserviceaccount.com"
    assert f"account {account} stays" in done.said
    assert settings(checkout) == others

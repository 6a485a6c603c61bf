"""A cluster, buckets and an account that somebody else made are adopted, used and left, with the real engine, and live
on as they are. # N13"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slipway.google.provider_errors import ON_ERROR
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


@pytest.fixture
def theirs(checkout: Checkout) -> str:
    """Made by hand, without a label."""
    id_ = f"team-{checkout.stack}"
    account = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}
    body = {"resourcePools": [POOL], "resourceRuntimeSpec": account, "displayName": "of team a"}
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", body)
    wait_for(lambda: lives(checkout, id_)["state"] == "RUNNING", "their cluster runs")
    return id_


def lives(checkout: Checkout, id_: str) -> Any:
    found = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{id_}")
    return {key: found.get(key) for key in ("state", "createTime", "displayName", "labels", "resourceRuntimeSpec")}


def up(checkout: Checkout, **clusters: Any) -> str:
    named = {"catalogBucket": bucket(checkout, "catalog"), "workBucket": bucket(checkout, "results")}
    workspace = {"submitters": ["group:ml-engineers@company.example"], "trainer": f"{checkout.stack}-jobs", **named}
    checkout.write(persistentResources=clusters, workspace=workspace)
    return checkout.up()


def bucket(checkout: Checkout, purpose: str) -> str:
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
    every = (checkout.cloud.rest("GET", f"/storage/v1/b/{bucket(checkout, one)}") for one in ("catalog", "results"))
    account = f"/v1/projects/{PROJECT}/serviceAccounts/{checkout.stack}-jobs@{PROJECT}.iam.gserviceaccount.com"
    found = (*every, checkout.cloud.rest("GET", account))
    return [{key: one[key] for key in one.keys() - {"updated", "etag", "metageneration"}} for one in found]


def test_adopted_used_left_and_destroyed_around_it_lives_on(checkout: Checkout, theirs: str) -> None:
    made_by_hand(checkout)
    before, others = lives(checkout, theirs), settings(checkout)
    said = up(checkout, theirs={"id": theirs, **LIKE_IT})
    assert f"theirs stands for {theirs}, which somebody else made" in said
    assert ON_ERROR in said
    assert checkout.outputs()["clusters"] == {"theirs": theirs}
    assert not [one for one in checkout.resources() if "aiPersistentResource" in one["type"]]

    assert settings(checkout) == others
    command = f"gcloud storage buckets update gs://{bucket(checkout, 'catalog')} --uniform-bucket-level-access"
    assert f"fix: {command} --public-access-prevention --versioning" in said

    # Whoever submits finds it like any other.
    job = checkout.submit("-p", "seconds=600")
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
    assert checkout.cloud.rest("GET", f"/v1/{job['name']}")["jobSpec"]["persistentResourceId"] == theirs
    (pool,) = checkout.slipway("pools", "--output", "json").json["pools"]
    assert (pool["cluster"], pool["clusterId"]) == ("theirs", theirs), pool

    assert checkout.slipway("schedule", "--output", "json").json["due"] == []
    assert theirs not in checkout.slipway("doctor", role="owner").said

    # The entry goes; the cluster and the job on it stay.
    said = up(checkout, cpu=LIKE_IT)
    assert f"{theirs} is not offered as theirs" in said and "as it was adopted" in said
    assert checkout.outputs()["clusters"].keys() == {"cpu"}
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    up(checkout, cpu=LIKE_IT, theirs={"id": theirs, **LIKE_IT})
    assert checkout.pulumi("preview", "--expect-no-changes").code == 0
    checkout.cloud.cancel(job["name"])
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job is cancelled")

    done = checkout.destroy()
    assert done.code == 0, done.said
    assert f"{theirs} is kept" in done.said
    assert ON_ERROR in done.said
    assert checkout.clusters() == {} and lives(checkout, theirs) == before
    for purpose in ("catalog", "results"):
        assert f"bucket gs://{bucket(checkout, purpose)} stays" in done.said
    account = f"{checkout.stack}-jobs@{PROJECT}.iam.gserviceaccount.com"
    assert f"account {account} stays" in done.said
    assert settings(checkout) == others


def test_one_that_gcloud_made_by_default_is_said_to_take_no_job_of_a_template(
    checkout: Checkout, settings: Callable[..., None]
) -> None:
    """Though the service may take one that names an account there, which the reference leaves open."""
    id_ = f"default-{checkout.stack}"
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", {"resourcePools": [POOL]})
    wait_for(lambda: lives(checkout, id_)["state"] == "RUNNING", "their cluster runs")
    theirs = {"id": id_, "pools": LIKE_IT["pools"]}
    closed = "no template can run on cluster theirs: it was made without custom service accounts"
    mend = "gcloud ai persistent-resources create --enable-custom-service-account"
    settings(job_service_account="accept")
    checkout.write(persistentResources={"cpu": {"pools": LIKE_IT["pools"]}, "theirs": theirs})
    refused = checkout.pulumi("preview")
    assert refused.code != 0 and "no template can run on it" in refused.said and mend in refused.said
    taken = {**theirs, "serviceAccount": {"custom": False}}
    checkout.write(persistentResources={"theirs": taken})
    check = checkout.slipway("check", checkout.stack)
    assert check.code != 0 and "template nap fits no pool" in check.said and mend in check.said, check.said
    checkout.write(persistentResources={"cpu": {"pools": LIKE_IT["pools"]}, "theirs": taken})
    check = checkout.slipway("check", checkout.stack)
    assert check.code == 0, check.said
    for said in (check.said, checkout.up()):
        assert closed in said and mend in said, said
    pools = checkout.slipway("pools")
    assert id_ not in pools.out and closed in pools.err and mend in pools.err
    job = checkout.submit()
    on = checkout.cloud.rest("GET", f"/v1/{job['name']}")["jobSpec"]["persistentResourceId"]
    assert on == checkout.outputs()["clusters"]["cpu"]

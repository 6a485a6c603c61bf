"""Every argument edited once, one deployment after another, by the real engine, while a job runs. # N33 # P1"""

import json
from dataclasses import fields
from typing import Any

import pytest

import components as slipway
from tests.checkouts.checkout import PROJECT, REGION, VERTEX, Checkout
from tests.checkouts.shell import wait_for
from tests.end_to_end.test_own_program import submit, write

PROGRAM = """
import json

import pulumi
import pulumi_gcp as gcp

import components as slipway

edit = json.loads(pulumi.Config("team").require("edit"))
vpc = gcp.compute.Network("training", auto_create_subnetworks=False)
pools = {"all": {"machine": "n1-standard-4", "replicas": {"min": 1, "max": 2}}}
people = {"submitters": ["group:ml-engineers@company.example"], **edit.get("workspace", {})}
ground = slipway.Workspace("ml", slipway.WorkspaceArgs(**people))
given = {"pools": pools, **edit.get("cluster", {})}
if given.get("network"):
    given["network"] = vpc.id
clusters = [
    slipway.PersistentResource("research", slipway.PersistentResourceArgs(**given)),
    slipway.PersistentResource("speech", slipway.PersistentResourceArgs(pools=pools)),
]
offered = clusters[1:] if "template" in edit else clusters[:1]
nap = slipway.JobTemplate("nap", slipway.JobTemplateArgs(clusters=offered))
check = slipway.QuotaCheckArgs(clusters=clusters, templates=[nap], **edit.get("quota", {}))
quota = slipway.QuotaCheck("quota", check)
slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, templates=[nap], quota=quota, **edit.get("catalog", {})))
pulumi.export("clusters", [cluster.cluster_id for cluster in clusters])
"""


def pool(most: int) -> dict[str, Any]:
    return {"all": {"machine": "n1-standard-4", "replicas": {"min": 1, "max": most}}}


ML = "group:ml-engineers@company.example"
KEY = f"projects/{PROJECT}/locations/{REGION}/keyRings/r/cryptoKeys/k"
LINE = {"machine": "n1-standard-8"}
EDITS: list[dict[str, dict[str, Any]]] = [
    {"cluster": {"pools": pool(3)}, "workspace": {"submitters": [ML, "group:b@company.example"]}},
    {"cluster": {"display_name": "Training"}, "workspace": {"code": True}},
    {"cluster": {"network": "training"}, "workspace": {"shell": True}},
    {"cluster": {"network": "training", "reserved_ip_ranges": ["vertex"]}, "workspace": {"confirm_above": 5}},
    {
        "cluster": {"kms_key": KEY},
        "catalog": {"policy": {}},
    },
    {"cluster": {"psc_interface": {"networkAttachment": "training"}}, "workspace": {"board": True}},
    {"cluster": {"custom_service_account": False}, "template": {}},
    {"cluster": {"labels": {"cost": "ml"}}, "workspace": {"teams": {"a": {"submitters": ["group:a@company.example"]}}}},
    {"cluster": {"replacement": "in-place"}, "workspace": {"machines": {"big": LINE}}},
    {"cluster": {"generation": 2}, "workspace": {"budget": {"stack": 9000}, "trainers": {"other": {}}}},
    {"cluster": {"retire_within": "7d"}, "quota": {"mode": "warn"}},
    {"cluster": {"create_within": "1h"}, "quota": {"strict": False}},
    {"cluster": {"alternatives": [{"pools": pool(3)}]}, "quota": {"contact_email": "a@company.example"}},
    {"cluster": {"begins": "2020-01-10"}, "quota": {"justification": "more"}},
    {"cluster": {"ends": "2099-01-10"}, "template": {}},
    {"cluster": {"idle_limit": "3d"}},
]
REFUSED: list[dict[str, dict[str, Any]]] = [
    {"workspace": {"work_bucket": "acme-another"}},
    {"workspace": {"trainer": "another-trainer"}},
    {"workspace": {"region": "europe-west4"}},
]


def test_every_argument_of_a_cluster_is_edited() -> None:
    asked = {each.name for each in fields(slipway.PersistentResourceArgs)}
    assert asked - {"id", "workspace", "project", "region"} == {
        key for edit in EDITS for key in edit.get("cluster", {})
    }


@pytest.mark.journey
@pytest.mark.long
def test_the_job_runs_through_every_edit(checkout: Checkout) -> None:
    def edit(values: dict[str, Any]) -> None:
        config: dict[str, Any] = {"team:edit": json.dumps(values)}
        write(checkout, PROGRAM, **config)

    def alive() -> None:
        assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
        listed = checkout.cloud.every(f"{VERTEX}/persistentResources", "persistentResources")
        assert first in {each["name"].rpartition("/")[2] for each in listed}

    edit({})
    checkout.up()
    first = checkout.outputs()["clusters"][0]
    job = submit(checkout, "--capacity", "pool", "-p", "seconds=600")
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
    first = checkout.cloud.rest("GET", f"/v1/{job['name']}")["jobSpec"]["persistentResourceId"]
    for values in EDITS:
        edit(values)
        done = checkout.pulumi("up")
        assert done.code == 0, f"{values}{done.said.partition('Diagnostics')[2]}"
        alive()
    for values in REFUSED:
        edit(values)
        done = checkout.pulumi("up")
        assert done.code != 0 and "nothing was changed" in done.said, f"{values}{done.said}"
        alive()
    refused = checkout.pulumi("destroy", "--run-program")
    assert refused.code != 0
    alive()
    checkout.cloud.cancel(job["name"])

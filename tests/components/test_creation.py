"""A cluster that is to be made is made by a hook on an object; name, request and labels are what the provider knows.

That the engine calls the hook in `up` alone: journeys. # N2
"""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from components import persistent_resource as module
from components.persistent_resource import Creation, PersistentResource
from slipway.model.cluster import ClusterSpec, CurrentCluster, DnsPeering, PscInterface
from slipway.model.machines.spec import Disk

from .conftest import PROJECT, REGION, Asked, cluster, declared, only, pool, pulumi

OBJECT = "gcp:storage/bucketObject:BucketObject"
RESOURCE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ID = "cpu-1a2b3c4"
EVERYTHING = cluster(
    pool("fixed", autoscaled=False, min=2, max=2, replicas=2),
    pool("gpu", accelerator="NVIDIA_TESLA_T4", accelerator_count=2, disk=Disk("pd-standard", 300)),
    display_name="Team A",
    reserved_ip_ranges=("vertex",),
    kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    psc=PscInterface("attachment", (DnsPeering("corp.example.", "net", "shared"),)),
    labels={"team": "a"},
)


def program(spec: ClusterSpec, *, import_: bool = False) -> list[Asked]:
    def run() -> None:
        workspace = pulumi.ComponentResource("slipway:components:Workspace", "workspace")
        ids = [] if import_ else [ID]
        creation = Creation(ids, lambda _: {}, bucket="acme-catalog", workspace=workspace, now=NOW)
        cluster = CurrentCluster(spec, ID, "1a2b3c4", import_=import_).marked("dev")
        PersistentResource(ID, cluster, project=PROJECT, region=REGION, exists=import_, creation=creation)

    return declared(run)


def test_its_names_are_frozen() -> None:
    """The states of deployed stacks hold them: another name would be another object, and would show as a change."""
    assert (module.HOOK, module.NAME, module.OBJECT) == ("slipway-create-v1", "creation", "clusters/asked-for.json")


def test_the_hook_is_called_when_the_list_of_clusters_is_written() -> None:
    asked = only(program(cluster()), OBJECT)
    assert asked.name == "creation" and asked.parent == "workspace"
    assert list(asked.request.hooks.before_create) == ["slipway-create-v1"]
    assert list(asked.request.hooks.before_update) == ["slipway-create-v1"]
    assert asked.inputs["name"] == "clusters/asked-for.json"
    content = asked.inputs["content"]["value"]  # the provider's SDK makes every content a secret
    assert json.loads(content) == {"clusters": [ID], "at": "2026-11-20T12:00:00+00:00"}
    assert list(asked.request.ignoreChanges) == []


def test_the_cluster_comes_after_it() -> None:
    assert "creation" in only(program(cluster()), RESOURCE).depends_on


def test_without_anything_to_make_the_list_stays_as_it_is() -> None:
    asked = program(cluster(), import_=True)
    assert list(only(asked, OBJECT).request.ignoreChanges) == ["content"]
    assert "creation" not in only(asked, RESOURCE).depends_on


@pytest.mark.parametrize(
    "spec",
    [
        cluster(),
        EVERYTHING,
        cluster(network="projects/1/global/networks/n", custom_service_account=False),
    ],
    ids=["plain", "everything", "network"],
)
def test_its_request_is_what_the_provider_would_send(spec: ClusterSpec) -> None:
    """Otherwise the provider would plan to replace the cluster that it takes over. Its client-side keys aside."""
    inputs = only(program(spec), RESOURCE).inputs
    sent: dict[str, Any] = {
        key: value for key, value in inputs.items() if key not in ("name", "project", "location", "deletionPolicy")
    }
    assert CurrentCluster(spec, ID, "1a2b3c4", import_=False).request("dev") == sent

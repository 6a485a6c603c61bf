"""A cluster is declared with every default explicit, so that the provider never updates it. # D1 # N1 # B2 # B3"""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pulumi

from components.creation import Creation
from components.generation import Surroundings, record_regions
from components.generation import current as declare
from components.generation import retiring as declare_retiring
from components.hooks import Hooks
from components.voice import Voice
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.plan import Plan
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.quota.report import QuotaReport
from slipway.model.cluster import ClusterSpec, CurrentCluster, DnsPeering, PscInterface
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.state import State
from tests.builders.clusters import cluster_spec
from tests.builders.pools import pool_spec

from .conftest import FACTS, PROJECT, REGION, Asked, declared, only

COMPONENT = "slipway:index:Generation"
RESOURCE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
FULL = "projects/acme-dev/locations/us-central1/persistentResources/cpu-1a2b3c4"
AROUND = Surroundings(PROJECT, REGION)
LIVING = ResourcePool("workers", MachineSpec("n1-standard-8"), replicas=3, used=2, min=1, max=4)


def current(spec: ClusterSpec, *, exists: bool = False) -> list[Asked]:
    cluster = CurrentCluster(spec, "cpu-1a2b3c4", "1a2b3c4", import_=exists)
    return declared(lambda: declare(cluster, "dev", FACTS, AROUND))


def retiring() -> list[Asked]:
    living = PersistentResource(FULL, "RUNNING", {}, (LIVING,))
    return declared(lambda: declare_retiring(living, FACTS, AROUND))


def test_other_regions_are_told_to_the_state_by_an_output_that_waits_for_nothing() -> None:  # N1 # N2
    asked = only(
        declared(lambda: record_regions("other-regions", ("us-east4", "europe-west4"))),
        "slipway:index:OtherRegions",
    )
    assert (asked.name, asked.inputs) == ("other-regions", {"regions": ["europe-west4", "us-east4"]})


def test_every_default_is_explicit() -> None:
    registered = current(cluster_spec())
    asked = only(registered, RESOURCE)
    assert only(registered, COMPONENT).inputs == FACTS and asked.name == "cpu-1a2b3c4"
    assert asked.inputs == {
        "name": "cpu-1a2b3c4",
        "project": PROJECT,
        "location": REGION,
        "displayName": "cpu",
        "labels": {"slipway-stack": "dev", "slipway-name": "cpu", "slipway-hash": "1a2b3c4"},
        "deletionPolicy": "DELETE",
        "resourcePools": [
            {
                "id": "workers",
                "machineSpec": {"machineType": "n1-standard-8"},
                "replicaCount": "1",
                "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
                "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "4"},
            }
        ],
        "resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}},
    }


def test_what_moves_by_itself_is_left_alone() -> None:  # B2
    asked = only(current(cluster_spec()), RESOURCE).request
    assert set(asked.ignoreChanges) == {
        "resourcePools[*].replicaCount",
        "labels",
        "effectiveLabels",
        "pulumiLabels",
        "displayName",
    }
    assert (asked.customTimeouts.create, asked.customTimeouts.update, asked.customTimeouts.delete) == ("2h", "2h", "2h")


def test_a_cluster_that_exists_is_adopted_and_a_retiring_one_kept_exactly_as_it_is() -> None:  # N1
    for exists, id_ in ((True, FULL), (False, "")):
        assert only(current(cluster_spec(), exists=exists), RESOURCE).request.importId == id_
    asked = only(retiring(), RESOURCE)
    assert asked.request.importId == FULL
    assert list(asked.request.ignoreChanges) == ["*"]
    assert asked.inputs["resourcePools"][0]["replicaCount"] == "3"


def test_the_state_knows_a_cluster_again_when_it_retires() -> None:
    """Same types, same names: the same URN, so neither the component nor the cluster is another one."""
    for type_ in (COMPONENT, RESOURCE):
        now, later = only(current(cluster_spec()), type_), only(retiring(), type_)
        assert (now.type, now.name, now.request.parent) == (later.type, later.name, later.request.parent)


OBJECT = "gcp:storage/bucketObject:BucketObject"
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
ID = "cpu-1a2b3c4"
EVERYTHING = cluster_spec(
    "cpu",
    pool_spec("fixed", low=2, high=None),
    pool_spec("gpu", MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2, Disk("pd-standard", 300))),
    display_name="Team A",
    reserved_ip_ranges=("vertex",),
    kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    psc=PscInterface("attachment", (DnsPeering("corp.example.", "net", "shared"),)),
    labels={"team": "a"},
)


def program(spec: ClusterSpec, *, import_: bool = False) -> list[Asked]:
    def run() -> None:
        workspace = pulumi.ComponentResource("slipway:index:Workspace", "workspace")
        cluster = CurrentCluster(spec, ID, "1a2b3c4", import_=import_)
        deployment = SimpleNamespace(plan=Plan((of_current(cluster),)), report=QuotaReport())
        decision: Any = SimpleNamespace(deployment=deployment, now=NOW)
        creation = Creation(decision, StackGuard({}, "dev", (PROJECT, REGION)), Voice())
        hooks = Hooks(list, State(), lambda *_: False, lambda _: ())
        creation.declare("creation", hooks, "acme-catalog", workspace)
        declare(cluster, "dev", FACTS, AROUND, creation)

    return declared(run)


def test_the_hook_is_called_when_the_list_of_clusters_is_written() -> None:
    registered = program(cluster_spec())
    asked = only(registered, OBJECT)
    assert "creation" in only(registered, RESOURCE).depends_on and asked.parent == "workspace"
    assert list(asked.request.hooks.before_create) == ["slipway-create-v1"]
    assert list(asked.request.hooks.before_update) == ["slipway-create-v1"]
    assert asked.inputs["name"] == "clusters/asked-for.json"
    content = asked.inputs["content"]["value"]  # the provider's SDK makes every content a secret
    assert json.loads(content) == {"by": "pulumi up", "clusters": [ID], "at": "2026-11-20T12:00:00+00:00"}
    assert list(asked.request.ignoreChanges) == []


def test_without_anything_to_make_the_list_stays_as_it_is() -> None:
    asked = program(cluster_spec(), import_=True)
    assert list(only(asked, OBJECT).request.ignoreChanges) == ["content"]
    assert "creation" not in only(asked, RESOURCE).depends_on


def test_its_request_is_what_the_provider_would_send() -> None:
    """Otherwise the provider would plan to replace the cluster that it takes over. Its client-side keys aside."""
    inside = cluster_spec(network="projects/1/global/networks/n", custom_service_account=False)
    for spec in (EVERYTHING, inside):
        inputs = only(program(spec), RESOURCE).inputs
        sent = {
            key: value for key, value in inputs.items() if key not in ("name", "project", "location", "deletionPolicy")
        }
        assert CurrentCluster(spec, ID, "1a2b3c4", import_=False).request("dev") == sent

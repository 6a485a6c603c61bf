"""A cluster is declared with every default explicit, so that the provider never updates it. # D1 # N1 # B2 # B3"""

import pytest

from components.persistent_resource import OtherRegions, PersistentResource, RetiringResource
from slipway.google.clusters import ResourcePool
from slipway.model.cluster import ClusterSpec, CurrentCluster, DnsPeering, PscInterface
from slipway.model.machines.spec import Disk, MachineSpec

from .conftest import FACTS, PROJECT, REGION, Asked, cluster, declared, only, pool

COMPONENT = "slipway:components:PersistentResource"
RESOURCE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
FULL = "projects/acme-dev/locations/us-central1/persistentResources/cpu-1a2b3c4"
LIVING = ResourcePool("workers", MachineSpec("n1-standard-8"), replicas=3, used=2, min=1, max=4)


def current(spec: ClusterSpec, *, exists: bool = False) -> list[Asked]:
    cluster = CurrentCluster(spec, "cpu-1a2b3c4", "1a2b3c4", import_=exists)
    marked = cluster.marked("dev")
    return declared(
        lambda: PersistentResource(cluster.id, marked, project=PROJECT, region=REGION, exists=exists, facts=FACTS)
    )


def retiring() -> list[Asked]:
    pools = [LIVING.spec]
    return declared(lambda: RetiringResource("cpu-1a2b3c4", pools, project=PROJECT, region=REGION, facts=FACTS))


def test_it_publishes_its_facts() -> None:
    assert only(current(cluster()), COMPONENT).inputs == FACTS


def test_other_regions_are_told_to_the_state_by_an_output_that_waits_for_nothing() -> None:  # N1 # N2
    asked = only(declared(lambda: OtherRegions(("us-east4", "europe-west4"))), "slipway:components:OtherRegions")
    assert (asked.name, asked.inputs) == ("other-regions", {"regions": ["europe-west4", "us-east4"]})


def test_alone_it_needs_a_name_a_cluster_and_a_place() -> None:
    asked = declared(lambda: PersistentResource("mine", cluster(labels={"team": "a"}), project=PROJECT, region=REGION))
    assert only(asked, COMPONENT).inputs == {}
    made = only(asked, RESOURCE)
    assert (made.inputs["name"], made.inputs["labels"]) == ("mine", {"team": "a"})


def test_every_default_is_explicit() -> None:
    asked = only(current(cluster()), RESOURCE)
    assert asked.name == "cpu-1a2b3c4"
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


def test_every_field_of_the_provider_can_be_reached() -> None:
    spec = cluster(
        pool("fixed", autoscaled=False, min=2, max=2, replicas=2),
        pool("gpu", accelerator="NVIDIA_TESLA_T4", accelerator_count=2, disk=Disk("pd-standard", 300)),
        display_name="Team A",
        network="projects/1/global/networks/n",
        reserved_ip_ranges=("vertex",),
        kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
        psc=PscInterface("attachment", (DnsPeering("corp.example.", "net", "shared"),)),
        custom_service_account=False,
        labels={"team": "a"},
    )
    inputs = only(current(spec), RESOURCE).inputs
    fixed, gpu = inputs["resourcePools"]
    assert fixed["replicaCount"] == "2"
    assert "autoscalingSpec" not in fixed
    assert gpu["machineSpec"] == {
        "machineType": "n1-standard-8",
        "acceleratorType": "NVIDIA_TESLA_T4",
        "acceleratorCount": 2,
    }
    assert gpu["diskSpec"] == {"bootDiskType": "pd-standard", "bootDiskSizeGb": 300}
    assert inputs["displayName"] == "Team A"
    assert inputs["network"] == "projects/1/global/networks/n"
    assert inputs["reservedIpRanges"] == ["vertex"]
    assert inputs["encryptionSpec"] == {"kmsKeyName": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"}
    assert inputs["pscInterfaceConfig"] == {
        "networkAttachment": "attachment",
        "dnsPeeringConfigs": [{"domain": "corp.example.", "targetProject": "net", "targetNetwork": "shared"}],
    }
    assert "resourceRuntimeSpec" not in inputs, "the API drops a false, which the provider would plan to set again"
    assert inputs["labels"]["team"] == "a"


def test_what_moves_by_itself_is_left_alone() -> None:  # B2
    asked = only(current(cluster()), RESOURCE).request
    assert set(asked.ignoreChanges) == {"resourcePools[*].replicaCount", "labels", "displayName"}
    assert (asked.customTimeouts.create, asked.customTimeouts.update, asked.customTimeouts.delete) == ("2h", "2h", "2h")


@pytest.mark.parametrize(("adopt", "id_"), [(True, FULL), (False, "")])
def test_a_cluster_that_exists_is_adopted(adopt: bool, id_: str) -> None:
    assert only(current(cluster(), exists=adopt), RESOURCE).request.importId == id_


def test_a_retiring_cluster_is_kept_exactly_as_it_is() -> None:  # N1
    asked = only(retiring(), RESOURCE)
    assert asked.request.importId == FULL
    assert list(asked.request.ignoreChanges) == ["*"]
    assert asked.inputs["resourcePools"][0]["replicaCount"] == "3"


def test_a_retiring_cluster_publishes_its_facts() -> None:
    assert only(retiring(), COMPONENT).inputs == FACTS


def test_the_state_knows_a_cluster_again_when_it_retires() -> None:
    """Same types, same names: the same URN, so neither the component nor the cluster is another one."""
    for type_ in (COMPONENT, RESOURCE):
        now, later = only(current(cluster()), type_), only(retiring(), type_)
        assert (now.type, now.name, now.request.parent) == (later.type, later.name, later.request.parent)

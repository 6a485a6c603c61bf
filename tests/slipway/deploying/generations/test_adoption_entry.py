"""The entry that adopts a living cluster: the same as by hand, or the reasons why there is none. # N13"""

from typing import Any

import pytest
import yaml

from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import from_text
from slipway.base.errors import ConfigError
from slipway.deploying.generations.adoption import differences
from slipway.deploying.generations.adoption_entry import entry_of
from slipway.google.clusters import PersistentResource

ID = "team-a-h100"
H100 = {"machineType": "a3-highgpu-8g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 8}
T4 = {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
PSC = {
    "networkAttachment": "training",
    "dnsPeeringConfigs": [{"domain": "corp.example.", "targetProject": "acme-dns", "targetNetwork": "shared"}],
}
ACCOUNTS = {"serviceAccountSpec": {"enableCustomServiceAccount": True}}


def pool(name: str, machine: dict[str, Any], **more: Any) -> dict[str, Any]:
    disk = {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 500}
    return {"id": name, "machineSpec": machine, "diskSpec": disk, "replicaCount": "2", "usedReplicaCount": "1", **more}


def body(**changed: Any) -> dict[str, Any]:
    bounds = {"autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "4"}}
    return {
        "name": f"projects/7/locations/us-central1/persistentResources/{ID}",
        "state": "RUNNING",
        "displayName": "Team A",
        "labels": {"team": "a"},
        "resourcePools": [pool("workers", H100, **bounds), pool("t4", T4)],
        "resourceRuntimeSpec": ACCOUNTS,
        **changed,
    }


WHOLE = body(
    network="projects/123456789012/global/networks/training",
    reservedIpRanges=["vertex"],
    encryptionSpec={"kmsKeyName": "projects/acme-ml/locations/us-central1/keyRings/r/cryptoKeys/k"},
)


@pytest.mark.parametrize("cluster", [body(), WHOLE, body(pscInterfaceConfig=PSC), body(resourceRuntimeSpec={})])
def test_pasted_beside_another_cluster_it_matches_the_cluster(cluster: dict[str, Any]) -> None:
    text, note = entry_of(cluster, "acme-ml", "us-central1")
    config = (
        "config:\n  gcp:project: acme-ml\n  gcp:region: us-central1\n  gcp:addPulumiAttributionLabel: 'false'\n"
        "  slipway:persistentResources:\n"
        f"    cpu: {{ pools: {{ all: {{ machine: n1-standard-4, replicas: 1 }} }} }}\n{text}"
    )
    _, spec = parse(from_text(config, "Pulumi.prod.yaml")).clusters
    assert spec.adopted is not None and spec.adopted.id == ID
    assert list(differences(spec, PersistentResource.read(cluster))) == []
    assert note.startswith("no template can run on") is not cluster["resourceRuntimeSpec"]


def test_it_says_no_more_than_a_person_would_write() -> None:
    entry = yaml.safe_load(entry_of(body(), "acme-ml", "us-central1")[0])[ID]
    disk = {"type": "pd-ssd", "sizeGb": 500}
    t4 = {"type": "NVIDIA_TESLA_T4", "count": 1}
    workers = {"machine": "a3-highgpu-8g", "disk": disk, "replicas": {"min": 1, "max": 4}}
    cpu = {"machine": "n1-standard-8", "accelerator": t4, "disk": disk, "replicas": 2}
    assert entry == {"id": ID, "pools": {"workers": workers, "t4": cpu}}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"state": "PROVISIONING"}, f"{ID} is in PROVISIONING, so nobody could submit to it"),
        ({"labels": {"slipway-stack": "prod"}}, "belongs to stack prod"),
        ({"resourceRuntimeSpec": {**ACCOUNTS, "raySpec": {"imageUri": "ray"}}}, "resourceRuntimeSpec.raySpec.imageUri"),
        ({"resourcePools": [pool("workers", {"machineType": "z9"})]}, "unknown machine type 'z9'"),
        (
            {
                "resourcePools": [
                    pool("w", {**T4, "reservationAffinity": {"reservationAffinityType": "ANY_RESERVATION"}})
                ]
            },
            "pools.w.machineSpec.reservationAffinity.reservationAffinityType: a stack file has no such key",
        ),
    ],
)
def test_what_no_entry_can_say_is_refused_in_words(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(ConfigError) as error:
        entry_of(body(**changed), "acme-ml", "us-central1")
    assert why in error.value.why and ID in error.value.what

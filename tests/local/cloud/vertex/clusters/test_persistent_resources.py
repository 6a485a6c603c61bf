"""Persistent resources (D4, D9; vertex-rules 1 and checklist 1, 2, 4, 5, 6)."""

from typing import Any

import pytest

from local.cloud.vertex.jobs import table as jobs
from tests.local.cloud.calling import CLUSTERS, JOBS, REGION, Calling
from tests.local.cloud.vertex.bodies import autoscaled, cluster_body, job_body, pool, worker

NAME = f"projects/100000000001/locations/{REGION}/persistentResources"


def create(calling: Calling, name: str = "cpu", body: Any = None, role: str = "owner") -> dict[str, Any]:
    return calling.call("POST", f"{CLUSTERS}?persistentResourceId={name}", body or cluster_body(), role)


def operation(calling: Calling, answer: dict[str, Any]) -> dict[str, Any]:
    return calling.call("GET", "/v1/" + answer["name"])


# --- the wire: operation names, progress, defaults (1.4)


def test_a_create_answers_an_operation_of_the_resource_with_the_service_s_words(calling: Calling) -> None:
    answer = create(calling)
    assert answer["name"].startswith(f"{NAME}/cpu/operations/")
    assert "done" not in answer
    assert answer["metadata"]["@type"].endswith(".aiplatform.v1.CreatePersistentResourceOperationMetadata")
    ended = operation(calling, answer)
    assert ended["done"] is True
    assert [one["metadata"]["progressMessage"] for one in (answer, ended)] == [
        "Create PersistentResource request received. Checking project configuration and quota...",
        "Your persistent resource is ready.",
    ]
    assert ended["response"] == {
        "@type": "type.googleapis.com/google.cloud.aiplatform.v1.PersistentResource",
        "name": f"{NAME}/cpu",
    }


def test_the_service_fills_in_what_was_left_out(calling: Calling) -> None:
    create(calling)
    read = calling.call("GET", f"{CLUSTERS}/cpu")
    assert read["name"] == f"{NAME}/cpu"
    assert read["displayName"] == "cpu"
    assert read["error"] == {}
    assert read["state"] == "RUNNING"
    assert read["resourcePools"] == [
        {
            "id": "n1-standard-4",
            "machineSpec": {"machineType": "n1-standard-4"},
            "replicaCount": "2",
            "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        }
    ]


def test_pools_without_an_id_get_one_each(calling: Calling) -> None:
    gpu = {"machineType": "n1-standard-8", "acceleratorType": 5, "acceleratorCount": 1}
    body = cluster_body(pool(), pool(), {"machine_spec": gpu, "replica_count": 1})
    create(calling, body=body)
    ids = [item["id"] for item in calling.call("GET", f"{CLUSTERS}/cpu")["resourcePools"]]
    assert ids == ["n1-standard-4", "n1-standard-4-2", "n1-standard-8-nvidia-tesla-t4-1"]


def test_enums_are_numbers_for_clients_that_ask_so(calling: Calling) -> None:
    create(calling)
    assert calling.call("GET", f"{CLUSTERS}/cpu?$alt=json;enum-encoding=int")["state"] == 3


def test_an_autoscaled_pool_starts_at_its_minimum(calling: Calling) -> None:
    create(calling, body=cluster_body(autoscaled(2, 5)))
    assert calling.call("GET", f"{CLUSTERS}/cpu")["resourcePools"][0]["replicaCount"] == "2"


def test_an_operation_is_found_under_its_resource_its_location_and_the_ui_path(calling: Calling) -> None:
    name = create(calling)["name"]
    number = name.rpartition("/")[2]
    for path in (
        f"/ui/{name}",
        f"/v1beta1/{name}",
        f"/v1/projects/slipway-local/locations/{REGION}/operations/{number}",
    ):
        assert calling.call("GET", path)["name"] == name
    listed = calling.call("GET", f"/v1/{NAME}/cpu/operations")["operations"]
    assert [item["name"] for item in listed] == [name]
    assert calling.call("POST", f"/v1/{name}:wait", {"timeout": "1s"})["done"] is True
    assert calling.call("POST", f"/v1/{name}:cancel", {}) == {}
    assert calling.call("DELETE", f"/v1/{name}") == {}
    assert calling.refused("GET", f"/v1/{name}").code == 404


def test_a_missing_one_is_told_in_the_service_s_words(calling: Calling) -> None:
    error = calling.refused("GET", f"{CLUSTERS}/none")
    assert (error.code, error.status, error.message) == (404, "NOT_FOUND", "The PersistentResource does not exist.")


def test_lists_are_paged(calling: Calling) -> None:
    for name in ("a", "b", "c"):
        calling.cluster(name)
    first = calling.call("GET", f"{CLUSTERS}?pageSize=2")
    second = calling.call("GET", f"{CLUSTERS}?pageSize=2&pageToken={first['nextPageToken']}")
    assert [item["displayName"] for item in first["persistentResources"]] == ["a", "b"]
    assert [item["displayName"] for item in second["persistentResources"]] == ["c"]
    assert "nextPageToken" not in second
    assert calling.refused("GET", f"{CLUSTERS}?pageToken=nonsense").code == 400


# --- what is refused (1.1–1.5)


@pytest.mark.parametrize("name", ["", "Upper", "1digit", "dash-", "a" * 64, "under_score"])
def test_an_id_must_fit_the_service_s_pattern(calling: Calling, name: str) -> None:
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId={name}", cluster_body())
    assert error.status == "INVALID_ARGUMENT"
    assert "1.Field: persistent_resource_id; Message:" in error.message


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        ({"resourcePools": []}, "resource_pools", "At least one"),
        (cluster_body(pool("n1-standard-1")), "machine_type", "Machine type n1-standard-1 is not supported."),
        (cluster_body(pool(replicas=None)), "replica_count", "at least 1"),
        (cluster_body(pool(replicas=1001)), "replica_count", "more than 1000"),
        (cluster_body(autoscaled(0, 3)), "min_replica_count", "greater than 0"),
        (cluster_body(autoscaled(3, 3)), "max_replica_count", "must be greater than min"),
        (cluster_body(autoscaled(2, 4) | {"replicaCount": "5"}), "replica_count", "between min"),
        (cluster_body(pool(autoscalingSpec={"minReplicaCount": "1"})), "autoscaling_spec", "Both"),
        (cluster_body(pool(diskSpec={"bootDiskSizeGb": 99})), "boot_disk_size_gb", "between 100 and 64000"),
        (cluster_body(pool(diskSpec={"bootDiskSizeGb": 64001})), "boot_disk_size_gb", "between 100 and 64000"),
        (cluster_body(pool(diskSpec={"bootDiskType": "floppy"})), "boot_disk_type", "not supported"),
        (cluster_body(pool(id="x"), pool(id="x")), "resource_pools.id", "more than once"),
        (cluster_body(labels={"Team": "ml"}), "labels", "lowercase"),
        (cluster_body(labels={"team": "x" * 65}), "labels.team", "64 characters"),
        (cluster_body(displayName="x" * 129), "display_name", "128"),
        (cluster_body(network="default"), "network", "projects/"),
        (cluster_body(network="projects/acme/global/networks/n"), "network", "projects/{number}"),
        (cluster_body(reservedIpRanges=["r"]), "reserved_ip_ranges", "need a network"),
        (cluster_body(encryptionSpec={"kmsKeyName": "key"}), "kms_key_name", "not the name of a key"),
        (
            cluster_body(encryptionSpec={"kmsKeyName": "projects/p/locations/eu/keyRings/r/cryptoKeys/k"}),
            "kms_key_name",
            "same region",
        ),
        (
            cluster_body(pscInterfaceConfig={"networkAttachment": "a", "dnsPeeringConfigs": [{"domain": "x.com"}]}),
            "dns_peering_configs[0].domain",
            'end with "."',
        ),
        (
            cluster_body(resourceRuntimeSpec={"serviceAccountSpec": {"serviceAccount": "a@b"}}),
            "service_account",
            "enable_custom_service_account",
        ),
    ],
)
def test_a_bad_body_is_refused_with_field_and_message(calling: Calling, body: Any, field: str, words: str) -> None:
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=cpu", body)
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    violation = error.details[0]["fieldViolations"][0]
    assert violation["field"].startswith("persistent_resource.")
    assert field in error.message and words in error.message


def test_a_peered_network_and_a_psc_interface_are_taken_together(calling: Calling) -> None:
    """As Google's acceptance test of its own Terraform resource makes them (magic-modules 18273)."""
    key = f"projects/slipway-local/locations/{REGION}/keyRings/ring/cryptoKeys/key"
    peering = {"domain": "example.com.", "targetProject": "slipway-local", "targetNetwork": "vertex"}
    body = cluster_body(
        network="projects/100000000001/global/networks/vertex",
        reservedIpRanges=["vertex-ip-range"],
        encryptionSpec={"kmsKeyName": key},
        pscInterfaceConfig={"networkAttachment": "psc", "dnsPeeringConfigs": [peering]},
    )
    create(calling, body=body)
    made = calling.call("GET", f"{CLUSTERS}/cpu")
    assert {key: made[key] for key in body} == body | {"resourcePools": made["resourcePools"]}
    both = {key: body[key] for key in ("network", "reservedIpRanges", "pscInterfaceConfig")}
    job = calling.call("POST", JOBS, job_body(spec={**both, "persistentResourceId": "cpu"}))
    assert {key: job["jobSpec"][key] for key in both} == both


def test_all_mistakes_come_at_once(calling: Calling) -> None:
    body = cluster_body(pool("x1"), pool(replicas=0))
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=No", body)
    assert [violation["field"] for violation in error.details[0]["fieldViolations"]] == [
        "persistent_resource_id",
        "persistent_resource.resource_pools[0].machine_spec.machine_type",
        "persistent_resource.resource_pools[1].replica_count",
    ]


def test_an_unknown_field_is_named_with_its_path(calling: Calling) -> None:
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body(pool(size=3)))
    assert error.code == 400
    assert "\"size\" at 'resourcePools[0]'" in error.message


def test_ray_is_refused_in_words(calling: Calling) -> None:
    error = calling.refused(
        "POST", f"{CLUSTERS}?persistentResourceId=ray", cluster_body(resourceRuntimeSpec={"raySpec": {"imageUri": "i"}})
    )
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")


def test_a_name_is_taken_once(calling: Calling) -> None:
    calling.cluster("cpu")
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body())
    assert (error.code, error.status) == (409, "ALREADY_EXISTS")


def test_another_region_than_those_of_training_is_refused(calling: Calling) -> None:
    error = calling.refused("GET", CLUSTERS.replace(REGION, "mars-north1"))
    assert "Unsupported region" in error.message


# --- permissions (1.7)


def test_who_may_not_is_told_the_permission(calling: Calling) -> None:
    error = calling.refused("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body(), role="previewer")
    assert (error.code, error.status) == (403, "PERMISSION_DENIED")
    assert "aiplatform.persistentResources.create" in error.message
    calling.cluster("cpu")
    assert calling.call("GET", f"{CLUSTERS}/cpu", role="previewer")["state"] == "RUNNING"
    assert calling.refused("DELETE", f"{CLUSTERS}/cpu", role="previewer").code == 403


def test_submissions_are_limited_by_the_minute(calling: Calling) -> None:
    calling.set(submissions_per_minute=2)
    create(calling, "a")
    create(calling, "b")
    assert calling.refused("POST", f"{CLUSTERS}?persistentResourceId=c", cluster_body()).status == "RESOURCE_EXHAUSTED"
    calling.clock.advance(61)
    create(calling, "c")


# --- time


def test_a_create_takes_its_time_and_a_speed_divides_it(calling: Calling) -> None:
    calling.set(create_seconds=300, speed=10)
    answer = create(calling)
    calling.advance(29)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "PROVISIONING"
    assert "done" not in operation(calling, answer)
    refusal = calling.refused("DELETE", f"{CLUSTERS}/cpu")
    assert (refusal.status, "PROVISIONING" in refusal.message) == ("FAILED_PRECONDITION", True)
    assert calling.refused("POST", f"/v1/{answer['name']}:cancel", {}).status == "FAILED_PRECONDITION"
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["startTime"] == "2026-11-20T10:00:30Z"


def test_a_create_without_capacity_ends_in_error_and_keeps_the_name(calling: Calling) -> None:
    calling.set(create_error="gpu-")
    answer = create(calling, "gpu-1")
    ended = operation(calling, answer)
    assert ended["error"]["code"] == 8 and REGION in ended["error"]["message"]
    read = calling.call("GET", f"{CLUSTERS}/gpu-1")
    assert read["state"] == "ERROR"
    assert read["error"] == ended["error"]
    assert calling.refused("POST", f"{CLUSTERS}?persistentResourceId=gpu-1", cluster_body()).code == 409
    calling.call("DELETE", f"{CLUSTERS}/gpu-1")
    calling.set(create_error="")
    assert calling.cluster("gpu-1")["state"] == "RUNNING"


def test_an_idle_one_is_deleted_at_once_and_its_operation_is_the_location_s(calling: Calling) -> None:
    calling.cluster("cpu")
    answer = calling.call("DELETE", f"{CLUSTERS}/cpu")
    assert answer["name"].startswith(f"projects/100000000001/locations/{REGION}/operations/")
    assert answer["done"] is True
    assert answer["response"] == {"@type": "type.googleapis.com/google.protobuf.Empty"}
    assert calling.refused("GET", f"{CLUSTERS}/cpu").code == 404


def test_deleting_cancels_its_jobs_first(calling: Calling) -> None:
    calling.cluster("cpu")
    calling.set(delete_seconds=60)
    running = calling.job(cluster="cpu", spec={"workerPoolSpecs": [worker(), worker()]})
    waiting = calling.job(cluster="cpu")
    answer = calling.call("DELETE", f"{CLUSTERS}/cpu")
    assert "done" not in answer
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "STOPPING"
    assert calling.call("GET", "/v1/" + running["name"])["state"] == "JOB_STATE_CANCELLING"
    cancelled = calling.call("GET", "/v1/" + waiting["name"])
    assert cancelled["state"] == "JOB_STATE_CANCELLED"
    assert "was deleted" in cancelled["error"]["message"]
    calling.advance(61)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "STOPPING", "its job's processes still hold machines"


def test_a_reboot_takes_an_autoscaled_pool_back_to_its_minimum(calling: Calling) -> None:
    calling.set(reboot_seconds=60)
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3) | {"replicaCount": "2"}])
    answer = calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    assert answer["metadata"]["progressMessage"] == "Waiting for persistent resource shut down."
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "REBOOTING"
    assert calling.refused("DELETE", f"{CLUSTERS}/cpu").status == "FAILED_PRECONDITION"
    assert calling.refused("POST", f"{CLUSTERS}/cpu:reboot", {}).status == "FAILED_PRECONDITION"
    calling.advance(60)
    read = calling.call("GET", f"{CLUSTERS}/cpu")
    assert (read["state"], read["resourcePools"][0]["replicaCount"]) == ("RUNNING", "1")
    assert operation(calling, answer)["done"] is True


def test_a_reboot_can_lose_the_machines_and_another_can_bring_them_back(calling: Calling) -> None:
    calling.cluster("cpu")
    calling.set(reboot_error="cpu")
    calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "ERROR"
    calling.set(reboot_error="")
    calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "RUNNING"


def test_a_reboot_takes_the_machines_from_running_jobs_which_get_another_attempt(calling: Calling) -> None:
    calling.cluster("cpu")
    made = calling.job(cluster="cpu")
    calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    found = jobs.get(calling.world.store, made["name"])
    assert found and found.run and found.run.outcome and found.run.outcome.state == "retry"
    calling.advance(1)
    assert calling.call("GET", f"{CLUSTERS}/cpu")["state"] == "REBOOTING", "until its replicas have ended"


# --- change in place (rule 1)


@pytest.mark.parametrize("mask", ["labels", "display_name", "resource_pools", "resource_pools.replica_count,labels"])
def test_a_patch_takes_no_other_path(calling: Calling, mask: str) -> None:
    calling.cluster("cpu")
    error = calling.refused("PATCH", f"{CLUSTERS}/cpu?updateMask={mask}", cluster_body())
    assert (error.code, error.message.partition(":")[0]) == (400, "Unrecognized path")


def test_not_even_that_path_works_without_ray(calling: Calling) -> None:
    calling.cluster("cpu")
    path = f"{CLUSTERS}/cpu?updateMask=resource_pools.replica_count"
    error = calling.refused("PATCH", path, cluster_body())
    assert error.status == "FAILED_PRECONDITION" and "Ray" in error.message
    calling.set(patch_refusal="INVALID_ARGUMENT")
    assert calling.refused("PATCH", path, cluster_body()).status == "INVALID_ARGUMENT"
    assert "required" in calling.refused("PATCH", f"{CLUSTERS}/cpu", cluster_body()).message


def test_there_is_no_put(calling: Calling) -> None:
    assert calling.router.find("PUT", f"{CLUSTERS}/cpu") is None
    assert calling.router.find("PUT", JOBS) is None

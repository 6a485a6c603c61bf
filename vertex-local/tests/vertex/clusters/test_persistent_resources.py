"""Persistent resources (D4, D9; vertex-rules 1 and checklist 1, 2, 4, 5, 6)."""

from typing import Any

from vertex_local.testing.bodies import autoscaled, cluster_body, job_body, pool, worker
from vertex_local.testing.calling import CLUSTERS, JOBS, REGION, Calling
from vertex_local.vertex.jobs import table as jobs

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


def test_an_operation_is_found_under_its_resource_its_location_and_the_ui_path(calling: Calling) -> None:
    name = create(calling)["name"]
    number = name.rpartition("/")[2]
    for path in (
        f"/ui/{name}",
        f"/v1beta1/{name}",
        f"/v1/projects/local-project/locations/{REGION}/operations/{number}",
    ):
        assert calling.call("GET", path)["name"] == name
    listed = calling.call("GET", f"/v1/{NAME}/cpu/operations")["operations"]
    assert [item["name"] for item in listed] == [name]
    assert calling.call("POST", f"/v1/{name}:wait", {"timeout": "1s"})["done"] is True
    assert calling.call("POST", f"/v1/{name}:cancel", {}) == {}
    assert calling.call("DELETE", f"/v1/{name}") == {}
    assert calling.refused("GET", f"/v1/{name}").code == 404


def test_lists_are_paged(calling: Calling) -> None:
    for name in ("a", "b", "c"):
        calling.cluster(name)
    first = calling.call("GET", f"{CLUSTERS}?pageSize=2")
    second = calling.call("GET", f"{CLUSTERS}?pageSize=2&pageToken={first['nextPageToken']}")
    assert [item["displayName"] for item in first["persistentResources"]] == ["a", "b"]
    assert [item["displayName"] for item in second["persistentResources"]] == ["c"]
    assert "nextPageToken" not in second
    assert calling.refused("GET", f"{CLUSTERS}?pageToken=nonsense").code == 400


# --- what is refused (1.1–1.5), besides the fields of `contracts/refused_clusters.txt`


def test_a_peered_network_and_a_psc_interface_are_taken_together(calling: Calling) -> None:
    """As Google's acceptance test of its own Terraform resource makes them (magic-modules 18273)."""
    key = f"projects/local-project/locations/{REGION}/keyRings/ring/cryptoKeys/key"
    peering = {"domain": "example.com.", "targetProject": "local-project", "targetNetwork": "vertex"}
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
    assert (error.status, error.details[0]["@type"]) == (
        "INVALID_ARGUMENT",
        "type.googleapis.com/google.rpc.BadRequest",
    )
    assert error.message.startswith("List of found errors:\t1.Field: ")
    assert [violation["field"] for violation in error.details[0]["fieldViolations"]] == [
        "persistent_resource_id",
        "persistent_resource.resource_pools[0].machine_spec.machine_type",
        "persistent_resource.resource_pools[1].replica_count",
    ]


# --- permissions (1.7)


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


def test_not_even_that_path_works_without_ray(calling: Calling) -> None:
    calling.cluster("cpu")
    path = f"{CLUSTERS}/cpu?updateMask=resource_pools.replica_count"
    error = calling.refused("PATCH", path, cluster_body())
    assert error.status == "FAILED_PRECONDITION" and "Ray" in error.message
    calling.set(patch_refusal="INVALID_ARGUMENT")
    assert calling.refused("PATCH", path, cluster_body()).status == "INVALID_ARGUMENT"
    assert "required" in calling.refused("PATCH", f"{CLUSTERS}/cpu", cluster_body()).message

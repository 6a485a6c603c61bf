"""What each way to get machines may be combined with: every rule refused in Google's shape, and its like accepted
(W2, W3, W4, W6, X1, X6, Z6; vertex-rules 4.1, 4.2)."""

from typing import Any

import pytest

from local.cloud.supply import machines
from local.cloud.supply import records as scenarios
from tests.local.cloud.calling import JOBS, Calling
from tests.local.cloud.supply.test_scenario import HELD
from tests.local.cloud.vertex.bodies import autoscaled, job_body, worker
from tests.local.cloud.vertex.scheduling.conftest import A100, H100, QUOTAS, gpu

FLEX = {"strategy": "FLEX_START"}
T4 = {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
TPU = {"machineType": "ct5lp-hightpu-1t", "tpuTopology": "1x1"}
POD = {"machineType": "cloud-tpu", "acceleratorType": "TPU_V3", "acceleratorCount": 32}
KEY = "compute.googleapis.com/reservation-name"
SPECIFIC = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": KEY, "values": [HELD]}
ANY = {"reservationAffinityType": "ANY_RESERVATION"}
NONE = {"reservationAffinityType": "NO_RESERVATION"}


@pytest.fixture(autouse=True)
def quota(calling: Calling) -> None:
    names = (*QUOTAS, "preemptible_nvidia_t4_gpus")
    calling.set(**{f"quota.custom_model_training_{name}": 1000 for name in names})
    held = {"machine": "a3-highgpu-8g", "count": 2}
    far = HELD.replace("us-central1-a", "us-east4-a")
    scenarios.load(calling.world, {"reservations": {HELD: held, f"{HELD}-alone": held | {"share": "LOCAL"}, far: held}})


def spec(*workers: Any, scheduling: Any = None, **changes: Any) -> dict[str, Any]:
    return job_body(*workers, spec={"scheduling": scheduling or {}, **changes})


def reserved(affinity: dict[str, Any], machine: dict[str, Any] | None = None, replicas: int = 1) -> dict[str, Any]:
    return gpu({**(machine or H100), "reservationAffinity": affinity}, replicas)


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        # FLEX_START: an accelerator, one of the list
        (spec(worker(), scheduling=FLEX), "[0].machine_spec.accelerator_type", "this is none"),
        (spec(gpu(T4), scheduling=FLEX), "[0].machine_spec.accelerator_type", "this is NVIDIA_TESLA_T4"),
        # all worker pools alike
        (spec(gpu(), gpu(A100), scheduling=FLEX), "[1].machine_spec", "the same machine configuration"),
        (spec(gpu(), worker(), scheduling=FLEX), "[1].machine_spec", "the same machine configuration"),
        # seven days, no negative wait
        (spec(gpu(), scheduling=FLEX | {"timeout": "604801s"}), "scheduling.timeout", "at most 604800s"),
        (spec(gpu(), scheduling=FLEX | {"maxWaitDuration": "-1s"}), "max_wait_duration", "not be negative"),
        # a wait for machines is FLEX_START's (Kubeflow's launcher takes it out of other jobs)
        *(
            (spec(worker(), scheduling={"maxWaitDuration": "60s"} | strategy), "max_wait_duration", "FLEX_START only")
            for strategy in ({}, {"strategy": "STANDARD"}, {"strategy": "SPOT"})
        ),
        # a part of a GPU is one of a GPU
        (
            spec(gpu(A100 | {"gpuPartitionSize": "3g.20gb", "acceleratorCount": 2, "machineType": "a2-highgpu-2g"})),
            "[0].machine_spec.accelerator_count",
            "must be 1",
        ),
        (spec(gpu(A100 | {"gpuPartitionSize": "half"})), "[0].machine_spec.gpu_partition_size", "not the size"),
        (spec(gpu(T4 | {"gpuPartitionSize": "3g.20gb"})), "[0].machine_spec.gpu_partition_size", "can be partitioned"),
        # no cluster, no reservation
        (
            spec(gpu(), scheduling=FLEX, persistentResourceId="cpu"),
            "scheduling.strategy",
            "FLEX_START is not supported",
        ),
        (spec(reserved(ANY), scheduling=FLEX), "[0].machine_spec.reservation_affinity", "with strategy FLEX_START"),
        # SPOT
        (
            spec(gpu({"machineType": "ct5lp-hightpu-4t", "tpuTopology": "4x4"}), scheduling={"strategy": "SPOT"}),
            "[0].machine_spec",
            "TPU Pods are not supported with strategy SPOT",
        ),
        (spec(gpu(POD), scheduling={"strategy": "SPOT"}), "[0].machine_spec", "TPU Pods are not supported"),
        (spec(worker(), scheduling={"strategy": "SPOT"}, persistentResourceId="cpu"), "strategy", "SPOT is not supp"),
        (spec(reserved(SPECIFIC), scheduling={"strategy": "SPOT"}), "reservation_affinity", "with strategy SPOT"),
        # TPUs: not on a cluster, one worker pool with one replica, a topology of the machine's, in their regions
        (spec(gpu(TPU), persistentResourceId="cpu"), "[0].machine_spec", "TPUs are not supported on persistent"),
        (spec(gpu(TPU), worker()), "worker_pool_specs", "exactly one worker pool; this one has 2"),
        (spec(gpu(TPU, 2)), "[0].replica_count", "of a TPU worker pool must be 1"),
        (spec(gpu(TPU | {"tpuTopology": "2x4"})), "[0].machine_spec.tpu_topology", "supported: 1x1"),
        (spec(gpu({"machineType": "ct6e-standard-4t"})), "[0].machine_spec.tpu_topology", "supported: 2x2, 2x4"),
        (spec(gpu(POD | {"acceleratorCount": 16})), "[0].machine_spec.accelerator_count", "8, and multiples of 32"),
        (spec(gpu({"machineType": "cloud-tpu"})), "[0].machine_spec.accelerator_type", "TPU_V2, TPU_V3"),
        (spec(gpu(T4 | {"tpuTopology": "1x1"})), "[0].machine_spec.tpu_topology", "takes no TPU topology"),
        (spec(gpu(TPU), scheduling=FLEX), "[0].machine_spec.accelerator_type", "this is none"),
        # reservations: form
        (spec(reserved({"reservationAffinityType": "SPECIFIC_RESERVATION"})), "affinity.key", KEY),
        (spec(reserved(SPECIFIC | {"values": []})), "affinity.values", "At least one"),
        (spec(reserved(SPECIFIC | {"values": ["held"]})), "affinity.values[0]", "projects/PROJECT/zones"),
        (spec(reserved(ANY | {"values": [HELD]})), "reservation_affinity", "SPECIFIC_RESERVATION only"),
        # and what they are for
        (spec(reserved(ANY), persistentResourceId="cpu"), "reservation_affinity", "not supported on a persistent"),
        (spec(reserved(SPECIFIC | {"values": [f"{HELD}-none"]})), "affinity.values[0]", "does not exist"),
        (spec(reserved(SPECIFIC | {"values": [f"{HELD}-alone"]})), "values[0]", "service share type is LOCAL"),
        (spec(reserved(SPECIFIC, A100)), "affinity.values[0]", "machine type a2-highgpu-1g != a3-highgpu-8g"),
        (
            spec(reserved(SPECIFIC | {"values": [HELD.replace("us-central1-a", "us-east4-a")]})),
            "affinity.values[0]",
            "in zone us-east4-a, not in region us-central1",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(calling: Calling, body: Any, field: str, words: str) -> None:
    calling.cluster("cpu", resourcePools=[autoscaled(1, 3)])
    error = calling.refused("POST", JOBS, body)
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    detail = error.details[0]
    assert detail["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert detail["fieldViolations"][0]["field"].startswith("job_spec.")
    assert field in error.message and words in error.message


@pytest.mark.parametrize(
    "body",
    [
        spec(gpu(), gpu(replicas=2), scheduling=FLEX),
        spec(gpu(), scheduling={"strategy": 6, "timeout": "604800s", "maxWaitDuration": "0s"}),
        spec(gpu(H100 | {"reservationAffinity": NONE}), gpu(), scheduling=FLEX),
        spec(worker(), scheduling={"strategy": "SPOT"}),
        spec(gpu(T4), scheduling={"strategy": "SPOT"}),
        spec(gpu(A100 | {"gpuPartitionSize": "3g.20gb"})),
        spec(reserved(SPECIFIC)),
        spec(reserved(SPECIFIC | {"values": [HELD.replace("slipway-local", "100000000001")]})),
        spec(reserved(SPECIFIC | {"values": [f"{HELD}/reservationBlocks/one"]})),
        spec(reserved(ANY), reserved(NONE, A100)),
    ],
)
def test_what_goes_together_is_taken(calling: Calling, body: Any) -> None:
    assert calling.call("POST", JOBS, body)["state"] == "JOB_STATE_PENDING"


@pytest.mark.parametrize(
    "accelerator",
    ["NVIDIA_L4", "NVIDIA_TESLA_A100", "NVIDIA_A100_80GB", "NVIDIA_H100_80GB", "NVIDIA_H200_141GB", "NVIDIA_B200"],
)
def test_flex_start_has_these_accelerators(calling: Calling, accelerator: str) -> None:
    machine = next(item for item in machines.table().types.values() if item.accelerator == accelerator)
    (count,) = machine.attachable[accelerator]
    given = {"machineType": machine.name, "acceleratorType": accelerator, "acceleratorCount": count}
    error = calling.refused("POST", JOBS, spec(gpu(given, 1000), scheduling=FLEX))
    assert "replica_count" in error.message and "accelerator_type" not in error.message


@pytest.mark.parametrize(
    ("machine", "strategy"),
    [(TPU, "STANDARD"), (TPU, "SPOT"), (POD, "STANDARD"), (POD | {"acceleratorCount": 8}, "SPOT")],
)
def test_a_right_tpu_job_is_told_that_the_local_cloud_has_none(
    calling: Calling, machine: dict[str, Any], strategy: str
) -> None:
    error = calling.refused("POST", JOBS, spec(gpu(machine), scheduling={"strategy": strategy}))
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")
    assert "has no TPUs" in error.message


def test_a_tpu_is_not_in_every_region(calling: Calling) -> None:
    error = calling.refused("POST", JOBS.replace("us-central1", "europe-west1"), spec(gpu(TPU)))
    assert "machine_spec.machine_type" in error.message and "not available in region europe-west1" in error.message


def test_a_reservation_on_a_spot_job_may_be_ignored(calling: Calling) -> None:
    calling.set(spot_reservation="ignore")
    assert calling.call("POST", JOBS, spec(reserved(ANY), scheduling={"strategy": "SPOT"}))["state"].endswith("PENDING")

"""Worker pools: places, machines, disks, accelerators. # P2 P3 P4"""

from ..bodies import H100, H200, HYPERDISK, L4, N1, POD, POOL, T4, V5E, custom, example, gpu, spot, worker

EXAMPLES = (
    example("pools", custom(*[worker() for _ in range(5)]), "5 worker pools", custom(worker())),
    example("pools", custom({}, worker()), "the first worker pool is empty", custom(worker(), {}, worker())),
    example("pools", custom(worker(replicas=2)), "exactly 1 replica, not 2", custom(worker(), worker(N1, 9))),
    example("pools", custom(worker(), worker(N1, 0)), "worker pool 1: 0 replicas", custom(worker(), {})),
    example("machine", custom(worker({"machineType": "n1-standard-9"})), "n1-standard-9", custom()),
    example("machine", custom(worker({**T4, "acceleratorCount": 3})), "3 × NVIDIA_TESLA_T4", custom(worker(T4))),
    example(
        "machine",
        custom(worker({"machineType": "a3-highgpu-8g"})),
        "a3-highgpu-8g must also name its accelerators: 8 × NVIDIA_H100_80GB",
        custom(worker(H100)),
    ),
    example(
        "machine",
        custom(worker({"machineType": "ct5lp-hightpu-4t"})),
        "needs a topology; tpu_topology: one of 2x2, 2x4",
        custom(worker(V5E)),
    ),
    example("machine", custom(worker({**V5E, "tpuTopology": "3x3"})), "no topology '3x3'", custom(worker(POD))),
    example(
        "disk",
        custom(worker(diskSpec=HYPERDISK)),
        "disk hyperdisk-balanced does not fit n1-standard-8; fitting: pd-ssd, pd-standard",
        custom(worker({"machineType": "n4-standard-8"}, diskSpec=HYPERDISK)),
    ),
    example(
        "disk",
        custom(worker({"machineType": "n4-standard-8"})),
        "fitting: hyperdisk-balanced",
        custom(worker(diskSpec={"bootDiskType": "pd-standard"})),
    ),
    *(
        example(
            "disk",
            custom(worker(machine, diskSpec={"bootDiskType": kind})),
            f"disk {kind} does not fit {machine['machineType']}; fitting: {', '.join(fitting)}",
            *(custom(worker(machine, diskSpec={"bootDiskType": disk})) for disk in fitting),
        )
        for machine, kind, fitting in (
            (L4, "pd-standard", ("pd-ssd",)),
            (H200, "pd-ssd", ("hyperdisk-balanced",)),
            (H100, "pd-standard", ("pd-ssd", "hyperdisk-balanced")),
        )
    ),
    example(
        "disk",
        custom(worker(diskSpec={"bootDiskSizeGb": 99})),
        "100 to 64000 GB, not 99",
        custom(worker(diskSpec={"bootDiskSizeGb": 100})),
        custom(worker(diskSpec={"bootDiskSizeGb": 64000})),
    ),
    example("disk", custom(worker(diskSpec={"bootDiskSizeGb": 64001})), "not 64001", custom()),
    example(
        "machine",
        custom(worker(gpu("a2-highgpu-2g", gpuPartitionSize="1g.5gb"))),
        "the acceleratorCount must be 1, not 2",
        custom(worker(gpu("a2-highgpu-1g", gpuPartitionSize="1g.5gb"))),
    ),
    example(
        "gpu-region",
        custom(worker(H100)),
        "europe-west1 has no NVIDIA_H100_80GB for training; regions that have it: asia-northeast1",
        custom(worker(gpu("a3-megagpu-8g"))),
        custom(),
        place={"region": "europe-west1"},
    ),
    example(
        "gpu-region",
        custom(worker(V5E)),
        "europe-west4 has no TPU v5e for training; regions that have it: us-central1, us-east1, us-west1, us-west4",
        custom(worker({"machineType": "cloud-tpu", "acceleratorType": "TPU_V2", "acceleratorCount": 8})),
        place={"region": "europe-west4"},
    ),
    example("tpu", custom(worker(V5E), worker(N1)), "one worker pool, not 2", custom(worker(V5E))),
    example("tpu", custom(worker(V5E), **POOL), "persistent resources have no TPUs", custom(worker(), **POOL)),
    example("machine", custom(worker({**N1, "tpuTopology": "2x2"})), "which is not a TPU", custom(worker(V5E))),
    example(
        "tpu",
        spot(worker(POD)),
        "a TPU pod of 4 VMs can't be Spot",
        spot(worker(V5E)),
        spot(worker(T4)),
        spot(worker(N1)),
        custom(worker(POD)),
    ),
    example(
        "tpu",
        spot(worker({"machineType": "cloud-tpu", "acceleratorType": "TPU_V3", "acceleratorCount": 32})),
        "TPU_V3 × 32",
        spot(worker({"machineType": "cloud-tpu", "acceleratorType": "TPU_V3", "acceleratorCount": 8})),
    ),
)

"""Combinations: strategies, persistent resources, waiting. # W2 W3 W4 W5 W6 X1 N3"""

from ..bodies import H100, L4, POOL, T4, V5E, custom, example, flex, gpu, reserved, spot, worker

EXAMPLES = (
    example("strategy", custom(scheduling={"strategy": "LOW_COST"}), "LOW_COST", custom(), spot(), flex()),
    example("strategy", custom(scheduling={"strategy": "SPOT"}, **POOL), "can't be SPOT", custom(**POOL), spot()),
    example(
        "strategy",
        custom(worker(H100), scheduling={"strategy": "FLEX_START", "maxWaitDuration": "0s"}, **POOL),
        "can't be FLEX_START",
        custom(scheduling={"strategy": "STANDARD"}, **POOL),
    ),
    example(
        "strategy-of-its-type",
        spot(),
        "capacity type on-demand needs strategy STANDARD",
        custom(),
        capacity_type="on-demand",
    ),
    example("strategy-of-its-type", custom(), "capacity type spot needs strategy SPOT", spot(), capacity_type="spot"),
    example("strategy-of-its-type", custom(), "needs a persistentResourceId", custom(**POOL), capacity_type="pool"),
    example(
        "strategy-of-its-type",
        custom(worker(H100)),
        "no worker pool names a reservation",
        reserved(),
        capacity_type="reservation",
    ),
    example(
        "flex-machines",
        flex(worker({"machineType": "n1-highmem-2"})),
        "no accelerator): flex-start gives L4, A100, H100, H200 and B200 machines only (Google's earlier",
        *(
            flex(worker(gpu(machine), diskSpec={}))
            for machine in (
                "g2-standard-12",
                "a2-highgpu-1g",
                "a2-ultragpu-1g",
                "a3-highgpu-8g",
                "a3-megagpu-8g",
                "a3-ultragpu-8g",
                "a4-highgpu-8g",
            )
        ),
    ),
    example("flex-machines", flex(worker(T4)), "NVIDIA_TESLA_T4", flex(worker(L4))),
    example("flex-machines", flex(worker(V5E)), "flex-start has no TPUs", custom(worker(V5E))),
    example(
        "flex-machines",
        flex(worker(H100), worker(gpu("a3-highgpu-4g"))),
        "machine of worker pool 1 is a3-highgpu-4g, of worker pool 0 a3-highgpu-8g",
        flex(worker(H100), worker(H100, 3)),
        flex(worker(H100), {}, worker(gpu("a3-highgpu-8g"))),
    ),
    example(
        "flex-machines",
        flex(worker(H100), worker(H100, diskSpec={"bootDiskType": "pd-ssd", "bootDiskSizeGb": 200})),
        "disk of worker pool 1 is pd-ssd 200 GB",
        flex(worker(H100), worker(H100, diskSpec={})),
    ),
    example("timeout", flex(timeout="604801s"), "at most 7 days (604800s)", flex(timeout="604800s")),
    example("timeout", custom(scheduling={"timeout": "0s"}), "'0s'", custom(scheduling={"timeout": "60s"})),
    example("timeout", custom(scheduling={"timeout": "1h"}), "'1h'", custom(scheduling={"timeout": "3.5s"})),
    example("flex-wait", flex(maxWaitDuration=None), "maxWaitDuration is missing", flex(), flex(maxWaitDuration="0s")),
    example("flex-wait", flex(maxWaitDuration="-1s"), "'-1s'", flex(maxWaitDuration="7200s")),
    example("flex-wait", custom(scheduling={"maxWaitDuration": "60s"}), "only flex-start waits", custom()),
    example(
        "restart-flags",
        custom(scheduling={"restartJobOnWorkerRestart": True, "disableRetries": True}),
        "disableRetries overrides",
        custom(scheduling={"restartJobOnWorkerRestart": True}),
        custom(scheduling={"disableRetries": True}),
    ),
)

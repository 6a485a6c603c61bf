"""elastic-digits: torchrun with as many machines as there are at the time, from checkpoint to checkpoint."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

ARGS = (
    "--least=${least}",
    "--last-call=${last_call}",
    "--lost-after=${lost_after}",
    "--steps=${steps}",
    "--every=${every}",
    "--batch=${batch}",
    "--pause=${pause}",
    "--seed=${seed}",
    "--output=${slipway.output}",
)

TEMPLATE = JobTemplate(
    name="elastic-digits",
    summary="elastic training with torchrun: it goes on without a lost machine, and takes it in when it is back",
    code=Package(
        folder="jobs/torchrun_digits",
        module="torchrun_digits.elastic",
        image="us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest",
    ),
    worker_pools=(
        WorkerPool(role="chief", machine="n1-standard-4", disk=Disk("pd-ssd", 100), args=ARGS),
        WorkerPool(role="workers", machine="n1-standard-8", disk=Disk("pd-ssd", 100), replicas="${workers}", args=ARGS),
    ),
    parameters=(
        Parameter("workers", int, default=2, min=1, max=16, help="worker machines, besides the chief"),
        Parameter("least", int, default=1, min=1, max=17, help="machines without which it waits"),
        Parameter("last_call", int, default=30, min=1, max=600, help="seconds to wait for more once there are so many"),
        Parameter("lost_after", int, default=15, min=2, max=600, help="seconds without a sign until one is lost"),
        Parameter("steps", int, default=400, min=1, max=100_000, help="steps to train"),
        Parameter("every", int, default=20, min=1, max=10_000, help="steps between two checkpoints"),
        Parameter("batch", int, default=96, min=1, max=1024, help="digits in a step, all machines together"),
        Parameter("pause", float, default=0.0, min=0.0, max=60.0, help="seconds that a step takes longer"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same model"),
    ),
    capacity_types=("pool", "on-demand"),
    timeout_s=3600,
    checkpoints=True,
)

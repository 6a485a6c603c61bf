"""ddp-digits: torchrun over the replicas of one job, each with its part of every batch."""

from slipway.template import Disk, JobTemplate, Package, Parameter, Scheduling, WorkerPool

ARGS = (
    "--steps=${steps}",
    "--every=${every}",
    "--batch=${batch}",
    "--pause=${pause}",
    "--seed=${seed}",
    "--output=${slipway.output}",
)

TEMPLATE = JobTemplate(
    name="ddp-digits",
    summary="data-parallel training with torchrun; the model is that of a single machine, whatever their number",
    code=Package(
        folder="jobs/torchrun_digits",
        module="torchrun_digits.ddp",
        image="us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-4.py310:latest",
    ),
    worker_pools=(
        WorkerPool(role="chief", machine="n1-standard-4", disk=Disk("pd-ssd", 100), args=ARGS),
        WorkerPool(role="workers", machine="n1-standard-8", disk=Disk("pd-ssd", 100), replicas="${workers}", args=ARGS),
    ),
    parameters=(
        Parameter("workers", int, default=2, min=1, max=16, help="worker machines, besides the chief"),
        Parameter("steps", int, default=200, min=1, max=100_000, help="steps to train"),
        Parameter("every", int, default=20, min=1, max=10_000, help="steps between two checkpoints"),
        Parameter("batch", int, default=96, min=1, max=1024, help="digits in a step, all machines together"),
        Parameter("pause", float, default=0.0, min=0.0, max=60.0, help="seconds that a step takes longer"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same model"),
    ),
    capacity_types=("pool", "spot"),
    timeout_s=3600,
    # One process alone can't rejoin the others here: all begin again, from the last checkpoint.
    scheduling=Scheduling(restart_job_on_worker_restart=True),
    checkpoints=True,
)

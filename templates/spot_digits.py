"""spot-digits: training on machines that may go at any moment, from checkpoint to checkpoint."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="spot-digits",
    summary="a digit classifier trained step by step; a preempted job goes on from its last checkpoint",
    code=Package(
        folder="jobs/spot_digits",
        module="spot_digits.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="trainer",
            machine="n1-standard-4",
            disk=Disk("pd-ssd", 100),
            args=(
                "--steps=${steps}",
                "--every=${every}",
                "--pause=${pause}",
                "--seed=${seed}",
                "--output=${slipway.output}",
            ),
        ),
    ),
    parameters=(
        Parameter("steps", int, default=400, min=1, max=100_000, help="steps to train"),
        Parameter("every", int, default=20, min=1, max=10_000, help="steps between two checkpoints"),
        Parameter("pause", float, default=0.0, min=0.0, max=60.0, help="seconds that a step takes longer"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same model"),
    ),
    capacity_types=("spot", "pool"),
    timeout_s=3600,
    checkpoints=True,
)

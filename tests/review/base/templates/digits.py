"""digits: a search that is spread over many small machines."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:20260901"
DISK = Disk("pd-ssd", 100)
TREES = "--trees=${trees}"

TEMPLATE = JobTemplate(
    name="digits",
    summary="hyperparameter search of a digit classifier, spread over the workers",
    code=Package("jobs/digits", "digits.task", IMAGE),
    worker_pools=(
        WorkerPool("scheduler", "n1-standard-4", DISK, args=(TREES, "--seed=${seed}", "--output=${slipway.output}")),
        WorkerPool("workers", "n1-standard-8", DISK, replicas="${workers}"),
    ),
    parameters=(
        Parameter("workers", int, default=4, min=1, max=16, help="worker machines"),
        Parameter("trees", int, default=200, min=1, max=5000, help="trees in a forest"),
        Parameter("seed", int, default=0, min=0, max=1000, help="the same seed, the same search"),
    ),
    capacity_types=("pool", "spot", "on-demand"),
    timeout_s=3600,
    checkpoints=True,
)

"""dask-digits: a Dask cluster, as worker pools of one job, searches the best classifier of handwritten digits."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="dask-digits",
    summary="hyperparameter search of a digit classifier, spread by Dask over the workers",
    code=Package(
        folder="jobs/dask_digits",
        module="dask_digits.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="scheduler",
            machine="n1-standard-4",
            disk=Disk("pd-ssd", 100),
            args=(
                "--trees=${trees}",
                "--candidates=${candidates}",
                "--folds=${folds}",
                "--seed=${seed}",
                "--output=${slipway.output}",
            ),
        ),
        WorkerPool(role="workers", machine="n1-standard-8", disk=Disk("pd-ssd", 100), replicas="${workers}"),
    ),
    parameters=(
        Parameter("workers", int, default=2, min=1, max=16, help="worker machines"),
        Parameter("trees", int, default=50, min=1, max=5000, help="trees in a forest"),
        Parameter("candidates", int, default=8, min=1, max=120, help="settings to try"),
        Parameter("folds", int, default=3, min=2, max=10, help="folds of the cross-validation"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same search"),
    ),
    capacity_types=("pool", "spot"),
    code_flag=True,  # where the stack allows it: dev and local
    timeout_s=3600,
)

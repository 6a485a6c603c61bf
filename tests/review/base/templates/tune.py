"""tune: a study that the service conducts."""

from slipway.template import Disk, JobTemplate, Metric, Package, Parameter, Search, Study, WorkerPool

IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:20260901"

TEMPLATE = JobTemplate(
    name="tune",
    summary="a tuning job, several trials at once",
    kinds=("hyperparameter-tuning-job", "custom-job"),
    code=Package("jobs/tune", "tune.task", IMAGE),
    worker_pools=(WorkerPool("trial", "n1-standard-8", Disk("pd-ssd", 100), args=("--folds=${folds}",)),),
    parameters=(
        Parameter("trials", int, default=8, min=1, max=200, help="trials in all"),
        Parameter("parallel", int, default=2, min=1, max=4, help="trials at once"),
        Parameter("folds", int, default=3, min=2, max=10, help="folds of the cross-validation"),
    ),
    study=Study(
        metrics=(Metric("accuracy"),),
        parameters=(Search("depth", "integer", min=2, max=16),),
        max_trials="${trials}",
        parallel_trials="${parallel}",
    ),
    timeout_s=3600,
)

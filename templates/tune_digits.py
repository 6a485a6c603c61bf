"""tune-digits: a study that the service conducts: which classifier of handwritten digits, and with which values."""

from slipway.template import Disk, JobTemplate, Metric, Package, Parameter, Search, Study, WorkerPool

TEMPLATE = JobTemplate(
    name="tune-digits",
    summary="a tuning job: forest or support vectors, each with values of its own, several trials at once",
    kinds=("hyperparameter-tuning-job",),
    code=Package(
        folder="jobs/tune_digits",
        module="tune_digits.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="trial",
            machine="n1-standard-8",
            disk=Disk("pd-ssd", 100),
            args=("--folds=${folds}", "--seed=${seed}"),
        ),
    ),
    parameters=(
        Parameter("trials", int, default=8, min=1, max=200, help="trials in all"),
        Parameter("parallel", int, default=2, min=1, max=4, help="trials at once, each on a machine of its own"),
        Parameter("folds", int, default=3, min=2, max=10, help="folds of the cross-validation"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="of the forests"),
    ),
    study=Study(
        metrics=(Metric("accuracy"),),
        parameters=(
            Search("model", "categorical", values=("forest", "svc")),
            Search("depth", "discrete", values=(4, 8, 12, 16)),
            Search("c", "double", min=0.1, max=100.0, scale="log"),
            Search("gamma", "double", min=1e-4, max=1e-2, scale="log"),
        ),
        max_trials="${trials}",
        parallel_trials="${parallel}",
    ),
    timeout_s=3600,
)

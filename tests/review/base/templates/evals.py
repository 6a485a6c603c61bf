"""evals: a container that judges models, with an account of its own."""

from slipway.template import Disk, Image, JobTemplate, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="evals",
    summary="judges a model against the suite",
    code=Image(
        "us-docker.pkg.dev/acme-ml/evals/judge@sha256:1111111111111111111111111111111111111111111111111111111111111111",
        command=("judge",),
    ),
    worker_pools=(
        WorkerPool("judge", "n1-standard-8", Disk("pd-ssd", 100), args=("--suite=${suite}", "--batch=${batch}")),
    ),
    parameters=(
        Parameter("suite", str, default="core", choices=("core", "full"), help="which tests"),
        Parameter("batch", int, default=8, min=1, max=512, help="at once"),
    ),
    capacity_types=("spot", "on-demand"),
    service_account="evals@acme-ml.iam.gserviceaccount.com",
    secrets={"JUDGE_KEY": "judge-key"},
    env={"REGION": "us-central1"},
    timeout_s=7200,
    checkpoints=True,
)

"""pipeline-digits: a training pipeline whose model is uploaded to the registry when its job has ended."""

from slipway.template import Disk, JobTemplate, ModelUpload, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="pipeline-digits",
    summary="a training pipeline: a digit classifier, uploaded as a model when it is trained",
    kinds=("training-pipeline", "custom-job"),
    code=Package(
        folder="jobs/pipeline_digits",
        module="pipeline_digits.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="trainer",
            machine="n1-standard-4",
            disk=Disk("pd-ssd", 100),
            args=("--trees=${trees}", "--seed=${seed}", "--output=${slipway.output}"),
        ),
    ),
    parameters=(
        Parameter("trees", int, default=100, min=1, max=5000, help="trees in the forest"),
        Parameter("seed", int, default=0, min=0, max=2**31 - 1, help="the same seed, the same model"),
    ),
    model=ModelUpload(
        display_name="digits",
        serving_image="us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest",
    ),
    timeout_s=3600,
)

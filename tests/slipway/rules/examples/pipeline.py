"""Training pipelines and the model they upload. # W5"""

from ..bodies import MODEL, Example, pipeline, spec, worker

EXAMPLES: tuple[tuple[str, Example], ...] = (
    ("pipeline-task", Example(pipeline(trainingTaskDefinition="custom"), "must be gs://", (pipeline(),))),
    (
        "model-artifacts",
        Example(
            pipeline(trainingTaskInputs={**spec(worker()), "baseOutputDirectory": None}),
            "nobody knows where the model is",
            (
                pipeline(),
                pipeline(
                    {**MODEL, "artifactUri": "gs://b/m"},
                    trainingTaskInputs={**spec(worker()), "baseOutputDirectory": None},
                ),
                pipeline(None),
            ),
        ),
    ),
    ("model-serving", Example(pipeline({"displayName": "m"}), "the image that serves the model", (pipeline(),))),
    (
        "model-serving",
        Example(pipeline({"containerSpec": {"imageUri": "serve"}}), "displayName is missing", (pipeline(),)),
    ),
    ("model-id", Example(pipeline(modelId="9digits"), "'9digits'", (pipeline(modelId="digits_9-a"),))),
    ("model-id", Example(pipeline(modelId="a" * 64), "at most 63", (pipeline(modelId="a" * 63),))),
    (
        "model-id",
        Example(
            pipeline(modelId="m", parentModel="projects/p/locations/us-central1/models/m"),
            "keep one",
            (pipeline(parentModel="projects/p/locations/us-central1/models/m"),),
        ),
    ),
    (
        "parent-model",
        Example(
            pipeline(parentModel="projects/p/locations/us-east1/models/m"),
            "is in us-east1, the pipeline in us-central1",
            (pipeline(parentModel="projects/p/locations/us-central1/models/m@2"),),
        ),
    ),
    ("parent-model", Example(pipeline(parentModel="m"), "projects/PROJECT/locations", (pipeline(),))),
)

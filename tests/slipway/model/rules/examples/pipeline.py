"""Training pipelines and the model they upload. # W5"""

from ..bodies import MODEL, example, pipeline, spec, worker

EXAMPLES = (
    example("pipeline-task", pipeline(trainingTaskDefinition="custom"), "must be gs://", pipeline()),
    example(
        "model",
        pipeline(trainingTaskInputs={**spec(worker()), "baseOutputDirectory": None}),
        "nobody knows where the model is",
        pipeline(),
        pipeline(
            {**MODEL, "artifactUri": "gs://b/m"}, trainingTaskInputs={**spec(worker()), "baseOutputDirectory": None}
        ),
        pipeline(None),
    ),
    example("model", pipeline({"displayName": "m"}), "the image that serves the model", pipeline()),
    example("model", pipeline({"containerSpec": {"imageUri": "serve"}}), "displayName is missing", pipeline()),
    example("model", pipeline(modelToUpload="digits"), "displayName is missing", pipeline(modelToUpload=None)),
    example("model", pipeline(modelId="9digits"), "'9digits'", pipeline(modelId="digits_9-a")),
    example("model", pipeline(modelId="a" * 64), "at most 63", pipeline(modelId="a" * 63)),
    example(
        "model",
        pipeline(modelId="m", parentModel="projects/p/locations/us-central1/models/m"),
        "keep one",
        pipeline(parentModel="projects/p/locations/us-central1/models/m"),
    ),
    example(
        "model",
        pipeline(parentModel="projects/p/locations/us-east1/models/m"),
        "is in us-east1, the job in us-central1",
        pipeline(parentModel="projects/p/locations/us-central1/models/m@2"),
    ),
    example("model", pipeline(parentModel="m"), "projects/PROJECT/locations", pipeline()),
)

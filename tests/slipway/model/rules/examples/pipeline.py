"""Training pipelines and the model they upload. # W5"""

from typing import Any

from ..bodies import MODEL, example, pipeline, spec, worker


def named(length: int) -> dict[str, Any]:
    return {**MODEL, "displayName": "m" * length}


def served(**server: Any) -> dict[str, Any]:
    return {**MODEL, "containerSpec": {**MODEL["containerSpec"], **server}}


def listening(port: int) -> dict[str, Any]:
    return served(ports=[{"containerPort": port}])


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
    example(
        "model", pipeline({"containerSpec": {"imageUri": "gcr.io/acme/serve"}}), "the display name has 0", pipeline()
    ),
    example("model", pipeline(modelToUpload="digits"), "the display name has 0", pipeline(modelToUpload=None)),
    example("model", pipeline(named(129)), "has 129", pipeline(named(128))),
    example("model", pipeline(served(imageUri="https://h/i")), "https://h/i", pipeline(served(imageUri="gcr.io/h/i"))),
    example("model", pipeline(served(imageUri="h/i")), "in neither", pipeline(served(imageUri="a-docker.pkg.dev/h/i"))),
    example("model", pipeline(served(imageUri="gcr.io/Acme/i")), "gcr.io/Acme", pipeline(served(imageUri="gcr.io/a"))),
    example("model", pipeline(listening(65_536)), "port 65536", pipeline(listening(1)), pipeline(listening(65_535))),
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

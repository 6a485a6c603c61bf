"""pipeline-digits: what it trains is a model of the registry, and the SDK gives it back."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.checkouts.checkout import PROJECT, REGION

from .stack import Stack

pytestmark = pytest.mark.journey

PREDICT = """
import json, sys, joblib
from sklearn.datasets import load_digits
images, digits = load_digits(return_X_y=True)
found = joblib.load(sys.argv[1]).predict(images[:100])
print(json.dumps({"found": found.tolist(), "true": digits[:100].tolist()}))
"""


def test_pipeline_digits_uploads_a_model_that_the_sdk_gives_back(stack: Stack, tmp_path: Path) -> None:  # W5
    job = stack.run("pipeline-digits", trees=20)
    assert (job.document["kind"], job.document["capacityType"]) == ("training-pipeline", "pool")
    assert job.metrics["accuracy"] > 0.9
    assert job.unshown("show") == []
    name, _, version = job.document["model"].partition("@")

    from google.cloud import aiplatform

    aiplatform.init(
        project=PROJECT,
        location=REGION,
        credentials=stack.cloud.credentials("submitter"),
        api_endpoint=stack.cloud.url,
        api_transport="rest",
    )
    model = aiplatform.Model(name, version=version)
    assert (model.display_name, model.version_id) == ("digits", version)
    assert model.resource_name in [item.resource_name for item in aiplatform.Model.list(filter='display_name="digits"')]
    assert model.container_spec is not None
    assert model.container_spec.image_uri.endswith("/prediction/sklearn-cpu.1-6:latest")
    assert model.uri == f"{job.document['output']}/model"

    file = tmp_path / "model.joblib"
    file.write_bytes(stack.content(f"{model.uri}/model.joblib"))
    answer = subprocess.run([stack.python, "-c", PREDICT, file], capture_output=True, text=True, check=True)
    digits = json.loads(answer.stdout)
    right = sum(found == true for found, true in zip(digits["found"], digits["true"], strict=True))
    assert right > 90

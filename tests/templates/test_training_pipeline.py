"""A training pipeline on a pool, of a small template: its model is in the registry, and the SDK gives it back. # W5"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.checkouts.checkout import PROJECT, REGION

from .stack import OWN, Stack

pytestmark = pytest.mark.journey

TRAIN = """
import json, os
from pathlib import Path
import google.cloud.storage as storage
import joblib
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

train, test, labels, truth = train_test_split(*load_digits(return_X_y=True), random_state=0)
model = RandomForestClassifier(n_estimators=20, random_state=0).fit(train, labels)
joblib.dump(model, "model.joblib")
blob = storage.Blob.from_string(os.environ["AIP_MODEL_DIR"] + "model.joblib", client=storage.Client())
blob.upload_from_filename("model.joblib")
metrics = json.dumps({"accuracy": model.score(test, truth)})
Path(os.environ["SLIPWAY_OUTPUT"], "metrics.json").write_text(metrics)
"""
PREDICT = """
import json, sys, joblib
from sklearn.datasets import load_digits
images, digits = load_digits(return_X_y=True)
found = joblib.load(sys.argv[1]).predict(images[:100])
print(json.dumps({"found": found.tolist(), "true": digits[:100].tolist()}))
"""


def test_a_training_pipeline_uploads_a_model_that_the_sdk_gives_back(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    job = stack.run(OWN, "--code", str(tmp_path), "--as", "training-pipeline", "--capacity", "pool")
    assert (job.document["kind"], job.document["capacityType"]) == ("training-pipeline", "pool")
    assert job.metrics["accuracy"] > 0.9, "what it wrote into $SLIPWAY_OUTPUT is kept"
    assert job.document["model"] in stack.slipway("jobs", "show", job.display_name).out
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

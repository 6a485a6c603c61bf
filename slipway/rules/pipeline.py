"""Training pipelines: the task, and the model that is uploaded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.kinds.training_pipeline import CUSTOM_TASK, PIPELINE
from slipway.rules.rule import Rule, Subject, mapping

MODEL_ID = re.compile(r"[a-z_][a-z0-9_-]{0,62}")
_PARENT = re.compile(r"projects/[^/]+/locations/(?P<region>[^/]+)/models/[^/@]+(@[^/]+)?")


def _task(subject: Subject) -> Iterator[str]:
    task = str(subject.body.get("trainingTaskDefinition", ""))
    if not re.fullmatch(r"gs://.+/custom_task_\S+\.yaml", task):
        yield f"trainingTaskDefinition {task!r} must be {CUSTOM_TASK}"


def _artifacts(subject: Subject) -> Iterator[str]:
    model = subject.body.get("modelToUpload")
    if model is not None and not mapping(model).get("artifactUri") and not subject.spec.get("baseOutputDirectory"):
        yield "modelToUpload: without baseOutputDirectory or artifactUri nobody knows where the model is"


def _serving(subject: Subject) -> Iterator[str]:
    if "modelToUpload" not in subject.body:
        return
    model = mapping(subject.body["modelToUpload"])
    if not mapping(model.get("containerSpec")).get("imageUri"):
        yield "modelToUpload: containerSpec.imageUri, the image that serves the model, is missing"
    if not model.get("displayName"):
        yield "modelToUpload: displayName is missing"


def _model_id(subject: Subject) -> Iterator[str]:
    model_id = subject.body.get("modelId")
    if model_id and not MODEL_ID.fullmatch(str(model_id)):
        yield f"modelId {model_id!r}: give at most 63 of a-z, 0-9, _ and -, the first one a letter or _"
    if model_id and subject.body.get("parentModel"):
        yield "modelId names a new model, parentModel one that gets a new version: keep one"


def _parent(subject: Subject) -> Iterator[str]:
    parent = subject.body.get("parentModel")
    if not parent:
        return
    match = _PARENT.fullmatch(str(parent))
    if match is None:
        yield f"parentModel {parent!r} must be projects/PROJECT/locations/REGION/models/ID"
    elif subject.region and match["region"] != subject.region:
        yield f"parentModel {parent} is in {match['region']}, the pipeline in {subject.region}"


RULES = (
    Rule("pipeline-task", "A training pipeline has the custom task.", "5.2", _task, kind=PIPELINE.name),
    Rule("model-artifacts", "A model to upload is in the output directory or at an artifactUri.", "5.2", _artifacts),
    Rule("model-serving", "A model to upload has a name and an image that serves it.", "5.2", _serving),
    Rule("model-id", "A model id is lowercase letters, digits, _ and -.", "5.2", _model_id),
    Rule("parent-model", "A parent model is named in full and in the pipeline's region.", "5.2", _parent),
)

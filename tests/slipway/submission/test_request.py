"""Whether a job is the one that a request asks for."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.jobs import VertexJob
from slipway.errors import ConfigError
from slipway.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind
from slipway.submission.request import Request
from slipway.submission.same_request import same

BODY: dict[str, Any] = {
    "displayName": "digits-1",
    "labels": {"slipway-template": "digits"},
    "jobSpec": {
        "workerPoolSpecs": [
            {
                "machineSpec": {"machineType": "n1-standard-8"},
                "replicaCount": "2",
                "pythonPackageSpec": {
                    "args": ["--title=a b", "--trees=5"],
                    "env": [{"name": "LR", "value": "0.1"}, {"name": "MODE", "value": "full"}],
                    "packageUris": ["gs://c/digits-1.tar.gz"],
                },
            }
        ]
    },
}


def request(body: dict[str, Any]) -> Request:
    return Request("nightly", "dev", "digits", body)


def changed(**task: Any) -> dict[str, Any]:
    body = copy.deepcopy(BODY)
    body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"] |= task
    return body


def test_what_was_sent_is_the_same_also_with_newer_code() -> None:
    made = VertexJob.read({**BODY, "name": "projects/p/locations/r/customJobs/1"})
    assert same(request(BODY), made) is made
    assert same(request(changed(packageUris=["gs://c/digits-2.tar.gz"])), made) is made


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"args": ["--title=a b", "--trees=6"]}, "arguments"),
        ({"args": ["--title=a", "b", "--trees=5"]}, "arguments"),
        (
            {"env": [{"name": "LR", "value": "0.2"}, {"name": "MODE", "value": "full"}]},
            "environment: LR=0.1 MODE=full then, LR=0.2",
        ),
        ({"env": [{"name": "MODE", "value": "full"}]}, "environment: LR=0.1 MODE=full then, MODE=full now"),
    ],
)
def test_other_parameters_are_something_else_wherever_they_stand(task: dict[str, Any], said: str) -> None:
    made = VertexJob.read({**BODY, "name": "projects/p/locations/r/customJobs/1"})
    with pytest.raises(ConfigError, match="used before, for something else") as error:
        same(request(changed(**task)), made)
    assert said in error.value.why


IMAGE: dict[str, Any] = {
    "labels": {"slipway-template": "digits"},
    "jobSpec": {"workerPoolSpecs": [{"replicaCount": "1", "containerSpec": {"command": ["train", "--trees=5"]}}]},
}
STUDY: dict[str, Any] = {
    "labels": {"slipway-template": "digits"},
    "maxTrialCount": 8,
    "parallelTrialCount": 2,
    "trialJobSpec": BODY["jobSpec"],
}
UPLOAD: dict[str, Any] = {
    "labels": {"slipway-template": "digits"},
    "trainingTaskInputs": BODY["jobSpec"],
    "modelToUpload": {"displayName": "digits"},
}


@pytest.mark.parametrize(
    ("body", "kind", "other", "said"),
    [
        (
            IMAGE,
            CUSTOM_JOB,
            {"jobSpec": {"workerPoolSpecs": [{"replicaCount": "1"}]}},
            "command: train --trees=5 then",
        ),
        (STUDY, TUNING_JOB, {"maxTrialCount": 9}, "trials: 8, 2 at once then, 9, 2 at once now"),
        (STUDY, TUNING_JOB, {"parallelTrialCount": 1}, "trials: 8, 2 at once then, 8, 1 at once now"),
        (UPLOAD, PIPELINE, {"modelToUpload": {"displayName": "d"}}, "model: digits then, d now"),
    ],
)
def test_parameters_beside_the_arguments_make_something_else_too(
    body: dict[str, Any], kind: JobKind, other: dict[str, Any], said: str
) -> None:
    made = VertexJob.read(body, kind)
    assert same(replace(request(body), kind=kind), made) is made
    with pytest.raises(ConfigError) as error:
        same(replace(request({**body, **other}), kind=kind), made)
    assert said in error.value.why


def test_another_kind_is_something_else() -> None:
    made = VertexJob.read(BODY)
    pipeline = {"labels": BODY["labels"], "trainingTaskInputs": BODY["jobSpec"]}
    with pytest.raises(ConfigError) as error:
        same(replace(request(pipeline), kind=PIPELINE), made)
    assert error.value.why == "kind: custom-job then, training-pipeline now"


def test_recorded_parameters_are_compared(snapshot: SnapshotAssertion) -> None:
    def recording(value: str) -> dict[str, Any]:
        task = BODY["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
        return changed(env=[*task["env"], {"name": "SLIPWAY_PARAMETERS", "value": value}])

    made = VertexJob.read(recording('{"size":"small","trees":5}'))
    assert same(request(recording('{"size":"small","trees":5}')), made) is made
    with pytest.raises(ConfigError) as error:
        same(request(recording('{"size":"large","trees":5}')), made)
    assert error.value.why == snapshot

"""Bodies as a version of an API shows them, without messages made on the way. (N4)"""

import json
from typing import Any
from unittest.mock import patch

import pytest
from google.protobuf import json_format

from local.cloud.vertex.jobs import table
from local.cloud.vertex.jobs.records import Job
from local.cloud.vertex.messages import MESSAGES
from local.cloud.wire import Call
from tests.local.cloud.calling import JOBS, REGION, Calling
from tests.local.cloud.vertex.bodies import job_body, worker

CUSTOM_JOB = job_body(
    worker(env=[{"name": "ZERO", "value": ""}, {"name": "0", "value": "0"}]),
    {},
    worker(machineSpec={"machineType": "a", "acceleratorType": "NVIDIA_L4", "reservationAffinity": {}}),
    spec={"scheduling": {"timeout": "604800s", "disableRetries": False, "strategy": "SPOT"}, "enableWebAccess": True},
    displayName="0",
    name="projects/1/locations/r/customJobs/7",
    state="JOB_STATE_QUEUED",
    labels={"team": ""},
    createTime="2026-11-20T10:00:00.000000Z",
    startTime="2026-11-20T10:00:00.500000Z",
    endTime="2026-11-20T10:00:00.123456Z",
    updateTime="2026-11-20T10:00:00Z",
    error={"code": 0, "message": "none"},
    unknown={"of": "another day"},
    webAccessUris=None,
)
CONDITIONAL = {
    "parentCategoricalValues": {"values": ["a", "b"]},
    "parameterSpec": {"parameterId": "of a", "discreteValueSpec": {"values": [0.0, 1, 2.5]}},
}
TUNING_JOB = {
    "displayName": "study",
    "studySpec": {
        "algorithm": "RANDOM_SEARCH",
        "metrics": [{"metricId": "acc", "goal": "MAXIMIZE"}, {"metricId": "loss", "goal": "GOAL_TYPE_UNSPECIFIED"}],
        "parameters": [
            {"parameterId": "x", "doubleValueSpec": {"minValue": 0.0, "maxValue": 1e-3}, "scaleType": "UNIT_LOG_SCALE"},
            {"parameterId": "n", "integerValueSpec": {"minValue": "0", "maxValue": "9007199254740993"}},
            {"parameterId": "kind", "conditionalParameterSpecs": [CONDITIONAL], "categoricalValueSpec": {"values": []}},
        ],
        "studyStoppingConfig": {"maxNumTrials": 5, "shouldStopAsap": True},
    },
    "maxTrialCount": 3,
    "trialJobSpec": CUSTOM_JOB["jobSpec"],
    "trials": [
        {
            "id": "1",
            "state": "SUCCEEDED",
            "parameters": [{"parameterId": "x", "value": 0.1}, {"parameterId": "kind", "value": None}],
            "finalMeasurement": {"stepCount": "0", "elapsedDuration": "1.500000s", "metrics": [{"value": 0.0}]},
        }
    ],
}
MODEL = {
    "name": "m",
    "metadata": {"deep": [1, None, {"0": False}]},
    "containerSpec": {"imageUri": "i", "ports": [{"containerPort": 8080}], "args": ["a"], "startupProbe": {"exec": {}}},
    "supportedExportFormats": [{"id": "f", "exportableContents": ["ARTIFACT", "EXPORTABLE_CONTENT_UNSPECIFIED"]}],
    "versionAliases": [],
}
SERIES = {"tensorboardTimeSeriesId": "s", "values": [{"step": "0", "scalar": {"value": v}} for v in (0.0, 2, "NaN")]}
BODIES: dict[str, dict[str, Any]] = {
    "CustomJob": CUSTOM_JOB,
    "HyperparameterTuningJob": TUNING_JOB,
    "Model": MODEL,
    "TimeSeriesData": SERIES,
    "Artifact": {"name": "a", "metadata": {"score": 0.5, "tags": []}, "state": "STATE_UNSPECIFIED", "etag": "0"},
    "Tensorboard": {"displayName": "t", "encryptionSpec": {}, "runCount": 0, "isDefault": False},
}


def call(**query: str) -> Call:
    return Call("user:ada@slipway.example", "t", "GET", "/", {}, query, {})


@pytest.mark.parametrize("numbers", [False, True])
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize("kind", BODIES)
def test_a_body_is_what_the_official_types_make_of_it(kind: str, version: str, numbers: bool) -> None:
    message = json_format.ParseDict(BODIES[kind], MESSAGES._type(version, kind)(), ignore_unknown_fields=True)
    wanted = json_format.MessageToDict(message, use_integers_for_enums=numbers)
    query = {"$alt": "json;enum-encoding=int"} if numbers else {}
    assert json.dumps(MESSAGES.render(call(**query), version, kind, BODIES[kind])) == json.dumps(wanted)


@pytest.mark.parametrize(
    ("mask", "kept"),
    [
        ("displayName,state", {"displayName": "0", "state": "JOB_STATE_QUEUED"}),
        ("display_name,encryption_spec.kms_key_name", {"displayName": "0"}),
        ("job_spec.scheduling.strategy", {"jobSpec": {"scheduling": {"strategy": "SPOT"}}}),
        (
            "jobSpec.scheduling.timeout,jobSpec.scheduling",
            {"jobSpec": {"scheduling": {**CUSTOM_JOB["jobSpec"]["scheduling"]}}},
        ),
    ],
)
def test_a_mask_keeps_what_it_names(mask: str, kept: dict[str, Any]) -> None:
    shown = MESSAGES.render(call(), "v1", "CustomJob", CUSTOM_JOB, mask)
    kept.get("jobSpec", {}).get("scheduling", {}).pop("disableRetries", None)  # the type's zero is never shown
    assert shown == kept


def test_everything_is_kept_by_a_star() -> None:
    assert MESSAGES.render(call(), "v1", "CustomJob", CUSTOM_JOB, "*") == MESSAGES.render(
        call(), "v1", "CustomJob", CUSTOM_JOB
    )


def test_a_page_of_jobs_makes_no_message_of_any(calling: Calling) -> None:
    """A thousand of them took as long as the scheduler's next look, which waited for it."""
    made = calling.job()
    for number in range(100, 150):
        body = {**made, "name": f"{made['name'][:-3]}{number}", "state": "JOB_STATE_SUCCEEDED"}
        with calling.world.store.transaction():
            table.put(calling.world.store, number, REGION, Job(body, None).body, None)
    with patch.object(json_format, "ParseDict", side_effect=AssertionError("a message was made")):
        page = calling.call("GET", f"{JOBS}?pageSize=1000&readMask=name,state")
        whole = calling.call("GET", f"{JOBS}?pageSize=1000")
    assert len(page["customJobs"]) == len(whole["customJobs"]) == 51
    assert set(page["customJobs"][0]) == {"name", "state"}

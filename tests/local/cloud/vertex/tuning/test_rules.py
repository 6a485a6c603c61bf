"""What is refused as a study, field by field (vertex-rules 5.1)."""

from typing import Any

import pytest

from tests.local.cloud.calling import Calling
from tests.local.cloud.vertex.bodies import KEY
from tests.local.cloud.vertex.tuning.conftest import LAYERS, LR, MODEL, TUNING, UNITS, study, trial_spec, tuning_body


def double(low: Any, high: Any, **changes: Any) -> dict[str, Any]:
    return {"parameterId": "x", "doubleValueSpec": {"minValue": low, "maxValue": high}} | changes


def discrete(*values: float, **changes: Any) -> dict[str, Any]:
    return {"parameterId": "x", "discreteValueSpec": {"values": list(values)}} | changes


PARAMETERS = "study_spec.parameters[0]"
MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    (tuning_body(displayName=""), "display_name", "required"),
    (tuning_body(displayName="x" * 129), "display_name", "128"),
    (tuning_body(labels={"A": "b"}), "labels", "lowercase"),
    (tuning_body(maxTrialCount=0), "max_trial_count", "at least 1"),
    (tuning_body(parallelTrialCount=0), "parallel_trial_count", "at least 1"),
    (tuning_body(maxFailedTrialCount=-1), "max_failed_trial_count", "at least 0"),
    (tuning_body(studySpec=study(metrics=[])), "study_spec.metrics", "At least one"),
    (tuning_body(studySpec=study(metrics=[{"metricId": "a b"}])), "study_spec.metrics[0].metric_id", "whitespace"),
    (
        tuning_body(studySpec=study(metrics=[{"metricId": "a"}, {"metricId": "a"}])),
        "study_spec.metrics[1].metric_id",
        "unique",
    ),
    (
        tuning_body(studySpec=study(LR, metrics=[{"metricId": "a"}])),
        "study_spec.metrics[0].goal",
        "MAXIMIZE or MINIMIZE",
    ),
    (tuning_body(studySpec={"metrics": [{"metricId": "a"}]}), "study_spec.parameters", "At least one"),
    (tuning_body(studySpec=study(LR, LR)), "study_spec.parameters[1].parameter_id", "unique"),
    (tuning_body(studySpec=study({"parameterId": "x"})), PARAMETERS, "One of the double"),
    (tuning_body(studySpec=study(double(2, 1))), f"{PARAMETERS}.double_value_spec.min_value", "greater"),
    (tuning_body(studySpec=study(double(1, "Infinity"))), f"{PARAMETERS}.double_value_spec", "finite"),
    (
        tuning_body(studySpec=study(double(0, 1, scaleType="UNIT_LOG_SCALE"))),
        f"{PARAMETERS}.scale_type",
        "strictly positive",
    ),
    (
        tuning_body(studySpec=study(discrete(-1, 1, scaleType="UNIT_REVERSE_LOG_SCALE"))),
        f"{PARAMETERS}.scale_type",
        "strictly positive",
    ),
    (tuning_body(studySpec=study(discrete(2, 1))), f"{PARAMETERS}.discrete_value_spec.values", "increasing"),
    (tuning_body(studySpec=study(discrete(1, 1 + 1e-12))), f"{PARAMETERS}.discrete_value_spec.values", "apart"),
    (tuning_body(studySpec=study(discrete(*range(1001)))), f"{PARAMETERS}.discrete_value_spec.values", "1000"),
    (tuning_body(studySpec=study(discrete())), f"{PARAMETERS}.discrete_value_spec.values", "At least one"),
    (
        tuning_body(studySpec=study({"parameterId": "x", "categoricalValueSpec": {"values": []}})),
        f"{PARAMETERS}.categorical_value_spec.values",
        "At least one value",
    ),
    (
        tuning_body(studySpec=study({"parameterId": "x", "categoricalValueSpec": {"values": ["a", "a"]}})),
        f"{PARAMETERS}.categorical_value_spec.values",
        "differ",
    ),
    (
        tuning_body(studySpec=study({**MODEL, "scaleType": "UNIT_LINEAR_SCALE"})),
        f"{PARAMETERS}.scale_type",
        "must not be set",
    ),
    (
        tuning_body(studySpec=study(LR, algorithm="GRID_SEARCH")),
        f"{PARAMETERS}.double_value_spec",
        "INTEGER, CATEGORICAL and DISCRETE",
    ),
    (tuning_body(trialJobSpec=trial_spec(network="default")), "trial_job_spec.network", "projects/{number}"),
    (
        tuning_body(encryptionSpec={"kmsKeyName": KEY.replace("us-central1", "us-east1")}),
        "encryption_spec.kms_key_name",
        "same region",
    ),
    (tuning_body(trialJobSpec={}), "trial_job_spec.worker_pool_specs", "At least one"),
    (
        tuning_body(trialJobSpec=trial_spec(baseOutputDirectory={"outputUriPrefix": "/tmp"})),
        "trial_job_spec.base_output_directory.output_uri_prefix",
        "Cloud Storage",
    ),
]


@pytest.mark.parametrize(("body", "field", "words"), MISTAKES)
def test_a_bad_body_is_refused_with_field_and_message(calling: Calling, body: Any, field: str, words: str) -> None:
    error = calling.refused("POST", TUNING, body)
    assert (error.code, error.status) == (400, "INVALID_ARGUMENT")
    assert f"Field: {field}; Message: " in error.message
    assert words in error.message


@pytest.mark.parametrize(
    "spec",
    [
        study(LR, UNITS, LAYERS, MODEL),
        study(LAYERS, UNITS, algorithm="GRID_SEARCH"),
        study(metrics=[{"metricId": "a", "goal": "MAXIMIZE"}, {"metricId": "b", "goal": "MINIMIZE"}]),
        study(medianAutomatedStoppingSpec={}, measurementSelectionType="BEST_MEASUREMENT", observationNoise="LOW"),
    ],
)
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_a_good_study_is_taken_and_answered_as_sent(calling: Calling, spec: Any, version: str) -> None:
    made = calling.call("POST", TUNING.replace("v1", version, 1), tuning_body(studySpec=spec, labels={"team": "ml"}))
    assert made["name"].startswith("projects/100000000001/locations/us-central1/hyperparameterTuningJobs/")
    assert (made["state"], made["labels"], made["maxTrialCount"]) == ("JOB_STATE_QUEUED", {"team": "ml"}, 2)
    assert made["studySpec"]["metrics"] == spec["metrics"]
    assert [item["parameterId"] for item in made["studySpec"]["parameters"]] == [
        item["parameterId"] for item in spec["parameters"]
    ]
    assert made["trialJobSpec"]["workerPoolSpecs"][0]["diskSpec"]["bootDiskType"] == "pd-ssd"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (study(convexAutomatedStoppingSpec={}), "convexAutomatedStoppingSpec"),
        (
            study(metrics=[{"metricId": "a", "goal": "MAXIMIZE", "safetyConfig": {"safetyThreshold": 1}}]),
            "safety metrics",
        ),
        (
            study({**MODEL, "conditionalParameterSpecs": [{"parentCategoricalValues": {}, "parameterSpec": LR}]}),
            "conditional parameters",
        ),
    ],
)
def test_what_is_not_here_says_so(calling: Calling, spec: Any, words: str) -> None:
    error = calling.refused("POST", TUNING, tuning_body(studySpec=spec))
    assert (error.code, error.status) == (501, "UNIMPLEMENTED")
    assert words in error.message


def test_an_unknown_field_is_named_with_its_path(calling: Calling) -> None:
    error = calling.refused("POST", TUNING, tuning_body(studySpec=study({**LR, "step": 1})))
    assert "Unknown name \"step\" at 'studySpec.parameters[0]'" in error.message

"""One template submitted as each of its kinds, by offers that draw quota, and in an experiment."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from slipway.base.formatting import counted

from .catalogs import L4, NO_L4, SCHEDULING
from .stack import PROJECT, REGION, SLEEP, Stack
from .test_completion import offered
from .test_submission_run import lagging, lost

HOME = f"/v1/projects/{PROJECT}/locations/{REGION}"
TASK = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
STUDY: dict[str, Any] = {
    "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}],
    "parameters": [{"parameterId": "trees", "integerValueSpec": {"minValue": 1, "maxValue": 9}}],
}


@pytest.fixture
def kinds(stack: Stack) -> Stack:
    """`hello` as all three kinds, on the pool."""
    template = stack.catalog["templates"]["hello"]
    pool = template["offers"][0]
    tuning, pipeline = deepcopy(pool), deepcopy(pool)
    spec = tuning["request"].pop("jobSpec")
    tuning |= {"kind": "hyperparameter-tuning-job"}
    tuning["request"] |= {"studySpec": STUDY, "maxTrialCount": 2, "parallelTrialCount": 2, "trialJobSpec": spec}
    pipeline |= {"kind": "training-pipeline"}
    pipeline["request"] |= {"trainingTaskDefinition": TASK, "trainingTaskInputs": pipeline["request"].pop("jobSpec")}
    template |= {"kinds": ["custom-job", "hyperparameter-tuning-job", "training-pipeline"]}
    template["offers"] = [pool, tuning, pipeline]
    stack.publish()
    return stack


@pytest.mark.parametrize(
    ("kind", "collection", "machines"),
    [("hyperparameter-tuning-job", "hyperparameterTuningJobs", 2), ("training-pipeline", "trainingPipelines", 1)],
)
def test_it_is_submitted_once_as_what_was_asked_for(kinds: Stack, kind: str, collection: str, machines: int) -> None:
    words = ("submit", "hello", "--as", kind, "--request-id", "r1", "--output", "json")
    done = kinds.well(*words)
    assert f"/{collection}/" in done.json["job"]["name"]
    many = f" × {machines} ({counted(machines, 'main')})" if machines > 1 else ""
    assert f"n1-standard-4{many}\n" in done.err
    again = kinds.run(*words)
    assert again.json["fresh"] is False and again.json["job"]["name"] == done.json["job"]["name"]
    listed = kinds.cloud.rest("GET", f'{HOME}/{collection}?filter=labels.slipway-stack="{kinds.name}"')
    assert len(listed[collection]) == 1
    kinds.cloud.cancel(done.json["job"]["name"])


def test_a_request_is_found_again_as_the_kind_that_it_was_sent_as(kinds: Stack) -> None:  # N7
    """A deployment put another kind first: a second job of that kind was sent, and both ran."""
    words, template = ("submit", "hello", "--request-id", "r1"), kinds.catalog["templates"]["hello"]
    with kinds.faults(lost(), lagging(3600)):
        assert kinds.run(*words, SLIPWAY_LOOK_FOR="1s").code == 75
    template["kinds"].reverse()
    template["kind"] = template["kinds"][0]
    kinds.publish()
    again = kinds.run(*words, SLIPWAY_LOOK_FOR="1s")
    assert again.code == 2 and "kind: custom-job then, training-pipeline now" in again.err
    listed = kinds.cloud.rest("GET", f'{HOME}/trainingPipelines?filter=labels.slipway-stack="{kinds.name}"')
    assert not listed.get("trainingPipelines")


def test_a_trial_is_suggested_where_the_role_of_a_log_is_chosen(kinds: Stack) -> None:  # P4, W5
    done = kinds.well("submit", "hello", "--as", "hyperparameter-tuning-job", "-p", f"code={SLEEP}", "-o", "json")
    job = done.json["job"]
    kinds.until(lambda: len(kinds.cloud.rest("GET", f"/v1/{job['name']}").get("trials", [])) == 2)
    roles = offered(kinds, "jobs", "logs", job["displayName"], "--role", "")
    assert list(roles) == ["main", "service", "1/main", "1/service", "2/main", "2/service"]
    assert list(offered(kinds, "jobs", "logs", job["displayName"], "--role", "2/m")) == ["2/main"]
    kinds.cloud.cancel(job["name"])


def test_a_failed_study_tells_the_last_lines_of_the_trial_that_failed_first(kinds: Stack) -> None:  # N12
    """All lines bear the tuning job's id; which trial wrote one is said by a label."""
    code = "import os; raise ValueError('trial ' + os.environ['CLOUD_ML_TRIAL_ID'])"
    done = kinds.run("submit", "hello", "--as", "hyperparameter-tuning-job", "-p", f"code={code}", "--wait")
    assert done.code == 4, done.err
    _, found, told = done.err.partition("the last lines of ")
    trial, _, rest = told.partition("/main:\n")
    assert found and trial in ("1", "2") and f"ValueError: trial {trial}\n" in rest
    assert rest.count("ValueError: trial ") == 1


def test_what_a_study_searches_is_not_shown_as_fixed(kinds: Stack) -> None:
    """Its default is sent, and no trial runs with that."""
    trees = {"name": "trees", "type": "int", "default": 5, "min": 1, "max": 9, "choices": [], "help": "of the forest"}
    kinds.catalog["templates"]["hello"]["parameters"].append(trees)
    kinds.publish()
    shown = {}
    for kind in ("hyperparameter-tuning-job", "custom-job"):
        job = kinds.sends("hello", "--as", kind, "-p", "code=1")
        document = kinds.shown(job["name"])
        text = kinds.run("jobs", "show", job["name"]).out
        shown[kind] = (text.partition("parameters ")[2].partition("\n")[0], document["parameters"], document["tuned"])
        kinds.cloud.cancel(job["name"])
    assert shown["hyperparameter-tuning-job"] == ("code=1, trees by trial", {"code": "1"}, ["trees"])
    assert shown["custom-job"] == ("code=1, trees=5", {"code": "1", "trees": 5}, [])


def flexible(stack: Stack) -> None:
    """`hello` by flex-start on an L4 machine, and beside it on demand."""
    stack.beside_pools("hello", "flex-start", "on-demand")
    stack.spec()["workerPoolSpecs"][0]["machineSpec"] = L4
    stack.publish()


QUOTA = {"custom_model_training_preemptible_cpus": 64, "custom_model_training_preemptible_nvidia_l4_gpus": 8}


def test_flex_start_waits_by_itself_and_then_the_next_offer_is_taken(stack: Stack) -> None:  # W1, W2, N3
    flexible(stack)
    with stack.settings(quota=QUOTA), stack.scenario(supply=[NO_L4]):
        stack.well("submit", "hello", "--wait-for", "flex-start=2s", "--then", "on-demand")
    second, first = stack.jobs()
    assert first["jobSpec"]["scheduling"]["maxWaitDuration"] == "2s" and "startTime" not in first
    assert first["state"] in ("JOB_STATE_FAILED", "JOB_STATE_EXPIRED")
    assert second["labels"]["slipway-capacity-type"] == "on-demand"


def test_how_long_the_service_waits_is_what_was_typed_and_zero_is_for_ever(stack: Stack) -> None:  # W2, W3
    flexible(stack)
    words = ("submit", "hello", "--capacity", "flex-start")
    for wait, sent in (("0", "0s"), ("2h", "7200s")):
        planned = stack.run(*words, "--wait-for", f"flex-start={wait}", "--dry-run").json
        assert planned["jobSpec"]["scheduling"]["maxWaitDuration"] == sent
    stack.spec()["scheduling"] = {**SCHEDULING["flex-start"], "timeout": "604801s"}
    stack.publish()
    done = stack.run(*words)
    assert done.code == 5 and "runs at most 7 days" in done.err and stack.jobs() == []


def test_a_job_belongs_to_its_experiment_and_run(stack: Stack) -> None:  # W8
    context = f"projects/{PROJECT}/locations/{REGION}/metadataStores/default/contexts/digits"
    for place in range(2):
        stack.spec(place=place).update(experiment=context, experimentRun=f"{context}-${{slipway.experimentRun}}")
    stack.publish()
    usual = stack.well("submit", "hello", "--dry-run").json
    assert usual["jobSpec"]["experimentRun"] == f"{context}-{usual['displayName']}"
    other = stack.well("submit", "hello", "--experiment", "trees", "--experiment-run", "base", "--dry-run").json
    assert other["jobSpec"]["experiment"].endswith("/contexts/trees")
    assert other["jobSpec"]["experimentRun"].endswith("/contexts/trees-base")

"""One template submitted as each of its kinds, by offers that draw quota, and in an experiment."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from slipway.base.formatting import counted

from .catalogs import L4, NO_L4
from .stack import PROJECT, REGION, Stack
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
    refused = kinds.run(*words[:4], "--dry-run", "--format", "gcloud")
    assert refused.code == 2 and "fix: slipway submit --as custom-job --dry-run, if " in refused.err and not refused.out
    listed = kinds.cloud.rest("GET", f'{HOME}/{collection}?filter=labels.slipway-stack="{kinds.name}"')
    assert len(listed[collection]) == 1
    head, row = kinds.well("jobs", "list").out.splitlines()
    assert re.search(r" KIND +ON ", head) and f"  {kind.replace('-', ' ')}  " in row
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


def test_a_failed_study_tells_the_last_lines_of_the_trial_that_failed_first(kinds: Stack) -> None:  # N12
    """All lines bear the tuning job's id; which trial wrote one is said by a label."""
    code = "import os; raise ValueError('trial ' + os.environ['CLOUD_ML_TRIAL_ID'])"
    done = kinds.run("submit", "hello", "--as", "hyperparameter-tuning-job", "-p", f"code={code}", "--wait")
    assert done.code == 4, done.err
    _, found, told = done.err.partition("the last lines of ")
    trial, _, rest = told.partition("/main:\n")
    assert found and trial in ("1", "2") and f"ValueError: trial {trial}\n" in rest
    assert rest.count("ValueError: trial ") == 1


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


@pytest.fixture
def pipeline(stack: Stack) -> Stack:
    """`hello` as a compiled pipeline on the pool: `prepare`, and after it `train`, which runs the code."""
    as_pipeline(stack.catalog["templates"]["hello"])
    stack.publish()
    return stack


def as_pipeline(template: dict[str, Any]) -> None:
    pool = template["offers"][0]
    spec = pool["request"].pop("jobSpec")
    containers = {"prepare": ["print('prepared')"], "train": ["{{$.inputs.parameters['code']}}"]}
    image = {"image": "python:3.11", "command": ["python", "-uc"]}
    code: dict[str, Any] = {"parameters": {"code": {"parameterType": "STRING"}}}
    cluster = f"{HOME.removeprefix('/v1/')}/persistentResources/{spec['persistentResourceId']}"
    given = {"parameters": {"code": {"componentInputParameter": "code"}}}
    pool["request"] |= {
        "pipelineSpec": {
            "pipelineInfo": {"name": "hello"},
            "schemaVersion": "2.1.0",
            "sdkVersion": "kfp-2.14.6",
            "components": {name: {"executorLabel": name, "inputDefinitions": code} for name in containers},
            "deploymentSpec": {
                "executors": {name: {"container": {**image, "args": args}} for name, args in containers.items()}
            },
            "root": {
                "inputDefinitions": code,
                "dag": {
                    "tasks": {
                        name: {
                            "componentRef": {"name": name},
                            "taskInfo": {"name": name},
                            "dependentTasks": ["prepare"] * (name == "train"),
                            "inputs": given,
                        }
                        for name in containers
                    }
                },
            },
        },
        "runtimeConfig": {
            "gcsOutputDirectory": spec["baseOutputDirectory"]["outputUriPrefix"],
            "parameterValues": {"code": "${code}"},
            "defaultRuntime": {"persistentResourceRuntimeDetail": {"persistentResourceName": cluster}},
        },
        "serviceAccount": spec["serviceAccount"],
    }
    pool["request"]["labels"]["slipway-roles"] = "task"
    pool["kind"] = "pipeline"
    template |= {"kinds": ["pipeline"], "kind": "pipeline", "offers": [pool]}
    template["parameters"] = template["parameters"][:1]


@pytest.fixture
def every_kind(kinds: Stack) -> Stack:
    """`hello` as all kinds, as which `piped` is a pipeline."""
    templates = kinds.catalog["templates"]
    templates["piped"] = deepcopy(templates["hello"])
    as_pipeline(templates["piped"])
    templates["piped"]["offers"][0]["request"]["labels"]["slipway-template"] = "piped"
    kinds.publish()
    return kinds


KINDS = {
    "custom-job": ("hello",),
    "hyperparameter-tuning-job": ("hello", "--as", "hyperparameter-tuning-job"),
    "training-pipeline": ("hello", "--as", "training-pipeline"),
    "pipeline": ("piped",),
}
ELSEWHERE = {"SLIPWAY_JOURNAL": "another-machine"}


def collections(stack: Stack) -> list[str]:
    """The collections of the stack's jobs, without those that the service makes for others."""
    listed = stack.well("jobs", "list", "--output", "json").json["jobs"]
    return [job["name"].split("/")[4] for job in listed]


@pytest.mark.parametrize("first", KINDS)
def test_a_request_of_one_kind_is_not_sent_as_another_from_another_machine(every_kind: Stack, first: str) -> None:  # N7
    """A custom job, and then a pipeline by the same id: both ran, and both commands ended with 0."""
    code = ("-p", "code=import time; time.sleep(600)", "--request-id", "r1")
    every_kind.well("submit", *KINDS[first], *code)
    for kind, words in KINDS.items():
        again = every_kind.run("submit", *words, *code, **ELSEWHERE)
        assert again.code == (0 if kind == first else 2), (kind, again.err)
        assert kind == first or "request id r1 was used before" in again.err
    assert len(collections(every_kind)) == 1
    name = every_kind.well("jobs", "list", "--output", "json").json["jobs"][0]["displayName"]
    every_kind.well("jobs", "cancel", name)


@pytest.mark.parametrize("first", ["custom-job", "pipeline"])
def test_where_no_list_shows_a_job_its_claim_keeps_other_kinds_from_running(every_kind: Stack, first: str) -> None:
    """Or one of the same kind that was deleted."""  # N7
    code = ("-p", "code=print(1)", "--request-id", "r1")
    name = every_kind.well("submit", *KINDS[first], *code, "--output", "json").json["job"]["name"]
    every_kind.until(lambda: "endTime" in every_kind.cloud.rest("GET", f"/v1/{name}"))
    every_kind.cloud.rest("DELETE", f"/v1/{name}")
    for job in every_kind.jobs():
        every_kind.cloud.rest("DELETE", f"/v1/{job['name']}")
    for kind, words in KINDS.items():
        again = every_kind.run("submit", *words, *code, **ELSEWHERE)
        assert again.code == (4 if kind == first else 2), (kind, again.err)
    gone = every_kind.run("submit", *KINDS[first], *code, **ELSEWHERE)
    assert "was submitted before, and its job is gone" in gone.err and "another request id" in gone.err
    assert collections(every_kind) == []


def test_a_pipeline_s_failure_and_use_are_told_by_the_names_of_its_tasks(
    pipeline: Stack, tmp_path: Path
) -> None:  # N12, N28
    measured = tmp_path / "measured"
    waits = f'seen = pathlib.Path("{measured}").exists; [time.sleep(0.05) for _ in iter(seen, True)]'
    code = f'import pathlib, sys, time; {waits}; sys.exit("no digits")'
    with pipeline.settings(monitoring_seconds=0.2):
        job = pipeline.well("submit", "hello", "-p", f"code={code}", "--output", "json").json["job"]["name"]
        pipeline.until(lambda: "train" in {series["role"] for series in pipeline.shown(job)["usage"]["series"]})
        measured.touch()
        done = pipeline.run("jobs", "wait", job)
    assert done.code == 4 and "the last lines of train:\n" in done.err and "  no digits\n" in done.err, done.err
    shown = pipeline.shown(job)
    assert shown["failure"]["role"] == "train"
    listed = pipeline.well("jobs", "list", "--state", "failed").out
    assert "task-0" not in listed and "[train]" in listed, (
        "a list has no tasks, and the service names those that failed"
    )
    roles = {series["role"] for series in shown["usage"]["series"]}
    assert "train" in roles and roles <= {"prepare", "train"}


def test_a_submission_like_a_pipeline_s_is_the_same(pipeline: Stack) -> None:  # N11, N28
    """An apostrophe, which no variable may have, is no trouble: a pipeline is given its parameters without any."""
    job = pipeline.well("submit", "hello", "-p", "code=print('1')", "--output", "json").json["job"]["name"]
    again = pipeline.well("submit", "--like", job, "--dry-run")
    assert "with the same parameters" in again.err and "not as it was" not in again.err, again.err

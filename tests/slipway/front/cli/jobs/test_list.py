"""`slipway jobs list`: whose, of what, and of which team; and pipelines of others, which every verb reads past."""

import json
from typing import Any

import pytest

from slipway.google.failures import Call
from slipway.google.vertex import _read_job
from slipway.model.job_state import SELECTABLE
from slipway.model.kinds import PIPELINE
from slipway.using.context import Context
from slipway.using.jobs.description import describe
from tests.slipway.front.cli.past import Past
from tests.slipway.front.cli.stack import PROJECT, REGION, Stack

pytestmark = pytest.mark.smoke


def test_jobs_are_listed_newest_first_and_a_templates_name_is_its_newest(past: Past) -> None:
    lines = past.stack.well("jobs", "list").out.splitlines()
    assert lines[0].split() == ["JOB", "STATE", "USER", "ON", "CREATED", "WAIT", "RUN", "PARAMETERS"]
    assert [line.split()[:4] for line in lines[1:]] == [
        [past.crew, "succeeded", "ada", "cpu"],
        [past.failed, "failed", "ada", "cpu"],
        [past.fine, "succeeded", "ada", "cpu"],
    ]
    for verb, code in (("show", 0), ("logs", 0), ("wait", 4)):
        newest = past.run("jobs", verb, "hello")
        assert newest.code == code and newest.err.startswith("note: hello is a template")
        assert f" {past.failed} (ada, failed)\n" in newest.err
    cancelled = past.run("jobs", "cancel", "hello")
    assert cancelled.code == 4 and "a template, and no job" in cancelled.err, "one of many is not guessed at"


def test_a_list_can_be_narrowed(past: Past) -> None:
    def names(*words: str) -> list[str]:
        listed = past.stack.well("jobs", "list", "--output", "json", *words).json["jobs"]
        return [job["displayName"] for job in listed]

    assert names() == [past.crew, past.failed, past.fine]
    crew, *_ = past.stack.well("jobs", "list", "-o", "json").json["jobs"]
    assert crew["parameters"]["workers"] == 2 and (crew["state"], crew["rawState"]) == (
        "succeeded",
        "JOB_STATE_SUCCEEDED",
    )
    code = crew["parameters"]["code"]
    assert len(code) > 60 and code in past.stack.well("jobs", "list").out, "nothing is cut in a pipe"
    assert code in past.stack.well("jobs", "show", past.crew).out
    assert names("--state", "failed") == [past.failed]
    assert names("--limit", "1") == [past.crew]
    for state in SELECTABLE:  # Vertex AI rejects a state that a kind of job does not have.
        assert set(names("--state", state)) <= {past.crew, past.failed, past.fine}
    assert names("--user", "somebody") == [] == names("--template", 'x" OR state!="')
    assert names("--user", "Ada", "--template", "hello", "--state", "succeeded") == [past.fine]
    assert {past.fine, past.failed} <= set(names("--all", "--limit", "1000"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--user", "漢字"), "can be found by the user "),
        (("--template", "***"), "can be found by the template "),
        (("--label", 'a" OR state="x'), "no job can have such a label"),
        (("--sweep", 'a"'), "invalid sweep id 'a\"'"),
        (("--limit", "0"), "--limit"),
        (("--watch",), "leave out --watch"),
    ],
)
def test_what_nobody_can_look_for_is_refused(standing: Stack, words: tuple[str, ...], said: str) -> None:
    done = standing.run("jobs", "list", *words)
    assert done.code == 2 and done.out == "" and said in done.err and "--request-id" not in done.err


def test_no_jobs_yet_is_no_error(standing: Stack) -> None:
    done = standing.well("jobs", "list")
    assert done.out == "" and f"no jobs of stack {standing.name} yet" in done.err
    assert standing.run("jobs", "list", "--output", "json").json == {"schema": 2, "kind": "jobs", "jobs": []}
    mistyped = standing.well("jobs", "list", "--template", "helo")
    assert mistyped.out == ""
    assert mistyped.err == "no jobs match\n  the catalog has no template 'helo'; did you mean hello?\n"
    unsent = standing.run("jobs", "show", "crew")
    assert unsent.code == 4 and "no job 'crew'" in unsent.err and "fix: slipway submit crew" in unsent.err


def test_a_team_is_named_told_and_asked_for(stack: Stack) -> None:  # N19
    stack.catalog["submitters"] = {stack.trainer: ["group:language@acme.example", "group:vision@acme.example"]}
    stack.publish()
    sent = [
        stack.sends("hello", *words, **variables)["displayName"]
        for words, variables in ((("--team", "language"), {}), ((), {"SLIPWAY_TEAM": "vision"}), ((), {}))
    ]
    assert [job["labels"].get("slipway-team") for job in reversed(stack.jobs())] == ["language", "vision", None]

    head, *rows = [line.split() for line in stack.well("jobs", "list").out.splitlines()]
    assert head[:4] == ["JOB", "STATE", "USER", "TEAM"]
    assert {row[0]: row[3] for row in rows} == dict(zip(sent, ("language", "vision", "–"), strict=True))
    alone = stack.well("jobs", "list", "--team", "vision").out
    assert "TEAM" not in alone.split("\n")[0] and sent[1] in alone and sent[0] not in alone
    listed = stack.well("jobs", "list", "--team", "language", "--output", "json").json["jobs"]
    assert [(job["displayName"], job["team"]) for job in listed] == [(sent[0], "language")]
    assert "\nteam       language\n" in stack.well("jobs", "show", sent[0]).out and stack.shown(sent[2])["team"] is None
    other = stack.run("submit", "hello", "--team", "judges")
    assert other.code == 2 and "--team language or --team vision" in other.err and len(stack.jobs()) == 3


SCHEMAS = "gs://google-cloud-aiplatform/schema/trainingjob/definition"
TASK: dict[str, Any] = {"image_uri": "python:3.11", "command": ["true"], "args": None, "env": None}
POOL = {"machine_spec": {"machine_type": "n1-standard-4", "accelerator_type": None}, "disk_spec": None}
NULLS = {"worker_pool_specs": [{**POOL, "replica_count": 1, "container_spec": TASK}], "scheduling": None}


@pytest.mark.parametrize(
    "inputs",
    [
        {"targetColumn": "price", "transformations": None},
        {"workerPoolSpecs": "n1-standard-4", "scheduling": "SPOT", "baseOutputDirectory": "gs://b"},
        {"workerPoolSpecs": [{"machineSpec": {"machineType": 4}, "replicaCount": "many"}], "serviceAccount": 7},
        {"workerPoolSpecs": {"0": {}}, "scheduling": {"strategy": {}}, "persistentResourceId": {}},
        [[{"workerPoolSpecs": []}]],
        None,
    ],
)
def test_a_pipeline_of_another_task_can_be_shown_whatever_it_is_given(standing: Stack, inputs: Any) -> None:
    body = {"name": "projects/1/locations/r/trainingPipelines/4", "trainingTaskInputs": inputs}
    context = Context(environ=standing.env(), folder=standing.folder)
    assert json.dumps(describe(_read_job(Call("read it"), PIPELINE, body), context).document, default=str)


def test_every_verb_reads_past_pipelines_that_others_made(stack: Stack) -> None:
    home = f"/v1/projects/{PROJECT}/locations/{REGION}/trainingPipelines"
    task = {"trainingTaskDefinition": f"{SCHEMAS}/custom_task_1.0.0.yaml", "trainingTaskInputs": NULLS}
    name = str(stack.cloud.rest("POST", home, {"displayName": "nulls", **task})["name"])
    stack.until(lambda: "endTime" in stack.cloud.rest("GET", f"/v1/{name}"))
    listed = stack.well("jobs", "list", "--all", "--limit", "1000").out.splitlines()
    assert any("nulls" in line.split() for line in listed)
    for words in (("pools",), ("quota",), ("submit", "hello"), ("jobs", "show", name)):
        stack.well(*words)
    stack.cloud.rest("DELETE", f"/v1/{name}")

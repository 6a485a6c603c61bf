"""A job that belongs to a run of an experiment: the run is there before the job, and ends with it (W8)."""

from typing import Any

import pytest

from .stack import PROJECT, REGION, SLEEP, Stack

STORE = f"projects/{PROJECT}/locations/{REGION}/metadataStores/default"


@pytest.fixture
def digits(stack: Stack) -> Stack:
    """`hello` in an experiment of its own."""
    experiment = f"{STORE}/contexts/digits-{stack.name}"
    run = {"experiment": experiment, "experimentRun": f"{experiment}-${{slipway.experimentRun}}"}
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        offer["request"]["jobSpec"] |= run
    stack.publish()
    return stack


def context(stack: Stack, run: str = "") -> Any:
    return stack.cloud.rest("GET", f"/v1/{STORE}/contexts/digits-{stack.name}{f'-{run}' if run else ''}")


def state(stack: Stack, run: str) -> str:
    return str(context(stack, run)["metadata"]["_state"])


def test_experiment_and_run_are_made_before_the_job_and_the_run_ends_with_it(digits: Stack) -> None:
    job = digits.sends("hello", "--capacity", "pool")
    name = job["displayName"]
    run, experiment = context(digits, name), context(digits)
    assert (run["schemaTitle"], run["displayName"]) == ("system.ExperimentRun", name)
    assert run["parentContexts"] == [experiment["name"]] and experiment["schemaTitle"] == "system.Experiment"
    assert run["metadata"]["_state"] == "RUNNING" and run["metadata"]["_params"] == {}
    assert f"experiment digits-{digits.name}, run {name}\n" in digits.well("jobs", "show", name).out
    assert job["experiment"].endswith(f"/contexts/digits-{digits.name}")
    assert job["experimentRun"] == f"{job['experiment']}-{name}"
    digits.well("jobs", "wait", name)
    ended = context(digits, name)["metadata"]
    assert ended["_state"] == "COMPLETE" and len(ended["_custom_jobs"]) == 1


def test_the_run_ends_as_its_job_and_two_jobs_share_one_when_told_to(digits: Stack) -> None:
    for verb in ("--wait", "--follow"):
        done = digits.run("submit", "hello", "-p", "code=raise SystemExit(1)", "--experiment-run", "mine", verb)
        assert done.code == 4 and state(digits, "mine") == "FAILED"
    assert len(context(digits, "mine")["metadata"]["_custom_jobs"]) == 2
    for own, ends in (("RUNNING", "CANCELLED"), ("FAILED", "FAILED")):  # What its code has ended stays so.
        name = digits.sends("hello", "-p", f"code={SLEEP}")["displayName"]
        run = context(digits, name)
        run["metadata"]["_state"] = own
        digits.cloud.rest("PATCH", f"/v1/{run['name']}?updateMask=metadata", run)
        digits.well("jobs", "cancel", name)
        assert digits.run("jobs", "wait", name).code == 8 and state(digits, name) == ends


def sdk(stack: Stack, **more: Any) -> Any:
    """Google's SDK, on this cloud."""
    from google.cloud import aiplatform

    place = {"project": PROJECT, "location": REGION, "api_endpoint": stack.cloud.url, "api_transport": "rest"}
    aiplatform.init(**place, credentials=stack.cloud.credentials("owner"), **more)
    return aiplatform


def test_an_experiment_is_what_the_sdk_would_have_made_and_it_finds_the_run(digits: Stack) -> None:  # W8
    job = digits.sends("hello", "--wait")
    ours = context(digits)
    board = ours["metadata"]["backing_tensorboard_resource"]
    assert digits.cloud.rest("GET", f"/v1/{board}")["isDefault"]
    name = f"sdk-{digits.name}"
    sdk(digits, experiment=name)
    theirs = digits.cloud.rest("GET", f"/v1/{STORE}/contexts/{name}")
    own = ("name", "displayName", "etag", "createTime", "updateTime")
    assert [{key: item[key] for key in item if key not in own} for item in (ours, theirs)] == [
        {"schemaTitle": "system.Experiment", "schemaVersion": "0.0.1", "metadata": ours["metadata"]}
    ] * 2
    assert ours["metadata"] == {"experiment_deleted": False, "backing_tensorboard_resource": board}
    run = sdk(digits).ExperimentRun(job["displayName"], f"digits-{digits.name}")
    assert (run.get_state(), run.get_params()) == ("COMPLETE", {})


AUTOLOG = """
from google.cloud import aiplatform
aiplatform.autolog()
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
LogisticRegression(C=0.5, max_iter=500).fit(*load_iris(return_X_y=True))
"""


@pytest.mark.long
@pytest.mark.journey
def test_what_a_template_trains_comes_to_its_run_by_itself(digits: Stack) -> None:  # W8
    image = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-5:latest"
    for offer in digits.catalog["templates"]["hello"]["offers"]:
        offer["request"]["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["imageUri"] = image
    digits.publish()
    digits.grant("roles/aiplatform.user", who=f"serviceAccount:{digits.trainer}")
    done = digits.well("submit", "hello", "-p", f"code={AUTOLOG}", "--wait", "--output", "json")
    logged = context(digits, done.json["job"]["displayName"])["metadata"]
    assert (logged["_params"]["C"], logged["_state"]) == ("0.5", "COMPLETE")
    assert logged["_metrics"]["training_accuracy_score"] > 0.9


def test_the_runs_of_a_tensorboards_logs_end_with_the_job(stack: Stack) -> None:  # W8
    home = f"projects/{PROJECT}/locations/{REGION}"
    made = stack.cloud.rest("POST", f"/v1/{home}/tensorboards", {"displayName": "board"})
    board = made["response"]["name"] if "response" in made else made["name"].partition("/operations/")[0]
    stack.spec()["tensorboard"] = board
    stack.publish()
    job = stack.sends("hello", "-p", f"code={SLEEP}")
    events = (8).to_bytes(8, "little")
    stack.write(f"jobs/{job['displayName']}/logs/events.out.tfevents.1", events)
    stack.cloud.rest("GET", f"/v1/{board}")
    run = f"{home}/metadataStores/default/contexts/{job['id']}-default"
    assert stack.cloud.rest("GET", f"/v1/{run}")["metadata"]["_state"] == "RUNNING"
    stack.well("jobs", "cancel", job["displayName"])
    assert stack.run("jobs", "wait", job["displayName"]).code == 8
    assert stack.cloud.rest("GET", f"/v1/{run}")["metadata"]["_state"] == "CANCELLED"


def test_each_run_of_a_sweep_has_its_own(digits: Stack) -> None:  # N7
    (digits.folder / "grid.yaml").write_text("grid: {code: [print(1), print(2)]}")
    digits.well("submit", "hello", "--sweep", "grid.yaml")
    assert [state(digits, job["displayName"]) for job in digits.jobs()] == ["RUNNING", "RUNNING"]


def test_who_may_not_write_is_told_that_the_run_keeps_its_state(digits: Stack) -> None:  # P5
    name = digits.sends("hello")["displayName"]
    digits.grant("roles/aiplatform.viewer")
    with digits.without("roles/aiplatform.user"):
        done = digits.run("jobs", "wait", name)
    digits.grant("roles/aiplatform.viewer", False)
    assert done.code == 0 and state(digits, name) == "RUNNING"
    assert f"run digits-{digits.name}-{name} keeps its state" in done.err
    assert "(ask for roles/aiplatform.user on project " in done.err


def test_a_job_belongs_to_the_experiment_and_run_that_are_named(digits: Stack) -> None:  # W8
    other = digits.well("submit", "hello", "--experiment", "trees", "--experiment-run", "base", "--dry-run").json
    assert other["jobSpec"]["experiment"].endswith("/contexts/trees")
    assert other["jobSpec"]["experimentRun"].endswith("/contexts/trees-base")


def test_an_experiment_that_can_not_be_made_sends_nothing(digits: Stack) -> None:
    with digits.faults({"kind": "unavailable", "match": "contexts", "times": 20}):
        done = digits.run("submit", "hello", "--request-id", "again", SLIPWAY_LOOK_FOR="1s")
    assert done.code == 4 and "could not create digits-" in done.err and digits.jobs() == []
    assert digits.run("submit", "hello", "--request-id", "again").code == 0 and len(digits.jobs()) == 1

"""`submit --like JOB`: the same again, and before it is sent what can't be the same any more. # N19"""

import json
from copy import deepcopy
from typing import Any

import pytest

from .stack import JOBS, SPOT_CPUS, Stack
from .test_code import checked_out, opened
from .test_code import open_to_code as _open_to_code

open_to_code = _open_to_code
OLD, CPU = "hello-0a1b2c3d4e5f.tar.gz", "n1-standard-4"


def sent(stack: Stack, name: str) -> dict[str, Any]:
    (found,) = [job for job in stack.jobs() if job["displayName"] == name]
    return found


def replicas(job: dict[str, Any]) -> list[str]:
    return [pool["replicaCount"] for pool in job["jobSpec"]["workerPoolSpecs"]]


def with_package(stack: Stack, name: str) -> None:
    """The reviewed code of `hello` as a deployment publishes it."""
    stack.put(f"packages/{name}", b"")
    stack.catalog["templates"]["hello"]["package"] = f"gs://c-{stack.name}/packages/{name}"
    stack.publish()


def packages(job: dict[str, Any]) -> list[str]:
    return [uri for pool in job["jobSpec"]["workerPoolSpecs"] for uri in pool["pythonPackageSpec"]["packageUris"]]


def test_a_colleagues_job_is_submitted_again_with_its_parameters_and_others_on_top(stack: Stack) -> None:
    theirs = stack.sends("crew", "-p", "code=print('theirs')", "-p", "workers=2", SLIPWAY_USER="Bob")["displayName"]
    done = stack.well("submit", "--like", theirs, "-p", "workers=1", "--output", "json")
    assert done.err.startswith(f"like {theirs} (bob): crew") and "workers=1 (was 2)\n" in done.err
    assert "not as it was" not in done.err
    mine = sent(stack, done.json["job"]["displayName"])
    assert done.json["job"]["user"] == "ada" and replicas(mine) == ["1", "1"]
    assert mine["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"] == ["print('theirs')"]
    assert done.json["job"]["output"].endswith(mine["displayName"])


def test_it_runs_the_code_that_it_had_where_the_template_has_newer(open_to_code: Stack) -> None:
    stack = open_to_code
    with_package(stack, OLD)
    first = stack.sends("hello", "-p", "code=x")["displayName"]
    same = stack.run("submit", "--like", first, "--dry-run", "--output", "json")
    assert "its code" not in same.err and "slipway-code" not in same.json["request"]["labels"], "it is the template's"
    with_package(stack, "hello-ffffffffffff.tar.gz")
    stack.deploy("9d8e7f6", dirty=False)
    done = stack.well("submit", "--like", first, "--output", "json")
    job = sent(stack, done.json["job"]["displayName"])
    old = f"gs://c-{stack.name}/packages/{OLD}"
    assert packages(job) == [old]
    assert (job["labels"]["slipway-commit"], job["labels"]["slipway-code-commit"]) == ("9d8e7f6", "3f9c2e1")
    once_more = stack.run("submit", "--like", job["displayName"], "--dry-run", "--output", "json").json["request"]
    assert packages(once_more) == [old] and once_more["labels"]["slipway-code-commit"] == "3f9c2e1"

    stack.cloud.call("DELETE", f"/storage/v1/b/c-{stack.name}/o/packages%2F{OLD}").raise_for_status()
    gone = stack.run("submit", "--like", first)
    assert gone.code == 4 and f"the code of {first} is gone" in gone.err and len(stack.jobs()) == 2
    assert "slipway submit hello" in gone.err.partition("fix: ")[2]


def test_what_cant_be_the_same_any_more_is_said_before_it_is_sent(stack: Stack) -> None:
    first = stack.sends("crew", "-p", "workers=2", "-p", "code=print(5)")["displayName"]
    crew = stack.catalog["templates"]["crew"]
    crew["parameters"] = [parameter for parameter in crew["parameters"] if parameter["name"] != "workers"]
    crew["parameters"].append({"name": "depth", "type": "int", "default": 3, "help": "layers"})
    for offer in crew["offers"]:
        offer["replicas"], specs = [1, 1], offer["request"]["jobSpec"]["workerPoolSpecs"]
        specs[1]["replicaCount"] = 1
        for spec in specs:
            spec["containerSpec"]["imageUri"] = "python:3.12"
    stack.publish()
    done = stack.well("submit", "--like", first, "--dry-run")
    assert len(stack.jobs()) == 1
    assert [line for line in done.err.splitlines() if "not as it was" in line] == [
        "  not as it was: crew has no more workers=2 then",
        f"  not as it was: machines: {CPU} × 1, {CPU} × 2 then, {CPU} × 1, {CPU} × 1 now",
        "  not as it was: image: python:3.11 then, python:3.12 now",
    ]


def test_the_capacity_type_that_it_had_comes_first_unless_another_is_named(stack: Stack) -> None:
    with stack.settings(quota=SPOT_CPUS):
        spot = stack.sends("hello", "--capacity", "spot")["displayName"]
        words = ("submit", "--like", spot, "--dry-run", "--output", "json")

        def capacity_type(*more: str) -> str:
            return str(stack.run(*words, *more).json["request"]["labels"]["slipway-capacity-type"])

        assert (capacity_type(), capacity_type("--capacity", "pool")) == ("spot", "pool")
        for template in stack.catalog["templates"].values():
            template["offers"] = template["offers"][:1]
        stack.publish()
        assert capacity_type() == "pool"
        assert "capacity type: spot then, pool now" in stack.run(*words).err
        offer = stack.catalog["templates"]["hello"]["offers"][0]
        offer["request"]["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] = {"machineType": "n1-standard-8"}
        stack.publish()
        assert [line for line in stack.run(*words).err.splitlines() if "not as it was" in line] == [
            "  not as it was: capacity type: spot then, pool now",
            f"  not as it was: machines: {CPU} × 1 then, n1-standard-8 × 1 now",
        ]


@pytest.mark.journey
def test_code_of_ones_own_is_taken_over_while_the_stack_allows_it(moved: Stack) -> None:
    stack = opened(moved)
    checked_out(stack)
    first = stack.sends("hello", "--code", "src")["displayName"]
    done = stack.well("submit", "--like", first, "--output", "json", SLIPWAY_USER="Bob")
    mine, theirs = (sent(stack, name) for name in (first, done.json["job"]["displayName"]))
    assert packages(mine) == packages(theirs)
    for label in ("slipway-code", "slipway-code-commit", "slipway-dirty"):
        assert mine["labels"][label] == theirs["labels"][label]
    (uri,) = packages(mine)
    at = uri.removeprefix(f"gs://w-{stack.name}/")
    stack.cloud.rest("POST", "/vertex-local/clock", {"advance": 60})
    stack.write(at, b"something else")
    replaced = stack.run("submit", "--like", first)
    assert replaced.code == 5 and "is not what it had" in replaced.err and len(stack.jobs()) == 2
    stack.catalog["templates"]["hello"]["codeFlag"] = False
    stack.publish()
    refused = stack.run("submit", "--like", first)
    assert refused.code == 5 and len(stack.jobs()) == 2


def test_code_that_nobody_here_has_published_is_refused(open_to_code: Stack) -> None:
    stack = open_to_code
    with_package(stack, OLD)
    body = stack.run("submit", "hello", "--dry-run", "--output", "json").json["request"]
    spec = body["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
    spec["packageUris"] = [f"gs://c-{stack.name}-evil/packages/{OLD}"]
    stack.cloud.rest("POST", JOBS, body)
    refused = stack.run("submit", "--like", body["displayName"])
    assert refused.code == 5 and "was put there by no deployment" in refused.err and len(stack.jobs()) == 1


def test_a_job_of_something_else_or_that_records_no_parameters_is_no_model(stack: Stack) -> None:
    body = stack.well("submit", "hello", "--dry-run").json
    nameless, of_no_stack, of_no_template = (deepcopy(body) for _ in range(3))
    del nameless["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"]
    del of_no_stack["labels"]["slipway-stack"], of_no_template["labels"]["slipway-template"]
    for stranger, why in (
        (nameless, "record its parameters"),
        (of_no_stack, "is a job of no stack"),
        (of_no_template, "it was submitted from no template"),
    ):
        made = stack.cloud.rest("POST", JOBS, stranger)
        refused = stack.run("submit", "--like", made["name"])
        assert refused.code == 2 and why in refused.err
        stack.cloud.cancel(made["name"])


def test_a_template_beside_it_is_one_too_many_and_none_of_both_too_few(standing: Stack) -> None:
    for words in (("submit", "hello", "--like", "hello"), ("submit",)):
        assert standing.run(*words).code == 2


def test_a_sweep_like_a_job_has_its_parameters_but_for_those_of_the_points(stack: Stack) -> None:  # N7
    first = stack.sends("crew", "-p", "code=print(9)", "-p", "workers=2")["displayName"]
    (stack.folder / "s.json").write_text(json.dumps({"list": [{"workers": 1}, {"code": "print(10)"}]}))
    words = ("submit", "--like", first, "--sweep", "s.json", "--output", "json")
    done = stack.well(*words)
    runs = {job["labels"]["slipway-run"]: job for job in stack.jobs() if "slipway-run" in job["labels"]}
    codes = {run: job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["args"] for run, job in runs.items()}
    assert codes == {"0": ["print(9)"], "1": ["print(10)"]}
    assert replicas(runs["0"]) == ["1", "1"] and replicas(runs["1"]) == ["1", "2"], (
        "of what a point leaves open, the job's"
    )
    again = stack.run(*words)
    assert again.json["sweep"] == done.json["sweep"] and again.json["accepted"] == []

"""A stack whose cluster is an alternative in another region: jobs go there, and every verb finds them; and one that
has left a region. # N2"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipway.using.submission.request import attempt_id
from tests.local.conftest import LocalCloud

from . import test_sweep as _sweep
from .conftest import in_use
from .stack import PROJECT, REGION, SLEEP, SPOT_CPUS, Stack, held
from .test_fallback import FETCHING, MOVE, gone, packaged, sent
from .test_submission_run import lagging, lost
from .test_sweep import every_job, points
from .test_sweep_gone import delete

AWAY = "europe-west4"


@pytest.fixture
def away(cloud: LocalCloud, tmp_path: Path) -> Iterator[Stack]:
    yield from in_use(cloud, tmp_path, cluster_region=AWAY, most=1)


def test_a_job_is_sent_to_its_clusters_region_and_every_verb_finds_it(away: Stack) -> None:
    planned = away.run("submit", "hello", "--dry-run", "--output", "json")
    assert planned.json["region"] == AWAY and f"pool cpu in {AWAY}: starts now" in planned.err
    crossing = f"what it reads from {REGION} crosses regions, at $0.05 a GiB"
    assert f"  {crossing}" in planned.err
    shown = away.run("templates", "show", "hello").out
    assert f"pool cpu in {AWAY}" in shown and f"pool cpu: {crossing}" in shown

    done = away.well("submit", "hello", "-p", f"code={SLEEP}", "--output", "json")
    assert f"→  pool cpu/workers in {AWAY}  " in done.err and f"\n  {crossing}\n" in done.err
    job = done.json["job"]
    (there,) = away.jobs()
    output = there["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"]
    assert output == f"gs://w-{away.name}-{AWAY}/jobs/{job['displayName']}", "Vertex AI takes none in another region"
    assert job["region"] == AWAY and f"/locations/{AWAY}/" in job["name"] and job["cluster"] == "cpu"
    named = [away.run("jobs", "show", word) for word in (job["displayName"], job["id"], job["name"])]
    assert [shown.code for shown in named] == [0, 0, 0]
    assert f"on         cpu ({away.cluster}) in {AWAY}\n" in named[0].out and crossing in named[0].out
    assert f"cpu in {AWAY}" in away.run("jobs", "list").out
    away.well("jobs", "cancel", job["displayName"])
    assert away.run("jobs", "wait", job["displayName"]).code == 8


def test_what_was_sent_to_a_region_that_the_stack_has_left_is_found_and_not_sent_again(away: Stack) -> None:  # N2 N7
    """A job that came to a cluster there while its deletion was waited for, and all that ended."""
    sent = away.well("submit", "hello", "-p", f"code={SLEEP}", "--request-id", "r1", "--output", "json")
    job = sent.json["job"]
    away.folder = away.folder / "another"
    (away.folder / ".git").mkdir(parents=True)
    away.catalog |= {"otherRegions": None, "formerRegions": [AWAY]}
    del away.catalog["clusters"]["cpu"]["region"]
    away.publish()
    again = away.well("submit", "hello", "-p", f"code={SLEEP}", "--request-id", "r1", "--output", "json")
    assert again.json["fresh"] is False and again.json["job"]["name"] == job["name"]
    assert job["displayName"] in away.run("jobs", "list").out
    away.well("jobs", "show", job["displayName"])
    assert AWAY in away.run("pools").out  # where its machines are billed
    away.well("jobs", "cancel", job["name"])
    assert away.run("jobs", "wait", job["displayName"]).code == 8


def test_a_sweep_is_sent_there(away: Stack) -> None:  # N7
    (away.folder / "s.csv").write_text("code\nprint(1)\nprint(2)\n")
    planned = json.loads(away.run("submit", "hello", "--sweep", "s.csv", "--dry-run").out)
    assert planned["regions"] == [AWAY, AWAY]
    with away.faults(lost()):
        done = away.well("submit", "hello", "--sweep", "s.csv", "--wait", "--output", "json")
    assert f"what it reads from {REGION} crosses regions" in done.err
    assert len(away.jobs()) == 2 and all(f"/{AWAY}/" in job["name"] for job in away.jobs())
    assert away.run("jobs", "cancel", "--sweep", done.json["sweep"]).code == 4, "both are found, and have ended"


DOWN = {"kind": "unavailable", "match": f"/locations/{AWAY}/"}
TOLD = f"! not looked at {AWAY}, where stack"


@pytest.fixture
def left(small: Stack) -> Stack:
    """A stack that has left a region which does not answer any more: what is at home is sent, found and cancelled."""
    small.catalog["formerRegions"] = [AWAY]
    small.publish()
    return small


def test_a_sweep_is_sent_and_awaited(left: Stack) -> None:  # N7
    held(left)
    packaged(left)
    words = ("submit", "hello", "--sweep", points(left, 3))
    with left.faults(DOWN, lost()):
        sent = left.well(*words)
        assert sent.err.count(TOLD) == 1 and len(every_job(left)) == 3
        waiting = left.run(*words, "--wait", "--timeout", "1s")
    assert waiting.code == 9 and len(every_job(left)) == 3, waiting.err


def test_a_sweep_of_images_is_not_sent_as_nothing_would_keep_a_second_job_from_running(left: Stack) -> None:  # N7
    with left.faults(DOWN):
        refused = left.run("submit", "hello", "--sweep", points(left, 3))
    assert refused.code == 4 and AWAY in refused.err and every_job(left) == []


def test_a_sweep_is_cancelled_and_what_was_not_looked_at_is_said(left: Stack) -> None:
    held(left)
    sent = left.run("submit", "hello", "--sweep", points(left, 2), "--output", "json")
    cancel = ("jobs", "cancel", "--sweep", sent.json["sweep"])
    with left.faults(DOWN):
        done = left.run(*cancel)
        again = left.run(*cancel)
    for cancelled in (done, again):
        assert cancelled.code == 4 and f"sweep {sent.json['sweep']} may go on where" in cancelled.err
        assert f"slipway jobs cancel --sweep {sent.json['sweep']}" in cancelled.err
    assert re.fullmatch(r"cancelling 2 of 2 jobs of sweep \S+\n", done.out) and not again.out
    assert {job["state"] for job in every_job(left)} <= {"JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED"}


# The work bucket is another one by the time that something is sent again: its claim is where the first request has it.


_token = _sweep._token
SOON = {"SLIPWAY_LOOK_FOR": "1s"}


@pytest.fixture
def launched(small: Stack) -> Iterator[Stack]:
    """The pool is full; its jobs have a launcher, and stay while they fetch their package."""
    held(small)
    packaged(small)
    with small.settings(quota=SPOT_CPUS):
        yield small


def move(stack: Stack) -> None:
    """Publish the catalog with another work bucket, as an `up` does after an edit."""
    stack.cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": f"w2-{stack.name}", "location": REGION})
    roles = stack.cloud.rest("GET", f"/storage/v1/b/w-{stack.name}/iam")["bindings"]
    policy = stack.cloud.rest("GET", f"/storage/v1/b/w2-{stack.name}/iam")
    stack.cloud.rest("PUT", f"/storage/v1/b/w2-{stack.name}/iam", {**policy, "bindings": roles})
    stack.catalog["storage"]["work"] = f"w2-{stack.name}"
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        package = offer["request"]["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
        package["args"] = [
            argument.replace(f"gs://w-{stack.name}/", f"gs://w2-{stack.name}/") for argument in package["args"]
        ]
    stack.publish()


def claims(jobs: list[dict[str, Any]]) -> list[str]:
    return [job["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"][1] for job in jobs]


def test_a_request_whose_answer_was_lost_keeps_its_claim(launched: Stack) -> None:
    """The second job had its claim in the new bucket, and both ran."""
    words = ("submit", "hello", "--request-id", "r1")
    with launched.faults(lost(), lagging(3600), FETCHING):
        assert launched.run(*words, **SOON).code == 75
        move(launched)
        launched.well(*words, **SOON)
    assert claims(launched.jobs()[:2]) == [f"gs://w-{launched.name}/claims/r1"] * 2
    output = launched.jobs()[0]["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"]
    assert output.startswith(f"gs://w2-{launched.name}/jobs/"), "only the claim stays"


def test_a_job_that_waits_is_given_up_by_the_claim_that_it_has(launched: Stack, tmp_path: Any) -> None:
    """The claim was taken in the new bucket: the job on the pool ran as well, once it got its machine."""
    waiting = ("submit", "hello", "--wait-for", "pool=1h", "--then", "spot", "--request-id", "r1")
    with launched.faults(FETCHING):
        with launched.started(*waiting) as submitting:
            launched.until(lambda: len(sent(launched, "r1")) == 1)
            submitting.kill()
        move(launched)
        launched.folder = tmp_path / "another machine"
        (launched.folder / ".git").mkdir(parents=True)
        launched.well("submit", "hello", *MOVE, "--request-id", "r1")
        first, second = sent(launched, "r1")
    assert launched.read("claims/r1") == b"moved" and gone(first)
    assert claims([second]) == [f"gs://w2-{launched.name}/claims/{attempt_id('r1', 1)}"], "it was never sent before"


def test_the_runs_of_a_sweep_keep_their_claims(launched: Stack) -> None:
    words = ("submit", "hello", "--sweep", points(launched, 3))
    with launched.faults(lost(times=3), lagging(3600)):
        with launched.started(*words, SLIPWAY_LOOK_FOR="1h") as sending:
            launched.until(lambda: launched.cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"] == 0)
            sending.kill()
        move(launched)
        launched.well(*words, **SOON)
    jobs = every_job(launched)
    sent_twice = [f"gs://w-{launched.name}/claims/{job['labels']['slipway-request']}" for job in jobs]
    assert claims(jobs) == sent_twice and len(jobs) == 6


def test_a_run_that_has_begun_and_was_deleted_is_not_sent_again(launched: Stack) -> None:
    words = ("submit", "hello", "--sweep", points(launched, 3))
    launched.well(*words)
    delete(launched, "1")
    move(launched)
    again = launched.run(*words, "--output", "json")
    assert again.code == 4 and (again.json["gone"], again.json["accepted"]) == ([1], [])
    retried = launched.run(*words, "--retry-failed", "--output", "json")
    assert [(run["run"], run["attempt"]) for run in retried.json["accepted"]] == [(1, 1)]
    (job,) = [job for job in every_job(launched) if job["labels"]["slipway-run"] == "1-1"]
    assert claims([job])[0].startswith(f"gs://w2-{launched.name}/claims/"), "that one was never sent before"

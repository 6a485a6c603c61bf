"""A stack whose cluster is an alternative in another region: jobs go there, and every verb finds them. # N2"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.conftest import LocalCloud

from .conftest import in_use
from .stack import PROJECT, REGION, SLEEP, SPOT_CPUS, Stack, held
from .test_fallback import FETCHING, MOVE, gone, packaged, sent
from .test_submission_run import lost

AWAY = "europe-west4"
WAIT = ("--wait-for", "pool=1h", "--then", "spot")


@pytest.fixture
def away(cloud: LocalCloud, tmp_path: Path) -> Iterator[Stack]:
    yield from in_use(cloud, tmp_path, cluster_region=AWAY, most=1)


def test_a_job_is_sent_to_its_clusters_region_and_every_verb_finds_it(away: Stack) -> None:
    for offer in away.catalog["templates"]["hello"]["offers"]:
        store = f"projects/{PROJECT}/locations/{AWAY}/metadataStores/default/contexts/digits-{away.name}"
        run = {"experiment": store, "experimentRun": f"{store}-${{slipway.experimentRun}}"}
        offer["request"]["jobSpec"] |= run if offer["capacityType"] == "pool" else {}
    away.publish()
    planned = away.run("submit", "hello", "--dry-run", "--output", "json")
    assert planned.json["region"] == AWAY and f"pool cpu in {AWAY}: starts now" in planned.err
    as_file = away.run("submit", "hello", "--dry-run", "--format", "gcloud")
    assert f"--region={AWAY}" in as_file.out and REGION not in as_file.out
    crossing = f"what it reads from {REGION} crosses regions, at a price by the gigabyte"
    assert f"  {crossing}" in planned.err
    shown = away.run("templates", "show", "hello").out
    assert f"pool cpu in {AWAY}" in shown and f"pool cpu: {crossing}" in shown

    done = away.well("submit", "hello", "-p", f"code={SLEEP}", "--request-id", "r1", "--output", "json")
    assert f"→  pool cpu/workers in {AWAY}  " in done.err and f"\n  {crossing}\n" in done.err
    job = done.json["job"]
    (there,) = away.jobs()
    output = there["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"]
    assert output == f"gs://w-{away.name}-{AWAY}/jobs/{job['displayName']}", "Vertex AI takes none in another region"
    assert job["region"] == AWAY and f"/locations/{AWAY}/" in job["name"] and job["cluster"] == "cpu"
    named = [away.run("jobs", "show", word) for word in (job["displayName"], job["id"], job["name"])]
    assert [one.code for one in named] == [0, 0, 0]
    assert f"on         cpu ({away.cluster}) in {AWAY}\n" in named[0].out and crossing in named[0].out
    assert f"cpu in {AWAY}" in away.run("jobs", "list").out
    run = away.cloud.rest("GET", f"/v1/{store}-{job['displayName']}")
    assert run["metadata"]["_state"] == "RUNNING"
    away.well("jobs", "cancel", job["displayName"])
    assert away.run("jobs", "wait", job["displayName"]).code == 8
    assert away.cloud.rest("GET", f"/v1/{store}-{job['displayName']}")["metadata"]["_state"] == "CANCELLED"


@pytest.mark.parametrize("launcher", [True, False], ids=["package", "image"])
def test_one_that_was_given_up_there_is_given_up_wherever_it_is_sent_from(
    away: Stack, tmp_path: Path, launcher: bool
) -> None:  # N3 N7
    """Claims, and the marks of images, are at home: where the journal and the first request have them."""
    held(away)
    if launcher:
        packaged(away)
    with away.settings(quota=SPOT_CPUS), away.faults(FETCHING):
        with away.started("submit", "hello", *WAIT, "--request-id", "r1") as submitting:
            away.until(lambda: len(sent(away, "r1")) == 1)
            submitting.kill()
        for folder in (away.folder, tmp_path / "another machine"):
            away.folder = folder
            (folder / ".git").mkdir(parents=True, exist_ok=True)
            away.well("submit", "hello", *MOVE, "--request-id", "r1")
            first, second = sent(away, "r1")
            assert away.read("claims/r1") == b"moved" and gone(first)
        homes = [one["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"].split("/")[2] for one in (first, second)]
        assert homes == [f"w-{away.name}-{AWAY}", f"w-{away.name}"]
        assert f"/{AWAY}/" in first["name"] and f"/{REGION}/" in second["name"]
        assert f"fell back  to {second['displayName']} (spot)" in away.run("jobs", "show", first["displayName"]).out


def test_a_request_is_found_again_in_whatever_region_its_job_is(away: Stack, tmp_path: Path) -> None:  # N7
    with away.faults(lost()):
        first = away.well("submit", "hello", "--request-id", "r1", "--output", "json")
    assert len(away.jobs()) == 1 and first.json["job"]["region"] == AWAY
    away.folder = tmp_path / "another"
    (away.folder / ".git").mkdir(parents=True)
    away.catalog["templates"]["hello"]["offers"].reverse()  # A later catalog prefers machines in the stack's region.
    away.publish()
    with away.settings(quota=SPOT_CPUS):
        again = away.well("submit", "hello", "--request-id", "r1", "--output", "json")
    assert again.json["fresh"] is False and again.json["job"]["name"] == first.json["job"]["name"]
    assert len(away.jobs()) == 1


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


def test_pools_say_where_and_a_job_that_waits_for_one_there_says_so(away: Stack) -> None:  # N9
    head, row = away.well("pools").out.splitlines()[:2]
    assert head.split()[:4] == ["CLUSTER", "POOL", "REGION", "STATE"] and row.split()[2:4] == [AWAY, "RUNNING"]
    listed = away.run("pools", "--output", "json").json["pools"]
    assert [(one["cluster"], one["region"]) for one in listed] == [("cpu", AWAY)]
    holder = held(away)
    done = away.well("submit", "hello", "--output", "json")
    assert done.json["verdict"]["outcome"] == "pool-full" and holder in done.json["verdict"]["text"]
    shown = away.shown(done.json["job"]["displayName"])
    assert "cpu/workers has 1 of 1" in shown["waitsFor"] and holder in shown["waitsFor"]


def test_a_sweep_is_sent_there(away: Stack) -> None:  # N7
    (away.folder / "s.csv").write_text("code\nprint(1)\nprint(2)\n")
    planned = json.loads(away.run("submit", "hello", "--sweep", "s.csv", "--dry-run").out)
    assert planned["regions"] == [AWAY, AWAY]
    with away.faults(lost()):
        done = away.well("submit", "hello", "--sweep", "s.csv", "--wait", "--output", "json")
    assert f"what it reads from {REGION} crosses regions" in done.err
    assert len(away.jobs()) == 2 and all(f"/{AWAY}/" in job["name"] for job in away.jobs())
    assert away.run("jobs", "cancel", "--sweep", done.json["sweep"]).code == 4, "both are found, and have ended"

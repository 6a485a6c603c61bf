"""The short journeys of a cluster with a running job, which `make test` plays. (N1; all turns: test_generations.py)"""

import shutil
from pathlib import Path
from typing import Any

import pytest

from slipway.deploying.engine.events import STREAMING
from tests.checkouts.checkout import MACHINE, Checkout
from tests.checkouts.shell import wait_for

pytestmark = [pytest.mark.journey, pytest.mark.smoke, pytest.mark.deployed]

MORE = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}


@pytest.fixture
def job(checkout: Checkout) -> Any:
    submitted = checkout.submit("-p", "seconds=600")
    wait_for(lambda: checkout.job_state(submitted["name"]) == "JOB_STATE_RUNNING", "the job runs")
    return submitted


def test_an_edit_creates_a_second_cluster_and_the_first_one_is_deleted_after_its_last_job(
    checkout: Checkout, job: Any
) -> None:
    (old,) = checkout.clusters()
    checkout.write(persistentResources={"cpu": MORE})
    checkout.up()
    outputs = checkout.outputs()
    assert outputs["retiring"] == [old] and outputs["clusters"]["cpu"] != old
    assert set(checkout.clusters()) == {old, outputs["clusters"]["cpu"]}
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    checkout.slipway("jobs", "cancel", job["displayName"])
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job is cancelled")
    done = checkout.pulumi("up", SLIPWAY_GRACE="1s")
    assert done.code == 0, done.said
    assert set(checkout.clusters()) == {outputs["clusters"]["cpu"]}


def test_the_review_comment_names_the_job_and_both_clusters(checkout: Checkout, job: Any, tmp_path: Path) -> None:
    shutil.copytree(checkout.folder, tmp_path / "base")
    checkout.write(persistentResources={"cpu": MORE})
    events = tmp_path / "events.jsonl"
    events.write_text(checkout.pulumi("preview", "--json", role="previewer", **STREAMING).out)
    done = checkout.slipway("review", str(events), "--base", str(tmp_path / "base"), "--output", "markdown")
    assert done.code == 0, done.said
    row = "| ⚠ | cluster `cpu` | replace (create before delete): `pools.all.replicas.max` 2 → 3; "
    billed = f"billed twice until the end of job `{job['displayName']}` (submitter)"
    assert row in done.out and billed in done.out, done.out
    assert "Incomplete" not in done.out, done.out


def test_an_in_place_replacement_is_rejected(checkout: Checkout, job: Any) -> None:
    clusters = checkout.clusters()
    checkout.write(persistentResources={"cpu": {**MORE, "replacement": "in-place"}})
    (old,) = clusters
    done = checkout.pulumi("up")
    assert done.code != 0, done.said
    assert f"cluster {old} is not replaced in place now, so nothing was changed" in done.said, done.said
    assert f"{job['displayName']} has not ended" in done.said and "rollover" in done.said, done.said
    assert checkout.clusters() == clusters
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"


def test_a_destruction_is_rejected(checkout: Checkout, job: Any) -> None:
    (old,) = clusters = checkout.clusters()
    resources = {resource["urn"] for resource in checkout.resources()}
    done = checkout.destroy()
    assert done.code != 0
    assert f"{job['displayName']} on {old}" in done.said, done.said
    assert f"slipway jobs cancel {job['displayName']}" in done.said, done.said
    assert checkout.clusters() == clusters
    assert {resource["urn"] for resource in checkout.resources()} == resources
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"

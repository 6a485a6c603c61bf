"""No edit kills a job and no edit is stuck, with the real engine, a provider plugin and real jobs. # N1 # B3"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.checkouts.checkout import MACHINE, VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
Settings = Callable[..., None]

A = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}}
A_OTHERWISE = {
    "cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2, "initial": 2}}}, "retireWithin": "7d"}
}
B = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}
C = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 4}}}, "replacement": "in-place"}}
UNLISTED = "machines are in use by a job that the lists do not show yet"


def up(checkout: Checkout, clusters: Any, **extra: str) -> str:
    checkout.write(persistentResources=clusters, templates=["nap"] if clusters else [])
    done = checkout.pulumi("up", **extra)
    assert done.code == 0, done.said
    return done.said


def foretold(checkout: Checkout, clusters: Any) -> str:
    """Return what a preview says of an edit: its cards, which an `up` leaves out."""
    checkout.write(persistentResources=clusters)
    return checkout.pulumi("preview").said


@dataclass(frozen=True)
class Busy:
    """A deployed stack with a job on its first cluster, `old`."""

    checkout: Checkout
    job: Any
    old: str

    @property
    def current(self) -> str:
        return str(self.checkout.outputs()["clusters"]["cpu"])

    @property
    def retiring(self) -> Any:
        return self.checkout.outputs()["retiring"]

    def goes_on(self) -> None:
        """The job runs, and people find the catalog."""
        assert self.checkout.job_state(self.job["name"]) == "JOB_STATE_RUNNING"
        assert self.checkout.slipway("templates").code == 0, "the catalog is still there"

    def refused(self, done: Done, *words: str) -> None:
        assert done.code != 0
        for text in words:
            assert text in done.said
        self.goes_on()


@pytest.mark.deployed
def test_a_running_job_outlives_edits_destructions_and_a_lost_state(checkout: Checkout, faults: Faults) -> None:
    job = checkout.running_job()
    busy = Busy(checkout, job, checkout.outputs()["clusters"]["cpu"])

    edited_while_the_lists_lag_by_minutes(busy, faults)
    taken_up_again_when_the_state_is_lost(busy)
    # Destruction is refused whole while a job runs. (A destruction that says what it is: test_retiring_things.)
    clusters = checkout.clusters()
    why = f"{job['displayName']} on {busy.old}: deleting the cluster would cancel what runs on it"
    busy.refused(checkout.pulumi("destroy"), why, f"slipway jobs cancel {job['displayName']}")
    assert checkout.clusters() == clusters
    new_submissions_go_to_the_new_generation(busy)
    reverted_in_all_but_what_changes_no_cluster(busy)

    # A cluster that is removed from the file stays while a job runs.
    up(checkout, {})
    assert busy.retiring == [busy.old]
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"

    # It goes when it is idle.
    checkout.end(job)
    kept_once_more_for_a_damaged_catalog(busy)
    deleted_without_waiting_by_a_later_deployment(busy)
    checkout.at_rest()


def edited_while_the_lists_lag_by_minutes(busy: Busy, faults: Faults) -> None:
    """The cluster itself says that its machines are in use. What is queued behind the job is saved with it."""
    checkout = busy.checkout
    faults({"kind": "lagging-list", "match": "GET .*/customJobs$", "seconds": 600})
    said = foretold(checkout, B)
    assert f"a later deployment deletes {busy.old}" in said, said
    up(checkout, B)
    assert busy.current != busy.old
    assert busy.retiring == [busy.old]
    clusters = {busy.old: "RUNNING", busy.current: "RUNNING"}
    assert checkout.clusters() == clusters
    busy.goes_on()
    busy.refused(checkout.destroy(), f"the stack is not deleted: {UNLISTED}")
    assert checkout.clusters() == clusters
    faults()


def taken_up_again_when_the_state_is_lost(busy: Busy) -> None:
    """The engine forgets everything; nothing is made twice, nothing is lost, and what was old goes in the end."""
    checkout = busy.checkout
    checkout.keep_resources([])
    before = checkout.clusters()
    checkout.write(persistentResources=B)
    busy.refused(checkout.pulumi("up"), "exists already", "SLIPWAY_RECOVER=slipway/trial make up STACK=trial")
    assert checkout.clusters() == before
    done = checkout.pulumi("up", SLIPWAY_RECOVER="slipway/trial")
    assert done.code == 0, done.said
    said = done.said
    assert re.search(rf"{busy.old} still drains: job {busy.job['displayName']}", said), said
    assert checkout.clusters() == before
    assert busy.retiring == [busy.old]
    busy.goes_on()


def new_submissions_go_to_the_new_generation(busy: Busy) -> None:
    job = busy.checkout.submit()
    body = busy.checkout.cloud.rest("GET", f"/v1/{job['name']}")
    assert body["jobSpec"]["persistentResourceId"] == busy.current != busy.old
    busy.checkout.cloud.cancel(job["name"])
    wait_for(lambda: "endTime" in busy.checkout.cloud.rest("GET", f"/v1/{job['name']}"), "it ends")


def reverted_in_all_but_what_changes_no_cluster(busy: Busy) -> None:
    """The old generation is current again. With how many machines it begins and by when it retires make no other."""
    new = busy.current
    said = foretold(busy.checkout, A_OTHERWISE)
    assert "cluster cpu: replace (create before delete)" in said and f"{new} is idle and is deleted" in said, said
    up(busy.checkout, A_OTHERWISE)
    assert busy.current == busy.old
    assert busy.retiring == []
    assert busy.checkout.clusters() == {busy.old: "RUNNING"}
    busy.goes_on()


def kept_once_more_for_a_damaged_catalog(busy: Busy) -> None:
    """What the command tells people to do about it works, and nothing goes that somebody may have been offered."""
    checkout = busy.checkout
    checkout.cloud.session().post(
        f"{checkout.cloud.url}/upload/storage/v1/b/{checkout.catalog.removeprefix('gs://')}/o"
        "?uploadType=media&name=catalog.json",
        data=b'{"schema": 1, "stack"',
    ).raise_for_status()
    refused = checkout.slipway("templates")
    assert refused.code == 2
    assert "deploy the stack, which publishes it again" in refused.err
    said = up(checkout, {})
    assert "the published catalog is damaged" in said
    assert f"cluster {busy.old}: is taken over" in said, said
    assert busy.old in checkout.clusters()
    assert checkout.slipway("templates").code == 0


def deleted_without_waiting_by_a_later_deployment(busy: Busy) -> None:
    checkout = busy.checkout
    published = f"/storage/v1/b/{checkout.catalog.removeprefix('gs://')}/o/catalog.json"
    made = datetime.fromisoformat(checkout.cloud.rest("GET", published)["timeCreated"])
    wait_for(lambda: datetime.now(UTC) - made > timedelta(seconds=3), "the catalog has been published for a while")
    said = up(checkout, {}, SLIPWAY_GRACE="1s")
    assert re.search(rf"cluster {busy.old}: delete: |deleting cluster {busy.old}", said), said
    assert "may not be listed yet" not in said
    assert checkout.clusters() == {}


def accepted(checkout: Checkout, cluster: str) -> Any:
    """A job that the service took and that has no machines yet: its cluster would have to grow first."""
    pool = {
        "machineSpec": {"machineType": MACHINE["machine"]},
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"},
        "replicaCount": "1",
    }
    spec = {
        "workerPoolSpecs": [pool, pool],
        "persistentResourceId": cluster,
        "serviceAccount": checkout.trainer,
    }
    job = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", {"displayName": "accepted", "jobSpec": spec})
    (again,) = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{cluster}")["resourcePools"]
    assert "usedReplicaCount" not in again
    return job


@pytest.mark.deployed
def test_a_job_that_nothing_shows_yet_saves_its_cluster_when_it_shows_up(
    checkout: Checkout, faults: Faults, settings: Settings
) -> None:
    """Accepted, on no machine, in no list: only time tells. Nothing else of the stack that it needs goes before."""
    (old,) = checkout.clusters()
    settings(scale_up_seconds=3600.0)
    job = accepted(checkout, old)

    # A deployment finds it.
    checkout.write(persistentResources=B)
    refused_when_it_shows_up(checkout, faults, "up", old)
    assert checkout.job_state(job["name"]) in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING")

    # So does a destruction.
    (new,) = set(checkout.clusters()) - {old}
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{new}")
    wait_for(lambda: new not in checkout.clusters(), "the other one, which nothing is on, is gone")
    refused_when_it_shows_up(checkout, faults, "destroy", old, SLIPWAY_PURPOSE="destroy")
    assert checkout.job_state(job["name"]) in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING")

    said = up(checkout, B)
    assert re.search(rf"{old} still drains: job accepted", said), said
    checkout.cloud.cancel(job["name"])
    settings(scale_up_seconds=0.0)
    replaced_in_place_and_gone_on_with_after_a_refusal(checkout, faults)


def replaced_in_place_and_gone_on_with_after_a_refusal(checkout: Checkout, faults: Faults) -> None:  # N1
    """The old one goes first; until its successor runs nobody is sent to either, and the next `up` makes it."""
    before = set(checkout.clusters())
    checkout.write(persistentResources=C)
    faults({"kind": "unavailable", "match": "POST .*/persistentResources$", "times": 1000})
    failed = checkout.pulumi("up", SLIPWAY_GRACE="1s", SLIPWAY_CREATE_PATIENCE="1s")
    assert failed.code != 0
    assert "replace (delete before create)" in failed.said, failed.said
    assert checkout.clusters() == {}, "all went before the new one was asked for"
    refused = checkout.slipway("submit", "nap", "-p", "say=x", "--capacity", "pool")
    assert refused.code != 0
    assert "being replaced in place since" in refused.err
    faults()
    said = up(checkout, C)
    assert re.search(r"cluster cpu: .*the deployed cluster failed or no longer exists", said), said
    (new,) = checkout.clusters()
    assert new not in before
    assert checkout.outputs()["clusters"] == {"cpu": new}
    assert checkout.outputs()["retiring"] == []
    assert checkout.submit()["labels"]["slipway-capacity-type"] == "pool"


def refused_when_it_shows_up(checkout: Checkout, faults: Faults, verb: str, cluster: str, **extra: str) -> None:
    faults({"kind": "lagging-list", "match": "Jobs$", "seconds": 600})
    started = checkout.begin(verb, SLIPWAY_GRACE="10m", **extra)
    started.until(lambda: f"cluster {cluster} is deleted in 10 min" in started.said, "it waits")
    faults()
    assert started.process.wait() != 0
    assert f"cluster {cluster} is not deleted: 1 job" in started.said
    assert checkout.clusters()[cluster] == "UPDATING"
    assert len(checkout.buckets()) == 2

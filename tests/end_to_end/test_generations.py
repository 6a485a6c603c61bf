"""No edit kills a job and no edit is stuck, with the real engine, a provider plugin and real jobs. # N1 # B3"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.checkouts.checkout import MACHINE, PROJECT, VERTEX, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

A = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}}
B = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}


def up(checkout: Checkout, clusters: Any, **extra: str) -> str:
    checkout.write(persistentResources=clusters)
    done = checkout.pulumi("up", **extra)
    assert done.code == 0, done.said
    return done.said


def outputs(checkout: Checkout) -> Any:
    done = checkout.run("pulumi", "stack", "output", "--stack", checkout.stack, "--json", role="deployer")
    assert done.code == 0, done.said
    return json.loads(done.out)


@pytest.fixture
def busy(checkout: Checkout) -> Iterator[tuple[Checkout, Any, str]]:
    """A deployed stack with a job on its cluster: the checkout, the job, the cluster's id."""
    up(checkout, A)
    job = checkout.submit("-p", "seconds=600")
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
    yield checkout, job, outputs(checkout)["clusters"]["cpu"]
    checkout.slipway("jobs", "cancel", job["displayName"])


def running(checkout: Checkout, job: Any) -> bool:
    return checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"


def end(checkout: Checkout, job: Any) -> None:
    checkout.slipway("jobs", "cancel", job["displayName"])
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "the job is cancelled")


def test_there_and_back_while_a_job_runs(busy: tuple[Checkout, Any, str]) -> None:
    checkout, job, old = busy
    said = up(checkout, B)
    new = outputs(checkout)["clusters"]["cpu"]
    assert new != old
    assert f"{old} retires when its job has ended: {job['displayName']} (by submitter, running" in said
    assert outputs(checkout)["retiring"] == [old]
    assert checkout.clusters() == {old: "RUNNING", new: "RUNNING"}
    assert running(checkout, job)

    up(checkout, A)
    assert outputs(checkout)["clusters"]["cpu"] == old
    assert outputs(checkout)["retiring"] == []
    assert checkout.clusters() == {old: "RUNNING"}
    assert running(checkout, job)


def test_an_old_generation_goes_when_it_is_idle(busy: tuple[Checkout, Any, str]) -> None:
    checkout, job, old = busy
    up(checkout, B)
    assert old in checkout.clusters()
    end(checkout, job)
    said = up(checkout, B)
    assert f"{old} is idle and not asked for any more" in said
    assert checkout.clusters() == {outputs(checkout)["clusters"]["cpu"]: "RUNNING"}
    assert checkout.pulumi("preview", "--expect-no-changes").code == 0


def test_new_submissions_go_to_the_new_generation(busy: tuple[Checkout, Any, str]) -> None:
    checkout, _, old = busy
    up(checkout, B)
    job = checkout.submit()
    body = checkout.cloud.rest("GET", f"/v1/{job['name']}")
    assert body["jobSpec"]["persistentResourceId"] == outputs(checkout)["clusters"]["cpu"] != old


def test_a_cluster_that_is_removed_stays_while_a_job_runs(busy: tuple[Checkout, Any, str]) -> None:
    checkout, job, old = busy
    checkout.write(persistentResources={}, templates=[])
    done = checkout.pulumi("up")
    assert done.code == 0, done.said
    assert outputs(checkout)["retiring"] == [old]
    assert running(checkout, job)
    end(checkout, job)
    assert checkout.pulumi("up").code == 0
    assert checkout.clusters() == {}


def test_destroy_is_refused_whole_while_a_job_runs(busy: tuple[Checkout, Any, str]) -> None:
    checkout, job, old = busy
    for done in (checkout.destroy(), checkout.pulumi("destroy")):
        assert done.code != 0
        assert f"{job['displayName']} on {old}: deleting the cluster would cancel what runs on it" in done.said
        assert f"slipway jobs cancel {job['displayName']}" in done.said
    assert checkout.clusters() == {old: "RUNNING"}
    assert running(checkout, job)
    assert checkout.slipway("templates").code == 0, "the catalog is still there"

    end(checkout, job)
    done = checkout.destroy()
    assert done.code == 0, done.said
    assert checkout.clusters() == {}
    assert checkout.buckets() == [f"{PROJECT}-{checkout.stack}-work"], "people's results are kept"


def test_lists_that_lag_by_minutes_cost_no_running_job(
    busy: tuple[Checkout, Any, str], faults: Callable[..., None]
) -> None:
    """The cluster itself says that its machines are in use. What is queued behind the job is saved with it."""
    checkout, job, old = busy
    unlisted = "machines are in use by a job that the lists do not show yet"
    faults({"kind": "lagging-list", "match": "GET .*/customJobs$", "seconds": 600})
    for _ in range(2):
        said = up(checkout, B)
        assert f"{old} retires with a later deployment ({unlisted})" in said
        assert outputs(checkout)["retiring"] == [old]
    assert running(checkout, job)

    for done in (checkout.destroy(), checkout.pulumi("destroy")):
        assert done.code != 0
        assert f"the stack is not deleted: {unlisted}" in done.said
    assert running(checkout, job)
    assert checkout.slipway("templates").code == 0, "the catalog is still there"


def accepted(checkout: Checkout, cluster: str) -> Any:
    """A job that the service took and that has no machines yet: its cluster would have to grow first."""
    checkout.cloud.rest("POST", "/slipway/settings", {"scale_up_seconds": 3600.0})
    pool = {
        "machineSpec": {"machineType": MACHINE["machine"]},
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"},
        "replicaCount": "1",
    }
    spec = {
        "workerPoolSpecs": [pool, pool],
        "persistentResourceId": cluster,
        "serviceAccount": f"slipway-{checkout.stack}-trainer@{PROJECT}.iam.gserviceaccount.com",
    }
    job = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", {"displayName": "accepted", "jobSpec": spec})
    (found,) = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{cluster}")["resourcePools"]
    assert "usedReplicaCount" not in found
    return job


@pytest.mark.parametrize("verb", ["up", "destroy"])
def test_a_job_that_nothing_shows_yet_saves_its_cluster_when_it_shows_up(own: Checkout, verb: str) -> None:
    """Accepted, on no machine, in no list: only time tells. Nothing else of the stack that it needs goes before."""
    up(own, A)
    old = outputs(own)["clusters"]["cpu"]
    job = accepted(own, old)
    own.cloud.rest("POST", "/slipway/faults", {"faults": [{"kind": "lagging-list", "match": "Jobs$", "seconds": 600}]})
    own.write(persistentResources=B)
    purpose = {"SLIPWAY_PURPOSE": "destroy"} if verb == "destroy" else {}
    started = own.start(*own.command(verb), role="deployer", SLIPWAY_GRACE="10m", **purpose)
    started.until(lambda: f"cluster {old} is deleted in 10 min" in started.said, "it waits")
    own.cloud.rest("DELETE", "/slipway/faults")
    assert started.process.wait(timeout=120) != 0
    assert f"cluster {old} is not deleted: 1 job has not ended" in started.said
    assert own.clusters()[old] == "UPDATING"
    assert own.job_state(job["name"]) in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING")
    assert len(own.buckets()) == 2

    said = up(own, B)
    assert f"{old} retires when its job has ended: accepted" in said


def test_a_later_deployment_waits_for_nothing(busy: tuple[Checkout, Any, str]) -> None:
    checkout, job, old = busy
    up(checkout, B)
    end(checkout, job)
    published = f"/storage/v1/b/{PROJECT}-{checkout.stack}-catalog/o/catalog.json"
    made = datetime.fromisoformat(checkout.cloud.rest("GET", published)["timeCreated"])
    wait_for(lambda: datetime.now(UTC) - made > timedelta(seconds=3), "the catalog has been published for a while")
    said = up(checkout, B, SLIPWAY_GRACE="1s")
    assert "may not be listed yet" not in said
    assert old not in checkout.clusters()


def test_a_state_that_is_lost_is_taken_up_again(busy: tuple[Checkout, Any, str]) -> None:
    """The engine forgets everything; nothing is made twice, nothing is lost, and what was old goes in the end."""
    checkout, job, old = busy
    up(checkout, B)
    forget = checkout.run(
        "pulumi", "stack", "rm", "--force", "--yes", "--preserve-config", checkout.stack, role="deployer"
    )
    assert forget.code == 0, forget.said
    assert checkout.run("pulumi", "stack", "init", checkout.stack, role="deployer").code == 0
    before = checkout.clusters()
    up(checkout, B)
    assert checkout.clusters() == before
    assert outputs(checkout)["retiring"] == [old]
    assert running(checkout, job)
    end(checkout, job)
    up(checkout, B)
    assert list(checkout.clusters()) == [outputs(checkout)["clusters"]["cpu"]]


def test_an_idle_generation_whose_state_is_lost_goes_too(checkout: Checkout) -> None:
    """It is known to the catalog and not to the state: taken up once, then deleted."""
    up(checkout, A)
    old = outputs(checkout)["clusters"]["cpu"]
    forget = checkout.run(
        "pulumi", "stack", "rm", "--force", "--yes", "--preserve-config", checkout.stack, role="deployer"
    )
    assert forget.code == 0, forget.said
    assert checkout.run("pulumi", "stack", "init", checkout.stack, role="deployer").code == 0
    up(checkout, B)
    for _ in range(2):
        up(checkout, B)
    assert old not in checkout.clusters()
    assert list(checkout.clusters()) == [outputs(checkout)["clusters"]["cpu"]]


def test_a_damaged_catalog_is_published_anew_and_an_idle_generation_goes_with_the_next_deployment(
    checkout: Checkout,
) -> None:
    """What the command tells people to do about it works, and nothing goes that somebody may have been offered."""
    up(checkout, A)
    old = outputs(checkout)["clusters"]["cpu"]
    checkout.cloud.session().post(
        f"{checkout.cloud.url}/upload/storage/v1/b/{checkout.catalog.removeprefix('gs://')}/o"
        "?uploadType=media&name=catalog.json",
        data=b'{"schema": 1, "stack"',
    ).raise_for_status()
    refused = checkout.slipway("templates")
    assert refused.code == 2
    assert "publish it again with pulumi up" in refused.err
    said = up(checkout, B)
    assert "the published catalog is damaged; pulumi up publishes it anew" in said
    assert f"{old} retires with a later deployment (the published catalog is damaged)" in said
    assert old in checkout.clusters()
    assert checkout.slipway("templates").code == 0
    up(checkout, B)
    assert old not in checkout.clusters()


def test_a_cluster_deleted_by_hand_is_made_again(checkout: Checkout) -> None:
    up(checkout, A)
    id_ = outputs(checkout)["clusters"]["cpu"]
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{id_}")
    wait_for(lambda: checkout.clusters() == {}, "the cluster is gone")
    preview = checkout.pulumi("preview")
    assert f"cluster cpu: {id_}, to be created" in preview.said
    up(checkout, A)
    assert checkout.clusters() == {id_: "RUNNING"}


def test_what_an_autoscaler_did_is_no_change(checkout: Checkout) -> None:  # B2
    """The pool grows for two jobs at once; preview sees nothing to do."""
    up(checkout, A)
    id_ = outputs(checkout)["clusters"]["cpu"]
    jobs = [checkout.submit("-p", "seconds=600") for _ in range(2)]

    def grown() -> bool:
        pools = checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{id_}")["resourcePools"]
        return bool(pools[0]["replicaCount"] == "2")

    wait_for(grown, "the pool grows")
    done = checkout.pulumi("preview", "--expect-no-changes")
    assert done.code == 0, done.said
    for job in jobs:
        checkout.slipway("jobs", "cancel", job["displayName"])


def test_editing_replicas_initial_or_retire_within_changes_no_cluster(checkout: Checkout) -> None:
    up(checkout, A)
    id_ = outputs(checkout)["clusters"]["cpu"]
    pool = {**MACHINE, "replicas": {"min": 1, "max": 2, "initial": 2}}
    up(checkout, {"cpu": {"pools": {"all": pool}, "retireWithin": "7d"}})
    assert checkout.clusters() == {id_: "RUNNING"}
    assert outputs(checkout)["clusters"]["cpu"] == id_


def test_a_foreign_cluster_under_our_id_is_left_alone(checkout: Checkout) -> None:
    up(checkout, A)
    id_ = outputs(checkout)["clusters"]["cpu"]
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{id_}")
    wait_for(lambda: checkout.clusters() == {}, "the cluster is gone")
    body = {"resourcePools": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}]}
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", body)
    done = checkout.pulumi("up")
    assert done.code != 0
    assert f"cluster {id_} has an id of this stack but not its labels" in done.said
    checkout.cloud.rest("DELETE", f"{VERTEX}/persistentResources/{id_}")

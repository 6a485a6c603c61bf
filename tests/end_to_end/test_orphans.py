"""Clusters that the engine does not know go with their stack, unless jobs run on them or a person insists. (N1, N4)

They come from an `up` that was killed after the service had begun to make them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from local.cloud import identities
from tests.checkouts.checkout import MACHINE, PROJECT, REGION, VERTEX, Checkout

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
OTHER = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}


def orphan(checkout: Checkout) -> str:
    """`up` that is killed when its cluster has been accepted, which then runs; the cluster's id."""
    before = set(checkout.clusters())
    checkout.cloud.rest("POST", "/slipway/settings", {"create_seconds": "600"})
    killed = checkout.start(*checkout.command("up"), role="deployer")
    killed.until(lambda: set(checkout.clusters()) - before, "the cluster is being made")
    checkout.cloud.rest("POST", "/slipway/settings", {"create_seconds": "0"})
    killed.kill_tree()
    checkout.clear_after_a_kill()
    checkout.make_clusters_now()
    (cluster,) = set(checkout.clusters()) - before
    return cluster


def work_on(checkout: Checkout, cluster: str) -> Any:
    """A job that somebody sent to a cluster."""
    (package,) = checkout.cloud.rest("GET", f"/storage/v1/b/{checkout.catalog[5:]}/o?prefix=packages/")["items"]
    pool = {
        "machineSpec": {"machineType": MACHINE["machine"]},
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "replicaCount": 1,
        "pythonPackageSpec": {
            "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
            "packageUris": [f"{checkout.catalog}/{package['name']}"],
            "pythonModule": "nap.task",
            "args": ["--seconds=600"],
        },
    }
    spec = {"persistentResourceId": cluster, "workerPoolSpecs": [pool], "serviceAccount": identities.DEPLOYER}
    body = {"displayName": "tune", "jobSpec": spec}
    return checkout.cloud.rest("POST", f"{VERTEX}/customJobs", body)


def preview_of_destroy(checkout: Checkout) -> tuple[str, ...]:
    return ("pulumi", "destroy", "--stack", checkout.stack, "--non-interactive", "--run-program", "--preview-only")


def test_a_cluster_that_the_state_lacks_goes_with_the_stack(checkout: Checkout) -> None:
    cluster = orphan(checkout)
    preview = checkout.run(*preview_of_destroy(checkout), role="deployer", SLIPWAY_PURPOSE="destroy")
    assert preview.code == 0, preview.said
    assert f"cluster {cluster} (running): made by this stack, and unknown to its state" in preview.said
    assert checkout.clusters() == {cluster: "RUNNING"}, "a preview deletes nothing"

    done = checkout.destroy()
    assert done.code == 0, done.said
    assert f"cluster {cluster} is deleted" in done.said
    assert checkout.clusters() == {}


def test_a_destruction_that_forgets_to_say_so_leaves_none_behind(checkout: Checkout) -> None:
    """Without SLIPWAY_PURPOSE the program can't tell a destruction from a deployment until something goes."""
    cluster = orphan(checkout)
    refused = checkout.pulumi("destroy")
    assert refused.code != 0, refused.said
    assert f"the stack is not taken down: cluster {cluster} (running) would be left" in refused.said
    assert f"{PROJECT}-{checkout.stack}-catalog" in checkout.buckets()
    assert checkout.clusters() == {cluster: "RUNNING"}

    checkout.up()  # takes it over, so the engine deletes it
    done = checkout.pulumi("destroy")
    assert done.code == 0, done.said
    assert checkout.clusters() == {}


def test_one_that_is_still_being_made_when_up_is_killed_is_waited_for(checkout: Checkout) -> None:
    checkout.cloud.rest("POST", "/slipway/settings", {"create_seconds": "600"})
    killed = checkout.start(*checkout.command("up"), role="deployer")
    killed.until(checkout.clusters, "the cluster is being made")
    checkout.cloud.rest("POST", "/slipway/settings", {"create_seconds": "0"})
    killed.kill_tree()
    checkout.clear_after_a_kill()
    (cluster,) = checkout.clusters()
    destroy = checkout.start(*checkout.command("destroy"), role="deployer", SLIPWAY_PURPOSE="destroy")
    destroy.until(lambda: f"waiting for cluster {cluster} (provisioning)" in destroy.said, "it says what it waits for")
    checkout.make_clusters_now()
    assert destroy.process.wait(120) == 0, destroy.said
    assert checkout.clusters() == {}


def test_with_work_on_it_nothing_is_deleted_unless_a_person_insists(checkout: Checkout) -> None:
    """It was to follow a cluster that the state has."""
    checkout.up()
    (first,) = checkout.clusters()
    checkout.write(persistentResources=OTHER)
    cluster = orphan(checkout)
    both = checkout.clusters()
    job = work_on(checkout, cluster)
    buckets = checkout.buckets()
    refused = checkout.destroy()
    assert refused.code != 0, refused.said
    assert "the stack is not taken down: 1 job has not ended" in refused.said
    assert f"tune on {cluster}" in refused.said
    assert "SLIPWAY_ORPHANS=leave" in refused.said
    assert (set(checkout.clusters()), checkout.buckets()) == (set(both), buckets)
    assert "endTime" not in checkout.cloud.rest("GET", f"/v1/{job['name']}")

    done = checkout.pulumi("destroy", SLIPWAY_PURPOSE="destroy", SLIPWAY_ORPHANS="leave")
    assert done.code == 0, done.said
    assert f"cluster {cluster} (running) of this stack is left and goes on being billed" in done.said
    assert f"gcloud ai persistent-resources delete {cluster} --project={PROJECT} --region={REGION}" in done.said
    assert f"gcp:vertex:AiPersistentResource {first} deleted" in done.said, "the engine deletes what the state has"
    assert checkout.clusters() == {cluster: "RUNNING"}
    assert checkout.buckets() == [f"{PROJECT}-{checkout.stack}-work"]
    checkout.cloud.cancel(job["name"])


def test_where_clusters_or_jobs_cannot_be_listed_nothing_is_deleted(checkout: Checkout, faults: Faults) -> None:
    cluster = orphan(checkout)
    buckets = checkout.buckets()
    for unreadable in ("persistentResources", "trainingPipelines"):
        faults({"kind": "unavailable", "match": f"GET .*/{unreadable}$"})
        refused = checkout.destroy()
        assert refused.code != 0, refused.said
        assert "the stack is not taken down: can't tell" in refused.said
        assert f"{unreadable}.list" in refused.said
        faults()
    assert (checkout.clusters(), checkout.buckets()) == ({cluster: "RUNNING"}, buckets)


def test_one_that_failed_goes_and_so_does_what_an_empty_state_never_knew(checkout: Checkout, faults: Faults) -> None:
    """The state is lost as a whole, or the engine died before it wrote anything; and a list that lags hides it."""
    checkout.cloud.rest("POST", "/slipway/settings", {"create_error": "cpu-"})
    cluster = orphan(checkout)
    checkout.cloud.rest("POST", "/slipway/settings", {"create_error": ""})
    assert checkout.clusters() == {cluster: "ERROR"}
    backend = checkout.state / "empty-state"
    backend.mkdir()
    empty = {"PULUMI_BACKEND_URL": f"file://{backend}", "SLIPWAY_PURPOSE": "destroy"}
    made = checkout.run("pulumi", "stack", "init", checkout.stack, role="deployer", **empty)
    assert made.code == 0, made.said
    faults({"kind": "lagging-list", "match": "GET .*/persistentResources", "seconds": 600})
    done = checkout.pulumi("destroy", **empty)
    assert done.code == 0, done.said
    assert f"cluster {cluster} is deleted" in done.said
    faults()
    assert checkout.clusters() == {}


def test_up_takes_them_down_as_well_where_it_is_told_to_destroy(checkout: Checkout) -> None:
    cluster = orphan(checkout)
    done = checkout.pulumi("up", SLIPWAY_PURPOSE="destroy")
    assert done.code == 0, done.said
    assert f"cluster {cluster} is deleted" in done.said
    assert checkout.clusters() == {}

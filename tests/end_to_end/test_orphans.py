"""Clusters that the engine does not know go with their stack, unless jobs run on them or a person insists. (N1, N4)

They come from an `up` that was killed after the service had begun to make them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from local.cloud import identities
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from tests.checkouts.checkout import MACHINE, PROJECT, REGION, VERTEX, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
Settings = Callable[..., None]
OTHER = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}


def orphan(checkout: Checkout, settings: Settings) -> str:
    """`up` that is killed when its cluster has been accepted, which then runs; the cluster's id."""
    before = set(checkout.clusters())
    settings(create_seconds=600.0)
    killed = checkout.begin("up")
    killed.until(lambda: set(checkout.clusters()) - before, "the cluster is being made")
    settings(create_seconds=0.0)
    killed.kill_tree()
    checkout.clear_after_a_kill()
    checkout.make_clusters_now()
    (cluster,) = set(checkout.clusters()) - before
    return cluster


def being_made(checkout: Checkout, settings: Settings) -> str:
    """What such an `up` leaves when its cluster takes long to be made; the cluster's id."""
    id_, digest = "cpu-0a1b2c3", "0a1b2c3"
    settings(create_seconds=600.0)
    labels = {STACK_LABEL: checkout.stack, NAME_LABEL: "cpu", HASH_LABEL: digest}
    pool = {"machineSpec": {"machineType": MACHINE["machine"]}, "replicaCount": "1"}
    body = {"labels": labels, "resourcePools": [pool]}
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources?persistentResourceId={id_}", body)
    settings(create_seconds=0.0)
    return id_


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


@pytest.mark.deployed
def test_a_cluster_that_the_state_lacks_goes_with_its_stack_or_saves_it_whole(
    checkout: Checkout, faults: Faults, settings: Settings
) -> None:
    """It was to follow a cluster that the state has."""
    (first,) = checkout.clusters()
    checkout.write(persistentResources=OTHER)
    cluster = orphan(checkout, settings)

    nothing_is_deleted(checkout, cluster, faults)
    with_work_on_it_nothing_is_deleted_unless_a_person_insists(checkout, first, cluster)
    one_that_failed_goes_though_an_empty_state_never_knew_it_and_the_lists_lag(checkout, cluster, faults, settings)
    one_that_is_still_being_made_is_waited_for(checkout, settings)


def nothing_is_deleted(checkout: Checkout, cluster: str, faults: Faults) -> None:
    both, buckets = checkout.clusters(), checkout.buckets()

    # Where clusters can't be listed. (Where jobs can't be: tests/slipway/deployment/test_orphan_cleanup.py.)
    faults({"kind": "unavailable", "match": "GET .*/persistentResources$"})
    refused = checkout.destroy()
    assert refused.code != 0, refused.said
    assert "is not taken down: can't tell" in refused.said
    assert "persistentResources.list" in refused.said
    faults()
    assert (checkout.clusters(), checkout.buckets()) == (both, buckets)

    # Without SLIPWAY_PURPOSE the program can't tell a destruction from a deployment until something goes.
    refused = checkout.pulumi("destroy")
    assert refused.code != 0, refused.said
    assert f"cluster {cluster} (running) would be left" in refused.said
    assert f"{PROJECT}-{checkout.stack}-catalog" in checkout.buckets()
    assert checkout.clusters() == both

    # By a preview.
    preview = checkout.run(*preview_of_destroy(checkout), role="deployer", **checkout.forked, SLIPWAY_PURPOSE="destroy")
    assert preview.code == 0, preview.said
    assert f"cluster {cluster} (running): made by this" in preview.said
    assert checkout.clusters() == both, "a preview deletes nothing"


def with_work_on_it_nothing_is_deleted_unless_a_person_insists(checkout: Checkout, first: str, cluster: str) -> None:
    both, buckets = checkout.clusters(), checkout.buckets()
    job = work_on(checkout, cluster)
    refused = checkout.destroy()
    assert refused.code != 0, refused.said
    assert "is not taken down: 1 job" in refused.said
    assert f"tune on {cluster}" in refused.said
    assert "SLIPWAY_ORPHANS=leave" in refused.said
    assert (set(checkout.clusters()), checkout.buckets()) == (set(both), buckets)
    assert "endTime" not in checkout.cloud.rest("GET", f"/v1/{job['name']}")

    done = checkout.pulumi("destroy", SLIPWAY_PURPOSE="destroy", SLIPWAY_ORPHANS="leave")
    assert done.code == 0, done.said
    assert f"SLIPWAY_ORPHANS=leave: cluster {cluster} (running)" in done.said
    assert f"gcloud ai persistent-resources delete {cluster} --project={PROJECT} --region={REGION}" in done.said
    assert f"gcp:vertex:AiPersistentResource {first} deleted" in done.said, "the engine deletes what the state has"
    assert checkout.clusters() == {cluster: "RUNNING"}
    assert checkout.buckets() == [f"{PROJECT}-{checkout.stack}-work"]
    checkout.cloud.cancel(job["name"])
    wait_for(lambda: "endTime" in checkout.cloud.rest("GET", f"/v1/{job['name']}"), "the job ends")


def one_that_failed_goes_though_an_empty_state_never_knew_it_and_the_lists_lag(
    checkout: Checkout, cluster: str, faults: Faults, settings: Settings
) -> None:
    """The state is lost as a whole, or the engine died before it wrote anything; and a list that lags hides it."""
    settings(reboot_error=cluster)
    checkout.cloud.rest("POST", f"{VERTEX}/persistentResources/{cluster}:reboot", {})
    wait_for(lambda: checkout.clusters() == {cluster: "ERROR"}, "it fails")
    faults({"kind": "lagging-list", "match": "GET .*/persistentResources", "seconds": 600})
    done = checkout.destroy()
    assert done.code == 0, done.said
    assert f"cluster {cluster} is deleted" in done.said
    faults()
    assert checkout.clusters() == {}


def one_that_is_still_being_made_is_waited_for(checkout: Checkout, settings: Settings) -> None:
    """`up` takes it down as well where it is told to destroy."""
    cluster = being_made(checkout, settings)
    assert checkout.clusters() == {cluster: "PROVISIONING"}
    up = checkout.begin("up", SLIPWAY_PURPOSE="destroy")
    up.until(lambda: f"waiting for cluster {cluster} (provisioning)" in up.said, "it says what it waits for")
    checkout.make_clusters_now()
    assert up.process.wait() == 0, up.said
    assert f"cluster {cluster} is deleted" in up.said
    assert checkout.clusters() == {}

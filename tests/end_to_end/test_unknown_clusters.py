"""A stack with a cluster that the engine does not know is not taken down, as nothing would delete that. (N1, N4)

Such a cluster comes from an `up` that was killed after the service had begun to make it.
"""

from collections.abc import Callable

import pytest
from vertex_local.testing.bodies import job_body, worker

from tests.checkouts.checkout import MACHINE, PROJECT, REGION, VERTEX, Checkout
from tests.checkouts.shell import wait_for
from tests.docs.test_runbook import HOOKS

pytestmark = pytest.mark.journey

Settings = Callable[..., None]
SSD = {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
OTHER = {"cpu": {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 3}}}}}


def unknown(checkout: Checkout, settings: Settings) -> str:
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


@pytest.mark.deployed
def test_a_stack_is_taken_down_when_up_has_taken_over_what_its_state_lacks(
    checkout: Checkout, settings: Settings
) -> None:
    checkout.write(persistentResources=OTHER)
    cluster = unknown(checkout, settings)
    clusters, buckets = checkout.clusters(), checkout.buckets()

    destroy = ("pulumi", "destroy", "--stack", checkout.stack, "--non-interactive", "--run-program")
    preview = (*destroy, "--preview-only")
    purpose = {**checkout.forked, "SLIPWAY_PURPOSE": "destroy"}
    delete = f"persistent-resources delete {cluster} --project={PROJECT} --region={REGION}"
    task = worker(containerSpec={"imageUri": "python:3.10", "command": ["sleep", "86000"]}, diskSpec=SSD)
    body = job_body(task, cluster=cluster, spec={"serviceAccount": checkout.trainer})
    job = checkout.cloud.rest("POST", f"{VERTEX}/customJobs", body)["name"]
    wait_for(lambda: checkout.job_state(job) == "JOB_STATE_RUNNING", "it runs")
    busy = checkout.destroy()
    assert busy.code != 0 and f"cluster {cluster} (cluster state RUNNING, used by 1 job) would be left" in busy.said
    assert job.rpartition("/")[2] in busy.said and "slipway jobs cancel" in busy.said and delete not in busy.said
    checkout.cloud.cancel(job)
    wait_for(lambda: checkout.job_state(job) == "JOB_STATE_CANCELLED", "it has ended")

    # Without SLIPWAY_PURPOSE the program can't tell a destruction from a deployment until something goes.
    for refused in (
        checkout.run(*preview, role="deployer", **purpose),
        checkout.destroy(),
        checkout.pulumi("destroy"),
    ):
        assert refused.code != 0, refused.said
        assert (
            f"the stack is not taken down: cluster {cluster} (cluster state RUNNING, no jobs) would be left"
            in refused.said
        )
        assert ", which takes it over" in refused.said
        assert delete in refused.said
    assert checkout.clusters() == clusters and set(buckets) == set(checkout.buckets())

    checkout.up()
    assert checkout.clusters() == {cluster: "RUNNING"}
    before = {one["urn"] for one in checkout.resources()}
    without_program = checkout.run(*destroy[:-1], "--yes", "--skip-preview", role="deployer")
    assert without_program.code != 0 and all(words in without_program.said for words in HOOKS), without_program.said
    assert {one["urn"] for one in checkout.resources()} == before, "nothing is deleted"
    done = checkout.destroy()
    assert done.code == 0, done.said
    assert checkout.clusters() == {}

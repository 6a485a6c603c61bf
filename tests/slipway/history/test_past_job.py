"""A listed job as a part of a history. # N19"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from slipway.cloud.jobs import VertexJob, WorkerPool
from slipway.history.model import Deployment, PastJob
from slipway.history.past_job import ClustersOverTime, past_job
from slipway.jobs.log import JobEvents
from slipway.machines.spec import MachineSpec
from tests.slipway.whatif.past import CPU, SINCE, cluster, pool

H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
GPU = cluster("gpu", pool("head", 1, 1), pool("workers", 1, 4, H100))
NOW = SINCE + timedelta(days=9)
JOB = VertexJob(
    name="projects/1/locations/us-central1/customJobs/1",
    display_name="ddp",
    state="JOB_STATE_SUCCEEDED",
    labels={"slipway-user": "ada", "slipway-template": "ddp", "slipway-sweep": "lr", "slipway-run": "3"},
    worker_pools=(WorkerPool(CPU, 1), WorkerPool(CPU, 0), WorkerPool(H100, 2)),
    persistent_resource_id=GPU.id,
    create_time=SINCE + timedelta(hours=1),
    start_time=SINCE + timedelta(hours=2),
    end_time=SINCE + timedelta(hours=3),
)
CLUSTERS = ClustersOverTime((Deployment(SINCE, "a", False, {"gpu": GPU}),))


def past(job: VertexJob = JOB, clusters: ClustersOverTime = CLUSTERS, events: JobEvents | None = None) -> PastJob:
    return past_job(job, clusters, NOW, events)


def test_each_role_is_on_the_pool_that_has_its_machines() -> None:
    found = past()
    assert [(one.pool, one.count) for one in found.machines] == [("head", 1), ("workers", 2)]
    assert (found.cluster, found.accelerators, found.state, found.sweep, found.run) == (
        "gpu",
        16,
        "SUCCEEDED",
        "lr",
        "3",
    )
    assert found.cost == found.per_hour and found.busy == 3600


def test_a_cluster_that_no_deployment_named_goes_by_its_id() -> None:
    found = past(clusters=ClustersOverTime(()))
    assert (found.cluster, found.cluster_id) == (GPU.id, GPU.id) and {one.pool for one in found.machines} == {""}


def test_a_cluster_that_was_adopted_may_change_and_keep_its_id() -> None:
    later = replace(GPU, name="shared", pools={"all": pool("all", 1, 9, H100)})
    clusters = ClustersOverTime(
        (*CLUSTERS.deployments, Deployment(SINCE + timedelta(hours=5), "b", False, {"s": later}))
    )
    assert past(clusters=clusters).cluster == "gpu"
    found = past(replace(JOB, create_time=SINCE + timedelta(hours=6)), clusters)
    assert found.cluster == "shared" and [one.pool for one in found.machines] == ["", "all"]


@pytest.mark.parametrize(
    ("labels", "team"),
    [({}, ""), ({"team": "vision"}, "vision"), ({"team": "vision", "slipway-team": "language"}, "language")],
)
def test_a_team_is_the_submissions_before_anybodys(labels: dict[str, str], team: str) -> None:
    assert past(replace(JOB, labels=labels)).team == team


def test_time_without_machines_that_nobody_could_tell_is_unknown() -> None:  # X7
    spot = replace(JOB, persistent_resource_id="", strategy="SPOT")
    untold, told = past(spot), past(spot, events=JobEvents())
    assert untold.lost is None and untold.cost is not None and untold.cost.at_most
    assert told.lost == 0 and told.cost is not None and not told.cost.at_most and not told.cluster


def test_a_job_that_never_ran_cost_nothing_that_is_known() -> None:
    found = past(replace(JOB, start_time=None))
    assert found.cost is None and found.busy is None and found.per_hour.known > Decimal(0)

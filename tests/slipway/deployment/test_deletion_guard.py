"""The guard asks what a deletion would end, and says so when it can't tell. # N1"""

import pytest

from slipway.cloud.connection import Connection
from slipway.deployment.deletion_guard import use_of_cluster, use_of_stack
from slipway.live import Unknown, Use

from .conftest import CLUSTER, PATHS, POOL, SPEC, Service


def test_the_guard_sees_the_jobs_of_one_cluster(connection: Connection, service: Service) -> None:
    other = {**SPEC, "persistentResourceId": "other"}
    service["jobs"] = {
        "customJobs": [
            {"name": "j/1", "displayName": "mine", "state": "JOB_STATE_RUNNING", "jobSpec": SPEC},
            {"name": "j/2", "displayName": "other", "state": "JOB_STATE_RUNNING", "jobSpec": other},
            {"name": "j/3", "displayName": "beside", "state": "JOB_STATE_RUNNING", "jobSpec": {}},
        ]
    }
    found = use_of_cluster(connection, CLUSTER)
    assert isinstance(found, Use)
    assert [job.display_name for job in found.jobs] == ["mine"]


def test_the_guard_asks_the_cluster_itself(connection: Connection, service: Service) -> None:
    """Its list may lag as those of jobs do. Machines of a job that is listed are that job's."""
    assert use_of_cluster(connection, CLUSTER) == Use()
    service.answers[f"/vertex/{CLUSTER}"] = (200, {"name": CLUSTER, "state": "RUNNING", "resourcePools": [POOL]})
    assert use_of_cluster(connection, CLUSTER) == Use((), ("cpu-1a2b3c4",))
    service["jobs"] = {
        "customJobs": [{"name": "j/1", "displayName": "mine", "state": "JOB_STATE_RUNNING", "jobSpec": SPEC}]
    }
    found = use_of_cluster(connection, CLUSTER)
    assert isinstance(found, Use)
    assert [job.display_name for job in found.jobs] == ["mine"] and found.unlisted == ()


@pytest.mark.parametrize(("state", "unready"), [("STOPPING", True), ("REBOOTING", True), ("UPDATING", False)])
def test_the_guard_tells_what_the_cloud_does_not_delete_now(
    connection: Connection, service: Service, state: str, unready: bool
) -> None:
    service.answers[f"/vertex/{CLUSTER}"] = (200, {"name": CLUSTER, "state": state})
    assert use_of_cluster(connection, CLUSTER) == Use(unready={"cpu-1a2b3c4": state} if unready else {})


@pytest.mark.parametrize("status", [403, 500])
def test_the_guard_can_not_tell_when_the_cluster_can_not_be_read(
    connection: Connection, service: Service, status: int
) -> None:
    service.answers[f"/vertex/{CLUSTER}"] = (status, {"error": {"code": status, "message": "no"}})
    found = use_of_cluster(connection, CLUSTER)
    assert isinstance(found, Unknown)
    assert "persistentResources.get" in found.api


def test_the_guard_sees_the_jobs_of_a_stack(connection: Connection, service: Service) -> None:
    labels: tuple[dict[str, str], ...] = ({"slipway-stack": "dev"}, {"slipway-stack": "prod"}, {})
    service["clusters"] = {"persistentResources": [{"name": f"c/{i}", "labels": each} for i, each in enumerate(labels)]}
    service["jobs"] = {
        "customJobs": [
            {
                "name": f"j/{i}",
                "displayName": f"on-{i}",
                "state": "JOB_STATE_RUNNING",
                "jobSpec": {"persistentResourceId": str(i)},
            }
            for i in range(3)
        ]
    }
    found = use_of_stack(connection, "acme", "us-central1", "dev")
    assert isinstance(found, Use)
    assert [job.display_name for job in found.jobs] == ["on-0"]


def test_the_guard_sees_the_jobs_that_need_something(connection: Connection, service: Service) -> None:
    """Also those that run beside the stack's clusters."""
    specs = [
        {"serviceAccount": "t@acme.iam", "baseOutputDirectory": {"outputUriPrefix": "gs://acme-work/1"}},
        {"serviceAccount": "t@acme.iam", "baseOutputDirectory": {"outputUriPrefix": "gs://other/1"}},
        {"serviceAccount": "u@acme.iam", "baseOutputDirectory": {"outputUriPrefix": "gs://other/1"}},
    ]
    service["jobs"] = {
        "customJobs": [
            {"name": f"j/{i}", "displayName": str(i), "state": "JOB_STATE_RUNNING", "jobSpec": spec}
            for i, spec in enumerate(specs)
        ]
    }

    def needing(*things: str) -> list[str]:
        found = use_of_stack(connection, "acme", "us-central1", "dev", needed=things)
        assert isinstance(found, Use)
        return [job.display_name for job in found.jobs]

    assert needing("t@acme.iam") == ["0", "1"]
    assert needing("t@acme.iam", "acme-work") == ["0"], "what an account may do on a bucket"
    assert needing("acme-catalog") == []
    found = use_of_stack(connection, "acme", "us-central1", "dev", ["acme-work", "u@acme.iam"])
    assert isinstance(found, Use)
    assert [job.display_name for job in found.jobs] == ["0", "2"]


def test_the_guard_asks_every_cluster_of_a_stack(connection: Connection, service: Service) -> None:
    listed = [
        {"name": f"{PATHS['clusters']}/{id_}", "labels": {"slipway-stack": stack}}
        for id_, stack in (("cpu-1a2b3c4", "dev"), ("gpu-1a2b3c4", "dev"), ("other", "prod"))
    ]
    service["clusters"] = {"persistentResources": listed}
    for one in listed:
        used = {**one, "state": "RUNNING", "resourcePools": [POOL]}
        service.answers[str(one["name"])] = (200, used)
    assert use_of_stack(connection, "acme", "us-central1", "dev") == Use((), ("cpu-1a2b3c4", "gpu-1a2b3c4"))


@pytest.mark.parametrize("what", ["clusters", "jobs", "tuning", "pipelines"])
def test_the_guard_can_not_tell_when_a_list_fails(connection: Connection, service: Service, what: str) -> None:
    service[what] = (403, {"error": {"code": 403, "message": "no"}})
    assert isinstance(use_of_stack(connection, "acme", "us-central1", "dev"), Unknown)

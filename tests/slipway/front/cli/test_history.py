"""What is read of a stack's past, on a real local cloud. # N19 # N20"""

from datetime import timedelta
from typing import Any

import pytest

from slipway.google.catalog import document
from slipway.google.connection import Connection, connect
from slipway.google.storage import Location
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.prices import exact_text
from slipway.operating.history.model import History, PastJob, PoolKey, PoolSample
from slipway.operating.history.reader import MOST_JOBS, MOST_VERSIONS, read_history

from .stack import JOBS, PROJECT, REGION, SHAPE, Stack, held
from .test_sweep import points

pytestmark = pytest.mark.smoke


def connected(stack: Stack, role: str = "submitter") -> Connection:
    return connect(stack.env(role))


def past(stack: Stack, role: str = "submitter", hours: float = 24, most: int = MOST_JOBS) -> History:
    """What somebody who may submit can read."""
    connection, at = connected(stack, role), f"{stack.address}/catalog.json"
    catalog = document.read(connected(stack, "owner").storage.read(Location.parse(at)), at)
    now = connected_time(connection)
    return read_history(connection, catalog, now - timedelta(hours=hours), now, most)


def connected_time(connection: Connection) -> Any:
    list(connection.vertex(PROJECT, REGION).persistent_resources())
    assert connection.session.time
    return connection.session.time


def submitted(stack: Stack, *words: str) -> str:
    done = stack.well("submit", "hello", *words, "--wait", "--output", "json")
    return str(done.json["job"]["name"])


def of(history: History, name: str) -> PastJob:
    (found,) = (job for job in history.jobs if job.name == name)
    return found


def test_jobs_with_their_pools_and_costs_as_jobs_show_has_them(stack: Stack) -> None:
    with stack.settings(quota={"custom_model_training_preemptible_cpus": 100}):
        pool, spot = submitted(stack), submitted(stack, "--capacity", "spot")
    history = past(stack)
    assert [job.name for job in history.jobs] == [pool, spot] and not history.unread
    on_pool, beside = of(history, pool), of(history, spot)
    assert (on_pool.cluster, on_pool.cluster_id) == ("cpu", stack.cluster)
    assert (on_pool.template, on_pool.user) == ("hello", "ada")
    assert [(machine.pool, machine.count) for machine in on_pool.machines] == [("workers", 1)]
    assert [(machine.pool, machine.count) for machine in beside.machines] == [("", 1)] and not beside.cluster
    assert beside.lost == 0 and beside.capacity_type == "spot"
    for job in history.jobs:
        shown = stack.shown(job.name)
        assert job.cost and exact_text(job.cost) == shown["cost"]
        assert job.started and job.created and (job.started - job.created).total_seconds() == shown["waitSeconds"]


def test_time_without_machines_is_left_out_as_jobs_show_leaves_it_out(stack: Stack) -> None:  # X7
    taken = {"preempt": [{"job": "hello-", "after": 0.5, "times": 1}]}
    quota = {"custom_model_training_preemptible_cpus": 100}
    with stack.scenario(spot=taken), stack.settings(quota=quota, spot_restart_seconds=3):
        name = submitted(stack, "--capacity", "spot", "-p", "code=import time; time.sleep(2)")
    row, shown = of(past(stack), name), stack.shown(name)
    assert shown["preemptions"] == 1 and row.lost and row.lost >= 3
    assert row.cost and not row.cost.at_most and exact_text(row.cost) == shown["cost"]
    stack.grant("roles/logging.viewer", False)
    history = past(stack)
    unread = of(history, name)
    assert unread.lost is None and unread.cost and unread.cost.at_most and unread.cost.known > row.cost.known
    assert any("roles/logging.viewer" in words for words in history.unread) and not history.jobs_unread


def test_jobs_of_others_on_its_clusters_are_in_it_and_others_are_not(stack: Stack) -> None:
    task = {"imageUri": "python:3.11", "command": ["true"]}
    spec: dict[str, Any] = {"workerPoolSpecs": [{**SHAPE, "replicaCount": 1, "containerSpec": task}]}
    spec["serviceAccount"] = stack.trainer
    on_it = {"displayName": "theirs", "jobSpec": {**spec, "persistentResourceId": stack.cluster}}
    theirs = stack.cloud.rest("POST", JOBS, on_it)["name"]
    elsewhere = stack.cloud.rest("POST", JOBS, {"displayName": "elsewhere", "jobSpec": spec})["name"]
    try:
        names = [job.name for job in past(stack).jobs]
        assert theirs in names and elsewhere not in names
    finally:
        stack.cloud.cancel(theirs)
        stack.cloud.cancel(elsewhere)


def test_versions_of_the_catalog_are_the_deployments(stack: Stack) -> None:
    stack.cloud.rest("PATCH", f"/storage/v1/b/c-{stack.name}", {"versioning": {"enabled": True}})
    stack.deploy("aaaaaaa", dirty=False)
    stack.publish(b"no catalog")
    stack.deploy("bbbbbbb", dirty=True)
    history = past(stack)
    told = [(deployment.catalog.commit, deployment.catalog.dirty) for deployment in history.deployments]
    assert told == [("3f9c2e1", False), ("aaaaaaa", False), ("bbbbbbb", True)]
    assert len(history.unread) == 1 and "not valid JSON" in history.unread[0]
    last = past(stack, hours=-0.01)
    assert [deployment.catalog.commit for deployment in last.deployments] == ["bbbbbbb"], (
        "the one that held at the beginning"
    )


def test_what_somebody_may_not_read_is_said_and_the_rest_is_there(stack: Stack) -> None:  # P5, D2
    name = submitted(stack)
    stack.may_read_catalog(False)
    history = past(stack)
    assert [job.name for job in history.jobs] == [name] and of(history, name).machines[0].pool == "workers"
    assert {part.partition(":")[0] for part in history.unread} == {"samples of machines", "earlier deployments"}
    assert all("roles/storage.objectViewer" in part for part in history.unread)
    with stack.faults({"kind": "unavailable", "match": r"^GET .*/customJobs$"}):
        assert past(stack).jobs_unread == {REGION}


def test_the_hourly_run_records_machines_and_whoever_may_only_submit_can_not(stack: Stack) -> None:  # P5
    held(stack, machines=2)
    refused = stack.run("record")
    assert refused.code == 3 and "storage.objects.create" in refused.err
    done = stack.well("record", "--output", "json", role="deployer")
    assert done.json["recorded"]
    assert done.json["pools"] == [{"clusterId": stack.cluster, "pool": "workers", "live": 2, "busy": 2}]
    again = stack.well("record", role="deployer")
    assert "a moment ago" in again.out
    (sample,) = past(stack).samples
    assert sample.pools == {PoolKey(stack.cluster, "workers"): PoolSample(2, 2)}


def test_deployments_that_the_bucket_has_forgotten_are_told(stack: Stack) -> None:
    """Idle machines of their clusters were missing, and nothing said so."""
    stack.cloud.rest("PATCH", f"/storage/v1/b/c-{stack.name}", {"versioning": {"enabled": True}})
    assert not past(stack).unread
    for _ in range(MOST_VERSIONS):
        stack.publish()
    (told,) = past(stack).unread
    assert "deployments before" in told and str(MOST_VERSIONS) in told


def test_a_sweep_of_a_day_has_the_room_of_the_whole_month(stack: Stack) -> None:
    """Each few days had a part of it: of 10,000 runs of one day 5,000 counted."""
    stack.well("submit", "hello", "--sweep", points(stack, 3))
    stack.all_end()
    every = len(list(connected(stack).vertex(PROJECT, REGION).jobs(CUSTOM_JOB)))  # Other tests' too.
    whole, part = (past(stack, hours=24 * 30, most=most) for most in (every, 2))
    assert len(whole.jobs) == 3 and not whole.unread and not whole.jobs_unread
    assert len(part.jobs) == 2 and part.unread and part.jobs_unread == {REGION}

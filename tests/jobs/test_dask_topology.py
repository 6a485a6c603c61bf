"""Who a replica is, from CLUSTER_SPEC as Vertex AI sets it (vertex-rules 3.5, 3.6). # B5"""

import json
from typing import Any

import pytest

from jobs.dask_digits.topology import Topology, read

CLUSTER = {
    "workerpool0": ["cmle-training-workerpool0-ab-0:2222"],
    "workerpool1": ["cmle-training-workerpool1-ab-0:2222", "cmle-training-workerpool1-ab-1:2222"],
}


def topology(task: dict[str, Any], cluster: dict[str, list[str]] = CLUSTER, **more: Any) -> Topology:
    return read({"CLUSTER_SPEC": json.dumps({"cluster": cluster, "task": task, **more})})


def test_the_first_pool_is_the_scheduler() -> None:
    me = topology({"type": "workerpool0", "index": 0})
    assert me == Topology(
        "scheduler", 0, "cmle-training-workerpool0-ab-0", "cmle-training-workerpool0-ab-0:2222", workers=2
    )
    assert me.port == 2222
    assert me.bind is None, "a name may resolve to an address that is not ours to listen on"


def test_others_are_workers_of_that_scheduler() -> None:
    me = topology({"type": "workerpool1", "index": 1})
    assert (me.role, me.index, me.host) == ("worker", 1, "cmle-training-workerpool1-ab-1")
    assert me.scheduler == "cmle-training-workerpool0-ab-0:2222"


def test_an_open_port_is_taken_where_the_service_names_some() -> None:
    assert topology({"type": "workerpool1", "index": 0}, open_ports=[7777, 7778]).scheduler.endswith("-0:7777")


def test_an_address_is_listened_on_itself() -> None:
    cluster = {"workerpool0": ["127.1.0.1:2222"], "workerpool1": ["127.1.0.2:2222"]}
    assert topology({"type": "workerpool1", "index": 0}, cluster).bind == "127.1.0.2"


def test_every_further_pool_is_of_workers() -> None:
    cluster = {**CLUSTER, "workerpool2": ["c:2222"]}
    me = topology({"type": "workerpool2", "index": 0}, cluster)
    assert (me.role, me.workers) == ("worker", 3)


@pytest.mark.parametrize(
    "environ",
    [{}, {"CLUSTER_SPEC": ""}, {"CLUSTER_SPEC": '{"cluster": {"workerpool0": ["a:2222"]}, "task": {"index": 0}}'}],
)
def test_a_single_replica_runs_alone(environ: dict[str, str]) -> None:
    assert read(environ).role == "alone"

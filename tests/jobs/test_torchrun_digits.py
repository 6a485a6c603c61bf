"""torchrun-digits: the node that a replica is, where nodes meet (vertex-rules 3.5, 3.6), a notice in a step. # P4 X5"""

import json
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from jobs.torchrun_digits.network import interface_of
from jobs.torchrun_digits.topology import Topology, read

from .conftest import TORCH, interpreter, said
from .pytorch import FLAGS, alone

CLUSTER = {
    "workerpool0": ["cmle-training-workerpool0-ab-0:2222"],
    "workerpool1": ["cmle-training-workerpool1-ab-0:2222", "cmle-training-workerpool1-ab-1:2222"],
}


def topology(pool: str, index: int, cluster: dict[str, list[str]] = CLUSTER, **more: Any) -> Topology:
    return read({"CLUSTER_SPEC": json.dumps({"cluster": cluster, "task": {"type": pool, "index": index}, **more})})


def test_nodes_are_counted_from_the_chief_through_all_pools() -> None:
    cluster = {**CLUSTER, "workerpool3": ["late:2222"]}
    places = [("workerpool0", 0), ("workerpool1", 0), ("workerpool1", 1), ("workerpool3", 0)]
    found = [topology(pool, index, cluster) for pool, index in places]
    assert [node.rank for node in found] == [0, 1, 2, 3]
    assert {node.nodes for node in found} == {4}
    assert {node.endpoint for node in found} == {"cmle-training-workerpool0-ab-0:2222"}
    assert [node.host for node in found][::3] == ["cmle-training-workerpool0-ab-0", "late"]


def test_nodes_meet_at_an_open_port_where_the_service_names_some() -> None:
    assert topology("workerpool1", 1, open_ports=[7777, 7778]).endpoint.endswith("-0:7777")


def test_where_replicas_share_a_host_they_meet_at_the_chief_s_own_port() -> None:
    cluster = {"workerpool0": ["127.0.0.1:10000"], "workerpool1": ["127.0.0.1:10002"]}
    assert topology("workerpool0", 0, cluster, open_ports=[10001]).port == 10000
    assert topology("workerpool1", 0, cluster, open_ports=[10003]).port == 10000


def test_a_single_replica_meets_itself() -> None:
    me = topology("chief", 0, {"chief": ["127.1.0.1:2222"]}, open_ports=[7777])
    assert (me.rank, me.nodes, me.endpoint) == (0, 1, "127.1.0.1:7777")
    assert read({}) == read({"CLUSTER_SPEC": ""}) == Topology()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere gloo finds its interface itself")
def test_gloo_takes_the_interface_that_has_the_replica_s_address() -> None:
    assert interface_of("127.0.0.1") == interface_of("127.9.8.7") == interface_of("localhost") == "lo"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outward:
        try:
            outward.connect(("203.0.113.1", 9))
        except OSError:
            pytest.skip("this machine has no way out")
        own = outward.getsockname()[0]
    assert interface_of(own) not in (None, "lo")


def test_an_address_that_nobody_here_has_leaves_the_choice_to_gloo() -> None:
    assert interface_of("203.0.113.1") is None
    assert interface_of("no-such-host.invalid") is None


# Sends itself SIGTERM once the model has learnt the third batch, before its step is counted; then it starts again.
NOTICED = """
import os, signal, sys
from torch.optim import SGD
from torchrun_digits.train import main
learn, seen = SGD.step, []
def noticed(self, *more):
    learn(self, *more)
    seen.append(1)
    if len(seen) == 3:
        os.kill(os.getpid(), signal.SIGTERM)
SGD.step = noticed
assert main(sys.argv[1:], os.environ) == 143
assert main(sys.argv[1:], os.environ) == 0
"""


@pytest.mark.journey
def test_torchrun_digits_counts_the_step_in_which_a_notice_comes(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:  # X5
    told = said(interpreter(tmp_path / "images", TORCH), NOTICED, *FLAGS, f"--output={tmp_path}")
    assert "checkpoint of step 3 written" in told
    first, second, end = json.loads((tmp_path / "metrics.json").read_text())
    assert (first["step"], second["step"]) == (0, 3)
    assert end == alone(tmp_path_factory), "each step was done once"

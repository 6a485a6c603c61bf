"""The machines that a job asks of a cluster's pools."""

from typing import Any

import pytest

from slipway.google.jobs import VertexJob
from slipway.model.cluster import PoolSpec, taken
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.demand import Demand


def pipeline() -> VertexJob:
    """A pipeline of two tasks that need different things, one after the other."""
    tasks: dict[str, Any] = {
        "train": {"componentRef": {"name": "large"}, "dependentTasks": ["prepare"]},
        "prepare": {"componentRef": {"name": "small"}},
    }
    needs: dict[str, dict[str, Any]] = {"large": {"cpuLimit": 4.0}, "small": {}}
    executors = {name: {"container": {"image": "a", "resources": need}} for name, need in needs.items()}
    spec = {
        "components": {name: {"executorLabel": name} for name in needs},
        "deploymentSpec": {"executors": executors},
        "root": {"dag": {"tasks": tasks}},
    }
    return VertexJob.read({"pipelineSpec": spec}, PIPELINE_JOB)


@pytest.mark.parametrize(
    ("pools", "parts"), [(("big", "big"), [("train", 1)]), (("big", "small"), [("train", 1), ("prepare", 1)])]
)
def test_the_tasks_of_a_chain_ask_each_of_their_pools_for_one_machine(
    pools: tuple[str, str], parts: list[tuple[str, int]]
) -> None:  # N28
    """A chain of different needs was never to start on a pool of one machine, though its tasks wait for it."""
    specs = tuple(PoolSpec(name, MachineSpec("n1-standard-4"), 1, 4, True, 1) for name in pools)
    demand = Demand.of(pipeline(), ("train", "prepare"), pools, specs)
    assert [(part.role, part.machines) for part in demand.parts] == parts


def test_tasks_beside_each_other_take_no_more_machines_of_a_pool_than_it_has() -> None:  # N28
    pool = PoolSpec("big", MachineSpec("n1-standard-4"), 1, 3, True, 1)
    assert list(taken((pool, pool), (2, 2))) == [2, 1]

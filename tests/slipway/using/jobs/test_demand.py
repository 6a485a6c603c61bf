"""The machines that a job asks of a cluster's pools."""

from typing import Any

import pytest

from slipway.google.jobs import VertexJob
from slipway.model.cluster import PoolSpec
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


@pytest.mark.parametrize(("most", "parts"), [(1, [("train", 1)]), (2, [("train", 1), ("prepare", 1)])])
def test_the_tasks_of_a_pipeline_ask_a_pool_for_no_more_machines_than_it_has(
    most: int, parts: list[tuple[str, int]]
) -> None:  # N28
    """A chain of different needs was never to start on a pool of one machine, though its tasks wait for it."""
    pool = PoolSpec("workers", MachineSpec("n1-standard-4"), 1, most, True, 1)
    demand = Demand.of(pipeline(), ("train", "prepare"), ("workers", "workers"), (pool, pool))
    assert [(part.role, part.machines) for part in demand.parts] == parts

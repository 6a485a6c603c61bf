"""Clusters and jobs to judge, in short."""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.demand import Demand, Part
from tests.builders import jobs
from tests.builders.clusters import persistent_resource
from tests.builders.place import NOW
from tests.builders.pools import CPU

cluster = partial(persistent_resource, "cpu-1", create_time=NOW)


def demand(*parts: tuple[str, str, MachineSpec, int]) -> Demand:
    return Demand(tuple(Part(*part) for part in parts))


def job(
    name: str = "tune", machines: int = 1, machine: MachineSpec = CPU, *, minutes: float | None = 14, **fields: Any
) -> VertexJob:
    """Return a job that has run for `minutes`, or waits when that is None."""
    usual = {"user": "ada", "on": "cpu-1", "state": "QUEUED" if minutes is None else "RUNNING", "minutes": 60}
    made = jobs.job(name, replicas=machines, machine=machine, **{**usual, **fields})
    return replace(made, start_time=None if minutes is None else NOW - timedelta(minutes=minutes))

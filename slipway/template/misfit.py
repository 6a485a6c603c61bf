"""A worker pool beside a resource pool, field by field: Vertex AI takes a job only where all of them are equal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log2

from slipway.cluster import ClusterSpec, PoolSpec
from slipway.machines import machine
from slipway.template.worker_pool import WorkerPool


@dataclass(frozen=True)
class Compared:
    """One field of a worker pool beside the same field of a resource pool."""

    field: str
    needs: str
    has: str
    fits: bool


@dataclass(frozen=True)
class Misfit:
    """A worker pool and the resource pool (`cluster/pool`) that comes nearest to it."""

    role: str
    nearest: str
    fields: tuple[Compared, ...]

    @property
    def differences(self) -> int:
        return sum(not item.fits for item in self.fields)

    def side_by_side(self) -> Iterator[str]:
        """All fields in two columns, those that differ marked."""
        wide = max(len(self.role) + 12, *(len(item.needs) for item in self.fields))
        yield f"{'':17}{f'worker pool {self.role}':<{wide}}  nearest pool {self.nearest}"
        for item in self.fields:
            mark = "" if item.fits else "   ← differs"
            yield f"{item.field:<17}{item.needs:<{wide}}  {item.has}{mark}"

    def __str__(self) -> str:
        """`workers needs machine a3-highgpu-8g, nearest pool cpu/workers has n1-standard-8`"""
        rows = [f"{item.field} {item.needs}, nearest pool {self.nearest} has {item.has}" for item in self.fields]
        return f"{self.role} needs " + "; ".join(
            row for row, item in zip(rows, self.fields, strict=True) if not item.fits
        )


def compare(worker: WorkerPool, network: str | None, cluster: ClusterSpec, pool: PoolSpec) -> Misfit:
    """`network` is the one that the template insists on; without it a job takes the cluster's."""
    shape = worker.shape
    rows = [
        ("machine", shape.type, pool.machine_type),
        (
            "accelerator",
            _accelerators(shape.accelerator, shape.accelerator_count),
            _accelerators(pool.accelerator_type, pool.accelerator_count),
        ),
        ("disk", str(worker.disk), str(pool.disk)),
        (
            "service account",
            "custom",
            "custom" if cluster.custom_service_account else "none (serviceAccount.custom: false)",
        ),
    ]
    if network is not None:
        rows.append(("network", network, cluster.network or "none"))
    fields = tuple(Compared(name, needs, has, needs == has) for name, needs, has in rows)
    return Misfit(worker.role, f"{cluster.name}/{pool.name}", fields)


def distance(worker: WorkerPool, pool: PoolSpec) -> float:
    """How much would have to change: machine, its size, and accelerator most, then their number, then the disk."""
    shape = worker.shape
    found = 0.0
    if (shape.accelerator, shape.accelerator_count) != (pool.accelerator_type, pool.accelerator_count):
        found += 2 if shape.accelerator != pool.accelerator_type else 1.5
    if shape.type != pool.machine_type:
        other = machine(pool.machine_type, *_attached(pool))
        found += (2 if shape.family == other.family else 3) + abs(log2(shape.vcpus / other.vcpus)) / 10
    if worker.disk != pool.disk:
        found += 1
    return found


def _attached(pool: PoolSpec) -> tuple[str, int] | tuple[None, None]:
    return (pool.accelerator_type, pool.accelerator_count) if pool.accelerator_type else (None, None)


def _accelerators(kind: str | None, count: int) -> str:
    return f"{kind} × {count}" if kind else "none"

"""Rules of worker pools: their places, machines, disks and accelerators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from slipway.model.capacity import SPOT
from slipway.model.machines.table import Machine, MachineError, lacks
from slipway.model.rules.rule import Rule, Subject, Worker, each_worker

Position = Literal["chief", "workers", "parameter-servers", "evaluators"]
POSITIONS: tuple[Position, ...] = get_args(Position)
"""The meaning of a worker pool's place in the request (vertex-rules 3.2). A reduction server takes the third place."""
MOST_POOLS = len(POSITIONS)
SMALLEST_DISK, LARGEST_DISK = 100, 64_000


def _pools(subject: Subject) -> Iterator[str]:
    if not 1 <= len(subject.pools) <= MOST_POOLS:
        places = ", ".join(POSITIONS).replace("-", " ")
        yield f"{len(subject.pools)} worker pools: a job must have 1 to {MOST_POOLS}: {places}"
    elif not subject.pools[0]:
        yield "the first worker pool is empty; only the others may be"
    if subject.pools and subject.pools[0] and subject.workers[0].replicas != 1:
        yield f"worker pool 0 is the chief and must have exactly 1 replica, not {subject.workers[0].replicas}"
    for worker in subject.workers[1:]:
        if worker.replicas < 1:
            yield f"{worker.name}: {worker.replicas} replicas; give 1 or more, or leave the pool out"


@each_worker
def _machine(worker: Worker) -> Iterator[str]:
    shape = worker.shape
    if isinstance(shape, MachineError):
        yield f"{shape.what}; {shape.fix}"
    elif shape.accelerator and "acceleratorType" not in worker.spec:
        built_in = f"{shape.accelerator_count} × {shape.accelerator}"
        yield f"{shape.type} must also name its accelerators: {built_in}"
    if worker.topology and not worker.is_tpu:
        yield f"tpuTopology {worker.topology} on {worker.machine.type}, which is not a TPU machine"
    count = worker.machine.accelerator_count
    if worker.spec.get("gpuPartitionSize") and count != 1:
        yield f"with gpuPartitionSize the acceleratorCount must be 1, not {count}"


@each_worker
def _disk(worker: Worker) -> Iterator[str]:
    shape, disk = worker.shape, worker.machine.disk
    if isinstance(shape, Machine) and disk.type not in shape.disks:
        yield f"disk {disk.type} does not fit {shape.type}; fitting: {', '.join(shape.disks)}"
    if not SMALLEST_DISK <= disk.size_gb <= LARGEST_DISK:
        yield f"a boot disk must have {SMALLEST_DISK} to {LARGEST_DISK} GB, not {disk.size_gb}"


def _region(subject: Subject) -> Iterator[str]:
    shapes = [worker.shape for worker in subject.workers if isinstance(worker.shape, Machine)]
    asked = {shape.accelerator or (shape.family if shape.tpu_topology else "") for shape in shapes}
    for accelerator in sorted(asked - {""}):
        if lacking := lacks(subject.region, accelerator):
            yield "; ".join(lacking)


def _tpu(subject: Subject) -> Iterator[str]:
    tpus = [worker for worker in subject.workers if worker.is_tpu]
    if tpus and len(subject.workers) > 1:
        yield f"a TPU job must have one worker pool, not {len(subject.workers)}"
    for worker in tpus:
        if worker.replicas != 1:
            count = worker.replicas
            yield f"{worker.name}: a TPU worker pool must have 1 replica, not {count}; choose a larger topology"
        if subject.cluster:
            yield f"{worker.name} ({worker.machine.type}): persistent resources have no TPUs; take on-demand"
        vms = getattr(worker.shape, "vms", 1)
        if subject.is_of(SPOT) and vms > 1:
            size = worker.topology or worker.machine.accelerators
            yield f"{worker.name} ({worker.machine.type} {size}): a TPU pod of {vms} VMs can't be Spot; take on-demand"


RULES = (
    Rule(
        "pools",
        "One to four worker pools; the first has one replica, any other may be skipped.",
        "3.2",
        _pools,
    ),
    Rule("machine", "Machine, accelerator, count, partition and topology belong together.", "3.2, 7.1, 7.2", _machine),
    Rule("disk", "The boot disk's type fits the machine; it has 100 to 64,000 GB.", "3.2, 7.1", _disk),
    Rule("gpu-region", "The region has the accelerator for training.", "3.2 (GPU zones), 7.3", _region, of_place=True),
    Rule("tpu", "A TPU is in one worker pool of one replica, on no cluster; a pod is not Spot.", "1.5, 3.2, 7.2", _tpu),
)

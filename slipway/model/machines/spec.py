"""A machine as requests and pools have it, and as quota and prices count it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from slipway.model.machines.table import Machine, MachineError, accelerator, default_disk, machine, rows

KEY = re.compile("[a-z][a-z0-9_]*")
"""The form of a stack's key for a machine. Every machine type has a hyphen, so that none is taken for a key."""


def is_tpu(type: str) -> bool:
    return type in rows("tpus")


def machine_or_tpu(type: str, accelerator: str | None, count: int | None, topology: str | None) -> Machine:
    """Return the machine or TPU of a type. Raises MachineError."""
    return tpu(type, accelerator, count, topology) if is_tpu(type) else machine(type, accelerator, count)


def tpu(type: str, accelerator: str | None, count: int | None, topology: str | None) -> Machine:
    """Return the TPU machine of a type: `cloud-tpu` with TPU_V2 or TPU_V3 and a count, the others with a topology.

    `vms` of the result is more than 1 for a pod. Raises MachineError for a topology or count that the type does not
    have; its `field` may be "topology".
    """
    shape: Mapping[str, Any] = rows("tpus")[type]
    if "topologies" not in shape:
        kinds: Mapping[str, Mapping[str, int]] = shape["accelerators"]
        if topology is not None:
            raise MachineError("topology", f"{type} has no topology", f"give one of {', '.join(kinds)} and a count")
        if accelerator is None or accelerator not in kinds:
            lacks = f"{type} needs an accelerator" if count is None else "an accelerator count without a type"
            what = lacks if accelerator is None else f"{type} can't have {accelerator}"
            raise MachineError("type", what, f"one of {', '.join(kinds)}")
        chips, pod_chips = kinds[accelerator]["vm"], kinds[accelerator]["pod"]
        if count != chips and (not count or count % pod_chips):
            what = f"no count for {accelerator}" if count is None else f"{type} can't have {count} × {accelerator}"
            raise MachineError("count", what, f"{chips}, or a multiple of {pod_chips}")
        return replace(Machine.of(type, shape, accelerator, count), vms=count // chips)
    known: Mapping[str, int] = shape["topologies"]
    if accelerator is not None or count is not None:
        raise MachineError("accelerator", f"{type} takes no accelerator beside it", "give tpu_topology alone")
    if topology is None or topology not in known:
        what = "needs a topology" if topology is None else f"has no topology {topology!r}"
        raise MachineError("topology", f"{type} {what}", f"tpu_topology: one of {', '.join(known)}")
    return replace(Machine.of(type, shape, None, shape["chips"]), tpu_topology=topology, vms=known[topology])


def one_tpu(type: str, accelerator: str | None, chips: int) -> Machine:
    """Return one VM of a TPU, however it is joined with others; `chips` 0 stands for the type's number."""
    shape: Mapping[str, Any] = rows("tpus")[type]
    return Machine.of(type, shape, accelerator, chips or shape.get("chips", 0))


@dataclass(frozen=True)
class Disk:
    """The boot disk of each machine."""

    #: pd-ssd, pd-standard or hyperdisk-balanced; empty for the machine's default.
    type: str = ""
    size_gb: int = 100

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> Disk:
        """Read a `diskSpec`; an omitted size is the service's default."""
        return cls(
            type=str(body.get("bootDiskType") or ""),
            size_gb=int(body.get("bootDiskSizeGb") or 100),
        )

    def request(self) -> dict[str, Any]:
        """Return the `diskSpec` that `read` reads, everything written out."""
        return {"bootDiskType": self.type, "bootDiskSizeGb": self.size_gb}

    def __str__(self) -> str:
        """Return `pd-ssd 500 GB`, with every other field under the API's name: no two different disks read the same."""
        return ", ".join((f"{self.type} {self.size_gb} GB", *_beyond(self.request(), "bootDiskType", "bootDiskSizeGb")))


@dataclass(frozen=True)
class MachineSpec:
    """Machine type, accelerators and boot disk: a job runs on a resource pool only when all of them are equal."""

    type: str
    #: The API's enum name (NVIDIA_H100_80GB), or None.
    accelerator: str | None = None
    #: In each machine; 0 without an accelerator.
    accelerator_count: int = 0
    #: Its type is always resolved.
    disk: Disk = Disk()

    def __post_init__(self) -> None:
        if not self.disk.type:
            object.__setattr__(self, "disk", replace(self.disk, type=default_disk(self.type)))

    @property
    def shape(self) -> Machine:
        """The machine of the table, or one VM of a TPU. Raises MachineError."""
        if is_tpu(self.type):
            return one_tpu(self.type, self.accelerator, self.accelerator_count)
        return machine(self.type, self.accelerator, self.accelerator_count or None)

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> MachineSpec:
        """Read a `resourcePools` or `workerPoolSpecs` entry; an omitted disk is the service's default."""
        machine = body.get("machineSpec", {})
        accelerator = machine.get("acceleratorType")
        return cls(
            type=str(machine.get("machineType", "")),
            accelerator=None if accelerator in (None, "ACCELERATOR_TYPE_UNSPECIFIED") else str(accelerator),
            accelerator_count=int(machine.get("acceleratorCount", 0)),
            disk=Disk.read(body.get("diskSpec", {})),
        )

    def request(self) -> dict[str, dict[str, Any]]:
        """Return the entry that `read` reads, everything written out."""
        machine: dict[str, Any] = {"machineType": self.type}
        if self.accelerator:
            machine |= {"acceleratorType": self.accelerator, "acceleratorCount": self.accelerator_count}
        return {"machineSpec": machine, "diskSpec": self.disk.request()}

    @property
    def kind(self) -> tuple[str, str | None, int]:
        """The machine with its accelerators, which are scarce, whatever the disk."""
        return self.type, self.accelerator, self.accelerator_count

    @property
    def words(self) -> Mapping[str, str]:
        """Every field as text, by its name for people; a later one under the API's."""
        later = _beyond(self.request()["machineSpec"], "machineType", "acceleratorType", "acceleratorCount")
        return {
            "machine": self.type,
            "accelerator": self.accelerators,
            "disk": str(self.disk),
            **dict(text.split(" ", 1) for text in later),
        }

    @property
    def gpus(self) -> int:
        """The number of its GPUs; a TPU has none."""
        return self.accelerator_count if self.gpu_memory_gb else 0

    @property
    def gpu_memory_gb(self) -> int:
        """The memory of each of its GPUs; 0 without one."""
        known = accelerator(self.accelerator) if self.accelerator and not is_tpu(self.type) else None
        return (known and known.gpu_memory_gb) or 0

    @property
    def accelerators(self) -> str:
        """The accelerators as text: `NVIDIA_TESLA_T4 × 2`; `none`"""
        return f"{self.accelerator} × {self.accelerator_count}" if self.accelerator else "none"

    def __str__(self) -> str:
        """Return `a3-highgpu-8g`, or `n1-standard-8 with 2 NVIDIA_TESLA_T4`."""
        # All other types' names tell their GPUs.
        attached = self.accelerator and self.type.startswith("n1-")
        return f"{self.type} with {self.accelerator_count} {self.accelerator}" if attached else self.type


def _beyond(body: Mapping[str, Any], *known: str) -> list[str]:
    return [f"{key} {value}" for key, value in body.items() if key not in known]


def compared(ours: MachineSpec, theirs: MachineSpec) -> list[tuple[str, str, str]]:
    """Return every field of two machines, with both values as text: a job runs on a pool where all are equal."""
    our_words, their_words = ours.words, theirs.words
    return [(key, our_words.get(key, "none"), their_words.get(key, "none")) for key in {**our_words, **their_words}]


def shape_name(machines: Iterable[tuple[MachineSpec, int | str]]) -> str:
    """Return what tells a job's machines from those of its other shapes: `n1-standard-4, a2-highgpu-1g × 4`. A number
    may be a placeholder."""
    counts = ((machine, str(count).strip("${}")) for machine, count in machines)
    return ", ".join(str(machine) if count == "1" else f"{machine} × {count}" for machine, count in counts)


@dataclass(frozen=True)
class MachineGroup:
    """A number of equal machines."""

    machine: MachineSpec
    count: int

"""Machine types, the accelerators that fit them, and the regions that have them (data: machines.toml)."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

DISK_TYPES = ("pd-ssd", "pd-standard", "hyperdisk-balanced")
DISK_GB = (100, 64000)
RESERVED_ONLY = ("NVIDIA_GB200",)
"""Accelerators whose capacity comes from a shared reservation alone."""
UNPAIRED = ("accelerator_type", "Both `accelerator_type` and `accelerator_count` should be specified or none.")
"""The fault of an accelerator without a count, or the reverse, in the service's words (prefect-gcp issue 175)."""
_DATA = Path(__file__).with_name("machines.toml")
_PARTITION = re.compile(r"[1-9]g\.[1-9][0-9]*gb")
_PARTITIONED = (
    "NVIDIA_TESLA_A100",
    "NVIDIA_A100_80GB",
    "NVIDIA_H100_80GB",
    "NVIDIA_H100_MEGA_80GB",
    "NVIDIA_H200_141GB",
    "NVIDIA_B200",
    "NVIDIA_GB200",
    "NVIDIA_RTX_PRO_6000",
)


@dataclass(frozen=True)
class MachineType:
    """A machine type."""

    name: str
    family: str
    vcpus: int
    accelerator: str | None
    #: The counts allowed of each accelerator that it can carry, built-in ones too.
    attachable: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class MachineTable:
    """The machine types."""

    types: Mapping[str, MachineType]
    regions: tuple[str, ...]
    accelerator_regions: Mapping[str, tuple[str, ...]]
    #: Boot disks by the beginning of the name; the first one counts.
    disks: Mapping[str, tuple[str, ...]]

    @property
    def all_regions(self) -> tuple[str, ...]:
        """The regions of training, and those named only as having an accelerator."""
        return tuple(dict.fromkeys([*self.regions, *(r for where in self.accelerator_regions.values() for r in where)]))

    def spec_mistakes(self, spec: Mapping[str, Any], region: str) -> list[tuple[str, str]]:
        """Return the faults of a canonical machine spec, as (field of machine_spec, message)."""
        machine_type, accelerator = spec.get("machineType", ""), spec.get("acceleratorType")
        count = spec.get("acceleratorCount", 0)
        if machine_type in self.types and (accelerator is None) != (count == 0):
            return [UNPAIRED]
        mistakes = self.mistakes(machine_type, accelerator, count, region)
        return mistakes or _partition_mistakes(spec.get("gpuPartitionSize", ""), accelerator, count)

    def mistakes(self, machine_type: str, accelerator: str | None, count: int, region: str) -> list[tuple[str, str]]:
        """Return the same of a machine and its accelerators."""
        if not machine_type:
            return [("machine_type", "Machine type is required.")]
        machine = self.types.get(machine_type)
        if machine is None:
            return [("machine_type", f"Machine type {machine_type} is not supported.")]
        if accelerator is None:
            if count:
                return [("accelerator_count", "Accelerator count is set without an accelerator type.")]
            if machine.accelerator:
                needed = f"{machine.attachable[machine.accelerator][0]} {machine.accelerator}"
                return [("accelerator_type", f"Machine type {machine_type} requires accelerators: {needed}.")]
            return []
        if accelerator not in machine.attachable:
            return [("accelerator_type", f"Accelerator {accelerator} is not supported on machine type {machine_type}.")]
        allowed = machine.attachable[accelerator]
        if count not in allowed:
            known = ", ".join(map(str, allowed))
            text = f"Accelerator count {count} of {accelerator} is not supported on {machine_type}; supported: {known}."
            return [("accelerator_count", text)]
        if region not in self.accelerator_regions.get(accelerator, ()):
            return [("accelerator_type", f"Accelerator {accelerator} is not available in region {region}.")]
        return []


def _partition_mistakes(size: str, accelerator: str | None, count: int) -> list[tuple[str, str]]:
    """Return the fault in the size of a part of a GPU (MIG), as Nvidia names it: 3g.20gb."""
    if not size:
        return []
    if accelerator not in _PARTITIONED:
        return [("gpu_partition_size", f"Only these accelerators can be partitioned: {', '.join(_PARTITIONED)}.")]
    if count != 1:
        return [("accelerator_count", "Accelerator count must be 1 with gpu_partition_size.")]
    if not _PARTITION.fullmatch(size):
        return [("gpu_partition_size", f'"{size}" is not the size of a GPU partition, such as 3g.20gb.')]
    return []


def disk_types(machine_type: str) -> tuple[str, ...]:
    """Return the boot disks that a machine takes, its default one first."""
    disks = table().disks
    return next((some for beginning, some in disks.items() if machine_type.startswith(beginning)), DISK_TYPES)


def default_disk_type(machine_type: str) -> str:
    return disk_types(machine_type)[0]


@cache
def data() -> Mapping[str, Any]:
    """Return the content of machines.toml, read once."""
    return tomllib.loads(_DATA.read_text(encoding="utf-8"))


@cache
def table() -> MachineTable:
    """Return the machines that the local cloud has."""
    attach = {machine: item["counts"] for item in data()["attach"] for machine in item["machines"]}
    types: dict[str, MachineType] = {}
    for series, sizes in data()["cpu"].items():
        for size in sizes:
            name = f"{series}-{size}"
            fits = {accelerator: tuple(counts) for accelerator, counts in attach.get(name, {}).items()}
            types[name] = MachineType(name, series.split("-")[0], size, None, fits)
    for name, (vcpus, accelerator, count) in data()["gpu"].items():
        types[name] = MachineType(name, name.split("-")[0], vcpus, accelerator, {accelerator: (count,)})
    regions = {accelerator: tuple(where) for accelerator, where in data()["accelerators"].items()}
    disks = {beginning: tuple(some) for beginning, some in data()["disks"].items()}
    return MachineTable(types, tuple(data()["regions"]), regions, disks)

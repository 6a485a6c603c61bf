"""The shape of a replica: its machine and disk, as pools and jobs are compared."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .machines import default_disk_type

DEFAULT_DISK_GB = 100
_PATHS = {
    "machine_type": "machine_spec.machine_type",
    "accelerator_type": "machine_spec.accelerator_type",
    "accelerator_count": "machine_spec.accelerator_count",
    "rest": "machine_spec",
    "disk_type": "disk_spec.boot_disk_type",
    "disk_gb": "disk_spec.boot_disk_size_gb",
    "disk_rest": "disk_spec",
}


@dataclass(frozen=True)
class Shape:
    """A machine and a disk after the service's defaults."""

    machine_type: str
    accelerator_type: str | None
    accelerator_count: int
    disk_type: str
    disk_gb: int
    #: Other fields, as JSON; so are those of the disk.
    rest: str = "{}"
    disk_rest: str = "{}"

    def differences(self, other: "Shape") -> list[str]:
        """Return the fields in which two shapes differ: `machine_spec.machine_type n1-standard-4 != n1-standard-8`."""
        return [
            f"{path} {getattr(self, name) or 'none'} != {getattr(other, name) or 'none'}"
            for name, path in _PATHS.items()
            if getattr(self, name) != getattr(other, name)
        ]


def shape_of(machine_spec: Mapping[str, Any], disk_spec: Mapping[str, Any]) -> Shape:
    """Return the shape of canonical JSON specs (camelCase, enum names)."""
    rest = _others(machine_spec, "machineType", "acceleratorType", "acceleratorCount")
    if rest.get("reservationAffinity", {}).get("reservationAffinityType") == "NO_RESERVATION":
        del rest["reservationAffinity"]
    machine_type = machine_spec.get("machineType", "")
    return Shape(
        machine_type=machine_type,
        accelerator_type=machine_spec.get("acceleratorType"),
        accelerator_count=int(machine_spec.get("acceleratorCount", 0)),
        disk_type=disk_spec.get("bootDiskType") or default_disk_type(machine_type),
        disk_gb=int(disk_spec.get("bootDiskSizeGb", 0)) or DEFAULT_DISK_GB,
        rest=json.dumps(rest, sort_keys=True),
        disk_rest=json.dumps(_others(disk_spec, "bootDiskType", "bootDiskSizeGb"), sort_keys=True),
    )


def _others(spec: Mapping[str, Any], *known: str) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in known}


def defaulted_disk(machine_spec: Mapping[str, Any], disk_spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the disk as the service answers it: its fields as they were sent, type and size filled in."""
    shape = shape_of(machine_spec, disk_spec)
    return {**disk_spec, "bootDiskType": shape.disk_type, "bootDiskSizeGb": shape.disk_gb}

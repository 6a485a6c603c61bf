"""Machines of Vertex AI training: table.json is the data, `machine` the lookup, `MachineSpec` what is asked for."""

from slipway.machines.spec import Disk, MachineGroup, MachineSpec
from slipway.machines.table import (
    Machine,
    MachineError,
    accelerators,
    accelerators_in,
    machine,
    machine_types,
    region_has,
    regions,
    regions_with,
)
from slipway.machines.tpu import is_tpu, one_tpu, tpu

__all__ = [
    "Disk",
    "Machine",
    "MachineError",
    "MachineGroup",
    "MachineSpec",
    "accelerators",
    "accelerators_in",
    "is_tpu",
    "machine",
    "machine_types",
    "one_tpu",
    "region_has",
    "regions",
    "regions_with",
    "tpu",
]

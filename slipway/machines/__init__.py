"""Machines of Vertex AI training: table.json is the data, `machine` the lookup, `MachineSpec` what is asked for."""

from slipway.machines.accelerator import Accelerator, accelerator, all_accelerators, models
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
    "Accelerator",
    "Disk",
    "Machine",
    "MachineError",
    "MachineGroup",
    "MachineSpec",
    "accelerator",
    "accelerators",
    "accelerators_in",
    "all_accelerators",
    "is_tpu",
    "machine",
    "machine_types",
    "models",
    "one_tpu",
    "region_has",
    "regions",
    "regions_with",
    "tpu",
]

"""Machine shapes of Vertex AI training: table.json is the data, `machine` the lookup."""

from slipway.machines.table import (
    Machine,
    MachineError,
    accelerators,
    accelerators_in,
    machine,
    machine_types,
    nearest,
    region_has,
    regions,
    regions_with,
)

__all__ = [
    "Machine",
    "MachineError",
    "accelerators",
    "accelerators_in",
    "machine",
    "machine_types",
    "nearest",
    "region_has",
    "regions",
    "regions_with",
]

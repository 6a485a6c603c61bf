"""Machine shapes of Vertex AI training: table.json is the data, `machine` the lookup."""

from slipway.machines.table import Machine, MachineError, accelerators_in, machine, machine_types, region_has, regions

__all__ = [
    "Machine",
    "MachineError",
    "accelerators_in",
    "machine",
    "machine_types",
    "region_has",
    "regions",
]

"""TPU machines (vertex-rules 7.2) that a job may ask for. The local cloud has none (data: machines.toml)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from . import machines

_CHIPS, _POD_CHIPS = 8, 32
_OLD = "cloud-tpu"
_OLD_KINDS = ("TPU_V2", "TPU_V3")


@dataclass(frozen=True)
class TpuType:
    """A type of TPU."""

    name: str
    #: The key of its regions.
    kind: str
    #: The number of VMs of each.
    topologies: Mapping[str, int]


def is_tpu(machine: Mapping[str, Any]) -> bool:
    """Return whether a canonical machine spec is one of TPUs, valid or not."""
    name = machine.get("machineType", "")
    return name == _OLD or name in table()


def is_pod(machine: Mapping[str, Any]) -> bool:
    """Return whether a canonical machine spec joins several VMs to a pod."""
    accelerator, chips = machine.get("acceleratorType", ""), int(machine.get("acceleratorCount", 0))
    type_ = table().get(machine.get("machineType", ""))
    several = type_ is not None and type_.topologies.get(machine.get("tpuTopology", ""), 1) > 1
    return several or accelerator.endswith("_POD") or (accelerator in _OLD_KINDS and chips > _CHIPS)


def mistakes(machine: Mapping[str, Any], region: str) -> list[tuple[str, str]]:
    """Return the errors in a TPU's canonical machine spec, as (field of machine_spec, message)."""
    name, accelerator = machine["machineType"], machine.get("acceleratorType")
    chips, topology = int(machine.get("acceleratorCount", 0)), machine.get("tpuTopology", "")
    type_ = table().get(name)
    if type_ is None:
        if accelerator not in _OLD_KINDS:
            text = f"Machine type {name} requires one of the accelerators {', '.join(_OLD_KINDS)}."
            return [("accelerator_type", text)]
        if not chips:
            return [machines.UNPAIRED]
        if chips != _CHIPS and (chips <= 0 or chips % _POD_CHIPS):
            text = f"Accelerator count {chips} of {accelerator} is not supported; supported: {_CHIPS}, and multiples of"
            return [("accelerator_count", f"{text} {_POD_CHIPS}.")]
        if topology:
            return [("tpu_topology", f"Machine type {name} takes no TPU topology.")]
        return _elsewhere(accelerator, region)
    if accelerator is not None:
        return [("accelerator_type", f"Accelerator {accelerator} is not supported on machine type {name}.")]
    if chips:
        return [machines.UNPAIRED]
    if topology not in type_.topologies:
        known = ", ".join(type_.topologies)
        text = f'TPU topology "{topology}" is not supported on machine type {name}; supported: {known}.'
        return [("tpu_topology", text)]
    return _elsewhere(type_.kind, region)


@cache
def table() -> Mapping[str, TpuType]:
    """Return the types that have a topology, by name."""
    return {name: TpuType(name, kind, topologies) for name, (kind, topologies) in machines.data()["tpu"].items()}


def _elsewhere(kind: str, region: str) -> list[tuple[str, str]]:
    if region in machines.table().accelerator_regions[kind]:
        return []
    return [("machine_type", f"{kind} is not available in region {region}.")]

"""The machine of a task: the smallest that has the processors, the memory and the accelerators that it asks for."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...supply import machines
from ...supply.shape import Shape
from ..clusters.records import Cluster

USUAL = "e2-standard-4"
"""The machine of a task that asks for nothing, as the service's pages have it."""
_FAMILIES = ("e2", "n1", "m1")
_GB_PER_VCPU = {"standard": 4.0, "highmem": 8.0, "highcpu": 1.0, "ultramem": 24.0, "megamem": 14.9}
_GB_PER_VCPU_OF_N1 = {"standard": 3.75, "highmem": 6.5, "highcpu": 0.9}
_GB_BESIDE_A_GPU = 7.0
_QUANTITY = re.compile(r"([0-9.]+)(m|[KMGT]i?)?")
_UNITS = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}


@dataclass(frozen=True)
class Need:
    """The need of a task. Memory in GB."""

    cpus: float = 0.0
    memory: float = 0.0
    accelerator: str = ""
    count: int = 0

    def met_by(self, name: str, accelerator: str, count: int) -> bool:
        machine = machines.table().types.get(name)
        return (
            machine is not None
            and machine.vcpus >= self.cpus
            and _memory(machine) >= self.memory
            and (not self.count or (accelerator == self.accelerator and count >= self.count))
        )


def need(resources: Mapping[str, Any], fill: Callable[[str], str]) -> Need:
    """Return what a container's resources ask for; `fill` replaces placeholders. Raises ValueError."""
    gpu = resources.get("accelerator", {})
    count = fill(str(gpu.get("resourceCount") or gpu.get("count") or "0"))
    return Need(
        cpus=_cpus(fill(str(resources.get("resourceCpuLimit") or resources.get("cpuLimit") or "0"))),
        memory=_gb(fill(str(resources.get("resourceMemoryLimit") or f"{resources.get('memoryLimit') or 0}G"))),
        accelerator=fill(str(gpu.get("resourceType") or gpu.get("type") or "")),
        count=int(float(count)),
    )


def own(need: Need) -> dict[str, Any]:
    """Return the machine spec of a task on machines of its own. Raises ValueError where no machine is large enough."""
    if not (need.cpus or need.memory or need.count):
        return {"machineType": USUAL}
    types = machines.table().types.values()
    if need.count:
        carry = [item for item in types if need.count in item.attachable.get(need.accelerator, ())]
        fitting = [item for item in carry if need.met_by(item.name, need.accelerator, need.count)]
        more = {"acceleratorType": need.accelerator, "acceleratorCount": need.count}
    else:
        fitting, more = [item for item in types if item.family in _FAMILIES and need.met_by(item.name, "", 0)], {}
    if not fitting:
        raise ValueError(f"no machine has {words(need)}")
    chosen = min(fitting, key=lambda item: (item.vcpus, item.family != "e2", _memory(item)))
    return {"machineType": chosen.name, **more}


def of_cluster(need: Need, cluster: Cluster) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return machine and disk spec of the smallest pool of a cluster that suffices. Raises ValueError for none."""
    fitting = [
        (pool.shape, body)
        for pool, body in zip(cluster.pools, cluster.body["resourcePools"], strict=True)
        if need.met_by(pool.shape.machine_type, pool.shape.accelerator_type or "", pool.shape.accelerator_count)
    ]
    if not fitting:
        raise ValueError(f"no resource pool of {cluster.name} has {words(need)}")
    body = min(fitting, key=lambda pair: _size(pair[0]))[1]
    return dict(body["machineSpec"]), dict(body["diskSpec"])


def words(need: Need) -> str:
    """Return the need in words: `4 CPUs, 15 GB, 1 NVIDIA_L4`."""
    parts: Iterable[str] = (
        f"{need.cpus:g} CPUs" if need.cpus else "",
        f"{need.memory:g} GB" if need.memory else "",
        f"{need.count} {need.accelerator}" if need.count else "",
    )
    return ", ".join(filter(None, parts)) or "any machine"


def _size(shape: Shape) -> tuple[int, int, str]:
    machine = machines.table().types[shape.machine_type]
    return shape.accelerator_count, machine.vcpus, machine.name


def _memory(machine: machines.MachineType) -> float:
    series = machine.name.split("-")[1]
    known = _GB_PER_VCPU_OF_N1 if machine.family == "n1" else _GB_PER_VCPU
    return machine.vcpus * known.get(series, _GB_BESIDE_A_GPU)


def _cpus(text: str) -> float:
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def _gb(text: str) -> float:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no amount of memory")
    unit = match[2] or ""
    binary = 1.024 ** " KMGT".index(unit[0]) if unit.endswith("i") else 1.0
    return float(match[1]) * _UNITS[unit[:1]] * binary

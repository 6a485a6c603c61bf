"""TPU machines of Vertex AI training: for jobs beside the pools alone, as no persistent resource takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slipway.machines.table import Machine, MachineError, machine, rows


def is_tpu(type: str) -> bool:
    return type in rows("tpus")


def machine_or_tpu(type: str, accelerator: str | None, count: int | None, topology: str | None) -> Machine:
    """Whichever a type is. Raises MachineError."""
    return tpu(type, accelerator, count, topology) if is_tpu(type) else machine(type, accelerator, count)


def tpu(type: str, accelerator: str | None, count: int | None, topology: str | None) -> Machine:
    """The TPU machine of a type: `cloud-tpu` with TPU_V2 or TPU_V3 and a count, the others with a topology.

    `vms` of the result is more than 1 for a pod. Raises MachineError for a topology or count that the type does not
    have; its `field` may be "topology".
    """
    shape: Mapping[str, Any] = rows("tpus")[type]
    if "topologies" not in shape:
        return _by_count(type, shape, accelerator, count, topology)
    known: Mapping[str, int] = shape["topologies"]
    if accelerator is not None or count is not None:
        raise MachineError("accelerator", f"{type} takes no accelerator beside it", "give tpu_topology alone")
    if topology is None or topology not in known:
        what = "needs a topology" if topology is None else f"has no topology {topology!r}"
        raise MachineError("topology", f"{type} {what}", f"tpu_topology: one of {', '.join(known)}")
    return Machine.of(type, shape, None, shape["chips"], topology, known[topology])


def one_tpu(type: str, accelerator: str | None, chips: int) -> Machine:
    """One VM of a TPU, however it is joined with others; `chips` 0 are those of the type."""
    shape: Mapping[str, Any] = rows("tpus")[type]
    return Machine.of(type, shape, accelerator, chips or shape.get("chips", 0))


def _by_count(
    type: str, shape: Mapping[str, Any], accelerator: str | None, count: int | None, topology: str | None
) -> Machine:
    kinds: Mapping[str, Mapping[str, int]] = shape["accelerators"]
    if topology is not None:
        raise MachineError("topology", f"{type} has no topology", f"give one of {', '.join(kinds)} and a count")
    if accelerator is None or accelerator not in kinds:
        raise MachineError("type", f"{type} can't have {accelerator}", f"one of {', '.join(kinds)}")
    one, pod = kinds[accelerator]["vm"], kinds[accelerator]["pod"]
    if count != one and (not count or count % pod):
        raise MachineError("count", f"{type} can't have {count} × {accelerator}", f"{one}, or a multiple of {pod}")
    return Machine.of(type, shape, accelerator, count, None, count // one)

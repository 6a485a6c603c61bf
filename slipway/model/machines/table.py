"""The machine table: machines, accelerators and regions, with errors that name a valid value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest, numbered, quoted

_USUAL_DISKS = ("pd-ssd", "pd-standard")
_WITHDRAWN = "NVIDIA_TESLA_K80"
"""A GPU that the API still names, and has no machines of."""


@dataclass(frozen=True)
class Machine:
    """A machine, or a TPU of one or more VMs."""

    type: str
    vcpus: int
    family: str
    #: The API's enum name, or None.
    accelerator: str | None
    #: For a TPU, the chips of one VM.
    accelerator_count: int
    disks: tuple[str, ...]
    #: The way in which a TPU's VMs are joined.
    tpu_topology: str | None = None
    vms: int = 1
    #: 0 where it is not known.
    memory_gb: float = 0.0

    @property
    def size(self) -> tuple[int, int, float]:
        """Its accelerators, CPUs and memory."""
        return self.accelerator_count, self.vcpus, self.memory_gb

    @classmethod
    def of(cls, type: str, row: Mapping[str, Any], accelerator: str | None, count: int) -> Machine:
        """Return a machine from its row; a row without disks takes the default ones."""
        return cls(
            type=type,
            vcpus=row["vcpus"],
            family=row["family"],
            accelerator=accelerator,
            accelerator_count=count,
            disks=tuple(row.get("disks", _USUAL_DISKS)),
            memory_gb=row.get("memoryGb", 0.0),
        )


@dataclass(frozen=True)
class Accelerator:
    """An accelerator: a GPU, or a family of TPUs."""

    #: The API's enum name, or the family's.
    name: str
    #: The common name: A100, of 40 and 80 GB.
    model: str
    #: The end of its quota metric's name.
    quota: str
    #: The middle of its quota's id.
    quota_id: str
    label: str
    #: False where the metric's name is inferred.
    documented: bool = True
    #: It has a preemptible metric.
    preemptible: bool = True
    flex_start: bool = False
    #: Its machines are given to reservations alone.
    reserved_only: bool = False
    #: Of one accelerator; None for a TPU.
    gpu_memory_gb: int | None = None
    #: NVIDIA's number of a GPU's generation; None for a TPU.
    compute_capability: float | None = None


class MachineError(ConfigError):
    """An unknown or impossible machine."""

    def __init__(self, field: str, what: str, fix: str) -> None:
        """Make an error. `field` is the mistaken one: "machine", "accelerator", "type" (its own) or "count"."""
        super().__init__(what, fix=fix)
        self.field = field


def machine(type: str, accelerator: str | None = None, count: int | None = None) -> Machine:
    """Return the machine of a type, with the requested accelerators.

    Types with built-in accelerators need neither argument and accept only their own; N1 takes those of its attach
    table, with their count. Raises MachineError for an unknown type or accelerator, and for an accelerator or count
    that does not fit.
    """
    shapes: Mapping[str, Any] = _table()["machines"]
    if type not in shapes:
        raise _unknown_machine(type)
    if accelerator is not None and (unknown := unknown_accelerator(accelerator)):
        raise unknown
    shape = shapes[type]
    kind: str | None
    built_in: str | None = shape.get("accelerator")
    if built_in is not None:
        kind, number = built_in, shape["acceleratorCount"]
        fix = f"leave the accelerator out: {type} has {kind} × {number} built in"
        if accelerator not in (None, kind):
            raise MachineError("type", f"{type} can't have {accelerator}", fix)
        if count not in (None, number):
            raise MachineError("count", f"{type} can't have {count} × {kind}", fix)
    elif accelerator is None:
        if count:
            raise MachineError("type", "an accelerator count without a type", _attachable(type))
        kind, number = None, 0
    else:
        kind, number = _attached(type, accelerator, count)
    return Machine.of(type, shape, kind, number)


def unknown_accelerator(name: str) -> MachineError | None:
    """Return the mistake in an accelerator's name; None for one that there is."""
    if name in accelerators():
        return None
    if numbered(name) == numbered(_WITHDRAWN):
        return MachineError("type", f"Vertex AI has no {quoted(name)} any more", "NVIDIA_TESLA_T4, for example")
    parts = set(name.upper().replace("-", "_").split("_"))  # NVIDIA_TESLA_T4 is meant by T4, nvidia-t4 and the like.
    named = [kind for kind in accelerators() if parts <= set(kind.split("_"))]
    alike = (kind for kind in accelerators() if numbered(kind) == numbered(name))
    fix = _meant(named[0] if named else nearest(name, alike)) or f"one of {', '.join(accelerators())}"
    return MachineError("type", f"unknown accelerator {quoted(name)}", fix)


def default_disk(type: str) -> str:
    """Return the default type of a boot disk; for an unknown machine the service's general default."""
    row: Mapping[str, Any] = _table()["machines"].get(type, {})
    return str(row.get("defaultDisk", row.get("disks", _USUAL_DISKS)[0]))


def machine_types() -> tuple[str, ...]:
    return tuple(_table()["machines"])


def regions() -> tuple[str, ...]:
    """Return the regions with custom training."""
    return tuple(_table()["regions"])


def accelerators() -> tuple[str, ...]:
    """Return every accelerator that some machine has or takes, by its enum name."""
    return tuple(sorted(_table()["accelerators"]))


def region_has(region: str, accelerator: str) -> bool:
    """Tell whether a region has a GPU, or the chips of a TPU, for training."""
    row = rows("accelerators").get(accelerator) or rows("chips").get(accelerator, {})
    return region in row.get("regions", ())


def regions_with(accelerator: str) -> tuple[str, ...]:
    return tuple(region for region in regions() if region_has(region, accelerator))


def lacks(region: str, accelerator: str | None) -> tuple[str, str] | None:
    """Return that a region lacks an accelerator, and the regions that have it; None where nothing is missing."""
    if accelerator is None or region not in regions() or region_has(region, accelerator):
        return None
    where = ", ".join(regions_with(accelerator))
    fix = f"regions that have it: {where}" if where else "another accelerator"
    return f"{region} has no {rows('chips').get(accelerator, {}).get('model', accelerator)} for training", fix


def accelerator(name: str) -> Accelerator:
    return _accelerators()[name]


def all_accelerators() -> Iterator[Accelerator]:
    """Yield the GPUs in the table's order, then the chips of TPUs."""
    return iter(_accelerators().values())


def models(*, flex_start: bool = False, reserved_only: bool = False) -> tuple[str, ...]:
    """Return the common names of accelerators that flex-start offers, or that only a reservation gives."""
    names = (
        row.model
        for row in all_accelerators()
        if (row.flex_start and flex_start) or (row.reserved_only and reserved_only)
    )
    return tuple(dict.fromkeys(names))


def _of_family(type: str) -> str | None:
    """Return e2-standard-4 for e2-standard-2: the machine of the family with the nearest size."""
    family, _, size = type.rpartition("-")
    sized = re.compile(rf"{re.escape(family)}-(\d+)")
    sizes = [int(match[1]) for name in machine_types() if (match := sized.fullmatch(name))]
    if not size.isdecimal() or not sizes:
        return None
    return f"{family}-{min(sizes, key=lambda known: abs(known - int(size)))}"


def _meant(word: str | None) -> str:
    return f"did you mean `{word}`?" if word else ""


def _attached(type: str, accelerator: str, count: int | None) -> tuple[str, int]:
    counts = _table()["attach"].get(type, {}).get(accelerator)
    if counts is None:
        with_it = [name for name, shape in _table()["machines"].items() if shape.get("accelerator") == accelerator]
        fix = f"machines with {accelerator}: {', '.join(with_it)}" if with_it else _attachable(type)
        raise MachineError("type", f"{type} can't have {accelerator}", fix)
    allowed = ", ".join(str(number) for number in counts)
    if count is None:
        raise MachineError("accelerator", f"no count for {accelerator}", f"count: one of {allowed}")
    if count not in counts:
        raise MachineError("count", f"{type} can't have {count} × {accelerator}", f"one of {allowed}")
    return accelerator, count


def _attachable(type: str) -> str:
    kinds: Mapping[str, list[int]] = _table()["attach"].get(type, {})
    if not kinds:
        built_in = {shape["family"] for row in rows("accelerators").values() for shape in row["machines"].values()}
        theirs = f"n1-* machines take some, {join(sorted(built_in))} have theirs"
        return f"leave the accelerator out: {type} takes none; {theirs}"
    return f"{type} takes " + ", ".join(f"{kind} × {'/'.join(map(str, counts))}" for kind, counts in kinds.items())


def _unknown_machine(type: str) -> MachineError:
    what = f"unknown machine type {quoted(type)}"
    if type.startswith(("ct", "cloud-tpu", "tpu")):
        return MachineError(
            "machine", f"{what}: TPU machines can't be in a persistent resource", "a VM or GPU machine type"
        )
    if type in ("n1-standard-1", "n1-standard-2"):
        return MachineError("machine", f"{type} is too small for training", _meant("n1-standard-4"))
    kin = [name for name in machine_types() if name.split("-")[0] == type.split("-")[0]]
    families = join(sorted({name.split("-")[0] for name in machine_types()}), "or")
    suggestion = _meant(_of_family(type) or nearest(type, kin)) or ", ".join(kin)
    return MachineError("machine", what, suggestion or f"one of family {families}: n1-standard-8, for example")


def rows(part: str) -> Mapping[str, Any]:
    """Return one part of table.json; `machines` also has those with built-in accelerators."""
    of_part: Mapping[str, Any] = _table()[part]
    return of_part


@cache
def _table() -> Mapping[str, Any]:
    table: dict[str, Any] = json.loads(Path(__file__).with_name("table.json").read_text("utf-8"))
    with_their_own = {
        type: {**shape, "accelerator": name}
        for name, row in table["accelerators"].items()
        for type, shape in row["machines"].items()
    }
    return {**table, "machines": {**with_their_own, **table["machines"]}}


@cache
def _accelerators() -> dict[str, Accelerator]:
    named = (*rows("accelerators").items(), *rows("chips").items())
    return {name: codec.read(Accelerator, {**row, "name": name}) for name, row in named}

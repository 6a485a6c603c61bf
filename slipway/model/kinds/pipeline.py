"""A compiled Kubeflow pipeline (its IR, as kfp 2 writes it): parameters, tasks, and machines needed at once. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from slipway.model.machines.table import Machine, MachineError, machine, machine_types

Json = Mapping[str, Any]
TYPES: Mapping[str, type[Any]] = {
    "STRING": str,
    "NUMBER_INTEGER": int,
    "NUMBER_DOUBLE": float,
    "BOOLEAN": bool,
    "LIST": list,
    "STRUCT": dict,
}
"""The types of parameters. A template has lists and objects as texts, which are JSON."""
USUAL = "e2-standard-4"
"""The machine that Vertex AI gives a task that asks for nothing."""
_GB = {"": 1e-9, "K": 1e-6, "M": 1e-3, "G": 1.0, "T": 1e3}
_FAMILIES = ("e2", "n1", "m1")
_MOST_COMPARED = 40
"""The tasks up to which those that may run at once are told apart; of more, all may."""


@dataclass(frozen=True)
class Need:
    """The need of a task; all zero where it asks for nothing. Memory in GB."""

    cpus: float = 0.0
    memory: float = 0.0
    accelerator: str = ""
    count: int = 0

    @classmethod
    def read(cls, resources: Json) -> Need:
        """Read a container's resources. Those that are known only in a run, `{{$…}}`, count as none."""
        gpu = resources.get("accelerator", {})
        return cls(
            cpus=_amount(resources.get("resourceCpuLimit") or resources.get("cpuLimit"), unit=1.0),
            memory=_amount(resources.get("resourceMemoryLimit") or f"{resources.get('memoryLimit') or 0}G", unit=1e-9),
            accelerator=str(gpu.get("resourceType") or gpu.get("type") or ""),
            count=int(_amount(gpu.get("resourceCount") or gpu.get("count"), unit=1.0)),
        )

    def compared(self, has: Machine) -> Iterator[tuple[str, str, str, bool]]:
        """Yield each field of a machine with what is needed, what it has, and whether that suffices."""
        yield "CPUs", f"{self.cpus:g}", str(has.vcpus), has.vcpus >= self.cpus
        yield "memory", f"{self.memory:g} GB", f"{has.memory_gb:g} GB", has.memory_gb >= self.memory
        fits = not self.count or (has.accelerator == self.accelerator and has.accelerator_count >= self.count)
        theirs = f"{has.accelerator_count} {has.accelerator}" if has.accelerator else "none"
        yield "accelerator", f"{self.count} {self.accelerator}" if self.count else "none", theirs, fits

    def own(self) -> Machine | None:
        """Return the smallest machine that suffices, as the service chooses; None where there is none."""
        if self == Need():
            return machine(USUAL)
        shapes, asked = list[Machine](), (self.accelerator, self.count) if self.count else (None, None)
        for type_ in machine_types():
            if self.count or type_.partition("-")[0] in _FAMILIES:
                with suppress(MachineError):
                    shapes.append(machine(type_, *asked))
        fitting = [shape for shape in shapes if all(row[3] for row in self.compared(shape))]
        return min(fitting, key=lambda shape: (shape.vcpus, shape.family != "e2", shape.memory_gb), default=None)


@dataclass(frozen=True)
class TaskGroup:
    """The tasks of a pipeline that need the same, and how many of them may run at once, beyond those for which the
    machines of more demanding tasks suffice that never run with them."""

    need: Need
    tasks: tuple[str, ...]
    at_once: int


@dataclass(frozen=True)
class Pipeline:
    """A compiled pipeline."""

    spec: Json

    @property
    def parameters(self) -> Mapping[str, Json]:
        """The definitions of its parameters, by name."""
        found: Mapping[str, Json] = self.spec.get("root", {}).get("inputDefinitions", {}).get("parameters", {})
        return found

    @property
    def offered(self) -> tuple[str, ...]:
        """The parameters that a submission gives: all but optional ones without a default, which it leaves out."""
        return tuple(
            name for name, each in self.parameters.items() if "defaultValue" in each or not each.get("isOptional")
        )

    def type_of(self, parameter: str) -> type[Any] | None:
        """Return a parameter's type; None for one that no submission can give."""
        return TYPES.get(str(self.parameters.get(parameter, {}).get("parameterType")))

    @property
    def images(self) -> tuple[str, ...]:
        """The images of its tasks, each once."""
        executors = self.spec.get("deploymentSpec", {}).get("executors", {}).values()
        return tuple(dict.fromkeys(str(each["container"]["image"]) for each in executors if "container" in each))

    @property
    def groups(self) -> tuple[TaskGroup, ...]:
        """The tasks by their needs, the most demanding first. Raises KeyError for what the pipeline lacks, ValueError
        for tasks that wait for each other.

        Of a loop over listed items as many run as there are, at most its own limit; of one over a task's output, one is
        counted, as nothing tells how many there will be. A task under a condition counts.
        """
        tasks = list(_tasks(self.spec, self.spec["root"]["dag"])) if "root" in self.spec else []
        needs = sorted(
            dict.fromkeys(task.need for task in tasks), key=lambda need: (need.count, need.cpus, need.memory)
        )
        shapes, found = {need: need.own() for need in needs}, list[TaskGroup]()
        for need in reversed(needs):
            larger = {group.need: group.at_once for group in found if _serves(shapes[group.need], shapes[need])}
            together = _at_once([task for task in tasks if task.need in (need, *larger)])
            paths = tuple(task.path for task in tasks if task.need == need)
            found.append(TaskGroup(need, paths, max(0, together - sum(larger.values()))))
        return tuple(found)


def _serves(larger: Machine | None, other: Machine | None) -> bool:
    """Tell whether a machine has all that another one has, and draws the same quota."""
    if larger is None or other is None:
        return False
    families = {larger.family, other.family}
    alike = larger.accelerator == other.accelerator and (len(families) == 1 or families <= {"e2", "n1"})
    sizes = [(each.accelerator_count, each.vcpus, each.memory_gb) for each in (larger, other)]
    return alike and all(has >= needed for has, needed in zip(*sizes, strict=True))


@dataclass(frozen=True)
class _Task:
    path: str
    need: Need
    #: The tasks and graphs that it comes after.
    after: frozenset[str]
    #: How many of it run at once.
    times: int


def _tasks(
    spec: Json, dag: Json, above: str = "", after: frozenset[str] = frozenset(), times: int = 1
) -> Iterator[_Task]:
    bodies: Mapping[str, Json] = dag["tasks"]
    first = {name: body.get("dependentTasks", ()) for name, body in bodies.items()}
    earlier: dict[str, frozenset[str]] = {}
    for name in TopologicalSorter(first).static_order():
        earlier[name] = after.union(*(earlier[other] | {above + other} for other in first[name]))
    for name, body in bodies.items():
        component = spec["components"][body["componentRef"]["name"]]
        if "dag" in component:
            yield from _tasks(spec, component["dag"], f"{above}{name}.", earlier[name], times * _iterations(body))
            continue
        executor = spec.get("deploymentSpec", {}).get("executors", {})[component["executorLabel"]]
        if "container" in executor:
            need = Need.read(executor["container"].get("resources", {}))
            yield _Task(above + name, need, earlier[name], times * _iterations(body))


def _iterations(body: Json) -> int:
    items = body.get("parameterIterator", {}).get("items", {}).get("raw")
    count = len(json.loads(items)) if items else 1
    limit = int(body.get("iteratorPolicy", {}).get("parallelismLimit", 0))
    return max(1, min(count, limit) if limit else count)


def _at_once(tasks: list[_Task]) -> int:
    """Return how many of some tasks may run at once: the most that do not come after one another."""
    if len(tasks) > _MOST_COMPARED:
        return sum(task.times for task in tasks)
    if not tasks:
        return 0
    first, rest = tasks[0], tasks[1:]
    beside = [task for task in rest if not (_after(task, first) or _after(first, task))]
    with_first = first.times + _at_once(beside)
    return with_first if len(beside) == len(rest) else max(with_first, _at_once(rest))


def _after(task: _Task, other: _Task) -> bool:
    """Tell whether a task comes after another, or after a graph that the other is in."""
    return any(f"{other.path}.".startswith(f"{name}.") for name in task.after)


def _amount(value: Any, *, unit: float) -> float:
    """Return an amount of Kubernetes (`500m`, `15G`, `4`) in units; 0 for one that only a run knows."""
    text = str(value or 0)
    number, binary = text.rstrip("iKMGTm"), 1.024
    suffix = text[len(number) :]
    try:
        if suffix == "m":
            return float(number) / 1000
        scale = _GB[suffix[:1]] * binary ** " KMGT".index(suffix[0]) if suffix.endswith("i") else _GB[suffix]
        return float(number) * (unit if not suffix else scale)
    except (ValueError, KeyError):
        return 0.0

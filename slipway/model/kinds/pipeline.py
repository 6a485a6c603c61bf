"""A compiled Kubeflow pipeline (its IR, as kfp 2 writes it): parameters, tasks, and machines needed at once. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate
from typing import Any

from slipway.base.formatting import join
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
THIS_STACK = "none: name one in submit_op(catalog=...)"
"""The catalog of a task of `slipway.kfp.submit_op` that names none, until a stack publishes the pipeline."""
_AMOUNT = re.compile(r"(\d+\.?\d*)(\w*)")
_UNITS = {"": 1.0, "m": 1e-3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_UNITS |= {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40}
_FAMILIES = ("e2", "n1", "n2", "m1")
_MOST_COMPARED = 100
"""The runs of tasks up to which those at once are told apart, quickly; of more, all may be."""


@dataclass(frozen=True, order=True)
class Need:
    """The need of a task; all zero where it asks for nothing. Memory in GB. The most demanding are the largest."""

    count: int = 0
    cpus: float = 0.0
    memory: float = 0.0
    accelerator: str = ""

    @classmethod
    def read(cls, resources: Json) -> Need:
        """Read a container's resources. Those that are known only in a run, `{{$…}}`, count as none."""
        gpu = resources.get("accelerator", {})
        type_ = str(gpu.get("resourceType") or gpu.get("type") or "")
        count = 0 if "{{$" in type_ else int(_amount(gpu.get("resourceCount") or gpu.get("count")))
        return cls(
            count=count,
            cpus=_amount(resources.get("resourceCpuLimit") or resources.get("cpuLimit")),
            memory=_amount(resources.get("resourceMemoryLimit")) / 1e9 or _amount(resources.get("memoryLimit")),
            accelerator=type_ if count else "",
        )

    def compared(self, has: Machine) -> Iterator[tuple[str, str, str, bool]]:
        """Yield each field of a machine with what is needed, what it has, and whether that suffices."""
        yield "CPUs", f"{self.cpus:g}", str(has.vcpus), has.vcpus >= self.cpus
        yield "memory", f"{self.memory:g} GB", f"{has.memory_gb:g} GB", has.memory_gb >= self.memory
        fits = not self.count or (has.accelerator == self.accelerator and has.accelerator_count >= self.count)
        theirs = f"{has.accelerator_count} {has.accelerator}" if has.accelerator else "none"
        yield "accelerator", f"{self.count} {self.accelerator}" if self.count else "none", theirs, fits

    def own(self) -> Machine:
        """Return the smallest machine that suffices, as the service chooses. Raises MachineError for none."""
        if self == Need():
            return machine(USUAL)
        shapes, asked = list[Machine](), (self.accelerator, self.count) if self.count else (None, None)
        for type_ in machine_types():
            if self.count or type_.partition("-")[0] in _FAMILIES:
                with suppress(MachineError):
                    shapes.append(machine(type_, *asked))
        fitting = [shape for shape in shapes if all(row[3] for row in self.compared(shape))]
        if not fitting:
            needs = join(f"{field} {wanted}" for field, wanted, *_ in self.compared(machine(USUAL)))
            raise MachineError("machine", f"none has what a task needs: {needs}", "let it ask for less")
        return min(fitting, key=lambda shape: (shape.vcpus, shape.family != "e2", shape.memory_gb))


@dataclass(frozen=True)
class TaskGroup:
    """The tasks of a pipeline that need the same, and how many of them may run at once, beyond those for which the
    machines of more demanding tasks suffice that never run with them. `machine`: what each has without a cluster."""

    need: Need
    machine: Machine
    tasks: tuple[str, ...]
    at_once: int


@dataclass(frozen=True)
class Task:
    """A task of a pipeline that runs a container."""

    #: With the graphs around it: `prepare.split`.
    path: str
    need: Need
    #: The tasks and graphs that it comes after.
    after: frozenset[str]
    #: How many of it run at once.
    times: int

    def comes_after(self, other: Task) -> bool:
        """Tell whether it comes after another task, or after a graph that the other is in."""
        return not self.after.isdisjoint(accumulate(other.path.split("."), "{}.{}".format))


@dataclass(frozen=True)
class Pipeline:
    """A compiled pipeline."""

    spec: Json

    @property
    def parameters(self) -> Mapping[str, Json]:
        """The definitions of its parameters, by name. A submission leaves out optional ones without a default."""
        found: Mapping[str, Json] = self.spec.get("root", {}).get("inputDefinitions", {}).get("parameters", {})
        return {name: each for name, each in found.items() if "defaultValue" in each or not each.get("isOptional")}

    def type_of(self, parameter: str) -> type[Any] | None:
        """Return a parameter's type; None for one that no submission can give."""
        return TYPES.get(str(self.parameters.get(parameter, {}).get("parameterType")))

    @property
    def images(self) -> tuple[str, ...]:
        """The images of its tasks, each once."""
        executors = self.spec.get("deploymentSpec", {}).get("executors", {}).values()
        return tuple(dict.fromkeys(str(each["container"]["image"]) for each in executors if "container" in each))

    @property
    def bodies(self) -> tuple[tuple[str, Json], ...]:
        """The tasks of all its graphs by name, as the file has them."""
        graphs = (self.spec.get("root", {}), *self.spec.get("components", {}).values())
        return tuple(task for graph in graphs for task in graph.get("dag", {}).get("tasks", {}).items())

    @property
    def bounded(self) -> bool:
        """Tell whether `groups` are the most that may run: no loop over what a run alone knows, and no such need."""
        keys = ("parameterIterator", "artifactIterator")
        loops = [task[key] for _, task in self.bodies for key in keys if key in task]
        executors = self.spec.get("deploymentSpec", {}).get("executors", {}).values()
        needs = (each["container"].get("resources") for each in executors if "container" in each)
        return all("raw" in loop.get("items", {}) for loop in loops) and not any("{{$" in str(need) for need in needs)

    @property
    def groups(self) -> tuple[TaskGroup, ...]:
        """The tasks by their needs, those on the largest machines first. Raises KeyError for what the pipeline lacks,
        ValueError for tasks that wait for each other, and MachineError for a need that no machine meets.

        Of a loop over listed items as many run as there are, at most its own limit; of one over a task's output, one is
        counted, as nothing tells how many there will be. A task under a condition counts.
        """
        tasks = list(_tasks(self.spec, self.spec["root"]["dag"])) if "root" in self.spec else []
        found = list[TaskGroup]()
        shapes = {need: need.own() for need in sorted({task.need for task in tasks}, reverse=True)}
        for need, shape in sorted(shapes.items(), key=lambda each: each[1].size, reverse=True):
            paths = tuple(task.path for task in tasks if task.need == need)
            larger = {group.need: group.at_once for group in found if _serves(group.machine, shape)}
            together = _at_once([task for task in tasks if task.need in (need, *larger)])
            found.append(TaskGroup(need, shape, paths, max(0, together - sum(larger.values()))))
        return tuple(found)


def _serves(larger: Machine, other: Machine) -> bool:
    """Tell whether a machine has all that another one has, and draws the same quota."""
    families = {larger.family, other.family}
    alike = larger.accelerator == other.accelerator and (len(families) == 1 or families <= {"e2", "n1"})
    return alike and all(has >= needed for has, needed in zip(larger.size, other.size, strict=True))


def _tasks(
    spec: Json, dag: Json, above: str = "", after: frozenset[str] = frozenset(), times: int = 1
) -> Iterator[Task]:
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
            yield Task(above + name, need, earlier[name], times * _iterations(body))


def _iterations(body: Json) -> int:
    items = body.get("parameterIterator", {}).get("items", {}).get("raw")
    count = len(json.loads(items)) if items else 1
    limit = int(body.get("iteratorPolicy", {}).get("parallelismLimit", 0))
    return max(1, min(count, limit) if limit else count)


def _at_once(tasks: list[Task]) -> int:
    """Return how many of some tasks may run at once: the most that do not come after one another. They are as many as
    the machines that suffice where each task takes over that of an earlier one, as far as it can (Dilworth)."""
    runs = [task for task in tasks for _ in range(task.times)]
    if len(runs) > _MOST_COMPARED:
        return len(runs)
    earlier = [[at for at, other in enumerate(runs) if task.comes_after(other)] for task in runs]
    successor: dict[int, int] = {}

    def takes_over(later: int, seen: set[int]) -> bool:
        for at in earlier[later]:
            if at not in seen:
                seen.add(at)
                if at not in successor or takes_over(successor[at], seen):
                    successor[at] = later
                    return True
        return False

    return len(runs) - sum(takes_over(later, set()) for later in range(len(runs)))


def _amount(value: Any) -> float:
    """Return an amount of Kubernetes: `500m`, `15Gi`, `4`; 0 for none, and for one that only a run knows."""
    found = _AMOUNT.fullmatch(str(value))
    return float(found[1]) * _UNITS.get(found[2], 0.0) if found else 0.0

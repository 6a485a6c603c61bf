"""A compiled Kubeflow pipeline as a flat list of its tasks, each with where its inputs come from."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any

Json = Mapping[str, Any]


class UnservedError(Exception):
    """The pipeline has a part that Vertex AI would run and the local cloud does not; the text names it."""


class InvalidError(Exception):
    """The pipeline refers to something that it does not have; the text says where."""


@dataclass(frozen=True)
class Source:
    """The origin of an input: an output of a task, a parameter of the run, or a constant."""

    task: str = ""
    #: The output's key; without a task, the run's parameter.
    key: str = ""
    constant: Any = None
    #: What the placeholders of a constant may name.
    beside: Mapping[str, "Source"] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task that runs a container. Its path has the names of the tasks around it: `prepare.split`."""

    path: str
    container: Json
    component: Json
    parameters: Mapping[str, Source]
    artifacts: Mapping[str, Source]
    #: Paths of the tasks that come first.
    after: frozenset[str]
    most_retries: int = 0

    @property
    def before(self) -> frozenset[str]:
        """The paths of all tasks that it needs."""
        return self.after.union(
            source.task for source in (*self.parameters.values(), *self.artifacts.values()) if source.task
        )


def tasks(spec: Json) -> tuple[Task, ...]:
    """Return the tasks of a pipeline's spec, each after those that it needs. Raises UnservedError and InvalidError."""
    own = {name: Source(key=name) for name in parameters(spec)}
    try:
        found = {task.path: task for task in _Reader(spec).within(spec["root"]["dag"], "", own, {}, frozenset())}
        order = TopologicalSorter({path: found[path].before for path in sorted(found)}).static_order()
        return tuple(found[path] for path in order)
    except CycleError as error:
        raise InvalidError(f"tasks wait for each other: {', '.join(error.args[1])}") from error
    except KeyError as error:
        raise InvalidError(f"the pipeline names {error}, which it does not have") from error
    except (AttributeError, TypeError) as error:
        raise InvalidError(f"the pipeline is not in the form of its schema: {error}") from error
    except RecursionError as error:
        raise InvalidError("a component of the pipeline contains itself") from error


def parameters(spec: Json) -> Json:
    """Return the definitions of the run's parameters, by name."""
    found: Json = spec["root"].get("inputDefinitions", {}).get("parameters", {})
    return found


class _Reader:
    def __init__(self, spec: Json) -> None:
        self._components = spec.get("components", {})
        self._executors = spec.get("deploymentSpec", {}).get("executors", {})

    def within(
        self,
        dag: Json,
        above: str,
        given: Mapping[str, Source],
        artifacts: Mapping[str, Source],
        after: frozenset[str],
    ) -> Iterator[Task]:
        """Yield the tasks of a graph, which is inside of the tasks `above` and starts `after` others."""
        for name, body in sorted(dag["tasks"].items()):
            path = above + name
            _refuse_control(path, body)
            component = self._components[body["componentRef"]["name"]]
            inputs = body.get("inputs", {})
            own: dict[str, Source] = {}
            for key, value in inputs.get("parameters", {}).items():
                source = self._parameter(path, value, dag, above, given, own)
                if source is not None:
                    own[key] = source
            for key, defined in component.get("inputDefinitions", {}).get("parameters", {}).items():
                if key not in own and "defaultValue" in defined:
                    own[key] = Source(constant=defined["defaultValue"])
            used = {
                key: source
                for key, value in inputs.get("artifacts", {}).items()
                if (source := self._artifact(value, dag, above, artifacts)) is not None
            }
            first = after.union(*(self._leaves(dag, above, other) for other in body.get("dependentTasks", ())))
            if "dag" in component:
                yield from self.within(component["dag"], f"{path}.", own, used, first)
                continue
            executor = self._executors[component["executorLabel"]]
            if "container" not in executor:
                kind = " and ".join(executor).replace("importer", "an importer (dsl.importer)")
                raise UnservedError(f"task {path} is {kind}, and only containers are run")
            retries = int(body.get("retryPolicy", {}).get("maxRetryCount", 0))
            yield Task(path, executor["container"], component, own, used, first, retries)

    def _parameter(
        self, path: str, value: Json, dag: Json, above: str, given: Mapping[str, Source], beside: Mapping[str, Source]
    ) -> Source | None:
        """Return the source of a parameter; None for an optional one of the graph's that nothing gives."""
        if "parameterExpressionSelector" in value:
            raise UnservedError(f"task {path} takes a part of a value, as loops do")
        if "componentInputParameter" in value:
            return given.get(value["componentInputParameter"])
        if "taskOutputParameter" in value:
            named = value["taskOutputParameter"]
            return self._output(dag, above, named["producerTask"], "parameters", named["outputParameterKey"])
        if "runtimeValue" in value:
            return Source(constant=value["runtimeValue"].get("constant"), beside=beside)
        raise UnservedError(f"task {path} takes {' and '.join(value)}")

    def _artifact(self, value: Json, dag: Json, above: str, given: Mapping[str, Source]) -> Source | None:
        if "componentInputArtifact" in value:
            return given.get(value["componentInputArtifact"])
        named = value["taskOutputArtifact"]
        return self._output(dag, above, named["producerTask"], "artifacts", named["outputArtifactKey"])

    def _output(self, dag: Json, above: str, name: str, kind: str, key: str) -> Source:
        """Return the output of a task of a graph, followed into the graph that the task may be."""
        component = self._components[dag["tasks"][name]["componentRef"]["name"]]
        if "dag" not in component:
            return Source(f"{above}{name}", key)
        inner, path = component["dag"], f"{above}{name}."
        made = inner["outputs"][kind][key]
        if kind == "parameters":
            if "valueFromParameter" not in made:
                raise UnservedError(f"output {key} of {above}{name} is one of several, as after a condition")
            chosen = made["valueFromParameter"]
            return self._output(inner, path, chosen["producerSubtask"], kind, chosen["outputParameterKey"])
        if len(made["artifactSelectors"]) != 1:
            raise UnservedError(f"output {key} of {above}{name} is one of several, as after a condition")
        chosen = made["artifactSelectors"][0]
        return self._output(inner, path, chosen["producerSubtask"], kind, chosen["outputArtifactKey"])

    def _leaves(self, dag: Json, above: str, name: str) -> frozenset[str]:
        """Return the containers' tasks that a task of a graph is made of."""
        component = self._components[dag["tasks"][name]["componentRef"]["name"]]
        if "dag" not in component:
            return frozenset((above + name,))
        inner = component["dag"]
        return frozenset[str]().union(*(self._leaves(inner, f"{above}{name}.", other) for other in inner["tasks"]))


def _refuse_control(path: str, body: Json) -> None:
    trigger = body.get("triggerPolicy", {})
    if "parameterIterator" in body or "artifactIterator" in body:
        raise UnservedError(f"task {path} is a loop (dsl.ParallelFor)")
    if "condition" in trigger:
        raise UnservedError(f"task {path} is under a condition (dsl.If)")
    if trigger.get("strategy", "").startswith("ALL_UPSTREAM_TASKS_COMPLETED"):
        raise UnservedError(f"task {path} runs whatever became of others (dsl.ExitHandler, ignore_upstream_failure)")

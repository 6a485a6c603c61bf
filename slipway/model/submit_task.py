"""The tasks of a compiled pipeline that `slipway.kfp.submit_op` made: what they submit, and to which stack. Pure."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slipway.model.catalog.model import VARIABLE
from slipway.model.kinds.pipeline import Json, Pipeline

START = 'exec python3 -m slipway.kfp "$0" "$@"'
"""The end of the command of such a task."""
ARGUMENTS = frozenset(
    {"template", "like", "capacity", "pool", "kind", "team", "wait_for", "then", "request_id", "catalog", "code"}
    | {"yes", "labels", "note", "notify"}
)
"""The arguments of `slipway.submit`; all others are parameters of the template."""


@dataclass(frozen=True)
class SubmitTask:
    """A task that submits a template."""

    #: With the graphs around it: `prepare.split`.
    path: str
    #: Its arguments, None for those that only a run knows.
    given: Mapping[str, Any]
    #: It names its catalog, and submits to whatever stack that is.
    elsewhere: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the template's parameters that it gives."""
        return tuple(name for name in self.given if name not in ARGUMENTS)


def submit_tasks(pipeline: Pipeline) -> tuple[SubmitTask, ...]:
    """Return the tasks of a pipeline that submit templates."""
    return tuple(_tasks(pipeline.spec, pipeline.spec["root"]["dag"], ""))


def for_stack(pipeline: Pipeline, catalog: str) -> Pipeline:
    """Return the pipeline with the address of the stack's catalog for the tasks that name none."""
    spec = copy.deepcopy(dict(pipeline.spec))
    for executor in filter(_submits, spec.get("deploymentSpec", {}).get("executors", {}).values()):
        for item in executor["container"].get("env", ()):
            if item["name"] == VARIABLE and not item.get("value"):
                item["value"] = catalog
    return Pipeline(spec)


def _tasks(spec: Json, dag: Json, above: str) -> Iterator[SubmitTask]:
    for name, body in dag["tasks"].items():
        component = spec["components"][body["componentRef"]["name"]]
        if "dag" in component:
            yield from _tasks(spec, component["dag"], f"{above}{name}.")
        elif _submits(executor := spec["deploymentSpec"]["executors"][component["executorLabel"]]):
            inputs = body.get("inputs", {})
            given = {key: _constant(each) for key, each in inputs.get("parameters", {}).items()}
            named = any(each["name"] == VARIABLE and each.get("value") for each in executor["container"].get("env", ()))
            yield SubmitTask(
                above + name, given | dict.fromkeys(inputs.get("artifacts", {})), named or "catalog" in given
            )


def _submits(executor: Json) -> bool:
    command = executor.get("container", {}).get("command")
    return bool(command) and str(command[-1]).endswith(START)


def _constant(given: Json) -> Any:
    value = given.get("runtimeValue", {}).get("constant")
    return None if isinstance(value, str) and "{{$" in value else value

"""The tasks of a pipeline's job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from slipway.google.answers import Json, displayable, parse_timestamp, plain


@dataclass(frozen=True)
class PipelineTask:
    """A task of a pipeline, or a graph with tasks of its own."""

    #: With the graphs around it: `prepare.split`.
    path: str
    #: pending, running, succeeded, failed, cancelled, skipped or not triggered.
    state: str
    #: The full name of the custom job that runs it; empty before that, and for a graph.
    job: str = ""
    start_time: datetime | None = None
    end_time: datetime | None = None
    error: str = ""
    #: What it was given and what it made, parameters by name.
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ran(self) -> float | None:
        """The seconds that it ran, once it has ended."""
        return (self.end_time - self.start_time).total_seconds() if self.start_time and self.end_time else None


def tasks_of(body: Json) -> tuple[PipelineTask, ...]:
    """Return the tasks in a job's answer by their starts, each after the graph that it is in."""
    details = {str(each.get("taskId", "")): each for each in body.get("jobDetail", {}).get("taskDetails", ())}

    def path(each: Json) -> str:
        above, name = details.get(str(each.get("parentTaskId", ""))), plain(each.get("taskName", ""))
        return f"{path(above)}.{name}" if above else name

    tasks = {task.path: task for task in (_task(path(each), each) for each in details.values())}

    def order(task: PipelineTask) -> list[tuple[bool, str, str]]:
        parts = task.path.split(".")
        line = (tasks.get(".".join(parts[: depth + 1]), task) for depth in range(len(parts)))
        return [(part.start_time is None, str(part.start_time), name) for part, name in zip(line, parts, strict=True)]

    return tuple(sorted(tasks.values(), key=order))


def _task(path: str, each: Json) -> PipelineTask:
    values = each.get("execution", {}).get("metadata", {})
    return PipelineTask(
        path=path,
        state=plain(each.get("state", "")).lower().replace("_", " "),
        job=str(each.get("executorDetail", {}).get("containerDetail", {}).get("mainJob", "")),
        start_time=parse_timestamp(each.get("startTime")),
        end_time=parse_timestamp(each.get("endTime")),
        error=displayable(each.get("error", {}).get("message")),
        inputs={key.removeprefix("input:"): value for key, value in values.items() if key.startswith("input:")},
        outputs={key.removeprefix("output:"): value for key, value in values.items() if key.startswith("output:")},
    )

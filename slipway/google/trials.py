"""A tuning job's trials: the values and metrics of each, the best of them, and the searched parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from slipway.base.codec import NOT_WRITTEN, MaybeText
from slipway.google.answers import Json, parse_timestamp


@dataclass(frozen=True)
class Trial:
    """A trial. Times are None until they have come."""

    id: str
    state: str
    values: Mapping[str, str]
    #: By metric id; empty until the trial has ended.
    metrics: Mapping[str, float]
    #: The name of its custom job, empty until it has one.
    job: MaybeText
    start_time: Annotated[datetime | None, NOT_WRITTEN] = None
    end_time: Annotated[datetime | None, NOT_WRITTEN] = None

    @classmethod
    def read(cls, body: Json) -> Trial:
        return cls(
            id=str(body.get("id", "")),
            state=body.get("state", "STATE_UNSPECIFIED"),
            values={
                parameter["parameterId"]: _plain(parameter.get("value")) for parameter in body.get("parameters", ())
            },
            metrics={
                metric["metricId"]: float(metric.get("value", 0))
                for metric in body.get("finalMeasurement", {}).get("metrics", ())
            },
            job=body.get("customJob", ""),
            start_time=parse_timestamp(body.get("startTime")),
            end_time=parse_timestamp(body.get("endTime")),
        )


def searched(parameters: Iterable[Json]) -> Iterator[str]:
    """Yield the parameters of a study, also those that are searched only under a condition."""
    for parameter in parameters:
        yield str(parameter["parameterId"])
        yield from searched([inner["parameterSpec"] for inner in parameter.get("conditionalParameterSpecs", ())])


def best(trials: Iterable[Trial], goals: Mapping[str, str]) -> Trial | None:
    """Return the best trial by the only metric; None where none succeeded."""
    if len(goals) != 1:
        return None  # Several metrics have no single best trial.
    ((metric, goal),) = goals.items()
    measured = [trial for trial in trials if trial.state == "SUCCEEDED" and metric in trial.metrics]
    if not measured:
        return None
    sign = -1 if goal == "MINIMIZE" else 1
    return max(measured, key=lambda trial: sign * trial.metrics[metric])


def _plain(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)

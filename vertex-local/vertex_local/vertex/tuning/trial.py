"""A trial and its measurements, as a tuning job's body has them."""

from dataclasses import dataclass
from typing import Any, Literal

from .space import Assignment

State = Literal["ACTIVE", "STOPPING", "SUCCEEDED", "INFEASIBLE"]


@dataclass(frozen=True)
class Measurement:
    """A measurement: values by metric id at a step."""

    step: int
    #: Since the trial's start.
    elapsed_s: float
    metrics: tuple[tuple[str, float], ...]

    def value(self, metric: str) -> float | None:
        return dict(self.metrics).get(metric)


@dataclass(frozen=True)
class Trial:
    """A trial. Times are RFC 3339."""

    id: str
    state: State
    parameters: Assignment
    #: Its custom job's name.
    job: str
    measurements: tuple[Measurement, ...] = ()
    final: Measurement | None = None
    start_time: str | None = None
    end_time: str | None = None
    #: Why it is INFEASIBLE.
    reason: str = ""

    @property
    def open(self) -> bool:
        return self.state in ("ACTIVE", "STOPPING")


def body(trial: Trial) -> dict[str, Any]:
    """Return the canonical Trial message."""
    content: dict[str, Any] = {
        "id": trial.id,
        "state": trial.state,
        "parameters": [{"parameterId": name, "value": value} for name, value in trial.parameters],
        "customJob": trial.job,
    }
    if trial.measurements:
        content["measurements"] = [_measurement_body(item) for item in trial.measurements]
    if trial.final:
        content["finalMeasurement"] = _measurement_body(trial.final)
    optional = {"startTime": trial.start_time, "endTime": trial.end_time, "infeasibleReason": trial.reason}
    return content | {key: value for key, value in optional.items() if value}


def _measurement_body(item: Measurement) -> dict[str, Any]:
    return {
        "stepCount": str(item.step),
        "elapsedDuration": f"{item.elapsed_s:.6f}s",
        "metrics": [{"metricId": metric, "value": value} for metric, value in item.metrics],
    }

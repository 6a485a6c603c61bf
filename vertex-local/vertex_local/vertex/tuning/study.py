"""A study as it was declared: its parameters, its metrics, and its stopping rules."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .space import Parameter, space_of

EarlyRule = Literal["", "median", "decay-curve"]


@dataclass(frozen=True)
class Metric:
    id: str
    maximize: bool

    def better(self, one: float, other: float) -> bool:
        """Return whether one value is strictly better than another."""
        return one > other if self.maximize else one < other


@dataclass(frozen=True)
class Study:
    """A study."""

    metrics: tuple[Metric, ...]
    space: tuple[Parameter, ...]
    #: Otherwise it is searched at random.
    grid: bool
    #: A trial's best measurement is its final one, not the last.
    best: bool
    #: The rule that stops trials.
    early: EarlyRule
    #: The rule compares over seconds, not steps.
    by_time: bool
    #: The canonical StudyStoppingConfig.
    stopping: Mapping[str, Any]


def study_of(spec: Mapping[str, Any]) -> Study:
    """Return the study of a canonical StudySpec that has passed the rules."""
    early: EarlyRule = ""
    rule: Mapping[str, Any] = {}
    if "medianAutomatedStoppingSpec" in spec:
        early, rule = "median", spec["medianAutomatedStoppingSpec"]
    elif "decayCurveStoppingSpec" in spec:
        early, rule = "decay-curve", spec["decayCurveStoppingSpec"]
    return Study(
        metrics=tuple(Metric(item["metricId"], item.get("goal") != "MINIMIZE") for item in spec["metrics"]),
        space=space_of(spec["parameters"]),
        grid=spec.get("algorithm") == "GRID_SEARCH",
        best=spec.get("measurementSelectionType") == "BEST_MEASUREMENT",
        early=early,
        by_time=bool(rule.get("useElapsedDuration", False)),
        stopping=spec.get("studyStoppingConfig", {}),
    )

"""Settings of a template for one kind of job alone: the study of a tuning job, also as the API's StudySpec, and the
model that a training pipeline uploads."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from slipway.base.codec import given


@dataclass(frozen=True)
class Metric:
    """A number that the code reports with `cloudml-hypertune`."""

    id: str
    goal: Literal["maximize", "minimize"] = "maximize"


@dataclass(frozen=True)
class Condition:
    """Parameters that are searched only when their parent has one of `values`."""

    values: tuple[int | float | str, ...]
    parameters: tuple[Search, ...]


@dataclass(frozen=True)
class Search:
    """A parameter that the service chooses for each trial; the code gets it as `--NAME=VALUE`.

    - `kind`: "double" or "integer" with `min` and `max`, both inclusive; "categorical" with texts as `values`;
      "discrete" with ascending numbers.
    - `scale`: None for the service's choice.
    """

    name: str
    kind: Literal["double", "integer", "categorical", "discrete"]
    min: float | None = None
    max: float | None = None
    values: tuple[float | str, ...] = ()
    scale: Literal["linear", "log", "reverse-log"] | None = None
    conditions: tuple[Condition, ...] = ()

    def problems(self) -> Iterator[str]:
        """Yield what makes the parameter unclear; the service's own limits are rules (`slipway.model.rules`)."""
        numbers = self.kind in ("double", "integer")
        if numbers and (self.min is None or self.max is None or self.values):
            yield f"{self.name}: {self.kind} needs min and max, and takes no values"
        elif not numbers and (self.min is not None or self.max is not None or not self.values):
            yield f"{self.name}: {self.kind} needs values, and takes neither min nor max"
        else:
            yield from self._not_numbers()
        for condition in self.conditions:
            if self.kind == "double":
                yield f"{self.name}: a double can't have conditions: it has no values to name"
            for inner in condition.parameters:
                yield from inner.problems()

    def names(self) -> tuple[str, ...]:
        inner = (parameter.names() for condition in self.conditions for parameter in condition.parameters)
        return (self.name, *chain.from_iterable(inner))

    def _not_numbers(self) -> Iterator[str]:
        if self.kind == "categorical":
            return
        what = "whole number" if self.kind == "integer" else "number"
        bounds = (bound for bound in (self.min, self.max) if bound is not None)
        named = (value for condition in self.conditions for value in condition.values)
        for value in (*bounds, *self.values, *named):
            number = isinstance(value, int | float) and math.isfinite(value)
            if not number or (self.kind == "integer" and value != int(value)):
                yield f"{self.name}: {value!r} is not a {what}"


@dataclass(frozen=True)
class Stopping:
    """The early end of unpromising trials.

    `use_elapsed_duration`: trials are compared by the time they ran, otherwise by steps.
    """

    rule: Literal["median", "decay-curve", "convex"]
    use_elapsed_duration: bool = False


@dataclass(frozen=True)
class Study:
    """The search of a tuning job. Numbers of trials are numbers or placeholders of int parameters.

    - `max_failed_trials`: 0 leaves it to the service.
    - `measurement`: the one of a trial that counts.
    - `stopping`: ends single trials; the last two fields, when given, end the study.
    """

    metrics: tuple[Metric, ...]
    parameters: tuple[Search, ...]
    max_trials: int | str
    parallel_trials: int | str
    algorithm: Literal["bayesian", "grid", "random"] = "bayesian"
    max_failed_trials: int = 0
    measurement: Literal["best", "last"] = "best"
    stopping: Stopping | None = None
    trials_without_progress: int | None = None
    seconds_without_progress: int | None = None

    def names(self) -> tuple[str, ...]:
        """Return every searched parameter, conditional ones too."""
        return tuple(name for parameter in self.parameters for name in parameter.names())


_ALGORITHMS = {"grid": "GRID_SEARCH", "random": "RANDOM_SEARCH"}
_SCALES = {"linear": "UNIT_LINEAR_SCALE", "log": "UNIT_LOG_SCALE", "reverse-log": "UNIT_REVERSE_LOG_SCALE"}
_MEASUREMENTS = {"best": "BEST_MEASUREMENT", "last": "LAST_MEASUREMENT"}
_STOPPING = {
    "median": "medianAutomatedStoppingSpec",
    "decay-curve": "decayCurveStoppingSpec",
    "convex": "convexAutomatedStoppingSpec",
}
_PARENTS = {
    "categorical": "parentCategoricalValues",
    "integer": "parentIntValues",
    "discrete": "parentDiscreteValues",
}


def study_spec(study: Study) -> dict[str, Any]:
    """Return the API's StudySpec, canonical JSON. Bayesian is unspecified there; counts of trials are the job's."""
    spec: dict[str, Any] = {
        "metrics": [{"metricId": metric.id, "goal": metric.goal.upper()} for metric in study.metrics],
        "parameters": [_parameter(search) for search in study.parameters],
        "measurementSelectionType": _MEASUREMENTS[study.measurement],
        **given(algorithm=_ALGORITHMS.get(study.algorithm)),
    }
    if study.stopping is not None:
        by_time = study.stopping.use_elapsed_duration
        spec[_STOPPING[study.stopping.rule]] = {"useElapsedDuration": True} if by_time else {}
    end: dict[str, Any] = {}
    if study.trials_without_progress is not None:
        end["maxNumTrialsNoProgress"] = study.trials_without_progress
    if study.seconds_without_progress is not None:
        end["maxDurationNoProgress"] = f"{study.seconds_without_progress}s"
    return {**spec, "studyStoppingConfig": end} if end else spec


def _parameter(search: Search) -> dict[str, Any]:
    values: dict[str, Any] = {"values": [_sent(search, value) for value in search.values]}
    if search.kind in ("double", "integer"):
        values = {"minValue": _sent(search, search.min), "maxValue": _sent(search, search.max)}
    inner = []
    for condition in search.conditions:
        parents = {"values": [_sent(search, value) for value in condition.values]}
        inner += [
            {"parameterSpec": _parameter(conditional), _PARENTS[search.kind]: parents}
            for conditional in condition.parameters
        ]
    return {
        "parameterId": search.name,
        f"{search.kind}ValueSpec": values,
        **given(scaleType=search.scale and _SCALES[search.scale], conditionalParameterSpecs=inner),
    }


def _sent(search: Search, value: float | str | None) -> float | str:
    """Return a value of the parameter's kind as the API has it: integers are int64, which JSON carries as text."""
    assert value is not None, "checked when the template was made"
    if search.kind == "categorical":
        return str(value)
    return str(int(value)) if search.kind == "integer" else float(value)


@dataclass(frozen=True)
class ModelUpload:
    """The upload of a model.

    - `serving_image`: the container that serves it.
    - `artifact`: a folder under the output directory, by default the one that the code wrote as AIP_MODEL_DIR.
    - `model_id`: the name of a new model; `parent_model` (projects/…/models/ID) makes a new version of an existing one.
      Both may hold placeholders.
    - `serving_args`: may hold placeholders; the service expands `$(AIP_STORAGE_URI)` in them, the folder.
    - `serving_port` and both routes: the image's own where they are None. A healthy server answers `health_route`.
    - `shared_memory_mb`: shared by its processes.
    """

    display_name: str
    serving_image: str
    artifact: str = "model/"
    model_id: str | None = None
    parent_model: str | None = None
    description: str = ""
    serving_args: tuple[str, ...] = ()
    serving_port: int | None = None
    predict_route: str | None = None
    health_route: str | None = None
    shared_memory_mb: int | None = None

    def fields(self, output: str) -> dict[str, Any]:
        """Return the fields of a training pipeline, canonical JSON. `output`: URI of the output directory."""
        artifact = self.artifact.strip("/")
        server = given(
            imageUri=self.serving_image,
            args=list(self.serving_args),
            ports=[{"containerPort": self.serving_port}] if self.serving_port else [],
            predictRoute=self.predict_route,
            healthRoute=self.health_route,
            sharedMemorySizeMb=str(self.shared_memory_mb) if self.shared_memory_mb else None,
        )
        upload = {
            "displayName": self.display_name,
            "containerSpec": server,
            **given(description=self.description, artifactUri=f"{output}/{artifact}/" if artifact != "model" else ""),
        }
        return {"modelToUpload": upload, **given(modelId=self.model_id, parentModel=self.parent_model)}

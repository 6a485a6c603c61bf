"""What a hyperparameter tuning job searches, and for what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number that the code reports with `cloudml-hypertune`. `goal`: "maximize" or "minimize"."""

    id: str
    goal: str = "maximize"


@dataclass(frozen=True)
class Condition:
    """Parameters that are searched only when the one they stand under has one of `values`."""

    values: tuple[int | float | str, ...]
    parameters: tuple[Search, ...]


@dataclass(frozen=True)
class Search:
    """A parameter that the service chooses for each trial; the code gets it as `--NAME=VALUE`.

    `kind`: "double" or "integer" (`min`, `max`, inclusive), "categorical" (`values`, texts), "discrete" (`values`,
    ascending numbers). `scale`: "linear", "log", "reverse-log", or None for the service's choice.
    """

    name: str
    kind: str
    min: float | None = None
    max: float | None = None
    values: tuple[float | str, ...] = ()
    scale: str | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Stopping:
    """Ends a trial early that will not be good: `rule` is "median", "decay-curve" or "convex".

    `use_elapsed_duration` compares by time run, otherwise by steps.
    """

    rule: str
    use_elapsed_duration: bool = False


@dataclass(frozen=True)
class Study:
    """`max_trials` and `parallel_trials` are numbers or placeholders of int parameters.

    `algorithm`: "bayesian", "grid" or "random". `max_failed_trials` 0 leaves it to the service. `measurement` of a
    trial that counts: its "best" or its "last". `stopping` ends single trials; the study ends after
    `trials_without_progress` or `seconds_without_progress`, when given.
    """

    metrics: tuple[Metric, ...]
    parameters: tuple[Search, ...]
    max_trials: int | str
    parallel_trials: int | str
    algorithm: str = "bayesian"
    max_failed_trials: int = 0
    measurement: str = "best"
    stopping: Stopping | None = None
    trials_without_progress: int | None = None
    seconds_without_progress: int | None = None

    def names(self) -> tuple[str, ...]:
        """Every parameter that is searched, conditional ones too."""
        return tuple(name for parameter in self.parameters for name in _names(parameter))


def _names(parameter: Search) -> tuple[str, ...]:
    inner = (name for condition in parameter.conditions for one in condition.parameters for name in _names(one))
    return (parameter.name, *inner)

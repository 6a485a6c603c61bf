"""Bayesian search by Optuna's tree-structured Parzen estimator, in place of the service's own optimiser."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import space
from .space import Assignment, Parameter, Value
from .study import Study
from .trial import Trial

if TYPE_CHECKING:
    import optuna


def suggested(study: Study, seed: int, trials: Sequence[Trial]) -> Assignment:
    """Return the next point, given `trials`; running ones count as bad, so that nobody tries the same."""
    # Optuna takes a second to import, and most clouds never tune.
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(seed=seed, constant_liar=True, n_startup_trials=study.startup)
        way = optuna.study.StudyDirection
        directions = [way.MAXIMIZE if metric.maximize else way.MINIMIZE for metric in study.metrics]
        made = optuna.create_study(sampler=sampler, directions=directions)
        for trial in trials:
            past = _past(study, trial)
            if past is not None:
                made.add_trial(past)
        asked = made.ask()
        return space.assigned(study.space, lambda parameter: _chosen(asked, parameter))


def _past(study: Study, trial: Trial) -> "optuna.trial.FrozenTrial | None":
    """Return a trial as Optuna knows it; None for one without a result."""
    import optuna

    if trial.state == "INFEASIBLE":
        return None
    values = dict(trial.final.metrics) if trial.final else {}
    stands = list(space.standing(study.space, dict(trial.parameters)))
    return optuna.trial.create_trial(
        state=optuna.trial.TrialState.COMPLETE if values else optuna.trial.TrialState.RUNNING,
        params={parameter.key: _inner(parameter, value) for parameter, value in stands},
        distributions={parameter.key: _distribution(parameter) for parameter, _ in stands},
        values=[values[metric.id] for metric in study.metrics] if values else None,
    )


def _chosen(asked: "optuna.Trial", parameter: Parameter) -> Value:
    low, high, log = int(parameter.low), int(parameter.high), parameter.scale != "linear"
    if parameter.kind == "categorical":
        return asked.suggest_categorical(parameter.key, [str(value) for value in parameter.values])
    if parameter.kind == "discrete":
        return parameter.values[asked.suggest_int(parameter.key, 0, len(parameter.values) - 1)]
    if parameter.kind == "integer":
        return _mirrored(parameter, asked.suggest_int(parameter.key, low, high, log=log))
    return _mirrored(parameter, asked.suggest_float(parameter.key, parameter.low, parameter.high, log=log))


def _distribution(parameter: Parameter) -> Any:
    import optuna.distributions as kinds

    if parameter.kind == "categorical":
        return kinds.CategoricalDistribution([str(value) for value in parameter.values])
    if parameter.kind == "discrete":
        return kinds.IntDistribution(0, len(parameter.values) - 1)
    log = parameter.scale != "linear"
    if parameter.kind == "integer":
        return kinds.IntDistribution(int(parameter.low), int(parameter.high), log=log)
    return kinds.FloatDistribution(parameter.low, parameter.high, log=log)


def _inner(parameter: Parameter, value: Value) -> Value:
    """Return a value as the sampler sees it: discrete ones by their place, reverse-log ones mirrored."""
    if parameter.kind == "discrete":
        return min(range(len(parameter.values)), key=lambda at: abs(float(parameter.values[at]) - float(value)))
    return _mirrored(parameter, value)


def _mirrored(parameter: Parameter, value: Value) -> Value:
    if parameter.scale != "reverse-log" or isinstance(value, str):
        return value
    kind = int if parameter.kind == "integer" else float
    return min(max(kind(parameter.low + parameter.high - value), kind(parameter.low)), kind(parameter.high))

"""The arguments of a call from Python, checked against their types and written as the command's flags. Pure."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import meant, seconds, unfit
from slipway.model.catalog.parameter_types import Typed
from slipway.model.catalog.placeholders import render, single
from slipway.using.submission.own_labels import checked_note, checked_notify, with_name
from slipway.using.submission.own_settings import checked_settings
from slipway.using.submission.request import RequestOverrides

_NONE = type(None)
_TAKES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "template": ((str,), "a template's name"),
    "like": ((str, _NONE), "a job's name, or a Job"),
    "capacity": ((str, _NONE), "a capacity type's name"),
    "pool": ((str, _NONE), "cluster/pool"),
    "kind": ((str, _NONE), "a kind's name"),
    "team": ((str, _NONE), "a team's name"),
    "wait_for": ((Mapping, _NONE), 'times by capacity type: {"pool": "30m"}'),
    "then": ((Sequence,), "a capacity type's name, or a list of several"),
    "race": ((str, bool, Sequence), "True for all regions of the stack, or a list of some"),
    "request_id": ((str, _NONE), "a text"),
    "catalog": ((str, _NONE), "gs://BUCKET, as a text"),
    "code": ((str, os.PathLike, _NONE), "a folder's path"),
    "yes": ((bool,), "True or False"),
    "labels": ((Mapping, _NONE), 'values by key: {"ablation": "decay"}'),
    "note": ((str, _NONE), "a line of text"),
    "notify": ((str, _NONE), "a secret's name"),
    "env": ((Mapping, _NONE), 'values by variable: {"LR": "0.1"}'),
    "secrets": ((Mapping, _NONE), 'names of secrets by variable: {"WANDB_API_KEY": "wandb-key"}'),
    "max_run": ((str, int, float, _NONE), 'a time: "2h", or seconds'),
    "retries": ((int, _NONE), "a number of attempts"),
    "retry_on": ((Iterable,), "a list of exit codes"),
    "replicas": ((int, _NONE), "a number of machines"),
    "job_name": ((str, _NONE), "a name for the job"),
}
"""The types of each argument of `slipway.submit`, and their description; all other arguments are parameters."""

_OF_SWEEPS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "runs": ((Iterable, os.PathLike), "values by parameter, a list with the parameters of each run, or a file's path"),
    "retry_failed": ((bool,), "True or False"),
    "retry_cancelled": ((bool,), "True or False"),
    "keep_code": ((bool,), "True or False"),
    "rate": ((int,), "submissions a minute, 0 for no limit"),
}
"""The types of the arguments that `slipway.sweep` has in addition."""

_OF_SESSIONS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "machine": ((str, _NONE), "a machine type"),
    "idle": ((str, int, float), 'a time: "20m", or seconds'),
    "preload": ((Sequence,), "a list of modules' names"),
    "command": ((str, list, tuple), "a line, as it is typed, or a list of words"),
    "resume": ((bool,), "True or False"),
    "check": ((bool,), "True or False"),
}
_OF_JOBS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "name": ((str,), "a job's name"),
    "user": ((str, _NONE), "a user's name"),
    "sweep": ((str, _NONE), "a sweep's id"),
    "state": ((str, _NONE), "a state's name"),
    "limit": ((int, _NONE), "a number of jobs"),
    "everything": ((bool,), "True or False"),
    "timeout": ((str, int, float, _NONE), 'a time: "2h", or seconds, or None to wait for as long as it takes'),
    "folder": ((str, os.PathLike, _NONE), "a folder's path"),
    "overwrite": ((bool,), "True or False"),
}
_ALL = {**_TAKES, **_OF_SWEEPS, **_OF_SESSIONS, **_OF_JOBS}
_FAR = 1e15
_COMMAND = "command"
"""The parameter that is a command in templates for any folder."""


def check(**given: object) -> None:
    """Raise ConfigError for an argument of a wrong type, and for a text that nothing can write."""
    for name, value in given.items():
        _require(name, value, _ALL[name][0])
        if not isinstance(value, str):
            continue
        if wrong := unfit(value):
            raise ConfigError(f"{name} {wrong}", fix=_ALL[name][1])
        if not value and _NONE in _ALL[name][0]:  # In a script an unset variable is empty, which is not the default.
            raise ConfigError(f"{name} is empty", fix=f"{_ALL[name][1]}, or None")


def check_given(given: Mapping[str, Any]) -> None:
    """Raise ConfigError for an argument of a submission, or a parameter of its template, of a wrong type."""
    check(**{name: value for name, value in given.items() if name in _TAKES})
    params_as_typed({name: value for name, value in given.items() if name not in _TAKES})


def command_words(command: str | Sequence[str | float]) -> tuple[str, ...]:
    """Return the words of a command that is given as a list, or its line as the only one. Raises ConfigError."""
    check(command=command)
    if not command:
        raise ConfigError("command is empty", fix=_ALL[_COMMAND][1])
    if isinstance(command, str):
        return (command,)
    for index, word in enumerate(command):
        _require(f"{_COMMAND}[{index}]", word, (str, Real), _ALL[_COMMAND][1])
    return tuple(map(render, command))


def timeout_s(timeout: str | float | None) -> float | None:
    """Return the seconds of a time to wait, None for as long as it takes. Raises ConfigError."""
    check(timeout=timeout)
    if timeout is None:
        return None
    if isinstance(timeout, str):
        return seconds(timeout)
    if not 0 <= timeout < math.inf:
        raise ConfigError(f"timeout is {timeout}", fix=_ALL["timeout"][1])
    return timeout


def waits_as_typed(wait_for: Mapping[str, str | float] | None) -> dict[str, str]:
    """Return waits as typed. Raises ConfigError for a time that is neither text nor seconds."""
    waits = {}
    for name, time in (wait_for or {}).items():
        _require("a key of wait_for", name, (str,), _ALL["wait_for"][1])
        _require(f"wait_for[{name!r}]", time, (str, int, float), _ALL["wait_for"][1])
        waits[name] = time if isinstance(time, str) else f"{float(min(time, _FAR)):.15g}"
    return waits


def types(then: str | Sequence[str]) -> tuple[str, ...]:
    """Return the capacity types, given as one or several. Raises ConfigError."""
    types_ = (then,) if isinstance(then, str) else tuple(then)
    for type_ in types_:
        _require("then", type_, (str,))
    return types_


def regions(race: bool | str | Sequence[str]) -> tuple[str, ...] | None:
    """Return the regions of a race, none for all of the stack's; None for no race. Raises ConfigError."""
    if isinstance(race, bool):
        return () if race else None
    named = (race,) if isinstance(race, str) else tuple(race)
    for region in named:
        _require("race", region, (str,))
    return named or None


def params_as_typed(
    params: Mapping[str, str | float | Sequence[str | float]], *, of_sweep: bool = False
) -> dict[str, Typed]:
    """Write values as typed: `500`, `true`, and each item of a list. Raises ConfigError for what is neither text nor
    number nor a list of these."""
    taken = {**_TAKES, **_OF_SWEEPS} if of_sweep else _TAKES
    texts: dict[str, Typed] = {}
    for typed, value in params.items():
        # A parameter that is called as an argument of the function is written with one more underscore: `kind_`.
        name = typed.removesuffix("_") if typed.rstrip("_") in taken else typed
        value = list(map(single, value)) if isinstance(value, list | tuple) else single(value)
        items = value if isinstance(value, list) else (value,)
        takes = "a string, a number or a bool" + ("" if items is value else ", or a list of these")
        if typed not in taken and (near := meant(typed, taken)):
            takes = f"{near} A parameter is {takes}"
        for index, item in enumerate(items):
            _require(f"{name}[{index}]" if items is value else name, item, (str, Real), takes)
        try:
            texts[name] = tuple(map(render, items)) if items is value else render(value)
            if name == _COMMAND and items is value:  # The words of a command, as subprocess.run takes them.
                texts[name] = shlex.join(map(render, items))
        except ValueError as problem:  # Python writes no whole number of thousands of digits.
            what = f"{name} is given a number that is too large to write"
            raise ConfigError(what, why=str(problem), fix="a smaller one") from problem
    return texts


def overrides_of(
    labels: Mapping[str, str] | None,
    note: str | None,
    notify: str | None,
    env: Mapping[str, str | float] | None,
    secrets: Mapping[str, str] | None,
    max_run: str | float | None,
    retries: int | None,
    retry_on: Iterable[int],
    replicas: int | None,
    job_name: str | None,
) -> RequestOverrides:
    """Return the overrides of these arguments of `slipway.submit`. Raises ConfigError."""
    variables = {name: _variable(value) for name, value in (env or {}).items()}
    for argument, given in (("labels", labels), ("env", variables), ("secrets", secrets)):
        for key, text in (given or {}).items():
            _require(f"a key of {argument}", key, (str,), _ALL[argument][1])
            _require(f"{argument}[{key!r}]", text, (str,), _ALL[argument][1])
    return RequestOverrides(
        labels=with_name(dict(labels or {}), job_name),
        note="" if note is None else checked_note(note),
        notify="" if notify is None else checked_notify(notify),
        settings=checked_settings(
            variables, dict(secrets or {}), None if max_run is None else str(max_run), retries, replicas, retry_on
        ),
    )


def _variable(value: str | float) -> str:
    """Return a variable's value, which may be a number; True and False have no spelling that all programs read."""
    return render(value) if isinstance(value, int | float) and not isinstance(value, bool) else value  # type: ignore[return-value]


def _require(name: str, value: object, of: tuple[type, ...], fix: str = "") -> None:
    # True would be one second, or one job; only parameters have both numbers and bools.
    if not isinstance(value, of) or (isinstance(value, bool) and not {bool, Real} & {*of}):
        kind = "None" if value is None else f"given a {type(value).__name__}"
        raise ConfigError(f"{name} is {kind}", fix=fix or _ALL[name][1])

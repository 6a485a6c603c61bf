"""The arguments of a call from Python as the words of a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from slipway.base.errors import Arguments

_FLAGS = {"kind": "as", "runs": "sweep", "secrets": "secret", "job_name": "name"}
"""Flags that have another name than the argument of Python."""


def as_flags(arguments: Arguments) -> str:
    """Return the arguments of a call from Python as the words of `slipway submit`."""
    words = []
    for name, value in arguments.items():
        if name == "template":
            words.append(f"slipway submit {value}{' …' if len(arguments) == 1 else ''}")
            continue
        if name == "params" and isinstance(value, Mapping):
            words += [f"-p {_assigned(key, item)}" for key, item in value.items()]
            continue
        if name == "like":
            words.append(f"slipway submit --like {value}")
            continue
        flag = f"--{_FLAGS.get(name, name).replace('_', '-')}"
        if isinstance(value, bool):
            if value:
                words.append(flag)
            continue
        given = [f"{key}={item}" for key, item in value.items()] if isinstance(value, Mapping) else [_one(value)]
        words += [word for assignment in given for word in (flag, shlex.quote(assignment))]
    return " ".join(words)


def _one(value: str | int | tuple[str, ...]) -> str:
    """Return a flag's value, several names with commas between."""
    return ",".join(value) if isinstance(value, tuple) else str(value)


def _assigned(name: str, value: str) -> str:
    """Return a parameter as a shell reads it, in the quotes that are read best."""
    if shlex.quote(value) != value and not {*value} & {*'"$`\\!'}:
        return f'{name}="{value}"'
    return shlex.quote(f"{name}={value}")

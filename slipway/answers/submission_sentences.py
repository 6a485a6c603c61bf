"""Sentences about the values that change for submissions, which are their subject. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slipway.answers import submissions as asked
from slipway.model.own_settings import OF_SECRET

_FREE = "$0.00/h"
_CHANGED: Mapping[str, Callable[[str, str], str]] = {
    asked.ACCOUNT: lambda before, after: f"run as `{after}`, not `{before}`",
    asked.PRICE: lambda before, after: _price(before, after),
    asked.TIME_LIMIT: lambda before, after: f"end after {after}, not {before}",
    asked.GPU_MEMORY: lambda before, after: f"have {after} of GPU memory, not {before}",
    asked.MACHINES: lambda before, after: f"need {after}, not {before}",
    asked.REGION: lambda before, after: f"run in {after}, not {before}",
    asked.KIND: lambda before, after: f"are a {after}, not a {before}",
    asked.CPU_IMAGE: lambda before, after: f"have an image for {'CPUs' if after == 'yes' else 'GPUs'}",
    asked.RETRIES: lambda before, after: f"are {_no_longer(after)} retried after failures of the service",
    asked.CHECKPOINTS: lambda before, after: f"{_no_longer(after)} resume from checkpoints",
}
"""The words for a value that both sides have."""
_FAMILIES: Mapping[str, Callable[[str, str, str], str]] = {
    "default of ": lambda name, before, after: f"have `{name}={after}` by default, not {before}",
    "argument ": lambda name, before, after: f"pass `{after}`, not `{before}`",
    "variable ": lambda name, before, after: f"set `{name}` to `{after}`, not `{before}`",
}
"""The words for a value that both sides have, by the beginning of its name."""
_GAINED: Mapping[str, Callable[[str, str], str]] = {
    asked.NOT_PASSED: lambda name, after: f"on {name}, {after} not passed",
    asked.READER: lambda name, after: f"`{after.partition('@')[0]}` needs access to secret `{name}`",
    asked.IDLE_LIMIT: lambda name, after: f"end if GPU use is {after}",
    "default of ": lambda name, after: f"have the new parameter `{name}={after}`",
    "argument ": lambda name, after: f"also pass `{after}`",
    "variable ": lambda name, after: f"also set `{name}` to `{after}`",
}
_LOST: Mapping[str, Callable[[str, str], str]] = {
    "argument ": lambda name, before: f"no longer pass `{before}`",
    "variable ": lambda name, before: f"no longer set `{name}`",
}


def sentence(name: str, before: str | None, after: str | None) -> str:
    """Return `run as `b`, not `a``, or ``` `name` a → b ``` for a value without words of its own; None is no value."""
    words = ""
    if name.endswith(OF_SECRET):
        words = _of_secret(name.removeprefix("variable ").removesuffix(OF_SECRET), before, after)
    elif before is None and after is not None:
        words = _of_family(_GAINED, name, after)
    elif before is not None and after is None:
        words = _of_family(_LOST, name, before)
    elif before is not None and after is not None:
        words = _changed(name, before, after)
    return words or f"`{name}` {before or 'none'} → {after or 'none'}"


def _of_family(families: Mapping[str, Callable[[str, str], str]], name: str, value: str) -> str:
    for start, words in families.items():
        if name.startswith(start):
            return words(_rest(name, start), value)
    return ""


def _changed(name: str, before: str, after: str) -> str:
    if name in _CHANGED:
        return _CHANGED[name](before, after)
    if name.startswith(asked.READER):
        return _GAINED[asked.READER](_rest(name, asked.READER), after)
    for start, words in _FAMILIES.items():
        if name.startswith(start):
            return words(_rest(name, start), before, after)
    return ""


def _rest(name: str, start: str) -> str:
    return name.removeprefix(start).strip()


def _of_secret(variable: str, before: str | None, after: str | None) -> str:
    if after is None:
        return f"no longer get secret `{before}` as `{variable}`"
    if before is None:
        return f"also get secret `{after}` as `{variable}`"
    return f"get secret `{after}` as `{variable}`, not `{before}`"


def _price(before: str, after: str) -> str:
    """Return the words for prices of machines beyond pools, which are paid for anyway."""
    if before == _FREE:
        return f"cost {after}, nothing before"
    if after == _FREE:
        return f"cost nothing beyond pools, {before} before"
    return f"cost {after}, not {before}"


def _no_longer(after: str) -> str:
    return "now" if after == "yes" else "no longer"

"""Parameters and waits as a person typed them, with all mistakes at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slipway.capacity import CAPACITY_TYPES, WAIT_BY_THEMSELVES
from slipway.catalog.model import Parameter, Scalar, Template
from slipway.catalog.placeholders import render
from slipway.errors import ConfigError
from slipway.formatting import counted, nearest, quoted, seconds, short
from slipway.labels import excess, unfit

_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
_KIND = {"int": "a whole number", "float": "a number", "str": "a string", "bool": "true or false"}


def assignments(typed: Iterable[str]) -> dict[str, str]:
    """Split `name=value` pairs. Raises ConfigError for an invalid pair and for a name given twice."""
    values: dict[str, str] = {}
    problems: list[str] = []
    for one in typed:
        name, equals, value = one.partition("=")
        name = name.strip()
        if wrong := unfit(one):
            problems.append(f"{quoted(one)} {wrong}")
        elif not equals or not name:
            problems.append(f"{quoted(one)} is not name=value")
        elif name in values:
            problems.append(f"{short(name)} is given twice")
        else:
            values[name] = value
    if problems:
        raise ConfigError(
            f"{counted(len(problems), 'parameter')} wrong", why="\n".join(problems), fix="-p NAME=VALUE, each name once"
        )
    return values


def waits(given: Mapping[str, str]) -> dict[str, float]:
    """Read `{"pool": "30m"}` as seconds, in the same order; `0` for flex-start is forever. Raises ConfigError."""
    found: dict[str, float] = {}
    for name, time in given.items():
        if name not in CAPACITY_TYPES:
            raise invalid_wait(f"{name}={time}")
        endless = name in WAIT_BY_THEMSELVES and time.strip() in ("0", "0s")
        found[name] = 0.0 if endless else seconds(time)
    return found


def invalid_wait(text: str) -> ConfigError:
    return ConfigError(
        f"invalid wait {quoted(text)}",
        why=f"write a capacity type and a time; the types are {', '.join(CAPACITY_TYPES)}",
        fix=({"wait_for": {"pool": "30m"}}, ", for example"),
    )


def resolve(template: Template, given: Mapping[str, str]) -> dict[str, Scalar]:
    """Return every parameter's value, typed. Raises one ConfigError that lists all mistakes."""
    values, problems = judged(template, given)
    if problems:
        raise ConfigError(
            f"{template.name}: {counted(len(problems), 'parameter')} wrong",
            why="\n".join(what for _, what in problems),
            fix=f"slipway templates show {template.name}",
        )
    return values


def judged(template: Template, given: Mapping[str, str]) -> tuple[dict[str, Scalar], list[tuple[str, str]]]:
    """Return every parameter's value, typed, and list all mistakes by parameter, under the empty name for all of them
    together."""
    known = {parameter.name: parameter for parameter in template.parameters}
    problems = [(name, _unknown(name, known)) for name in given if name not in known]
    values: dict[str, Scalar] = {}
    for name, parameter in known.items():
        if name in given:
            value, problem = _typed(parameter, given[name])
        elif parameter.required:
            value, problem = None, f"{name} is missing: {describe(parameter)}"
        else:
            value, problem = parameter.default, ""
        if problem:
            problems.append((name, problem))
        elif value is not None:
            values[name] = value
    if much := excess(values):
        problems.append(("", f"all values together {much}: put a long one into a file, and give its gs:// address"))
    return values, problems


def describe(parameter: Parameter) -> str:
    """Return type, bounds and choices as text: `a whole number, 1 to 5000`."""
    if parameter.choices:
        return f"one of {', '.join(render(choice) for choice in parameter.choices)}"
    return ", ".join(word for word in (_KIND[parameter.type], _bounds(parameter)) if word)


def _bounds(parameter: Parameter) -> str:
    if parameter.min is not None and parameter.max is not None:
        return f"{_plain(parameter.min)} to {_plain(parameter.max)}"
    if parameter.min is not None:
        return f"at least {_plain(parameter.min)}"
    return f"at most {_plain(parameter.max)}" if parameter.max is not None else ""


def _typed(parameter: Parameter, text: str) -> tuple[Scalar | None, str]:
    value = _parse(parameter.type, text)
    said = short(text)
    wrong = f"{parameter.name}={said if said.isprintable() else ascii(said)} is not {describe(parameter)}"
    if value is None or (parameter.choices and value not in parameter.choices):
        return None, wrong
    if parameter.refusal(value):
        return None, f"{parameter.name}={said} is out of bounds: {_bounds(parameter)}"
    return value, ""


def _parse(kind: str, text: str) -> Scalar | None:
    if kind == "str":
        return None if unfit(text) or "\0" in text else text
    plain = text.strip()
    if kind == "bool":
        return True if plain.lower() in _TRUE else False if plain.lower() in _FALSE else None
    try:
        number = int(plain) if kind == "int" else float(plain)
    except ValueError:
        return None
    return None if unfit(number) else number


def _unknown(name: str, known: Mapping[str, Parameter]) -> str:
    near = nearest(name, known)
    instead = f"did you mean {near}?" if near else f"the template has {', '.join(known) or 'none'}"
    return f"unknown parameter {short(name)}; {instead}"


def _plain(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else str(number)

"""The package's schema and its values, both derived from the components' classes and those of their arguments.

In other languages than Python an argument's name is in camel case.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import pairwise
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pulumi

from slipway.base.codec import camel
from slipway.base.errors import ConfigError

PACKAGE = "slipway"
Type = dict[str, Any]
_QUOTED = {"Input": pulumi.Input, "Output": pulumi.Output, "T": Any}  # The names that Pulumi's annotations quote.
_MAPPINGS = (Mapping, dict)
_METADATA: Type = {
    "displayName": "Slipway",
    "description": "Clusters with autoscaling pools on Vertex AI, their quota, and the templates of jobs for them.",
    "keywords": ["pulumi", "kind/component", "category/cloud", "gcp", "vertex-ai"],
    "publisher": "Slipway",
    "license": "Apache-2.0",
}
_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schema(version: str, component: type, args: type) -> Type:
    """Return the schema of a package with one component, which takes the arguments of a class."""
    inputs, types = _object(args), {_token(kind): _named_type(kind) for kind in _below(args)}
    resource = {
        "isComponent": True,
        "description": _doc(component),
        "inputProperties": inputs["properties"],
        "requiredInputs": inputs["required"],
        "properties": outputs_of(component),
    }
    described = {"name": PACKAGE, "version": version, **_METADATA}
    return {**described, "types": types, "resources": {_token(component): resource}}


def outputs_of(component: type) -> Type:
    """Return the types of a component's outputs, by name."""
    return {name: _described(component, name, get_args(hint)[0]) for name, hint in _hints(component).items()}


def value_of(hint: Any, value: Any, path: str = "") -> Any:
    """Return a value of the wire as a class of arguments has it. Raises ConfigError for one that its place can't have;
    an Output raises it once it is known."""
    if isinstance(value, pulumi.Output):
        return value.apply(lambda known: _value_within(value, hint, known, path))
    for choice in _choices(hint):
        if isinstance(value, Mapping) and is_dataclass(choice):
            return _instance(choice, value, path)
        if isinstance(value, Mapping) and get_origin(choice) in _MAPPINGS:
            return {key: value_of(get_args(choice)[1], each, _at(path, key)) for key, each in value.items()}
        if isinstance(value, list) and get_origin(choice) is Sequence:
            return [value_of(get_args(choice)[0], each, f"{path}[{place}]") for place, each in enumerate(value)]
        if isinstance(value, float) and choice is int and value.is_integer():  # The wire has no whole numbers.
            return int(value)
    return value


async def _value_within(output: pulumi.Output[Any], hint: Any, known: Any, path: str) -> Any:
    """Return the value of an Output, as `value_of`. No error repeats a key of a secret one."""
    try:
        return value_of(hint, known, path)
    except ConfigError:
        if not await output.is_secret():
            raise
        raise ConfigError(
            f"{path}: the secret has an unknown key, or a required key is missing",
            fix="pass the keys in plain text: the error then names the key",
        ) from None


def _instance(kind: Any, given: Mapping[str, Any], path: str) -> Any:
    known = {camel(name): (name, hint) for name, hint in _hints(kind).items()}
    values = {key: value for key, value in given.items() if value is not None}
    for key in values.keys() - known.keys():
        raise ConfigError(f"{_at(path, key)}: unknown key", fix=f"one of {', '.join(sorted(known))}")
    for key in sorted(_needed(kind) - values.keys()):
        raise ConfigError(f"{_at(path, key)}: it is missing", fix=f"{key}: …")
    return kind(**{known[key][0]: value_of(known[key][1], value, _at(path, key)) for key, value in values.items()})


def _at(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    """Return the types of a class's annotated attributes, without those that only Python has, as components."""
    hints = get_type_hints(kind, localns=_QUOTED)
    told = docs_of(kind)
    return {name: hint for name, hint in hints.items() if name in told and (_choices(hint) or not is_dataclass(kind))}


def _choices(hint: Any) -> list[Any]:
    """Return what a value may be, apart from being awaited. Where it may be a class of arguments, a stack file's entry
    in its place is for Python alone, and so is a resource in the place of its name."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        found = list(dict.fromkeys(choice for each in inner for choice in _choices(each)))
        classes = any(is_dataclass(each) for each in found)
        return [each for each in found if not (classes and get_origin(each) in _MAPPINGS and Any in get_args(each))]
    if hint is NoneType or origin in (pulumi.Output, Awaitable):
        return []
    if isinstance(hint, type) and issubclass(hint, pulumi.Resource):
        return []
    return [] if origin is Sequence and not _choices(inner[0]) else [hint]


def _below(kind: type) -> list[type]:
    """Return the classes that the arguments of a class lead to."""
    found: list[type] = []
    waiting = list(_hints(kind).values())
    while waiting:
        for choice in _choices(waiting.pop()):
            if get_origin(choice) in (*_MAPPINGS, Sequence):
                waiting.append(get_args(choice)[-1])
            elif _is_named(choice) and choice not in found:
                found.append(choice)
                waiting += _hints(choice).values()
    return found


def _is_named(choice: Any) -> bool:
    """Return whether a type has a token of its own: a class of arguments, or an enumeration."""
    return _is_enumeration(choice) or (isinstance(choice, type) and is_dataclass(choice))


def _is_enumeration(choice: Any) -> bool:
    return isinstance(choice, type) and issubclass(choice, Enum)


def _named_type(kind: Any) -> Type:
    return _enumeration(kind) if _is_enumeration(kind) else _object(kind)


def _enumeration(kind: type[Enum]) -> Type:
    values = [
        {"name": member.name.title().replace("_", ""), "value": member.value, "description": docs_of(kind)[member.name]}
        for member in kind
    ]
    return {"type": "string", "description": _doc(kind), "enum": values}


def _object(kind: Any) -> Type:
    properties = {camel(name): _described(kind, name, hint) for name, hint in _hints(kind).items()}
    return {"type": "object", "description": _doc(kind), "properties": properties, "required": sorted(_needed(kind))}


def _needed(kind: Any) -> set[str]:
    return {camel(each.name) for each in fields(kind) if each.default is each.default_factory is MISSING}


def _described(kind: type, name: str, hint: Any) -> Type:
    return {**_type_of(hint), "description": docs_of(kind)[name]}


def _type_of(hint: Any) -> Type:
    choices = _choices(hint)
    found = [_type(choice) for choice in choices]
    if len(found) == 1:
        return found[0]
    if any(_is_enumeration(choice) for choice in choices):
        return {"type": "string", "oneOf": found}
    return {"oneOf": found}


def _type(choice: Any) -> Type:
    if choice is Any:
        return {"$ref": "pulumi.json#/Any"}
    if get_origin(choice) in _MAPPINGS:
        return {"type": "object", "additionalProperties": _type_of(get_args(choice)[1])}
    if get_origin(choice) is Sequence:
        return {"type": "array", "items": _type_of(get_args(choice)[0])}
    return {"type": _SCALARS[choice]} if choice in _SCALARS else {"$ref": f"#/types/{_token(choice)}"}


def _token(kind: type) -> str:
    return f"{PACKAGE}:index:{kind.__name__.removesuffix('Args')}"


def _doc(kind: type) -> str:
    own = vars(kind).get("__doc__")
    return " ".join((getattr(own, "text", own) or "").split())


@cache
def docs_of(kind: type) -> Mapping[str, str]:
    """Return the docstrings of a class's attributes, which stand below them, by the attributes' names."""
    told: dict[str, str] = {}
    for each in kind.__mro__:
        if each.__module__.startswith(__name__.rpartition(".")[0]):
            (written,) = ast.parse(dedent(inspect.getsource(each))).body
            body = written.body if isinstance(written, ast.ClassDef) else []
            for declared, text in pairwise(body):
                target = _target(declared)
                if target and isinstance(text, ast.Expr):
                    told[target] = " ".join(ast.literal_eval(text.value).split())
    return told


def _target(statement: ast.stmt) -> str:
    """Return the attribute that a statement declares: an annotated one, or a member of an enumeration."""
    if isinstance(statement, ast.AnnAssign):
        return ast.unparse(statement.target)
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0])
    return ""

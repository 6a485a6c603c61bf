"""Types as the installed pulumi-gcp describes them: their properties, as the Python SDK has them.

The SDK is written by the provider's own generator, so it agrees with the provider of its version. It lacks parts of the
schema: the properties whose change replaces a resource, defaults, and values that the cloud fills in below the top.
"""

import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, get_args, get_origin

import pulumi_gcp
from pulumi import _types

from local.plugin.schema import Field, Schema

Properties = Mapping[str, str]
"""Each property by its path, such as `resourcePools[].id`, with its kind."""

_KINDS = {str: "string", int: "integer", float: "integer", bool: "boolean"}


@dataclass(frozen=True)
class Type:
    """A resource type: its inputs, the required ones, its outputs, and the secret ones among them."""

    takes: Properties
    required: frozenset[str]
    has: Properties
    secret: frozenset[str]


def installed() -> str:
    return version("pulumi-gcp")


def of_sdk(token: str) -> Type:
    """Return the type as the installed SDK has it."""
    _, path, name = token.split(":")
    # By its whole service: importing a class's module alone leaves Pulumi's lazy service half imported in this process.
    service = getattr(pulumi_gcp, path.split("/")[0])
    given, made = getattr(service, f"{name}Args"), getattr(service, name)
    takes = _types.input_type_types(given)
    return Type(
        takes=dict(_paths(takes)),
        required=frozenset(_required(given)),
        has=dict(_paths(_types.resource_types(made))),
        secret=frozenset(_secret(made)),
    )


def of_stand_in(schema: Schema) -> Type:
    """Return the type as the stand-in has it."""
    settable = {name: field for name, field in schema.fields.items() if field.settable}
    return Type(
        takes=dict(_fields(settable)),
        required=frozenset(name for name, value in settable.items() if value.required),
        has=dict(_fields(schema.fields)),
        secret=schema.secrets,
    )


def _paths(types: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in types.items():
        yield from _path(f"{before}{name}", _plain(value))


def _path(name: str, value: Any) -> Iterator[tuple[str, str]]:
    origin = get_origin(value) if isinstance(get_origin(value), type) else None
    if value in _KINDS:
        yield name, _KINDS[value]
    elif origin and issubclass(origin, Mapping):
        yield name, "map"
    elif origin and issubclass(origin, Sequence):
        yield name, "list"
        yield from _path(f"{name}[]", _plain(get_args(value)[0]))
    elif _types.is_input_type(value):
        yield name, "object"
        yield from _paths(_types.input_type_types(value), f"{name}.")
    elif _types.is_output_type(value):
        yield name, "object"
        yield from _paths(_types.output_type_types(value), f"{name}.")
    else:
        yield name, "asset"


def _plain(value: Any) -> Any:
    """Return a type without its alternatives: nothing, or an awaited value."""
    return _types.unwrap_type(value)


def _required(given: type) -> Iterator[str]:
    names = _types.input_type_py_to_pulumi_names(given)
    for name, parameter in inspect.signature(given).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            yield names[name]


def _secret(made: type) -> list[str]:
    match = re.search(r"additional_secret_outputs=\[([^\]]*)\]", inspect.getsource(made))
    return re.findall(r"\"(\w+)\"", match[1]) if match else []


def _fields(fields: Mapping[str, Field], before: str = "") -> Iterator[tuple[str, str]]:
    for name, field in fields.items():
        yield from _field(f"{before}{name}", field)


def _field(name: str, field: Field) -> Iterator[tuple[str, str]]:
    yield name, field.kind
    if field.kind == "list" and field.item:
        yield from _field(f"{name}[]", field.item)
    elif field.kind == "object":
        yield from _fields(field.fields, f"{name}.")

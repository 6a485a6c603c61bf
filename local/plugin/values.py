"""Property values as Python objects, and as the structures that the engine sends.

A property map is a plain dict of the JSON types, with three more leaves: `UNKNOWN` and `COMPUTED` (not known before the
update has run) and `Asset`. Numbers are `int` where they are whole.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

Properties: TypeAlias = Mapping[str, Any]

# The markers of Pulumi's wire format (sdk/proto, "special signatures").
_SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECRET = "1b47061264138c4ac30d75fd1eb44270"
_ASSET = "c44067f5952c0a294b673a41bacd8c17"
_UNKNOWN_TEXT = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
_UNKNOWN_TEXTS = frozenset(
    {
        _UNKNOWN_TEXT,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # array
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)


class _Later:
    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name


UNKNOWN = _Later("UNKNOWN")
"""An input that depends on something which does not exist yet."""
COMPUTED = _Later("COMPUTED")
"""An output that the cloud will fill in."""


@dataclass(frozen=True)
class Asset:
    """A file: its text, or its path."""

    hash: str = ""
    text: str | None = None
    path: str | None = None
    uri: str | None = None


@dataclass(frozen=True)
class Decoded:
    """A property map, and the names of its top-level properties that hold a secret."""

    values: dict[str, Any]
    secrets: frozenset[str]


def decode(struct: Any) -> Decoded:
    """Read a `google.protobuf.Struct` as the engine sends it; nulls are left out."""
    values: dict[str, Any] = {}
    secrets: set[str] = set()
    for name, wire in struct.fields.items():
        hidden: list[bool] = []
        value = _from_wire(wire, hidden)
        if value is not None:
            values[name] = value
        if hidden:
            secrets.add(name)
    return Decoded(values, frozenset(secrets))


def _from_wire(wire: Any, hidden: list[bool]) -> Any:
    kind = wire.WhichOneof("kind")
    if kind == "string_value":
        return UNKNOWN if wire.string_value in _UNKNOWN_TEXTS else wire.string_value
    if kind == "number_value":
        number: float = wire.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return wire.bool_value
    if kind == "list_value":
        return [_from_wire(item, hidden) for item in wire.list_value.values]
    if kind == "struct_value":
        return _object_from_wire(wire.struct_value.fields, hidden)
    return None


def _object_from_wire(fields: Mapping[str, Any], hidden: list[bool]) -> Any:
    signature = fields[_SIGNATURE].string_value if _SIGNATURE in fields else ""
    if signature == _SECRET:
        hidden.append(True)
        return _from_wire(fields["value"], hidden)
    items = {name: _from_wire(wire, hidden) for name, wire in fields.items() if name != _SIGNATURE}
    if signature == _ASSET:
        return Asset(items.get("hash") or "", items.get("text"), items.get("path"), items.get("uri"))
    if signature:
        raise ValueError(f"a value of a kind that was not agreed on was sent (signature {signature})")
    return {name: value for name, value in items.items() if value is not None}


def encode(values: Properties, secrets: Iterable[str] = ()) -> Any:
    """Write a property map as a `google.protobuf.Struct`; the named top-level properties are marked secret."""
    from google.protobuf.struct_pb2 import Struct

    hidden = frozenset(secrets)
    plain: dict[str, Any] = {}
    for name, value in values.items():
        wire = _to_wire(value)
        plain[name] = {_SIGNATURE: _SECRET, "value": wire} if name in hidden else wire
    struct = Struct()
    struct.update(plain)
    return struct


def _to_wire(value: Any) -> Any:
    if isinstance(value, _Later):
        return _UNKNOWN_TEXT
    if isinstance(value, Asset):
        parts = {"hash": value.hash, "text": value.text, "path": value.path, "uri": value.uri}
        return {_SIGNATURE: _ASSET} | {name: part for name, part in parts.items() if part is not None}
    if isinstance(value, Mapping):
        return {name: _to_wire(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_wire(item) for item in value]
    return value


def is_later(value: Any) -> bool:
    """Return whether the value is not known yet."""
    return isinstance(value, _Later)


def is_empty(value: Any) -> bool:
    """Return whether the cloud takes the value for none: "", 0, false, and anything that holds only those."""
    if isinstance(value, Mapping):
        return all(is_empty(item) for name, item in value.items() if not name.startswith("__"))
    if isinstance(value, list | tuple):
        return not value
    return value is None or (not isinstance(value, Asset | _Later) and not value)

"""Canonical JSON as one version of an API shows it, without making messages of it: pages have a thousand bodies.

The result is what `json_format` would make of a body and back: fields that the version has, in the order of their
numbers, without those that have their type's zero.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf import json_format, message_factory, wrappers_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

Shown = Callable[[Any], Any]
"""A value as it is kept to the value as it is shown."""

_GONE = object()
"""The mark of a value that is not shown, as the message could not hold it."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z")
_WIDE = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64)
_WHOLE = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_UINT32)
_PLAIN = (FieldDescriptor.CPPTYPE_BOOL, FieldDescriptor.CPPTYPE_STRING)


class Projection:
    """The form of one message's bodies; `numbers`: enums are shown as numbers. Fields are looked up when the first body
    comes, as messages may contain themselves."""

    def __init__(self, descriptor: Descriptor, numbers: bool) -> None:
        self._descriptor, self._numbers = descriptor, numbers

    def __call__(self, body: Mapping[str, Any]) -> dict[str, Any]:
        fields, found = self._fields, []
        for name, value in body.items():
            field = fields.get(name)
            if field is not None:
                number, shown_name, show, zero = field
                shown = show(value)
                if shown is not _GONE and shown != zero:
                    found.append((number, shown_name, shown))
        found.sort(key=_number)
        return {name: value for _, name, value in found}

    @functools.cached_property
    def _fields(self) -> Mapping[str, tuple[int, str, Shown, Any]]:
        """By name in JSON and in the message: number, name in JSON, how it is shown, the value that is left
        out."""
        found = {}
        for field in self._descriptor.fields:
            known = (field.number, field.json_name, _field(field, self._numbers), _zero(field, self._numbers))
            found[field.name] = found[field.json_name] = known
        return found


@functools.cache
def projection(descriptor: Descriptor, numbers: bool) -> Projection:
    """Return the one projection of a message."""
    return Projection(descriptor, numbers)


def masked(body: Mapping[str, Any], mask: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a shown body that a tree of names keeps; a name with nothing below it keeps its whole
    value."""
    kept = {}
    for name, below in mask.items():
        if name in body:
            part = masked(body[name], below) if below else body[name]
            if part or not below:
                kept[name] = part
    return {name: kept[name] for name in body if name in kept}


def _number(item: tuple[int, str, Any]) -> int:
    return item[0]


def _zero(field: FieldDescriptor, numbers: bool) -> Any:
    """Return the value of a field that is left out; a field that knows whether it was set leaves none out."""
    if field.is_repeated:
        return [] if _entry(field) is None else {}
    if field.has_presence:
        return _GONE
    if field.enum_type is not None:
        return 0 if numbers else field.enum_type.values_by_number[0].name
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return ""
    return "0" if field.cpp_type in _WIDE else 0


def _entry(field: FieldDescriptor) -> Descriptor | None:
    """Return the message of a map's pairs, None for a field that is no map."""
    message: Descriptor | None = field.message_type
    return message if message is not None and message.GetOptions().map_entry else None


def _field(field: FieldDescriptor, numbers: bool) -> Shown:
    entry = _entry(field)
    if entry is not None:
        show = _value(entry.fields_by_name["value"], numbers)
        return lambda pairs: {key: show(value) for key, value in (pairs or {}).items()}
    show = _value(field, numbers)
    if field.is_repeated:
        return lambda items: [value for value in map(show, items or ()) if value is not _GONE]
    return show


def _value(field: FieldDescriptor, numbers: bool) -> Shown:
    """Return how one value of a field is shown."""
    if field.message_type is not None:
        return _message(field.message_type, numbers)
    if field.enum_type is not None:
        return _enum(field.enum_type, numbers)
    if field.cpp_type in _WIDE:
        return lambda value: _GONE if value is None else str(int(value))
    if field.cpp_type in _WHOLE:
        return lambda value: _GONE if value is None else int(value)
    if field.cpp_type in _PLAIN and field.type != FieldDescriptor.TYPE_BYTES:
        return lambda value: _GONE if value is None else value
    wrappers: Mapping[int, Any] = {
        FieldDescriptor.TYPE_BYTES: wrappers_pb2.BytesValue,
        FieldDescriptor.TYPE_FLOAT: wrappers_pb2.FloatValue,
        FieldDescriptor.TYPE_DOUBLE: wrappers_pb2.DoubleValue,
    }
    whole = _whole(wrappers[field.type])
    if field.type == FieldDescriptor.TYPE_DOUBLE:
        return lambda value: value if type(value) is float and math.isfinite(value) else whole(value)
    return whole


def _enum(descriptor: EnumDescriptor, numbers: bool) -> Shown:
    """Return how an enum is shown; a name that this version of the API does not know is left out."""
    known: dict[Any, Any] = {}
    for value in descriptor.values:
        shown = value.number if numbers else descriptor.values_by_number[value.number].name
        known[value.name] = known[value.number] = shown
    return lambda value: known.get(value, _GONE)


def _message(descriptor: Descriptor, numbers: bool) -> Shown:
    name = descriptor.full_name
    if name == "google.protobuf.Timestamp":
        return _moment(descriptor)
    if name == "google.protobuf.Duration":
        return functools.lru_cache(1000)(_whole(_made(descriptor)))
    if name.startswith("google.protobuf.") and name != "google.protobuf.Empty":
        # Types with a form of their own in JSON. A Value may be null.
        return _whole(_made(descriptor), null=name == "google.protobuf.Value")
    show = projection(descriptor, numbers)
    return lambda body: _GONE if body is None else show(body)


def _made(descriptor: Descriptor) -> Any:
    return message_factory.GetMessageClass(descriptor)


def _whole(made: Any, *, null: bool = False) -> Shown:
    """Return how values are shown that may be written in several ways: through a message after all."""

    def show(value: Any) -> Any:
        if value is None and not null:
            return _GONE
        return json_format.MessageToDict(json_format.ParseDict(value, made(), ignore_unknown_fields=True))

    return show


def _moment(descriptor: Descriptor) -> Shown:
    """Return how a time is shown, with as few digits behind its seconds as it needs: six, three or none."""
    whole = _whole(_made(descriptor))

    def show(value: Any) -> Any:
        if not (isinstance(value, str) and _TIME.fullmatch(value)):
            return whole(value)
        if not value.endswith("000Z"):
            return value
        return value[:19] + "Z" if value.endswith(".000000Z") else value[:23] + "Z"

    return show

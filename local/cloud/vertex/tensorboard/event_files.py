"""TensorBoard's event files: records with checksums, each with an Event, of which only scalars are read."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import google_crc32c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

_HEADER, _FOOTER = struct.Struct("<QI"), struct.Struct("<I")
_MASK = 0xA282EAD8
_FLOAT, _DOUBLE = 1, 2
_SCALARS = "scalars"

# The fields of TensorFlow's messages that are read: name, number, type, whether it repeats.
_MESSAGES: dict[str, tuple[tuple[str, int, str, bool], ...]] = {
    "Event": (("wall_time", 1, "double", False), ("step", 2, "int64", False), ("summary", 5, "Summary", False)),
    "Summary": (("value", 1, "Value", True),),
    "Value": (
        ("tag", 1, "string", False),
        ("simple_value", 2, "float", False),
        ("tensor", 8, "Tensor", False),
        ("metadata", 9, "Metadata", False),
    ),
    "Metadata": (("plugin_data", 1, "Plugin", False),),
    "Plugin": (("plugin_name", 1, "string", False),),
    "Tensor": (
        ("dtype", 1, "int32", False),
        ("tensor_content", 4, "bytes", False),
        ("float_val", 5, "float", True),
        ("double_val", 6, "double", True),
    ),
}


@dataclass(frozen=True)
class Scalar:
    """A value of the series `tag`; `wall_time` is in seconds since 1970."""

    tag: str
    step: int
    wall_time: float
    value: float


def scalars(content: bytes) -> Iterator[Scalar]:
    """Yield the scalars of an event file, until its end or the first incomplete record (it may still be written)."""
    plugins: dict[str, str] = {}
    for record in _records(content):
        event = _type("Event")()
        try:
            event.ParseFromString(record)
        except DecodeError:
            return
        for value in event.summary.value:
            # A series declares its type with its first value.
            plugins.setdefault(value.tag, value.metadata.plugin_data.plugin_name)
            found = _value(value, plugins[value.tag])
            if found is not None:
                yield Scalar(value.tag, event.step, event.wall_time, found)


def _value(value: Any, plugin: str) -> float | None:
    if value.HasField("simple_value"):
        return float(value.simple_value)
    if plugin != _SCALARS or not value.HasField("tensor"):
        return None
    tensor = value.tensor
    if tensor.dtype not in (_FLOAT, _DOUBLE):
        return None
    if tensor.tensor_content:
        form = "<f" if tensor.dtype == _FLOAT else "<d"
        return float(struct.unpack_from(form, tensor.tensor_content)[0])
    listed = tensor.float_val or tensor.double_val
    return float(listed[0]) if listed else None


def _records(content: bytes) -> Iterator[bytes]:
    at = 0
    while at + _HEADER.size <= len(content):
        length, check = _HEADER.unpack_from(content, at)
        end = at + _HEADER.size + length
        if check != _masked(content[at : at + 8]) or end + _FOOTER.size > len(content):
            return
        record = content[at + _HEADER.size : end]
        if _FOOTER.unpack_from(content, end)[0] != _masked(record):
            return
        yield record
        at = end + _FOOTER.size


def _masked(content: bytes) -> int:
    checksum = int(google_crc32c.value(content))
    return ((checksum >> 15 | checksum << 17) + _MASK) & 0xFFFFFFFF


@cache
def _type(name: str) -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"events.{name}"))


@cache
def _pool() -> Any:
    """Return a pool of its own, so that nobody else's messages of these names are in the way."""
    file = descriptor_pb2.FileDescriptorProto(name="events.proto", package="events", syntax="proto2")
    field_type = descriptor_pb2.FieldDescriptorProto
    for message, fields in _MESSAGES.items():
        described = file.message_type.add(name=message)
        for name, number, kind, repeats in fields:
            field = described.field.add(name=name, number=number)
            field.label = field_type.LABEL_REPEATED if repeats else field_type.LABEL_OPTIONAL
            if kind in _MESSAGES:
                field.type, field.type_name = field_type.TYPE_MESSAGE, f".events.{kind}"
            else:
                field.type = getattr(field_type, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool

"""Bodies of APIs that have official client libraries, parsed and written with the libraries' own message types.

A parsed body is canonical JSON: camelCase, enum names, int64 as text, no defaults.
"""

import functools
import importlib
import re
import sys
import threading
import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from . import discovery, partial_responses, unserved
from .wire import Call, camel, invalid_argument

_NO_FIELD = re.compile(r'no field named "([^"]+)" at "[^".]*\.?([^"]*)"', re.DOTALL)
_loading = threading.Lock()


@dataclass(frozen=True)
class Messages:
    """The types of one API."""

    #: By version (`aiplatform_v1`).
    packages: Mapping[str, str]
    #: By message (`custom_job`).
    modules: Mapping[str, str]
    #: Messages that are set though they are empty (`RaySpec`); of others that means a field that is not set.
    told: Collection[str] = ()

    def parse(self, version: str, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request's body as canonical JSON. Raises 400 with the path of a field that can't be, 501 for one
        that is not served."""
        message = self._type(version, kind)()
        _check_spellings(message.DESCRIPTOR, body, "")
        try:
            json_format.ParseDict(dict(body), message)
        except json_format.ParseError as error:
            raise invalid_argument(_words(error)) from error
        self._tidy(message, "")
        canonical: dict[str, Any] = json_format.MessageToDict(message)
        return canonical

    def render(self, version: str, kind: str, body: Mapping[str, Any], mask: str = "") -> dict[str, Any]:
        """Return a body with the fields that this version has and, where there is a mask, those that it names.

        Enums are names, also where a client asks for numbers: the official ones read both.
        """
        shown = {name: body[name] for name in _names(self.descriptor(version, kind)) if name in body}
        return partial_responses.part(shown, partial_responses.parsed(camel(mask))) if mask else shown

    def check_query(self, call: Call, version: str, request: str, bound: Collection[str]) -> None:
        """Raise 400 for a query parameter that is no field of a message, `bound`, repeated or ill-typed."""
        message = self._type(version, request)
        fields = {field.json_name: field for field in message.DESCRIPTOR.fields if field.json_name not in bound}
        discovery.refuse_unknown(call.query, fields)
        own = [(name, text) for name, text in call.pairs if name in fields]
        discovery.refuse_repeated(own, [name for name, field in fields.items() if field.is_repeated])
        for name, text in own:
            value: Any = {"true": True, "false": False}.get(text.lower(), text)
            try:
                json_format.ParseDict({name: [value] if fields[name].is_repeated else value}, message())
            except json_format.ParseError as error:
                raise invalid_argument(f"Invalid value at '{name}', \"{text}\"") from error

    def descriptor(self, version: str, kind: str) -> Descriptor:
        """Return the official definition of a message."""
        descriptor_of_type: Descriptor = self._type(version, kind).DESCRIPTOR
        return descriptor_of_type

    def _tidy(self, message: Message, at: str) -> None:
        """Clear empty messages. Raises 400 for a number that is no value of an enum, 501 for a field not served."""
        service = next(iter(self.packages.values())).partition("_")[0]
        for field, value in message.ListFields():
            where = f"{at}.{field.json_name}".lstrip(".")
            for inner in _values(field, value):
                if field.enum_type is not None and inner not in field.enum_type.values_by_number:
                    raise invalid_argument(f"Invalid value at '{where}' ({field.enum_type.full_name}), {inner}")
                if isinstance(inner, Message) and not _well_known(inner.DESCRIPTOR):
                    self._tidy(inner, where)
            if self._says_nothing(field, value):
                message.ClearField(field.name)
            else:
                unserved.check_field(f"{service}.{message.DESCRIPTOR.name}", field.json_name, True)

    def _says_nothing(self, field: FieldDescriptor, value: Any) -> bool:
        """Return whether a field is an empty message whose presence means nothing, unlike in a `oneof`."""
        if field.is_repeated or not isinstance(value, Message) or _well_known(value.DESCRIPTOR):
            return False
        choice = field.containing_oneof
        chosen = choice is not None and len(choice.fields) > 1
        return not (chosen or value.ListFields() or value.DESCRIPTOR.name in self.told)

    def _type(self, version: str, kind: str) -> Any:
        return getattr(_module(self.packages[version], self.modules[kind]), kind).meta.pb


@functools.cache
def _names(descriptor: Descriptor) -> tuple[str, ...]:
    """Return the names of a message's fields in JSON, in the order of their numbers."""
    return tuple(field.json_name for field in sorted(descriptor.fields, key=lambda field: field.number))


def _check_spellings(descriptor: Descriptor, body: Any, at: str) -> None:
    """Raise 400 for a field that is there twice, once as in JSON and once as in the message."""
    if _well_known(descriptor) or not isinstance(body, Mapping):
        return
    known = {name: field for field in descriptor.fields for name in (field.name, field.json_name)}
    seen = set()
    for name, value in body.items():
        field = known.get(name)
        if field is None:
            continue  # The parser has a better error for this.
        where = f"{at}.{field.json_name}".lstrip(".")
        if field.number in seen:
            raise invalid_argument(f"Invalid JSON payload received. The field '{where}' is there more than once.")
        seen.add(field.number)
        if field.message_type is not None:
            for inner in value if isinstance(value, list) else [value]:
                _check_spellings(field.message_type, inner, where)


def _values(field: FieldDescriptor, value: Any) -> Iterable[Any]:
    """Return the values of a field: one, those of a list, or those of a map."""
    if not field.is_repeated:
        return (value,)
    return value.values() if isinstance(value, Mapping) else value


def _well_known(descriptor: Any) -> bool:
    """Return whether a message has a form of its own in JSON, as times have, or is a map's pair."""
    return bool(descriptor.full_name.startswith("google.protobuf.") or descriptor.GetOptions().map_entry)


def _words(error: Exception) -> str:
    match = _NO_FIELD.search(str(error))
    if match:
        name, path = match.groups()
        where = f" at '{path}'" if path else ""
        return f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
    return f"Invalid JSON payload received. {error}"


@functools.cache
def _module(package: str, module: str) -> Any:
    """Return a module of a client library's types without the library's long import of every service.

    While it is imported, empty packages stand for the library's own, whose `__init__` imports everything; they are
    taken out again at once, so a later import of the whole library gets the real one.
    """
    name = f"google.cloud.{package}.types.{module}"
    with _loading:  # A module that another thread is importing is in `sys.modules` long before it is whole.
        standing_in = _stand_in(package)
        try:
            return importlib.import_module(name)
        finally:
            for package_name in standing_in:
                del sys.modules[package_name]


def _stand_in(package: str) -> list[str]:
    import google.cloud

    added = []
    for name in (f"google.cloud.{package}", f"google.cloud.{package}.types"):
        if name not in sys.modules:
            stand_in = types.ModuleType(name)
            parts = name.split(".")[2:]
            stand_in.__path__ = [str(Path(base).joinpath(*parts)) for base in google.cloud.__path__]
            sys.modules[name] = stand_in
            added.append(name)
    return added

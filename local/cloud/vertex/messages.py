"""Bodies of the Vertex AI API, parsed and written with the official message types.

A parsed body is canonical JSON: camelCase, enum names, int64 as text, no defaults. It is kept in the v1beta1 form,
which has every field of v1.
"""

import importlib
import re
import sys
import threading
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf import field_mask_pb2, json_format

from local.cloud.wire import Call, invalid_argument

WIDEST = "v1beta1"
_MODULES = {"CustomJob": "custom_job", "PersistentResource": "persistent_resource"}
_PACKAGES = {
    "v1": ("aiplatform_v1", "google.cloud.aiplatform.v1"),
    "v1beta1": ("aiplatform_v1beta1", "google.cloud.aiplatform.v1beta1"),
}
_NO_FIELD = re.compile(r'no field named "([^"]+)" at "[^".]*\.?([^"]*)"', re.DOTALL)
_loading = threading.Lock()


def type_url(version: str, message: str) -> str:
    return f"type.googleapis.com/{_PACKAGES[version][1]}.{message}"


def parse(version: str, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A request's body as canonical JSON. Raises 400 with the path of an unknown or ill-typed field."""
    message = _type(version, kind)()
    try:
        json_format.ParseDict(dict(body), message)
    except json_format.ParseError as error:
        raise invalid_argument(_words(error, message.DESCRIPTOR.full_name)) from error
    return _canonical(message)


def render(call: Call, version: str, kind: str, body: Mapping[str, Any], mask: str = "") -> dict[str, Any]:
    """A body as this call wants it: its version's fields, enums as numbers if asked, only the masked fields."""
    numbers = wants_numbers(call)
    message = json_format.ParseDict(dict(body), _type(version, kind)(), ignore_unknown_fields=True)
    if mask:
        part = _type(version, kind)()
        _mask(mask, message).MergeMessage(message, part)
        message = part
    answer: dict[str, Any] = json_format.MessageToDict(message, use_integers_for_enums=numbers)
    return answer


def wants_numbers(call: Call) -> bool:
    return "enum-encoding=int" in call.query.get("$alt", "")


def _mask(text: str, message: Any) -> field_mask_pb2.FieldMask:
    mask = field_mask_pb2.FieldMask()
    paths = [path.strip() for path in text.split(",") if path.strip()]
    if "*" in paths:
        return field_mask_pb2.FieldMask(paths=[field.name for field in message.DESCRIPTOR.fields])
    try:
        mask.FromJsonString(",".join(re.sub(r"_([a-z])", lambda hit: hit[1].upper(), path) for path in paths))
    except ValueError as error:
        raise invalid_argument(f"Invalid read mask: {text}") from error
    if not mask.IsValidForDescriptor(message.DESCRIPTOR):
        raise invalid_argument(f"Invalid read mask: {text}")
    return mask


def _canonical(message: Any) -> dict[str, Any]:
    body: dict[str, Any] = json_format.MessageToDict(message)
    return body


def _words(error: Exception, type_name: str) -> str:
    found = _NO_FIELD.search(str(error))
    if found:
        name, path = found.groups()
        where = f" at '{path}'" if path else ""
        return f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
    return f"Invalid JSON payload received. {type_name}: {error}"


def _type(version: str, kind: str) -> Any:
    package = _PACKAGES[version][0]
    return getattr(_module(package, _MODULES[kind]), kind).meta.pb


def _module(package: str, module: str) -> Any:
    """One module of a client library's types without the library's 2 s import of every service.

    While it is imported, empty packages stand for the library's own, whose `__init__` imports everything; they
    are taken out again at once, so a later import of the whole library gets the real one.
    """
    name = f"google.cloud.{package}.types.{module}"
    if name in sys.modules:
        return sys.modules[name]
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
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
        if name in sys.modules:
            continue
        parts = name.split(".")[2:]
        stand_in = types.ModuleType(name)
        stand_in.__path__ = [str(Path(base).joinpath(*parts)) for base in google.cloud.__path__]
        sys.modules[name] = stand_in
        added.append(name)
    return added

"""Bodies of APIs that have official client libraries, parsed and written with the libraries' own message types.

A parsed body is canonical JSON: camelCase, enum names, int64 as text, no defaults.
"""

import functools
import importlib
import re
import sys
import threading
import types
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import field_mask_pb2, json_format
from google.protobuf.descriptor import Descriptor

from local.cloud import discovery, projection
from local.cloud.wire import Call, camel, invalid_argument

_NO_FIELD = re.compile(r'no field named "([^"]+)" at "[^".]*\.?([^"]*)"', re.DOTALL)
_loading = threading.Lock()


@dataclass(frozen=True)
class Messages:
    """The types of one API: `packages` by version (`aiplatform_v1`), `modules` by message (`custom_job`)."""

    packages: Mapping[str, str]
    modules: Mapping[str, str]

    def parse(self, version: str, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A request's body as canonical JSON. Raises 400 with the path of an unknown or ill-typed field."""
        message = self._type(version, kind)()
        try:
            json_format.ParseDict(dict(body), message)
        except json_format.ParseError as error:
            raise invalid_argument(_words(error)) from error
        canonical: dict[str, Any] = json_format.MessageToDict(message)
        return canonical

    def render(self, call: Call, version: str, kind: str, body: Mapping[str, Any], mask: str = "") -> dict[str, Any]:
        """A body as this call wants it: its version's fields, enums as numbers if asked, only the masked fields."""
        descriptor = self._type(version, kind).DESCRIPTOR
        shown = projection.projection(descriptor, wants_numbers(call))(body)
        return projection.masked(shown, _mask(mask, descriptor)) if mask else shown

    def check_query(self, call: Call, version: str, request: str, bound: Collection[str]) -> None:
        """Raises 400 for a query parameter that is no field of a request's message, or one `bound` to path or body."""
        fields = {field.json_name for field in self._type(version, request).DESCRIPTOR.fields}
        discovery.refuse_unknown(call.query, fields.difference(bound))

    def _type(self, version: str, kind: str) -> Any:
        return getattr(_module(self.packages[version], self.modules[kind]), kind).meta.pb


def wants_numbers(call: Call) -> bool:
    """Whether the client asked for enums as numbers."""
    return "enum-encoding=int" in call.query.get("$alt", "")


@functools.lru_cache(100)
def _mask(text: str, descriptor: Descriptor) -> Mapping[str, Any]:
    """A read mask as a tree of names in JSON. Raises 400 for one that names no field, or a part of a list."""
    paths = [path.strip() for path in text.split(",") if path.strip()]
    mask = field_mask_pb2.FieldMask()
    try:
        mask.FromJsonString(",".join(camel(path) for path in paths if path != "*"))
    except ValueError as error:
        raise invalid_argument(f"Invalid read mask: {text}") from error
    if not mask.IsValidForDescriptor(descriptor):
        raise invalid_argument(f"Invalid read mask: {text}")
    if "*" in paths:
        return {field.json_name: {} for field in descriptor.fields}
    tree: dict[str, Any] = {}
    # The shorter first: what is below a name that keeps everything changes nothing.
    for path in sorted(mask.paths, key=len):
        *above, last = [camel(name) for name in path.split(".")]
        node: dict[str, Any] | None = tree
        for name in above:
            node = None if node is None or node.get(name) == {} else node.setdefault(name, {})
        if node is not None:
            node.setdefault(last, {})
    return tree


def _words(error: Exception) -> str:
    found = _NO_FIELD.search(str(error))
    if found:
        name, path = found.groups()
        where = f" at '{path}'" if path else ""
        return f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.'
    return f"Invalid JSON payload received. {error}"


@functools.cache
def _module(package: str, module: str) -> Any:
    """One module of a client library's types without the library's long import of every service.

    While it is imported, empty packages stand for the library's own, whose `__init__` imports everything; they
    are taken out again at once, so a later import of the whole library gets the real one.
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

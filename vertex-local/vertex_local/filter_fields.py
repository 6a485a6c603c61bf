"""Fields in filters and orders, and their possible values, by Google's own definitions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import discovery
from .clock import bound_of, moment_of
from .wire import camel

Kind = Literal["text", "number", "time", "flag", "choice", "whole", "open"]
_TIMES = ("google-datetime", "date-time")
_INTEGERS = ("int32", "uint32", "int64", "uint64")


@dataclass(frozen=True)
class FilterField:
    """A field: its path in JSON, and its kind. A `whole` is a message, a map or a list, of which a filter may ask what
    it has (`:`); of an `open` one nothing is known."""

    path: tuple[str, ...]
    kind: Kind
    #: Those of a `choice`.
    values: frozenset[str] = frozenset()
    #: A time of day needs a time zone.
    zoned: bool = True

    def objection(self, sign: str, value: str) -> str:
        """Return why a comparison makes no sense, "" when it does."""
        name = ".".join(self.path)
        if self.kind in ("text", "open") or (sign == ":" and (value == "*" or self.kind == "whole")):
            return ""
        if self.kind == "whole":
            return f"'{name}' can't be compared, only asked what it has (:)"
        if self.kind == "choice" and sign not in ("=", "!=", ":"):
            return f"operator '{sign}' is not supported on '{name}'"
        if self.kind == "choice" and value not in self.values:
            return f"'{value}' is no value of '{name}', which are {', '.join(sorted(self.values))}"
        if self.kind == "flag" and value.lower() not in ("true", "false"):
            return f"'{name}' is true or false, not '{value}'"
        if self.kind == "number" and not _reads(float, value):
            return f"'{name}' is a number, and '{value}' is none"
        if self.kind == "time":
            return self._time_objection(value)
        return ""

    def _time_objection(self, value: str) -> str:
        if not _reads(bound_of, value):
            return f"'{value}' is not a time"
        zone = moment_of(value).tzinfo or not self.zoned or len(value) == len("2026-11-20")
        return "" if zone else f"'{value}' has no time zone"


FilterFields = Callable[[Sequence[str]], FilterField | None]
"""A path as it was written, in snake_case or camelCase, to the field, None where there is none."""


def of_schema(api: str, name: str) -> FilterFields:
    """Return the fields of a schema in an API's discovery document."""

    def found(path: Sequence[str]) -> FilterField | None:
        schemas = discovery.document(api)["schemas"]
        return _in_schema(schemas, schemas[name], tuple(path), ())

    return found


def of_tree(tree: Mapping[str, Any], *, zoned: bool = True) -> FilterFields:
    """Return fields by name, as a tree: of a kind, or a choice of a set; below `{}` any field is allowed."""

    def found(path: Sequence[str]) -> FilterField | None:
        node: Any = tree
        for name in path:
            if not node and isinstance(node, Mapping):
                return FilterField(tuple(path), "open")
            name = camel(name) if camel(name) in node else name
            if not isinstance(node, Mapping) or name not in node:
                return None
            node = node[name]
        if isinstance(node, frozenset):
            return FilterField(tuple(path), "choice", node)
        return FilterField(tuple(path), "whole" if isinstance(node, Mapping) else node, zoned=zoned)

    return found


def beside(known: FilterFields, more: FilterFields) -> FilterFields:
    """Return fields with others that answers do not have."""
    return lambda path: more(path) or known(path)


def among(known: FilterFields, names: Sequence[str]) -> FilterFields:
    """Return the fields with these names (`jobSpec.network`), and those below them; all where there are no names."""

    def found(path: Sequence[str]) -> FilterField | None:
        field = known(path)
        fits = field and any(f"{'.'.join(field.path)}.".startswith(f"{name}.") for name in names)
        return field if fits or not names else None

    return found


def _in_schema(
    schemas: Mapping[str, Any], schema: Mapping[str, Any], path: tuple[str, ...], above: tuple[str, ...]
) -> FilterField | None:
    schema = schemas[schema["$ref"]] if "$ref" in schema else schema
    kind, known, rest = schema.get("type", "any"), schema.get("properties"), schema.get("additionalProperties")
    if kind == "any" or (kind == "object" and known is None and rest is None):
        return FilterField((*above, *path), "open")
    if kind == "array" and path:
        return _in_schema(schemas, schema["items"], path, above)
    if path:
        name = path[0] if known is None or path[0] in known else camel(path[0])
        item = (known or {}).get(name, rest)
        return None if item is None else _in_schema(schemas, item, path[1:], (*above, name))
    if kind in ("object", "array"):
        return FilterField(above, "whole")
    if "enum" in schema:
        return FilterField(above, "choice", frozenset(schema["enum"]))
    form = schema.get("format", "")
    if form in _TIMES:
        return FilterField(above, "time")
    if kind == "boolean":
        return FilterField(above, "flag")
    return FilterField(above, "number" if kind in ("integer", "number") or form in _INTEGERS else "text")


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True

"""Bodies of APIs whose discovery documents define their fields."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from . import discovery, unserved, value_forms
from .wire import camel, invalid_argument

_UNNAMED_IN_SNAKE_CASE = "storage.v1"
"""Google's other APIs take `log_name` for `logName` in a body as well."""
_ALTERNATIVES: Mapping[str, Sequence[str]] = {"LogEntry": ("jsonPayload", "protoPayload", "textPayload")}
"""Fields of which a schema has one at most: discovery documents tell of none."""


def parsed(api: str, schema: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body with its fields named as in JSON, and without its nulls, which mean that a field is not set.

    Raises 400 INVALID_ARGUMENT, in Google's words, for a field that the schema lacks, a field in two spellings, or a
    value of another form; 501 for a field that is not served.
    """
    return _Reader(api).object(discovery.document(api)["schemas"][schema], body, "")


class _Reader:
    def __init__(self, api: str) -> None:
        self._api, self._schemas = api, discovery.document(api)["schemas"]
        self._service, self._snake = api.partition(".")[0], api != _UNNAMED_IN_SNAKE_CASE

    def object(self, schema: Mapping[str, Any], body: Mapping[str, Any], at: str) -> dict[str, Any]:
        known, rest = schema.get("properties", {}), schema.get("additionalProperties")
        content, seen = {}, set()
        for sent, value in body.items():
            name = camel(sent) if self._snake and sent not in known and camel(sent) in known else sent
            where = f"{at}.{name}".lstrip(".")
            if name not in known and rest is None:
                inside = f" at '{at}'" if at else ""
                raise invalid_argument(
                    f'Invalid JSON payload received. Unknown name "{sent}"{inside}: Cannot find field.'
                )
            if name in seen:
                raise invalid_argument(f"Invalid JSON payload received. The field '{where}' is there more than once.")
            seen.add(name)
            item = known.get(name, rest)
            # A null among values of any kind is a value itself.
            if value is not None or item.get("type", "") == "any":
                content[name] = self._value(item, value, where)
                unserved.check_field(f"{self._service}.{schema.get('id', '')}", name, value)
            if item.get("format") == "google-fieldmask" and value:
                self._check_mask(known, value)
        chosen = [name for name in _ALTERNATIVES.get(schema.get("id", ""), ()) if name in content]
        if len(chosen) > 1:
            raise invalid_argument(f"Invalid value at '{at}' (oneof), one of {' and '.join(chosen)} can be set.")
        return content

    def _check_mask(self, fields: Mapping[str, Any], mask: str) -> None:
        """Raise 400 for a mask that names no field of the one resource beside it."""
        beside = [item["$ref"] for item in fields.values() if "$ref" in item]
        if len(beside) == 1:
            discovery.check_mask(self._api, beside[0], mask)

    def _value(self, schema: Mapping[str, Any], value: Any, at: str) -> Any:
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"]]
        kind = schema.get("type", "any")
        if kind == "array" and isinstance(value, list):
            return [self._value(schema["items"], item, f"{at}[{index}]") for index, item in enumerate(value)]
        if kind == "object" and isinstance(value, dict):
            return self.object(schema, value, at)
        if kind in ("array", "object") or not value_forms.fits(schema, value):
            shown = json.dumps(value) if not isinstance(value, (dict, list)) else f"a {type(value).__name__}"
            raise invalid_argument(f"Invalid value at '{at}' ({value_forms.name_of(schema)}), {shown}")
        return value

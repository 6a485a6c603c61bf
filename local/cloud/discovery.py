"""Google's discovery documents, as they ship in google-api-python-client: which methods exist, what bodies hold."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from local.cloud.wire import invalid_argument

_APIS = (
    "storage.v1",
    "iam.v1",
    "iamcredentials.v1",
    "cloudresourcemanager.v1",
    "cloudresourcemanager.v3",
    "logging.v2",
    "serviceusage.v1",
    "aiplatform.v1",
    "aiplatform.v1beta1",
    "secretmanager.v1",
    "monitoring.v3",
)
_PARAMETER = re.compile(r"(\{[^}]+\})")
_INTEGERS = ("int32", "uint32", "int64", "uint64")


@cache
def document(api: str) -> Mapping[str, Any]:
    """The discovery document of an API such as `storage.v1`."""
    text = (files("googleapiclient") / "discovery_cache" / "documents" / f"{api}.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def method_name(method: str, path: str) -> str | None:
    """The id (`storage.buckets.relocate`) of Google's method for a raw path, or None when there is none."""
    first = path.lstrip("/").partition("/")[0]
    for api in _APIS:
        if first not in (api.rpartition(".")[2], "storage", "upload", "download", "resumable", "ui"):
            continue
        for http_method, expression, name in _methods(api):
            if http_method == method and expression.fullmatch(path.removeprefix("/ui")):
                return name
    return None


def examples(api: str) -> list[tuple[str, str, str]]:
    """(id, HTTP method, an example of a path) of every method of an API."""
    found = document(api)
    base = "/" + found.get("servicePath", "")
    return [
        (method["id"], method["httpMethod"], base + _PARAMETER.sub("x", method.get("flatPath", method["path"])))
        for method in _walk(found)
    ]


@cache
def _methods(api: str) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    found = document(api)
    base = "/" + found.get("servicePath", "")
    return tuple(
        (method["httpMethod"], re.compile(re.escape(base) + _expression(method)), method["id"])
        for method in _walk(found)
    )


def _walk(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from part.get("methods", {}).values()
    for child in part.get("resources", {}).values():
        yield from _walk(child)


def _expression(method: Mapping[str, Any]) -> str:
    template: str = method.get("flatPath", method["path"])
    return "".join(r"[^/:]+" if part.startswith("{") else re.escape(part) for part in _PARAMETER.split(template))


def check(api: str, schema: str, body: Mapping[str, Any]) -> None:
    """Raises 400 INVALID_ARGUMENT, in Google's words, for a field the schema has not or a value of another type."""
    schemas = document(api)["schemas"]
    _check_object(schemas, schemas[schema], body, "")


def _check_object(schemas: Mapping[str, Any], schema: Mapping[str, Any], body: Mapping[str, Any], at: str) -> None:
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties")
    for name, value in body.items():
        if name in known:
            _check_value(schemas, known[name], value, f"{at}.{name}".lstrip("."))
        elif rest is not None:
            _check_value(schemas, rest, value, f"{at}.{name}".lstrip("."))
        else:
            where = f" at '{at}'" if at else ""
            raise invalid_argument(
                f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.',
            )


def _check_value(schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Any, at: str) -> None:
    if value is None:
        return
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type", "any")
    if kind == "array":
        if not isinstance(value, list):
            raise _mismatch(at, kind, value)
        for index, item in enumerate(value):
            _check_value(schemas, schema["items"], item, f"{at}[{index}]")
    elif kind == "object":
        if not isinstance(value, dict):
            raise _mismatch(at, kind, value)
        _check_object(schemas, schema, value, at)
    elif not _fits(schema, kind, value):
        raise _mismatch(at, schema.get("format", kind), value)


def _fits(schema: Mapping[str, Any], kind: str, value: Any) -> bool:
    if kind == "string" and schema.get("format") not in _INTEGERS:
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("integer", "string"):
        return not isinstance(value, bool) and re.fullmatch(r"-?\d+", str(value)) is not None
    return not (kind == "number" and not isinstance(value, (int, float)))


def _mismatch(at: str, kind: str, value: Any) -> Exception:
    shown = json.dumps(value) if not isinstance(value, (dict, list)) else f"a {type(value).__name__}"
    return invalid_argument(f"Invalid value at '{at}' (TYPE_{kind.upper()}), {shown}")

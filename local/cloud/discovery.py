"""Google's discovery documents, as they ship in google-api-python-client: which methods exist, what bodies hold."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from local.cloud.clock import moment_of
from local.cloud.wire import camel, invalid_argument

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
_SHARED = frozenset(
    {"alt", "callback", "fields", "key", "prettyPrint", "quotaUser", "userIp", "userProject", "xgafv"}
    | {"access_token", "oauth_token", "uploadType", "upload_id", "upload_protocol"}
)
"""What any call of any API may have in its query. `upload_id`, of an upload that was begun, is the service's own."""


@dataclass(frozen=True)
class Method:
    """One of Google's methods: its id (`storage.buckets.insert`), the API that has it (`storage.v1`), what its query
    may hold, and the schema of its body ("" where it takes none)."""

    id: str
    api: str
    parameters: frozenset[str]
    schema: str


@cache
def document(api: str) -> Mapping[str, Any]:
    """The discovery document of an API such as `storage.v1`."""
    text = (files("googleapiclient") / "discovery_cache" / "documents" / f"{api}.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def method_of(verb: str, path: str) -> Method | None:
    """Google's method for a raw path, or None when there is none."""
    words = re.sub(r"^/(ui|upload(?=/storage)|download(?=/storage))/", "/", path).strip("/").split("/")
    for api in _APIS:
        if words[0] not in (api.rpartition(".")[2], "storage", "upload", "download", "resumable"):
            continue
        for template, found in _methods(api).get((verb, len(words)), ()):
            if all(map(_fits_word, template, words)):
                own = (name for name, item in found.get("parameters", {}).items() if item["location"] == "query")
                return Method(found["id"], api, frozenset(own), found.get("request", {}).get("$ref", ""))
    return None


def check_query(verb: str, path: str, names: Iterable[str]) -> None:
    """Raises 400 INVALID_ARGUMENT for a parameter that Google's method for a raw path has not."""
    own = [name for name in names if not _is_shared(name)]
    method = method_of(verb, path) if own else None
    if method:
        refuse_unknown(own, method.parameters)


def refuse_unknown(names: Iterable[str], known: Collection[str]) -> None:
    """Raises 400 INVALID_ARGUMENT, in Google's words, for a query parameter that is none of these and none of those
    that every method has. A name may be in snake_case."""
    for name in names:
        if camel(name) not in known and not _is_shared(name):
            text = f"Cannot bind query parameter. Field '{name}' could not be found in request message."
            raise invalid_argument(f'Invalid JSON payload received. Unknown name "{name}": {text}')


def bound(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The pairs of a query with their fields named as in JSON: Google's methods take `page_size` for `pageSize`."""
    return tuple((name if _is_shared(name) else camel(name), value) for name, value in pairs)


def _is_shared(name: str) -> bool:
    return name.removeprefix("$").removeprefix(".") in _SHARED


def examples(api: str) -> list[tuple[str, str, str]]:
    """(id, HTTP method, an example of a path) of every method of an API."""
    return [
        (method["id"], method["httpMethod"], "/" + _PARAMETER.sub("x", _template(api, method)))
        for method in _walk(document(api))
    ]


@cache
def _methods(api: str) -> Mapping[tuple[str, int], Sequence[tuple[Sequence[str], Mapping[str, Any]]]]:
    """An API's methods with the words of their paths, by HTTP method and number of words."""
    found: dict[tuple[str, int], list[tuple[Sequence[str], Mapping[str, Any]]]] = {}
    for method in _walk(document(api)):
        words = _template(api, method).split("/")
        found.setdefault((method["httpMethod"], len(words)), []).append((words, method))
    return found


def _walk(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from part.get("methods", {}).values()
    for child in part.get("resources", {}).values():
        yield from _walk(child)


def _template(api: str, method: Mapping[str, Any]) -> str:
    template: str = method.get("flatPath", method["path"])
    return str(document(api).get("servicePath", "")) + template


def _fits_word(template: str, word: str) -> bool:
    """Whether a path's word is that of a template: `{name}` stands for one without a colon."""
    _, brace, rest = template.partition("}")
    if not brace:
        return template == word
    name = word.removesuffix(rest)
    return bool(name) and word.endswith(rest) and ":" not in name


def parsed(api: str, schema: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """A body without its nulls, which say that a field is not set.

    Raises 400 INVALID_ARGUMENT, in Google's words, for a field the schema has not or a value of another type.
    """
    schemas = document(api)["schemas"]
    return _object(schemas, schemas[schema], body, "")


def _object(schemas: Mapping[str, Any], schema: Mapping[str, Any], body: Mapping[str, Any], at: str) -> dict[str, Any]:
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties")
    found = {}
    for name, value in body.items():
        where = f"{at}.{name}".lstrip(".")
        if name not in known and rest is None:
            inside = f" at '{at}'" if at else ""
            raise invalid_argument(
                f'Invalid JSON payload received. Unknown name "{name}"{inside}: Cannot find field.',
            )
        item = known.get(name, rest)
        # A null among values of any kind is one of them.
        if value is not None or item.get("type", "") == "any":
            found[name] = _value(schemas, item, value, where)
    return found


def _value(schemas: Mapping[str, Any], schema: Mapping[str, Any], value: Any, at: str) -> Any:
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type", "any")
    if kind == "array" and isinstance(value, list):
        return [_value(schemas, schema["items"], item, f"{at}[{index}]") for index, item in enumerate(value)]
    if kind == "object" and isinstance(value, dict):
        return _object(schemas, schema, value, at)
    if kind in ("array", "object") or not _fits(schema, kind, value):
        raise _mismatch(at, schema.get("format", kind), value)
    return value


def _fits(schema: Mapping[str, Any], kind: str, value: Any) -> bool:
    form = schema.get("format", "")
    if form in _INTEGERS:
        return _fits_integer(form, value)
    if kind == "string":
        known: Sequence[str] = schema.get("enum", ())
        return isinstance(value, str) and _FORMS.get(form, _any_text)(value) and (not known or value in known)
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "integer":
        return _fits_integer("int32", value)
    return kind != "number" or (isinstance(value, (int, float)) and not isinstance(value, bool))


def _fits_integer(form: str, value: Any) -> bool:
    if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,20}", str(value)):
        return False
    bits = int(form.removeprefix("u").removeprefix("int"))
    low, high = (0, 1 << bits) if form.startswith("u") else (-1 << bits - 1, 1 << bits - 1)
    return low <= int(value) < high


def _any_text(_: str) -> bool:
    return True


def _is_time(text: str) -> bool:
    try:
        moment_of(text)
    except ValueError:
        return False
    return True


_FORMS: Mapping[str, Callable[[str], bool]] = {
    "google-datetime": _is_time,
    "google-duration": lambda text: re.fullmatch(r"-?[0-9]{1,12}(\.[0-9]{1,9})?s", text) is not None,
}


def _mismatch(at: str, kind: str, value: Any) -> Exception:
    shown = json.dumps(value) if not isinstance(value, (dict, list)) else f"a {type(value).__name__}"
    return invalid_argument(f"Invalid value at '{at}' (TYPE_{kind.upper()}), {shown}")

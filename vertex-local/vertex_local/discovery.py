"""Google's discovery documents, as google-api-python-client ships them: methods, and their queries' parameters."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from . import partial_responses, unserved, value_forms
from .partial_responses import Selection
from .wire import ApiError, camel, invalid_argument, unimplemented

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
    "orgpolicy.v2",
    "compute.v1",
)
_HEADS = {"compute.v1": ("compute",), "storage.v1": ("storage", "upload", "download", "resumable")}
"""The first words of the paths of APIs that do not begin with their version."""
_VALUE = re.compile(r"(?:[^:@]*\.[^:@]*:)?[^:]+")
"""The value of a path's parameter: without a colon, but for that after a project's domain (`acme.example:ml`)."""
_PARAMETER = re.compile(r"(\{[^}]+\})")
_SHARED = frozenset(
    {"alt", "callback", "fields", "key", "prettyPrint", "quotaUser", "userIp", "userProject", "xgafv"}
    | {"access_token", "oauth_token", "uploadType", "upload_id", "upload_protocol"}
)
"""Query parameters of any call of any API. `upload_id`, of an upload that was begun, is the service's own."""


@dataclass(frozen=True)
class Method:
    """A method of Google's: its id (`storage.buckets.insert`), its API (`storage.v1`), the parameters of its query
    (names to schemas), and the schemas of its body and of its answer ("" where there is none)."""

    id: str
    api: str
    parameters: Mapping[str, value_forms.Schema]
    schema: str
    response: str
    #: It may answer with content in place of JSON.
    content: bool = False


@cache
def document(api: str) -> Mapping[str, Any]:
    """Return the discovery document of an API such as `storage.v1`."""
    text = (files("googleapiclient") / "discovery_cache" / "documents" / f"{api}.json").read_text(encoding="utf-8")
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def method_of(verb: str, path: str) -> Method | None:
    """Return Google's method for a raw path, or None when there is none."""
    words = re.sub(r"^/(ui|upload(?=/storage)|download(?=/storage))/", "/", path).strip("/").split("/")
    for api in _APIS:
        if words[0] not in _HEADS.get(api, (api.rpartition(".")[2],)):
            continue
        for template, method in _methods(api).get((verb, len(words)), ()):
            if all(map(_fits_word, template, words)):
                own = {name: item for name, item in method.get("parameters", {}).items() if item["location"] == "query"}
                request, response = (method.get(key, {}).get("$ref", "") for key in ("request", "response"))
                return Method(method["id"], api, own, request, response, method.get("supportsMediaDownload", False))
    return None


def check_query(verb: str, path: str, pairs: Iterable[tuple[str, str]]) -> None:
    """Raise 400 INVALID_ARGUMENT for a query parameter that Google's method for a raw path lacks, for a repeated one
    that it takes once, and for a value of another form; 501 for one that is not served. An empty one is not set: Go's
    clients send all names."""
    pairs = tuple(pairs)
    method = method_of(verb, path) if pairs else None
    if method is None:
        return
    own = [(name, text) for name, text in bound(pairs) if not is_shared(name)]
    with _shaped(method):
        _check_form(method, pairs)
        refuse_unknown((name for name, _ in own), method.parameters)
        refuse_repeated(own, [name for name, item in method.parameters.items() if item.get("repeated")])
        for name, text in own:
            schema = method.parameters[name]
            if text and not value_forms.text_fits(schema, text, numbered=not method.api.startswith("storage.")):
                raise invalid_argument(f"Invalid value at '{name}' ({value_forms.name_of(schema)}), \"{text}\"")
            if schema.get("format") == "google-fieldmask":
                check_mask(method.api, _masked(method, name), text)
            unserved.check_parameter(method.id, name, text)


def _check_form(method: Method, pairs: Iterable[tuple[str, str]]) -> None:
    """Raise 501 for an answer in a form that is not served: another than JSON, but for content."""
    for name, text in pairs:
        form = text.partition(";")[0].lower()
        if name.lstrip("$") == "callback" and text:
            raise unimplemented("The local cloud answers in JSON alone, and calls no 'callback'.")
        if name.lstrip("$") == "alt" and form not in ("", "json", "media" if method.content else "json"):
            raise unimplemented(f"The local cloud answers {method.id} in JSON alone, not as '{text}'.")


def check_mask(api: str, schema: str, text: str) -> None:
    """Raise 400 INVALID_ARGUMENT for a mask that names no field of a schema."""
    for path in filter(None, (part.strip() for part in text.split(","))):
        tree: Selection = {}
        for name in reversed(path.split(".")):
            tree = {name: tree}
        _resolved(api, {"$ref": schema}, tree, lambda _: invalid_argument(f"Invalid field mask: {text}"))


def in_response(verb: str, path: str, text: str) -> Selection:
    """Return what a text selects of the answer of Google's method for a raw path, with fields named as in JSON. Raises
    400 INVALID_ARGUMENT for a field that the answer has not, as far as the answer is known."""
    method = method_of(verb, path)
    if method is None or not method.response:
        return partial_responses.parsed(camel(text))
    with _shaped(method):
        wanted = partial_responses.parsed(text)
        return _resolved(method.api, {"$ref": method.response}, wanted, partial_responses.refusal)


def refuse_repeated(pairs: Iterable[tuple[str, str]], lists: Collection[str]) -> None:
    """Raise 400 INVALID_ARGUMENT for a repeated parameter that is none of the lists."""
    seen = set()
    for name, _ in pairs:
        if name in seen and name not in lists:
            raise invalid_argument(
                f'Invalid JSON payload received. Unknown name "{name}": Proto field is not repeating, cannot start '
                "list."
            )
        seen.add(name)


def refuse_unknown(names: Iterable[str], known: Collection[str]) -> None:
    """Raise 400 in Google's words for a parameter, perhaps in snake_case, neither known nor every method's."""
    for name in names:
        if camel(name) not in known and not is_shared(name):
            text = f"Cannot bind query parameter. Field '{name}' could not be found in request message."
            raise invalid_argument(f'Invalid JSON payload received. Unknown name "{name}": {text}')


def bound(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return a query's pairs with their fields named as in JSON: Google's methods take `page_size` for `pageSize`."""
    return tuple((name if is_shared(name) else camel(name), value) for name, value in pairs)


def _masked(method: Method, name: str) -> str:
    """Return the schema that a mask is of: of the body or, to read, of the answer, or of the items of its pages."""
    if name == "updateMask" or not method.response:
        return method.schema
    fields = document(method.api)["schemas"][method.response].get("properties", {})
    items = [field["items"].get("$ref", "") for field in fields.values() if "items" in field]
    return str(items[0]) if "nextPageToken" in fields and items else method.response


@contextmanager
def _shaped(method: Method) -> Iterator[None]:
    """Give errors the shape of those of the method's API."""
    try:
        yield
    except ApiError as error:
        if not method.api.startswith("storage."):
            raise
        reason = "notImplemented" if error.code == 501 else "invalidParameter"
        raise ApiError(error.code, error.status, error.message, reason=reason) from error


def _resolved(api: str, schema: value_forms.Schema, wanted: Selection, refusal: Callable[[str], ApiError]) -> Selection:
    """Return a selection with its fields named as in JSON. Raises `refusal`'s error for a field that is none."""
    schemas = document(api)["schemas"]
    while "$ref" in schema or schema.get("type") == "array":
        schema = schemas[schema["$ref"]] if "$ref" in schema else schema["items"]
    known, rest = schema.get("properties"), schema.get("additionalProperties")
    if schema.get("type", "any") == "any" or (schema["type"] == "object" and known is None and rest is None):
        return wanted
    selections: dict[str, Selection] = {}
    for name, below in wanted.items():
        own = name if name in (known or {}) else camel(name)
        item = schema if name == "*" else (known or {}).get(own, rest)
        if item is None:
            raise refusal(name)
        selections[own] = below if name == "*" else _resolved(api, item, below, refusal)
    return selections


def is_shared(name: str) -> bool:
    """Return whether a query parameter is one of any call of any API."""
    return name.removeprefix("$").removeprefix(".") in _SHARED


def examples(api: str) -> list[tuple[str, str, str]]:
    """Return (id, HTTP method, an example of a path) of every method of an API."""
    return [
        (method["id"], method["httpMethod"], "/" + _PARAMETER.sub("x", _template(api, method)))
        for method in _walk(document(api))
    ]


@cache
def _methods(api: str) -> Mapping[tuple[str, int], Sequence[tuple[Sequence[str], Mapping[str, Any]]]]:
    """Return an API's methods with the words of their paths, by HTTP method and number of words."""
    by_shape: dict[tuple[str, int], list[tuple[Sequence[str], Mapping[str, Any]]]] = {}
    for method in _walk(document(api)):
        words = _template(api, method).split("/")
        by_shape.setdefault((method["httpMethod"], len(words)), []).append((words, method))
    return by_shape


def _walk(part: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from part.get("methods", {}).values()
    for child in part.get("resources", {}).values():
        yield from _walk(child)


def _template(api: str, method: Mapping[str, Any]) -> str:
    template: str = method.get("flatPath", method["path"])
    return str(document(api).get("servicePath", "")) + template


def _fits_word(template: str, word: str) -> bool:
    """Return whether a path's word is that of a template: `{name}` stands for one without a colon."""
    _, brace, rest = template.partition("}")
    if not brace:
        return template == word
    name = word.removesuffix(rest)
    return word.endswith(rest) and _VALUE.fullmatch(name) is not None

"""A walk through the words of Google's methods: each parameter of a query and each field of a body, sent with a good
request, and what became of it."""

import copy
import itertools
import re
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.methods import Words, called
from vertex_local.testing.calling import Calling
from vertex_local.wire import ApiError, Call, Handler, Reply, Route

DEEPEST = 7
SAMPLES: Mapping[str, Any] = {
    "google-datetime": "2026-11-21T10:00:00Z",
    "date-time": "2026-11-21T10:00:00Z",
    "date": "2026-11-21",
    "google-duration": "77s",
    "byte": "eQ==",
    "boolean": True,
    "integer": 3,
    "number": 0.5,
    "any": {"a": "b"},
}
ODD = "ü::"
HONOURED, REFUSED, UNCLEAR, IGNORED = "honoured", "refused", "unclear", "ignored"
_OPEN = (UNCLEAR, IGNORED)


class Reads(dict[str, str]):
    """A query that notes which of its names are asked for. Whoever only looks which there are reads none."""

    def __init__(self, query: Mapping[str, str], noted: set[str]) -> None:
        super().__init__(query)
        self._noted = noted

    def __getitem__(self, name: str) -> str:
        self._noted.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._noted.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._noted.add(str(name))
        return super().__contains__(name)


@dataclass(frozen=True)
class ReadingCall(Call):
    """A call whose repeated parameters are noted as well."""

    noted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", Reads(self.query, self.noted))

    def values(self, name: str) -> tuple[str, ...]:
        self.noted.add(name)
        return super().values(name)


@dataclass
class Walk:
    """Words of served methods: those refused, and those that nothing came of, by the method's id."""

    reads: dict[str, set[str]] = field(default_factory=dict)
    found: dict[str, dict[str, str]] = field(default_factory=dict)

    def noting(self, route: Route) -> Route:
        """Return a route whose handler's reads are noted."""

        def handler(call: Call) -> Reply:
            method = called(call.method, call.path)
            noted = self.reads.setdefault(method.id, set()) if method else set()
            return route.handler(ReadingCall(**vars(call), noted=noted))

        return replace(route, handler=_named(handler, route.handler))

    def send(self, calling: Calling, good: tuple[str, str, Any, str, bytes]) -> None:
        """Send each word of a method along with a request that is answered well, but those of which more is known."""
        verb, path, body, role, raw = good
        method = called(verb, path.partition("?")[0])
        if method is None:
            return
        words = self.found.setdefault(method.id, {})
        open_words = [
            *((f"?{name}", (name,), schema) for name, schema in method.parameters.items()),
            *((".".join(names), names, schema) for names, schema in ([] if raw else fields(method))),
        ]
        open_words = [
            (word, names, schema)
            for word, names, schema in open_words
            if word not in words or (words[word] in _OPEN and (word[0] == "?" or _at(body, names[:-1]) is not None))
        ]
        before = _outcome(calling, verb, path, body, role, raw) if open_words else None
        for word, names, schema in open_words:
            if word[0] == "?":
                asking = _asking(path, word[1:], _text(method, schema))
                outcome = _outcome(calling, verb, asking, body, role, raw)
                read = word[1:] in self.reads.get(method.id, ())
                words[word] = REFUSED if _is_unserved(outcome) else HONOURED if read else IGNORED
                continue
            words[word] = IGNORED
            for masked, value in _tries(method, schema, _at(body, names)):
                sent = _with(method, body, names, value)
                path_sent, sent = _masking(path, sent, names) if masked else (path, sent)
                seen = _seen(_outcome(calling, verb, path_sent, sent, role, b""), before, names, value, masked)
                words[word] = seen if seen != IGNORED else words[word]
                if seen not in _OPEN:
                    break

    def compare(self, calling: Calling, bad: tuple[str, str, Any, str, bytes]) -> None:
        """Send a refused request with and without each word of which nothing came: another state may be left."""
        verb, path, body, role, raw = bad
        method = called(verb, path.partition("?")[0])
        words = self.found.get(method.id, {}) if method else {}
        for word in [
            word for word in words if words[word] == IGNORED and _at(body, tuple(word.split("."))) is not None
        ]:
            without = copy.deepcopy(body)
            *above, last = word.split(".")
            del _at(without, tuple(above))[last]
            sent, rest = (_outcome(calling, verb, path, item, role, raw) for item in (body, without))
            words[word] = HONOURED if rest[0][0] >= 400 and sent[1] != rest[1] else IGNORED

    def ignored(self) -> set[tuple[str, str]]:
        """Return (method, word) that nothing came of: parameters that nobody asked for, fields that change nothing."""
        return self._all(IGNORED)

    def unclear(self) -> set[tuple[str, str]]:
        """Return (method, word) that are refused in words that name others."""
        return self._all(UNCLEAR)

    def _all(self, what: str) -> set[tuple[str, str]]:
        return {(method, word) for method, words in self.found.items() for word in words if words[word] == what}


class _UndoneError(Exception):
    """The end of a transaction that is rolled back."""


def _seen(outcome: Any, before: Any, names: tuple[str, ...], value: Any, masked: bool) -> str:
    """Return what became of a field: it changes something, or is refused by its name, its mask's or its value."""
    (status, words), _ = outcome
    if status == 501:
        return REFUSED
    if status < 400 or status in (404, 409, 412):
        return HONOURED if outcome != before else IGNORED
    named = [next(name for name in reversed(names) if name != "0"), *(names[:1] if masked else ())]
    spelled = {re.sub(r"([A-Z])", rf"{mark}\1", name).lower() for name in named for mark in ("", "_", " ")}
    told = any(re.search(rf"(?<![\w-]){re.escape(text)}(?!\w)", words) for text in _told(value))
    return HONOURED if told or any(text in words.lower() for text in spelled) else UNCLEAR


def _told(value: Any) -> Iterator[str]:
    """Yield what an error may repeat of a value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _told(item)
    elif isinstance(value, list):
        for item in value:
            yield from _told(item)
    else:
        yield f"{value}"


def _outcome(calling: Calling, verb: str, path: str, body: Any, role: str, raw: bytes) -> Any:
    """Return what a request is answered, and all that is kept after it. Nothing is kept of it."""
    store, logs, folder = calling.world.store, calling.world.logs._store, calling.world.state_folder
    before, numbers = _contents(folder), itertools.count(1)
    with pytest.MonkeyPatch.context() as patch, suppress(_UndoneError):
        patch.setattr(uuid, "uuid4", lambda: uuid.UUID(int=next(numbers)))
        with store.transaction(), logs.transaction():
            try:
                reply = calling.reply(verb, path, body, role, raw)
                answer = (reply.status, repr(reply.body))
            except ApiError as error:
                answer = (error.code, error.message)
            after = _contents(folder)
            kept = [_dump(store), _dump(logs), after]
            raise _UndoneError
    for file in after.keys() - before.keys():
        file.unlink()
    for file in before.keys() - after.keys():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(before[file])
    return answer, kept


def _named(handler: Handler, as_of: Handler) -> Handler:
    handler.__module__, handler.__qualname__ = as_of.__module__, as_of.__qualname__
    return handler


def _is_unserved(outcome: Any) -> bool:
    return bool(outcome[0][0] == 501)


def _dump(store: Any) -> list[Any]:
    tables = [row[0] for row in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return [store.execute(f"SELECT * FROM {table}").fetchall() for table in tables if not table.startswith("sqlite")]


def _tries(method: Words, schema: Mapping[str, Any], before: Any) -> list[tuple[bool, Any]]:
    """Return values for a field, each with whether an update mask names it: a good one and, where there is one of the
    same form, an odd one."""
    values = [_sample(method.schemas, schema, before)]
    item = schema.get("items", schema)
    if item.get("format", "") in ("int32", "int64") or item.get("type") == "integer":
        values += [-7]
    elif item.get("type") == "string" and not item.keys() & {"enum", "format"}:
        values += [[ODD] if "items" in schema else ODD]
    return [(masked, value) for value in values for masked in (False, True)]


def _masking(path: str, body: Any, names: tuple[str, ...]) -> tuple[str, Any]:
    """Return a change whose mask names a field, where it has a mask."""
    if "updateMask" in body:
        return path, {**body, "updateMask": names[-1]}
    return re.sub(r"(?<=updateMask=)[^&]*", names[0], path), body


def _contents(folder: Path) -> dict[Path, bytes]:
    """Return the files of a state folder, but for its databases."""
    files = (path for path in folder.rglob("*") if path.is_file() and ".sqlite" not in path.name)
    return {path: path.read_bytes() for path in files}


def _asking(path: str, name: str, text: str) -> str:
    """Return a path whose query has a parameter, in place of what it had."""
    head, _, query = path.partition("?")
    kept = [pair for pair in query.split("&") if pair and pair.partition("=")[0] != name]
    return f"{head}?{'&'.join([*kept, f'{name}={text}'])}"


def _text(method: Words, schema: Mapping[str, Any]) -> str:
    """Return a parameter's value in a query."""
    schema = schema.get("items", schema)
    if schema.get("format") == "google-fieldmask":
        return "name"
    value = _sample(method.schemas, schema, None)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _sample(schemas: Mapping[str, Any], schema: Mapping[str, Any], before: Any) -> Any:
    """Return a value of a form, another than the one of before."""
    if "enum" in schema:
        return next((value for value in reversed(schema["enum"]) if value != before), schema["enum"][0])
    kind, form = schema.get("type", "any"), schema.get("format", "")
    if kind == "array":
        return [_sample(schemas, schema["items"], None)]
    if kind == "object" or "$ref" in schema:
        rest = schema.get("additionalProperties")
        return {"a": _sample(schemas, rest, None)} if rest else {}
    if "int" in form:
        return "3" if str(before) != "3" else "4"
    value = SAMPLES.get(form, SAMPLES.get(kind, "qx7"))
    return value if value != before else not value if isinstance(value, bool) else "y"


def fields(method: Words) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the path and form of each field that a client may set in a method's body."""
    yield from _fields(method, method.schemas[method.schema], (), ()) if method.schema else ()


def _fields(
    method: Words, message: Mapping[str, Any], above: tuple[str, ...], seen: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for key, schema in message.get("properties", {}).items():
        told = schema.get("description", "").lower().lstrip("[")
        if told.startswith(("output only", "immutable. output only", "optional. output only")):
            continue
        item, names = schema, (*above, key)
        if item.get("type") == "array":
            item, names = item["items"], (*names, "0")
        inner = item.get("$ref", "")
        item = method.schemas[inner] if inner else item
        if item.get("properties") and inner not in seen and len(names) < DEEPEST:
            yield from _fields(method, item, names, (*seen, inner) if inner else seen)
        else:
            yield (*above, key), schema


def _at(body: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        if isinstance(body, list):
            body = body[0] if body else None
        else:
            body = body.get(name) if isinstance(body, dict) else None
    return body


def _with(method: Words, body: Any, names: tuple[str, ...], value: Any) -> Any:
    """Return a body with a value at a path, and with what the messages that are new above it require."""
    schema: Mapping[str, Any] = {"$ref": method.schema}
    return _placed(method, schema, body, names, value)


def _placed(method: Words, schema: Mapping[str, Any], body: Any, names: tuple[str, ...], value: Any) -> Any:
    if not names:
        return value
    schema = method.schemas[schema["$ref"]] if "$ref" in schema else schema
    if names[0] == "0":
        items = list(body or [None])
        return [_placed(method, schema["items"], items[0], names[1:], value), *items[1:]]
    changed = copy.deepcopy(body) if isinstance(body, dict) else _required(method, schema)
    below = schema["properties"][names[0]]
    return {**changed, names[0]: _placed(method, below, changed.get(names[0]), names[1:], value)}


def _required(method: Words, schema: Mapping[str, Any]) -> dict[str, Any]:
    known = schema.get("properties", {}).items()
    return {
        name: _sample(method.schemas, item, None)
        for name, item in known
        if item.get("description", "").startswith("Required")
    }

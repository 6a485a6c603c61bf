"""Values of a pipeline's parameters, their types, and the placeholders that stand for them in commands."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_PLACEHOLDER = re.compile(r"\{\{\$(.*?)\}\}", re.DOTALL)
_NAMED = re.compile(
    r"\.(inputs|outputs)\.(parameters|artifacts)\[['\"]([^'\"]+)['\"]\](?:\.(\w+)(?:\[['\"](.+)['\"]\])?)?"
)
_TYPES: Mapping[str, tuple[type[Any], ...]] = {
    "STRING": (str,),
    "NUMBER_INTEGER": (int, float),
    "NUMBER_DOUBLE": (int, float),
    "BOOLEAN": (bool,),
    "LIST": (list,),
    "STRUCT": (dict,),
}


def fits(value: Any, kind: str) -> bool:
    """Return whether a JSON value is of a parameter's type; a whole number may be written with a point."""
    if kind not in _TYPES:
        return True
    if isinstance(value, bool) or not isinstance(value, _TYPES[kind]):
        return kind == "BOOLEAN" and isinstance(value, bool)
    return kind != "NUMBER_INTEGER" or value == int(value)


def typed(value: Any, kind: str) -> Any:
    """Return a value as its type has it, also where it was written as text. Raises ValueError."""
    if isinstance(value, str) and kind in _TYPES and kind != "STRING":
        text = value.strip()
        value = json.loads(text.lower() if kind == "BOOLEAN" else text)
    if not fits(value, kind):
        raise ValueError(f"{value!r} is no {kind}")
    return int(value) if kind == "NUMBER_INTEGER" else value


def text(value: Any) -> str:
    """Return a value as commands get it."""
    return value if isinstance(value, str) else json.dumps(value)


def words(given: Any, executor: Mapping[str, Any], run: Mapping[str, str]) -> Iterator[str]:
    """Yield the words of an entry of a command, filled: a text, or the JSON of one that depends on an input."""
    entry = given
    if isinstance(given, str) and given.startswith('{"') and given.endswith("}"):
        try:
            entry = json.loads(given)
        except ValueError:
            entry = given
    if isinstance(entry, list):
        for part in entry:
            yield from words(part, executor, run)
    elif isinstance(entry, Mapping) and set(entry) == {"Concat"}:
        yield "".join(words(entry["Concat"], executor, run))
    elif isinstance(entry, Mapping) and set(entry) == {"IfPresent"}:
        branch, inputs = entry["IfPresent"], executor["inputs"]
        present = branch["InputName"] in (*inputs["parameterValues"], *inputs["artifacts"])
        yield from words(branch["Then"] if present else branch.get("Else", []), executor, run)
    else:
        yield filled(given, executor, run)


def filled(given: str, executor: Mapping[str, Any], run: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced. `run` has those of the job and the task by name. Raises ValueError
    for one that is unknown, or that names what the task does not have."""

    def value(match: re.Match[str]) -> str:
        inside = match[1]
        if not inside:
            return json.dumps(executor)
        if inside.removeprefix(".") in run:
            return run[inside.removeprefix(".")]
        named = _NAMED.fullmatch(inside)
        if named is None:
            raise ValueError(f"the placeholder {match[0]} is not served")
        side, kind, key, part, inner = named.groups()
        try:
            return _named(executor[side], kind, key, part or "", inner)
        except (KeyError, IndexError):
            raise ValueError(f"the placeholder {match[0]} has no value") from None

    return _PLACEHOLDER.sub(value, given)


def _named(side: Mapping[str, Any], kind: str, key: str, part: str, inner: str | None) -> str:
    if kind == "parameters":
        return str(side["parameters"][key]["outputFile"]) if part else text(side["parameterValues"][key])
    artifact = side["artifacts"][key]["artifacts"][0]
    if part == "path":
        return path(artifact["uri"])
    found = artifact[part or "uri"]
    return text(found[inner] if inner else found)


def path(uri: str) -> str:
    """Return the file that an object's URI is for a task."""
    return f"/gcs/{uri.removeprefix('gs://')}" if uri.startswith("gs://") else uri

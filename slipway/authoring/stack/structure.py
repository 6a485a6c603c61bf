"""Keys and types: pydantic's errors as messages with corrections; and the JSON Schema of the same types."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from slipway.authoring.stack.bounds import VIOLATION
from slipway.authoring.stack.config import OWN_KEYS, ConfigEntry
from slipway.authoring.stack.entries import FIXED, RANGE
from slipway.authoring.stack.places import ENTRY, ITEM, right_place
from slipway.authoring.stack.secrets import shown
from slipway.authoring.stack.yaml_file import Document, FileMistake, KeyPath
from slipway.base.codec import camel
from slipway.base.formatting import meant, nearest, short
from slipway.model.capacity import CAPACITY_TYPES, ON_DEMAND, POOL

_KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number, without quotes or a unit",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys and values",
    "model_type": "a mapping of keys and values",
}

# Keys that people will look for and that have no meaning (yet), by their possible places.
_NOT_THERE_YET: Mapping[str, tuple[str, str]] = {
    "id": (
        "only a cluster is adopted by its id, whole; a pool has the name that its id is",
        "leave it out; `id` stands beside `pools`",
    ),
    **dict.fromkeys(
        ("strategy", "reservationAffinity"),
        (
            "a persistent resource holds ordinary on-demand machines",
            "leave it out; spot, reservation and others are capacity types of job templates",
        ),
    ),
    **{
        to_camel(row.name.replace("-", "_")): (
            f"machines of a persistent resource can't be of capacity type {row.name}",
            f"leave it out; {row.name} is a capacity type of job templates",
        )
        for row in CAPACITY_TYPES.values()
        if row.name not in (POOL, ON_DEMAND)
    },
    "raySpec": ("the provider can't make Ray clusters", "leave it out; run Ray inside a job"),
    "deletionPolicy": (
        "a provider's policy would keep an old generation forever, or forget it",
        "leave it out; Slipway deletes a generation when nothing runs on it any more",
    ),
    "region": (
        "the stack's region is `gcp:region`: a cluster is made there first, and one adopted by `id` has to be there",
        "put it into `alternatives`, for when there are no machines; or write another stack, with a project of its own",
    ),
    "schedule": ("a cluster's dates are keys of its own", "`from: 2027-01-10`, `until: 2027-03-01`"),
}
# Fields of the API's clusters, and of the provider's, by the keys that stand for them.
OF_THE_API: Mapping[str, str] = {
    "resourcePools": "pools",
    "machineSpec": "machine",
    "machineType": "machine",
    "acceleratorType": "accelerator.type",
    "acceleratorCount": "accelerator.count",
    "replicaCount": "replicas",
    "autoscalingSpec": "replicas",
    "minReplicaCount": "replicas.min",
    "maxReplicaCount": "replicas.max",
    "diskSpec": "disk",
    "bootDiskType": "disk.type",
    "bootDiskSizeGb": "disk.sizeGb",
    "encryptionSpec": "encryption",
    "kmsKeyName": "encryption.kmsKey",
    "pscInterfaceConfig": "pscInterface",
    "resourceRuntimeSpec": "serviceAccount",
    "serviceAccountSpec": "serviceAccount",
    "enableCustomServiceAccount": "serviceAccount.custom",
}
_ACCOUNT_KEYS = ("serviceAccount", "custom")
_NO_ACCOUNT = (
    "a cluster names no account: each job on it names its own",
    "leave it out, or `{custom: true}`; the account is the workspace's `trainer`, or a template's own",
)


class StackFile(BaseModel):
    """stacks/Pulumi.<stack>.yaml. Besides `config`, the keys that Pulumi writes itself."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    config: ConfigEntry = Field(examples=["{gcp:project: acme-ml-dev, gcp:region: us-central1, …}"])
    encryptionsalt: str | None = None
    encryptedkey: str | None = None
    secretsprovider: str | None = None
    environment: Any = None


def schema() -> dict[str, Any]:
    """Return the JSON Schema, generated from the types, so that it always agrees with the check."""
    described = StackFile.model_json_schema(by_alias=True)
    described["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    described["title"] = "Slipway stack"
    # Other tools' keys are free; an unknown key of Slipway's is a typing mistake.
    described["$defs"]["ConfigEntry"]["propertyNames"] = {
        "anyOf": [{"enum": list(OWN_KEYS)}, {"pattern": "^(?!slipway:)"}]
    }
    return described


def schema_text() -> str:
    """Return the text of stacks/schema.json."""
    return json.dumps(schema(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def check_structure(document: Document) -> StackFile | tuple[FileMistake, ...]:
    """Return the file as typed entries, or every mistake that prevents that."""
    try:
        return StackFile.model_validate(document.values, by_alias=True, by_name=False)
    except ValidationError as error:
        details = error.errors(include_url=False)
        unknown = [_path(detail) for detail in details if detail["type"] == "extra_forbidden"]
        misspelt = {(*path[:-1], nearest(str(path[-1]), _keys(path[:-1]))) for path in unknown}
        misspelt |= {(*path[:-1], OF_THE_API.get(camel(str(path[-1])))) for path in unknown}
        # A misspelt key is one mistake, not also a missing key.
        return tuple(
            document.mistake(path, *_described(path, detail, document.written.get(path, "")))
            for path, detail in zip(map(_path, details), details, strict=True)
            if detail["type"] != "missing" or path not in misspelt
        )


def _path(detail: Any) -> KeyPath:
    return tuple(part for part in detail["loc"] if part not in (FIXED, RANGE, "[key]"))


def _described(path: KeyPath, detail: Any, written: str) -> tuple[str, str]:
    """Return what is wrong at a key, and the fix. `written`: the characters there that YAML reads as no text."""
    if detail["type"] == "string_type" and written and path[-2:-1] == ("labels",):
        return f"should be text, is {short(written)}", f'write "{written}"'
    return _words(path, detail)


def _words(path: KeyPath, detail: Any) -> tuple[str, str]:
    kind, key = detail["type"], str(path[-1]) if path else ""
    if kind == VIOLATION:
        return detail["ctx"]["what"], detail["ctx"]["fix"]
    if kind == "extra_forbidden" and key in _NOT_THERE_YET:
        return _NOT_THERE_YET[key]
    if kind == "extra_forbidden":
        if len(path) == 1 and ":" in key:
            return "unknown key beside `config`", "indent it: configuration belongs under `config:`"
        return "unknown key", _right_key(path)
    if kind == "missing":
        example = _example(path)
        return "is missing", f"add `{key}: {example}`" if example else f"add `{key}`"
    if kind == "literal_error":
        return f"can't be {shown(detail['input'])}", " or ".join(re.findall(r"'(.*?)'", detail["ctx"]["expected"]))
    if "slipway:persistentResources" in path and key in _ACCOUNT_KEYS and "@" in str(detail["input"]):
        return _NO_ACCOUNT
    wanted = _KINDS.get(kind)
    if wanted is None:
        return f"{detail['msg']}, it is {shown(detail['input'])}", _example(path) or "see `slipway check --schema`"
    is_ = "is empty" if detail["input"] is None else f"is {shown(detail['input'])}"
    example = _example(path)
    if key == "replicas" and wanted == "a whole number":
        wanted = "a whole number, or {min, max}"
    keys = _keys(path) if kind == "model_type" else ()
    write = f"its keys are {', '.join(keys)}" if keys else f"write {wanted}"
    return f"should be {wanted}, {is_}", f"for example `{key}: {example}`" if example else write


def _right_key(path: KeyPath) -> str:
    """Return the fix of an unknown key: its name here, or the place that has it."""
    known = _keys(path[:-1])
    if (spelt := camel(str(path[-1]))) in known:
        return f"write it `{spelt}`"
    if ours := OF_THE_API.get(camel(str(path[-1]))):
        *outer, last = ours.split(".")
        named = (place for place in _all_places() if [*place[-len(outer) - 1 : -1]] == outer)
        if place := right_place((*path[:-1], last), named):
            return f"here it is {place}"
    if place := right_place(path, _all_places(), known):
        return f"move it to {place}"
    return meant(str(path[-1]), known, f"one of {', '.join(known)}")


@cache
def _all_places() -> tuple[KeyPath, ...]:
    return tuple(_places(StackFile))


def _places(annotation: Any, around: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the places of all keys of a type."""
    for kind in _unfolded(annotation):
        if get_origin(kind) in (dict, list):
            yield from _places(get_args(kind)[-1], (*around, ENTRY if get_origin(kind) is dict else ITEM))
        elif isinstance(kind, type) and issubclass(kind, BaseModel):
            for alias, field in _aliases(kind).items():
                yield (*around, alias)
                yield from _places(field.annotation, (*around, alias))


def _keys(path: KeyPath) -> tuple[str, ...]:
    return tuple(alias for model in _models(path) for alias in _aliases(model))


def _example(path: KeyPath) -> str:
    fields = (_aliases(model).get(str(path[-1])) for model in _models(path[:-1])) if path else ()
    field = next(filter(None, fields), None)
    return str(field.examples[0]) if field and field.examples else ""


def _models(path: KeyPath) -> tuple[type[BaseModel], ...]:
    here: list[Any] = [StackFile]
    for part in path:
        after: list[Any] = []
        for annotation in here:
            if isinstance(annotation, type) and issubclass(annotation, BaseModel):
                field = _aliases(annotation).get(str(part))
                after += _unfolded(field.annotation) if field is not None else []
            elif get_origin(annotation) in (dict, list):
                after += _unfolded(get_args(annotation)[-1])
        here = after
    return tuple(item for item in here if isinstance(item, type) and issubclass(item, BaseModel))


def _unfolded(annotation: Any) -> list[Any]:
    origin = get_origin(annotation)
    if origin is Annotated:
        return _unfolded(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [item for arg in get_args(annotation) for item in _unfolded(arg)]
    return [annotation]


def _aliases(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}

"""Models in the store: every version a document, and of each model the number of its last version."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from ...repository import Repository
from ...wire import already_exists, not_found
from ...world import World
from ..collection import Kind
from ..names import id_of, location_name

KIND = Kind("Model", "/models", "resource", "models", trains=True, ordered=("displayName", "createTime", "updateTime"))
_FIRST_ID = 8_000_000_000_000_000_000
DEFAULT = "default"
_SERVED = {
    "supportedDeploymentResourcesTypes": ["DEDICATED_RESOURCES"],
    "supportedInputStorageFormats": ["jsonl", "bigquery", "csv", "tf-record", "tf-record-gzip", "file-list"],
    "supportedOutputStorageFormats": ["jsonl", "bigquery"],
}

Model = dict[str, Any]


@dataclass(frozen=True)
class Registered:
    """A model by its full name, and the number of its last version, 0 before there is one."""

    name: str
    create_time: str
    last: int = 0


MODELS = Repository(kind="model", record=Registered, key=attrgetter("name"))
_VERSIONS = Repository(kind="modelVersion", record=dict, key=lambda body: f"{body['name']}@{body['versionId']}")


def add(
    world: World, location: str, model: Mapping[str, Any], *, model_id: str = "", parent: str = "", pipeline: str = ""
) -> Model:
    """Add a new model, or a new version of `parent` (a full name), from a canonical Model that has passed the rules.
    `pipeline` is the training pipeline that made it. Within a transaction. Raises 404, 409."""
    registered_model = registered(world, location, parent) if parent else _new(world, location, model_id)
    number, now = registered_model.last + 1, world.now()
    body: Model = {
        **model,
        "name": registered_model.name,
        "versionId": str(number),
        "versionAliases": [],
        "versionCreateTime": now,
        "versionUpdateTime": now,
        "createTime": registered_model.create_time,
        "updateTime": now,
        "modelSourceInfo": {"sourceType": "CUSTOM"},
        **(_SERVED if "containerSpec" in model else {}),
        **({"trainingPipeline": pipeline} if pipeline else {}),
    }
    if body.get("artifactUri"):
        body["artifactUri"] = body["artifactUri"].rstrip("/")
    _VERSIONS.put(world.store, _tagged(body))
    MODELS.put(world.store, replace(registered_model, last=number))
    aliases = list(model.get("versionAliases", []))
    if number == 1 and DEFAULT not in aliases:
        aliases = [DEFAULT, *aliases]
    return give_aliases(world, registered_model.name, str(number), aliases)


def full_name(world: World, location: str, model_id: str) -> str:
    return f"{location_name(world.project, location)}{KIND.path}/{model_id}"


def registered(world: World, location: str, name: str) -> Registered:
    """Return a model by its name or the name of one of its versions, in the project's location. Raises 404."""
    name = full_name(world, location, id_of(name).partition("@")[0])
    return MODELS.find(world.store, name, f"The Model {name} does not exist.")


def every(world: World, location: str) -> list[Model]:
    """Return the default versions of all models, oldest first."""
    return [find(world, model.name) for model in MODELS.every(world.store, full_name(world, location, ""))]


def find(world: World, name: str, reference: str = "") -> Model:
    """Return a version of a model, by its id or an alias; the default one when none is named. Raises 404."""
    wanted = reference or DEFAULT
    for version in versions(world, name):
        if version["versionId"] == wanted or wanted in version["versionAliases"]:
            return version
    raise not_found(f"The Model {name}{'@' + reference if reference else ''} does not exist.")


def check(world: World, location: str, names: Iterable[str]) -> None:
    """Raise 404 for a model, as `…/models/ID` or `…/models/ID@VERSION`, that does not exist."""
    for name in names:
        model_id, _, reference = id_of(name).partition("@")
        find(world, full_name(world, location, model_id), reference)


def versions(world: World, name: str) -> list[Model]:
    """Return all versions of a model, oldest first; none for a model that does not exist."""
    return _VERSIONS.every(world.store, f"{name}@")


def change(world: World, version: Mapping[str, Any]) -> Model:
    """Keep a changed version. Within a transaction."""
    now = world.now()
    body = _tagged({**version, "updateTime": now, "versionUpdateTime": now})
    _VERSIONS.put(world.store, body)
    return body


def give_aliases(world: World, name: str, version_id: str, aliases: Sequence[str]) -> Model:
    """Give aliases to a version, in their order, taken from the versions that have them; `-alias` is taken away. Within
    a transaction."""
    given = [alias for alias in dict.fromkeys(aliases) if not alias.startswith("-")]
    taken = {alias.removeprefix("-") for alias in aliases if alias.startswith("-")}
    for version in versions(world, name):
        own = version["versionId"] == version_id
        has = [alias for alias in version["versionAliases"] if alias not in (taken if own else given)]
        if own:
            has += [alias for alias in given if alias not in has]
        if has != version["versionAliases"]:
            _VERSIONS.put(world.store, _tagged({**version, "versionAliases": has}))
    return find(world, name, version_id)


def remove_version(world: World, version: Model) -> None:
    _VERSIONS.remove(world.store, _VERSIONS.key(version))


def remove(world: World, name: str) -> None:
    """Remove a model with all its versions. Within a transaction."""
    for version in versions(world, name):
        remove_version(world, version)
    MODELS.remove(world.store, name)


def _new(world: World, location: str, model_id: str) -> Registered:
    """Return a new model, which is not kept yet. Raises 409."""
    name = full_name(world, location, model_id or str(_FIRST_ID + world.store.next_id("model")))
    if MODELS.get(world.store, name) is not None:
        raise already_exists(f"The Model {name} already exists; name it as parent model to add a version.")
    return Registered(name, world.now())


def _tagged(body: Mapping[str, Any]) -> Model:
    """Return a version with the etag of its content."""
    plain = {key: value for key, value in body.items() if key != "etag"}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    return {**plain, "etag": f"AMEw9y{digest[:26]}"}

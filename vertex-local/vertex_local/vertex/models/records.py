"""Models in the store: every version a document, and the default one in a table for lists."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...wire import already_exists, not_found
from ...world import World
from .. import conditions
from ..collection import Kind
from ..conditions import Field
from ..names import id_of
from ..tables import Entry, ResourceTable

MODELS = ResourceTable(
    kind=Kind("Model", "/models", "resource", "models", trains=True),
    table="models",
    first=8_000_000_000_000_000_000,
    fields={
        "model": Field("id"),
        "displayName": conditions.FIELDS["displayName"],
    },
)
DEFAULT = "default"
_VERSION = "modelVersion"
_SERVED = {
    "supportedDeploymentResourcesTypes": ["DEDICATED_RESOURCES"],
    "supportedInputStorageFormats": ["jsonl", "bigquery", "csv", "tf-record", "tf-record-gzip", "file-list"],
    "supportedOutputStorageFormats": ["jsonl", "bigquery"],
}

Model = dict[str, Any]


def add(
    world: World, location: str, model: Mapping[str, Any], *, model_id: str = "", parent: str = "", pipeline: str = ""
) -> Model:
    """Add a new model, or a new version of `parent` (a full name), from a canonical Model that has passed the rules.

    `pipeline` is the training pipeline that made it. Within a transaction. Raises 404, 409.
    """
    entry = _entry(world, location, model_id, parent)
    number, now = int((entry.work or {})["last"]) + 1, world.now()
    first = number == 1
    body: Model = {
        **model,
        "name": entry.name,
        "versionId": str(number),
        "versionAliases": [],
        "versionCreateTime": now,
        "versionUpdateTime": now,
        "createTime": entry.body.get("createTime", now),
        "updateTime": now,
        "modelSourceInfo": {"sourceType": "CUSTOM"},
        **(_SERVED if "containerSpec" in model else {}),
        **({"trainingPipeline": pipeline} if pipeline else {}),
    }
    if body.get("artifactUri"):
        body["artifactUri"] = body["artifactUri"].rstrip("/")
    world.store.put(_VERSION, _key(entry.name, str(number)), _tagged(body))
    MODELS.put(world.store, Entry(entry.number, _tagged(body), {"last": number}) if first else _counted(entry, number))
    aliases = list(model.get("versionAliases", []))
    if first and DEFAULT not in aliases:
        aliases = [DEFAULT, *aliases]
    return give_aliases(world, entry.name, str(number), aliases)


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
        find(world, MODELS.full_name(world.project, location, model_id), reference)


def versions(world: World, name: str) -> list[Model]:
    """Return all versions of a model, oldest first; none for a model that does not exist."""
    return [body for _, body in world.store.list(_VERSION, f"{name}@")]


def change(world: World, version: Mapping[str, Any]) -> Model:
    """Keep a changed version. Within a transaction."""
    now = world.now()
    body = _tagged({**version, "updateTime": now, "versionUpdateTime": now})
    world.store.put(_VERSION, _key(body["name"], body["versionId"]), body)
    _show_default(world, body["name"])
    return body


def give_aliases(world: World, name: str, version_id: str, aliases: Sequence[str]) -> Model:
    """Give aliases to a version, in their order, taken from the versions that have them; `-alias` is taken away.

    Within a transaction.
    """
    given = [alias for alias in dict.fromkeys(aliases) if not alias.startswith("-")]
    taken = {alias.removeprefix("-") for alias in aliases if alias.startswith("-")}
    for version in versions(world, name):
        own = version["versionId"] == version_id
        has = [alias for alias in version["versionAliases"] if alias not in (taken if own else given)]
        if own:
            has += [alias for alias in given if alias not in has]
        if has != version["versionAliases"]:
            world.store.put(_VERSION, _key(name, version["versionId"]), _tagged({**version, "versionAliases": has}))
    _show_default(world, name)
    return find(world, name, version_id)


def remove_version(world: World, version: Mapping[str, Any]) -> None:
    world.store.delete(_VERSION, _key(version["name"], version["versionId"]))


def remove(world: World, name: str) -> None:
    """Remove a model with all its versions. Within a transaction."""
    for version in versions(world, name):
        remove_version(world, version)
    MODELS.remove(world.store, name)


def _entry(world: World, location: str, model_id: str, parent: str) -> Entry:
    """Return the model that a version is added to: that of the parent, or a new one."""
    if parent:
        name = MODELS.full_name(world.project, location, id_of(parent).partition("@")[0])
        found = MODELS.get(world.store, name)
        if found is None:
            raise not_found(f"The Model {name} does not exist.")
        return found
    number, name = MODELS.new_name(world.store, world.project, location)
    if model_id:
        name = MODELS.full_name(world.project, location, model_id)
        if MODELS.get(world.store, name) is not None:
            raise already_exists(f"The Model {name} already exists; name it as parent model to add a version.")
    return Entry(number, {"name": name}, {"last": 0})


def _counted(entry: Entry, number: int) -> Entry:
    return Entry(entry.number, entry.body, {"last": number})


def _show_default(world: World, name: str) -> None:
    """Write the default version of a model, which lists show, to the table."""
    entry = MODELS.get(world.store, name)
    assert entry is not None
    MODELS.put(world.store, Entry(entry.number, find(world, name), entry.work))


def _key(name: str, version_id: str) -> str:
    return f"{name}@{version_id}"


def _tagged(body: Mapping[str, Any]) -> Model:
    """Return a version with the etag of its content."""
    plain = {key: value for key, value in body.items() if key != "etag"}
    digest = hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
    return {**plain, "etag": f"AMEw9y{digest[:26]}"}

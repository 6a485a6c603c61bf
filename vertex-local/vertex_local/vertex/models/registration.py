"""The registration of a model: its files are looked at, and a version is made."""

import re
from collections.abc import Mapping
from typing import Any

from ...storage.records import OBJECTS
from ...world import World
from . import records
from .records import Model

_OUTPUT_ONLY = (
    "name",
    "versionId",
    "versionCreateTime",
    "versionUpdateTime",
    "supportedExportFormats",
    "trainingPipeline",
    "supportedDeploymentResourcesTypes",
    "supportedInputStorageFormats",
    "supportedOutputStorageFormats",
    "createTime",
    "updateTime",
    "deployedModels",
    "etag",
    "modelSourceInfo",
    "originalModelInfo",
    "metadataArtifact",
)
_URI = re.compile(r"gs://([^/]+)(?:/(.*))?")
_PREBUILT = re.compile(r"(?:(?:us|europe|asia)-docker\.pkg\.dev/vertex-ai/prediction/)(sklearn|xgboost|tf2?)-\S+")
_EXPECTED = {
    "sklearn": ("model.joblib", "model.pkl"),
    "xgboost": ("model.bst", "model.joblib", "model.pkl"),
    "tf": ("saved_model.pb", "saved_model.pbtxt"),
    "tf2": ("saved_model.pb", "saved_model.pbtxt"),
}


class UnusableError(Exception):
    """The files of a model are missing, or are not those that its image serves; the text says so."""


def declared(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sent Model without the fields that only the service may set."""
    return {key: value for key, value in model.items() if key not in _OUTPUT_ONLY}


def upload(
    world: World, location: str, model: Mapping[str, Any], *, model_id: str = "", parent: str = "", pipeline: str = ""
) -> Model:
    """Add a new model or version, once its files have been looked at. Within a transaction. Raises UnusableError, 404,
    409."""
    if model.get("artifactUri"):
        image = model.get("containerSpec", {}).get("imageUri", "")
        why = _problem(world, model["artifactUri"], image)
        if why:
            raise UnusableError(why)
    return records.add(world, location, model, model_id=model_id, parent=parent, pipeline=pipeline)


def _problem(world: World, uri: str, image: str) -> str:
    """Return why a directory can't be that of a model that is served by an image; "" when it can.

    The pre-built prediction images want a file of a certain name; others take any.
    """
    uri = uri.rstrip("/")
    files = _files(world, uri)
    if not files:
        return f'There are no files under "{uri}" to copy.'
    framework = _PREBUILT.fullmatch(image)
    expected = _EXPECTED[framework[1]] if framework else ()
    if expected and len([name for name in files if name in expected]) != 1:
        return f"Model directory {uri} is expected to contain exactly one of: [{', '.join(expected)}]."
    return ""


def _files(world: World, uri: str) -> list[str]:
    """Return the names of the objects in a directory, relative to it."""
    matched = _URI.fullmatch(uri)
    if matched is None:
        return []
    directory = matched[2]
    prefix = f"{matched[1]}/{directory}/" if directory else f"{matched[1]}/"
    names = [version.name for version in OBJECTS.every(world.store, prefix)]
    return [name.removeprefix(prefix) for name in names if name != prefix]

"""The files of a model in Cloud Storage, as they are looked at when it is uploaded."""

import re

from local.cloud.services import World
from local.cloud.storage.records import OBJECT

_URI = re.compile(r"gs://([^/]+)(?:/(.*))?")
_PREBUILT = re.compile(r"(?:(?:us|europe|asia)-docker\.pkg\.dev/vertex-ai/prediction/)(sklearn|xgboost|tf2?)-\S+")
_EXPECTED = {
    "sklearn": ("model.joblib", "model.pkl"),
    "xgboost": ("model.bst", "model.joblib", "model.pkl"),
    "tf": ("saved_model.pb", "saved_model.pbtxt"),
    "tf2": ("saved_model.pb", "saved_model.pbtxt"),
}


def is_directory(uri: str) -> bool:
    """Whether a text is the URI of a directory in Cloud Storage."""
    return _URI.fullmatch(uri) is not None


def trouble(world: World, uri: str, image: str) -> str:
    """Why a directory can't be that of a model that is served by an image; "" when it can.

    The pre-built prediction images want a file of a certain name; others take any.
    """
    uri = uri.rstrip("/")
    found = _files(world, uri)
    if not found:
        return f'There are no files under "{uri}" to copy.'
    framework = _PREBUILT.fullmatch(image)
    expected = _EXPECTED[framework[1]] if framework else ()
    if expected and len([name for name in found if name in expected]) != 1:
        return f"Model directory {uri} is expected to contain exactly one of: [{', '.join(expected)}]."
    return ""


def _files(world: World, uri: str) -> list[str]:
    """The names of the objects in a directory, relative to it."""
    matched = _URI.fullmatch(uri)
    if matched is None:
        return []
    directory = matched[2]
    prefix = f"{matched[1]}/{directory}/" if directory else f"{matched[1]}/"
    return [name.removeprefix(prefix) for name, _ in world.store.list(OBJECT, prefix) if name != prefix]

"""Rules for a model, a version alias and a model's id."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..field_errors import (
    Mistake,
    directory_mistakes,
    display_name_mistakes,
    image_mistakes,
    key_mistakes,
    label_mistakes,
)

LARGEST_PORT = 65_535
MODEL_ID = re.compile(r"[a-z_][a-z0-9_-]{0,62}")
_REGISTRY = re.compile(r"[a-z0-9-]+-docker\.pkg\.dev/|(us\.|eu\.|asia\.)?gcr\.io/")
_ALIAS = re.compile(r"[a-z][a-zA-Z0-9-]{0,126}[a-z0-9]")


def mistakes(model: Mapping[str, Any], region: str, root: str = "model") -> list[Mistake]:
    """Return all errors in a canonical Model; `root` is its path in the request."""
    problems = display_name_mistakes(f"{root}.display_name", model.get("displayName", ""), required=True)
    problems += label_mistakes(f"{root}.labels", model.get("labels", {}))
    problems += alias_mistakes(f"{root}.version_aliases", model.get("versionAliases", []))
    problems += key_mistakes(root, model, region)
    if "containerSpec" in model:
        problems += image_mistakes(f"{root}.container_spec.image_uri", model["containerSpec"].get("imageUri", ""))
    if model.get("artifactUri"):
        problems += directory_mistakes(f"{root}.artifact_uri", model["artifactUri"])
    return problems


def upload_mistakes(model: Mapping[str, Any], region: str, root: str = "model") -> list[Mistake]:
    """Return the same for a model that is to be uploaded, which has a container that serves it."""
    problems = mistakes(model, region, root)
    image = model.get("containerSpec", {}).get("imageUri", "")
    if "containerSpec" not in model:
        problems.append(Mistake(f"{root}.container_spec", "The container that serves the model is required."))
    elif image and not _REGISTRY.match(image):
        path = f"{root}.container_spec.image_uri"
        problems.append(Mistake(path, f'"{image}" must be an image in Artifact Registry or Container Registry.'))
    for at, port in enumerate(model.get("containerSpec", {}).get("ports", [])):
        if not 1 <= port.get("containerPort", 0) <= LARGEST_PORT:
            path = f"{root}.container_spec.ports[{at}].container_port"
            problems.append(Mistake(path, f"The port must be between 1 and {LARGEST_PORT}."))
    return problems


def alias_mistakes(path: str, aliases: Sequence[str]) -> list[Mistake]:
    """Return the invalid aliases. One with a `-` before it is to be taken away, which `default` can't be."""
    problems = []
    for alias in aliases:
        if alias == "-default":
            problems.append(Mistake(path, "The alias default can't be removed, only given to another version."))
        elif not _ALIAS.fullmatch(alias.removeprefix("-")):
            problems.append(Mistake(path, f'"{alias}" must match {_ALIAS.pattern}.'))
    return problems


def id_mistakes(path: str, model_id: str) -> list[Mistake]:
    if not model_id or MODEL_ID.fullmatch(model_id):
        return []
    text = f'"{model_id}" may have 63 of the characters [a-z0-9_-], the first of them no digit and no hyphen.'
    return [Mistake(path, text)]

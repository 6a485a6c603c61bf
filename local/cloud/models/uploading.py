"""How a model gets into the registry, uploaded by somebody or by the training pipeline that made it."""

from collections.abc import Mapping
from typing import Any

from local.cloud.models import artifacts, registry
from local.cloud.models.registry import Model
from local.cloud.services import World

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


class UnusableError(Exception):
    """The files of a model are missing, or not those that its image serves; the text says so."""


def declared(model: Mapping[str, Any]) -> dict[str, Any]:
    """A sent Model without what only the service may say."""
    return {key: value for key, value in model.items() if key not in _OUTPUT_ONLY}


def upload(
    world: World, location: str, model: Mapping[str, Any], *, model_id: str = "", parent: str = "", pipeline: str = ""
) -> Model:
    """A new model or version, once its files have been looked at. Within a transaction.

    Raises UnusableError, 404, 409.
    """
    if model.get("artifactUri"):
        image = model.get("containerSpec", {}).get("imageUri", "")
        why = artifacts.trouble(world, model["artifactUri"], image)
        if why:
            raise UnusableError(why)
    return registry.add(world, location, model, model_id=model_id, parent=parent, pipeline=pipeline)

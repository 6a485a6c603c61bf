"""The model that a training pipeline uploads from what its job wrote."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ModelUpload:
    """`artifact` is a folder under the output directory: what the code wrote to AIP_MODEL_DIR, unless said otherwise.

    `serving_image` is the container that serves it. `model_id` names a new model; `parent_model`
    (projects/…/models/ID) makes a new version of one that exists. Both may hold placeholders.
    """

    display_name: str
    serving_image: str
    artifact: str = "model/"
    model_id: str | None = None
    parent_model: str | None = None
    description: str = ""

    def fields(self, output: str) -> dict[str, Any]:
        """Of a training pipeline, canonical JSON. `output` is the gs:// URI of the job's output directory."""
        upload: dict[str, Any] = {"displayName": self.display_name, "containerSpec": {"imageUri": self.serving_image}}
        if self.description:
            upload["description"] = self.description
        if self.artifact.strip("/") != "model":
            upload["artifactUri"] = f"{output}/{self.artifact.strip('/')}/"
        names = {"modelId": self.model_id, "parentModel": self.parent_model}
        return {"modelToUpload": upload, **{key: name for key, name in names.items() if name}}

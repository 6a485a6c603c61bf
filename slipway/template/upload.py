"""The model that a training pipeline uploads when its job has ended well."""

from __future__ import annotations

from dataclasses import dataclass


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

"""Google's SDK for Vertex AI and the clients below it, imported by the first test that uses one.

All of them take two seconds of every process that collects the tests, most of which use none.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.cloud import aiplatform, aiplatform_v1, cloudquotas_v1
    from google.cloud.aiplatform import hyperparameter_tuning, persistent_resource
    from google.cloud.aiplatform_v1.types import custom_job
else:

    class _Used:
        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> object:
            if name.startswith("_"):  # pytest asks each global of a module for its marks.
                raise AttributeError(name)
            return getattr(importlib.import_module(self._module), name)

    aiplatform = _Used("google.cloud.aiplatform")
    aiplatform_v1 = _Used("google.cloud.aiplatform_v1")
    cloudquotas_v1 = _Used("google.cloud.cloudquotas_v1")
    hyperparameter_tuning = _Used("google.cloud.aiplatform.hyperparameter_tuning")
    persistent_resource = _Used("google.cloud.aiplatform.persistent_resource")
    custom_job = _Used("google.cloud.aiplatform_v1.types.custom_job")


def generated(version: str) -> Any:
    """Return the generated clients of Vertex AI of a version."""
    return importlib.import_module(f"google.cloud.aiplatform_{version}")


__all__ = [
    "aiplatform",
    "aiplatform_v1",
    "cloudquotas_v1",
    "custom_job",
    "generated",
    "hyperparameter_tuning",
    "persistent_resource",
]

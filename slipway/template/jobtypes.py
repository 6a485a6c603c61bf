"""The official job messages alone.

`google.cloud.aiplatform_v1` imports every service on import, which costs more than the rest of a preview. The message
types live in modules of their own, so they are imported past the package's `__init__`, under a stand-in package that is
gone when this returns. Where that does not work (another layout, another release), the whole package is imported.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

PACKAGE = "google.cloud.aiplatform_v1"
TYPES = f"{PACKAGE}.types"


_MODULES = {
    "CustomJob": "custom_job",
    "HyperparameterTuningJob": "hyperparameter_tuning_job",
    "TrainingPipeline": "training_pipeline",
}


@cache
def message(name: str) -> Any:
    """The protobuf class `google.cloud.aiplatform.v1.NAME` of a job."""
    module = _MODULES[name]
    return getattr(narrow(module) or wide(module), name).pb()


def custom_job() -> Any:
    """The protobuf class `google.cloud.aiplatform.v1.CustomJob`."""
    return message("CustomJob")


def wide(module: str = "custom_job") -> ModuleType:
    """A module with job types, by way of the whole package."""
    return import_module(f"{TYPES}.{module}")


def narrow(module: str = "custom_job") -> ModuleType | None:
    """The same module with nothing but what it needs; None when the package can't be imported like that."""
    if PACKAGE in sys.modules:
        return wide(module)
    before = set(sys.modules)
    try:
        home = _folder()
        sys.modules[PACKAGE] = _stand_in(PACKAGE, home)
        sys.modules[TYPES] = _stand_in(TYPES, f"{home}/types")
        return import_module(f"{TYPES}.{module}")
    except (ImportError, AttributeError, TypeError):
        for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.") and name not in before]:
            del sys.modules[name]
        return None
    finally:
        sys.modules.pop(PACKAGE, None)
        sys.modules.pop(TYPES, None)


def _stand_in(name: str, folder: str) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = [folder]
    return module


def _folder() -> str:
    parent = import_module("google.cloud")  # a namespace package: the parts may lie in several places
    spec = PathFinder.find_spec(PACKAGE, list(parent.__path__))
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"no package {PACKAGE}")
    return next(iter(spec.submodule_search_locations))

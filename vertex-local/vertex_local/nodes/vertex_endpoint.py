"""Inside a job: the Vertex AI SDK talks to the local cloud without being told.

In the service the SDK finds the region's endpoint by itself, and nothing in its environment names another one. So this
module waits until the SDK's settings are imported, and gives them defaults: the local cloud's address, REST (the local
cloud serves no gRPC) and the project, which the SDK would ask Resource Manager for over gRPC. Settings of the job's own
code still win. It runs in the job's interpreter, whatever that is: the standard library only.
"""

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType

_SETTINGS = "google.cloud.aiplatform.initializer"
_ENDPOINT, _PROJECT = "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT", "GOOGLE_CLOUD_PROJECT"


class _Finder(importlib.abc.MetaPathFinder):
    """A finder that finds the SDK's settings once, in the usual way, and loads them with the defaults."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != _SETTINGS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        settings = module.global_config
        # The module's `init` would look for the experiment that the environment names, which can't be before all is
        # imported.
        settings._api_endpoint = os.environ[_ENDPOINT].partition("/v1")[0]
        settings._api_transport = "rest"
        settings._project = os.environ.get(_PROJECT)


if os.environ.get(_ENDPOINT):
    sys.meta_path.insert(0, _Finder())

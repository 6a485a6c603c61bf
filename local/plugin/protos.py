"""Pulumi's gRPC messages without the rest of its SDK.

Importing `pulumi` takes longer than everything else a provider does before it answers, and the engine waits for that
answer on each command. The message modules stand on their own, so the packages around them are entered by path alone.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_PACKAGES = ("pulumi", "pulumi.runtime", "pulumi.runtime.proto")


def _enter_by_path() -> None:
    if any(name in sys.modules for name in _PACKAGES):
        return
    spec = importlib.util.find_spec("pulumi")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("the package pulumi is not installed beside the local gcp plugin")
    root = Path(spec.submodule_search_locations[0])
    for name in _PACKAGES:
        package = ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package


def _module(name: str) -> Any:
    return importlib.import_module(f"pulumi.runtime.proto.{name}")


_enter_by_path()
messages: Any = _module("provider_pb2")
plugin: Any = _module("plugin_pb2")
services: Any = _module("provider_pb2_grpc")
engine: Any = _module("engine_pb2")
engine_services: Any = _module("engine_pb2_grpc")

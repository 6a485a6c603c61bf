"""Message types of Google's client libraries, each alone.

A library's package imports every service on import, which costs more than the rest of a preview. The message types live
in modules of their own, so they are imported past the package's `__init__`, under a temporary stand-in package. Where
that does not work (another layout, another release), the whole package is imported.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from types import ModuleType
from typing import Any

# A module that another thread has begun to import is in `sys.modules` before it is whole.
_importing = threading.RLock()


@cache
def message(package: str, module: str, name: str) -> Any:
    """Return a protobuf class by its name, in a module of a library's types: `google.cloud.aiplatform_v1`,
    `custom_job`, `CustomJob`."""
    return getattr(narrow(package, module) or wide(package, module), name).pb()


def wide(package: str, module: str) -> ModuleType:
    """Return a module of types, by way of the whole package. Raises ImportError where the library is not installed."""
    return import_module(f"{package}.types.{module}")


def narrow(package: str, module: str) -> ModuleType | None:
    """Return a module of types with only its own imports; None when the package can't be imported like that."""
    with _importing:
        if package in sys.modules:
            return wide(package, module)
        before = set(sys.modules)
        types = f"{package}.types"
        try:
            home = _folder(package)
            with standing_in({package: home, types: f"{home}/types"}):
                return import_module(f"{types}.{module}")
        except (ImportError, AttributeError, TypeError):
            for name in [name for name in sys.modules if name.startswith(f"{package}.") and name not in before]:
                del sys.modules[name]
            return None


@contextmanager
def standing_in(folders: Mapping[str, str]) -> Iterator[None]:
    """Replace each package by its bare folder meanwhile, so that its modules are imported alone."""
    with _importing:
        before = {name: sys.modules.get(name) for name in folders}
        for name, folder in folders.items():
            sys.modules[name] = ModuleType(name)
            sys.modules[name].__path__ = [folder]
        try:
            yield
        finally:
            for name, package in before.items():
                if package is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = package


def _folder(package: str) -> str:
    parent = import_module("google.cloud")  # a namespace package: its parts may be in several places
    spec = PathFinder.find_spec(package, list(parent.__path__))
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"no package {package}")
    return next(iter(spec.submodule_search_locations))

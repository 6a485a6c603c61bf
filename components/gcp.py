"""The provider's classes, each imported alone on first use: a service's package imports all of its, slowly."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING, Any

from slipway.google.messages import standing_in

__all__ = ("cloudquota", "projects", "serviceaccount", "storage", "vertex")

_PROVIDER = "pulumi_gcp"
# `BucketIAMMember` is in `bucket_iam_member`, its arguments in `_inputs`.
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class _Service:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        package = f"{_PROVIDER}.{self._name}"
        module = "_inputs" if name.endswith("Args") else _WORD.sub("_", name).lower()
        with standing_in({_PROVIDER: _folder(), package: f"{_folder()}/{self._name}"}):
            resource = getattr(import_module(f"{package}.{module}"), name)
        setattr(self, name, resource)
        return resource


@cache
def _folder() -> str:
    spec = PathFinder.find_spec(_PROVIDER)
    assert spec is not None and spec.submodule_search_locations, "the program runs where the provider is installed"
    return spec.submodule_search_locations[0]


if TYPE_CHECKING:
    from pulumi_gcp import cloudquota, projects, serviceaccount, storage, vertex
else:
    cloudquota, projects, serviceaccount, storage, vertex = map(_Service, __all__)

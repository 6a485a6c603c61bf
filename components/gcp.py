"""Resources of pulumi-gcp, each without the others of its package.

A package such as `pulumi_gcp.vertex` imports every resource of the service on its first use, which is a tenth of what a
preview's program costs. The resources live in modules of their own, so those that are declared are imported past the
package's `__init__`, under a stand-in for it that is gone when this returns. Where that does not work (another layout,
another release), the whole package is imported.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

__all__ = ["storage", "vertex"]


def resources(package: str, *modules: str) -> ModuleType:
    """What MODULES of a package define, and the inputs of its resources, under the package's own names."""
    name = f"pulumi_gcp.{package}"
    whole = import_module(name)  # pulumi-gcp's own laziness: nothing is read before an attribute is asked for
    alone = ModuleType(name)
    alone.__path__ = whole.__path__
    sys.modules[name] = alone
    try:
        for module in ("_inputs", *modules):
            found = import_module(f"{name}.{module}")
            vars(alone).update({one: getattr(found, one) for one in found.__all__})
    except (ImportError, AttributeError):
        return whole
    finally:
        sys.modules[name] = whole
    return alone


if TYPE_CHECKING:
    from pulumi_gcp import storage, vertex
else:
    storage = resources("storage", "bucket", "bucket_iam_member", "bucket_object")
    vertex = resources("vertex", "ai_persistent_resource")

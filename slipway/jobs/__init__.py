"""Jobs: what a job asks of a cluster and whether it can start, why it waits, what it wrote, used and cost.

In Python `slipway.jobs(...)` lists jobs. This package has the same name and takes its place once anything has imported
it, so the package itself can be called.
"""

import sys
from types import ModuleType


class _CallablePackage(ModuleType):
    def __call__(self, **wanted: object) -> object:
        from importlib import import_module  # Imported by name, as its package imports this one.

        return import_module("slipway.job_api").jobs(**wanted)


sys.modules[__name__].__class__ = _CallablePackage

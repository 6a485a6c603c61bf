"""Jobs: what one asks of a cluster and whether it can start, why it waits, what it wrote, used and cost.

In Python `slipway.jobs(...)` lists jobs. This package has the same name, and is what that name finds once anything has
imported it: so it can be called.
"""

import sys
from types import ModuleType


class _CallablePackage(ModuleType):
    def __call__(self, **wanted: object) -> object:
        from importlib import import_module  # By name, as what it is of imports this package.

        return import_module("slipway.job_api").jobs(**wanted)


sys.modules[__name__].__class__ = _CallablePackage

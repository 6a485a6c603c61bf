"""Submitting: parameters, offer, verdict, and sending exactly one job. Deciding is pure; `sending` alone talks."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from slipway.api import Job


class _Callable(ModuleType):
    """`slipway.submit` is this package, as Python binds it there, and the function that people call."""

    def __call__(self, template: str, **options: Any) -> "Job":
        """See `slipway.api.submit`."""
        from slipway.api import submit

        return submit(template, **options)


sys.modules[__name__].__class__ = _Callable

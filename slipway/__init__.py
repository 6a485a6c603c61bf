"""Slipway: training capacity and jobs on Vertex AI. `submit` runs a template from Python and gives its `Job`."""

TYPE_CHECKING = False
"""Type checkers take it for true. `typing` is not imported for it, as every command would wait for that."""
if TYPE_CHECKING:
    from slipway.api import Job, submit

__all__ = ["Job", "submit"]


def __getattr__(name: str) -> object:
    """What the names refer to is imported when it is asked for, so that importing slipway costs nothing."""
    import importlib

    if name in __all__:
        return getattr(importlib.import_module("slipway.api"), name)
    raise AttributeError(f"module 'slipway' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]

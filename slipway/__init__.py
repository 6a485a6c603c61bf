"""Slipway: training capacity and jobs on Vertex AI. `submit` runs a template from Python and returns its `Job`, `sweep`
runs it many times and returns their `Sweep`; `job` and `jobs` find existing ones. `session` holds a machine that runs
commands, and returns its `Session`. `errors` has the exceptions of all of them."""

TYPE_CHECKING = False
"""True for type checkers. `typing` is not imported for it, as every command would wait for that."""
if TYPE_CHECKING:
    from slipway import errors
    from slipway.front.api.job import Job, job, jobs
    from slipway.front.api.session import Session, session
    from slipway.front.api.submit import submit
    from slipway.front.api.sweep import Sweep, sweep
    from slipway.model.job_state import JobState

    __version__: str

__all__ = ["Job", "JobState", "Session", "Sweep", "errors", "job", "jobs", "session", "submit", "sweep"]

_MODULES = {
    "submit": "slipway.front.api.submit",
    "Job": "slipway.front.api.job",
    "JobState": "slipway.model.job_state",
    "job": "slipway.front.api.job",
    "jobs": "slipway.front.api.job",
    "Session": "slipway.front.api.session",
    "session": "slipway.front.api.session",
    "Sweep": "slipway.front.api.sweep",
    "sweep": "slipway.front.api.sweep",
}


def __getattr__(name: str) -> object:
    """Import a name's module on first use, so that importing slipway costs nothing."""
    import importlib

    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    if name == "errors":
        return importlib.import_module("slipway.errors")
    if name == "__version__":
        return importlib.import_module("slipway.base.installation").version()
    raise AttributeError(f"module 'slipway' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})

"""Errors of the laptop's parts, whose texts have three lines, as errors of Slipway."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from vertex_local.server.client import CloudError
from vertex_local.server.cloud_file import RecordError, state_folder

from slipway.base.errors import SlipwayError
from slipway.base.standard_output import OutputError

from .engine.errors import EngineError
from .plugin.installation import InstallError


@contextmanager
def as_slipways() -> Iterator[None]:
    """Raise the errors of the local cloud, the engine, the plugin and the files of all three as SlipwayError."""
    try:
        yield
    except (CloudError, RecordError, EngineError, InstallError) as error:
        parts = {key.strip(): rest for key, _, rest in (line.partition(": ") for line in str(error).splitlines())}
        what, why, fix = (parts.get(name, "") for name in ("error", "why", "fix"))
        raise SlipwayError(what or str(error), why=why, fix=fix) from error
    except OutputError:
        raise
    except OSError as error:
        why = f"the state folder {state_folder()} can't be used"
        fix = "make room or make it writable, or set VERTEX_LOCAL_STATE"
        raise SlipwayError(str(error), why=why, fix=fix) from error

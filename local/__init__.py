"""The laptop: what ties Slipway to the local cloud: the provider that speaks to it, the engine, and the demo.

In a checkout it is the package `local`; the wheel has it as `slipway.local`. Its modules import each other relatively.
"""

from __future__ import annotations

import atexit
import gc
import sys
from pathlib import Path

# So it is while `python -m` looks for one of these programs. What they import lives to their end: searching it for
# garbage as they start and end was a third of a start.
if sys.argv[:1] == ["-m"]:
    gc.set_threshold(200_000)
    atexit.register(gc.freeze)

PACKAGE = __name__
_INSTALLED = "." in PACKAGE
IMPORTED_FROM = Path(__file__).resolve().parents[PACKAGE.count(".") + 1]
"""The folder that must be on the path of a process that runs one of these modules: a checkout, or site-packages."""


def project_folder() -> Path:
    """Return the checkout; where this is installed, the nearest folder upwards with a Pulumi.yaml, else this one."""
    if not _INSTALLED:
        return IMPORTED_FROM
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "Pulumi.yaml").is_file()), here)


def module_command(python: Path | str, module: str) -> list[str]:
    """Return the command that runs a module of this package, wherever it is run and whatever lies there."""
    return [str(python), "-P", "-m", f"{PACKAGE}.{module}"]


def module_path() -> dict[str, str]:
    """Return the environment variables of that command: the path in a checkout, which may not be installed."""
    return {} if _INSTALLED else {"PYTHONPATH": str(IMPORTED_FROM)}

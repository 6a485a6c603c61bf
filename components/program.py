"""The running of a program of Slipway's: its errors are told, and a destruction is not a deployment."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pulumi

from slipway.authoring.stack.stack import Edit
from slipway.base.errors import SlipwayError

from .deployment import declare
from .engine import explain_errors
from .run import Run

SAID = 32
"""The exit code that tells Pulumi's language host that the person knows the reason."""


def program(file: str, declare: Callable[[Run], None], stack: Edit | None = None) -> None:
    """Declare the stack that the engine names; for SLIPWAY_PURPOSE=destroy, take it down instead.

    `file` is the path of the `__main__.py`: stack files, templates and jobs are those beside it. `stack` takes the
    stack of the stack file and returns the one to declare, which is held to the same checks. An error is shown to the
    person, and ends the process.
    """
    # By default the interpreter searches all of pulumi's objects for garbage, as it imports the rest and as it ends: a
    # quarter of the program's time. At this pace a preview is over before the first search.
    gc.set_threshold(500_000)
    atexit.register(gc.freeze)
    explain_errors(os.environ)
    checkout = Path(file).resolve().parent
    try:
        if os.environ.get("SLIPWAY_PURPOSE") == "destroy":
            from .destruction import take_down

            take_down(checkout, stack)
        else:
            run = Run(checkout, stack)
            declare(run)
            run.end()
    except SlipwayError as error:
        pulumi.log.error(str(error))
        sys.exit(SAID)


def deploy(file: str, stack: Edit | None = None) -> None:
    """Run the program of Slipway's own checkout in another repository. The arguments are those of `program`."""
    program(file, declare, stack)

"""A look at a command's text for a shell before it is sent. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from slipway.authoring.packages.command_script import script_for_shell
from slipway.model.catalog.command_line import has_pipe


def masked_failures(command: str) -> Iterator[str]:
    """Yield a line for a pipe whose shell tells the end of its last part alone."""
    script = script_for_shell(command)
    if has_pipe(script) and "pipefail" not in command and "PIPESTATUS" not in script:
        fix = f"bash -o pipefail -c {shlex.quote(script)}"
        yield f"! the job succeeds even if a part of its pipe fails, as the last one alone counts: {fix}"

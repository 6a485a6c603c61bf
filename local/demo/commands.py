"""Commands as a person types them, with their output on the screen or read as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slipway.base.errors import SlipwayError


class CommandError(SlipwayError):
    """A command of the journey failed; `code` is its exit code (negative: the signal that ended it)."""

    def __init__(self, command: Sequence[str], code: int) -> None:
        super().__init__(
            f"`{' '.join(command)}` ended with exit code {code}",
            why="its own words are above",
            fix="correct what it names, then run the same command again",
        )
        self.code = code


@dataclass(frozen=True)
class Actor:
    """A person at a shell: name, folder and exported variables, which are never printed: tokens are among them."""

    name: str
    root: Path
    environment: Mapping[str, str] = field(repr=False)

    def run(self, *command: str, **extra: str) -> None:
        """Run a command in this terminal. Raises SlipwayError with its exit code when it fails.

        An interrupt reaches the command from the terminal itself; it is given time to end in order.
        """
        print(f"\n$ {' '.join(command)}    # as {self.name}", flush=True)
        process = subprocess.Popen(command, cwd=self.root, env={**self.environment, **extra})
        code = _wait(process)
        if code != 0:
            raise CommandError(command, code)

    def ask(self, *command: str, **extra: str) -> Any:
        """Return a command's standard output, read as JSON. Raises SlipwayError when it fails."""
        done = subprocess.run(
            command, cwd=self.root, env={**self.environment, **extra}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            raise CommandError(command, done.returncode)
        return json.loads(done.stdout)


def _wait(process: subprocess.Popen[bytes]) -> int:
    interrupted = 0
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            interrupted += 1
            if interrupted > 2:
                process.kill()
        else:
            if interrupted:
                raise KeyboardInterrupt
            return code

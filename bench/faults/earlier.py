"""The release before: the origin of an upgrade's deployments, submissions and records."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.errors import BenchError
from bench.ground import CHECKOUT

RELEASE = "dc28618e"
_PARTS = ("__main__.py", "Pulumi.yaml", "slipway", "components", "policy", "local", "journey")


@contextmanager
def release(folder: Path, checkout: Path) -> Iterator[Mapping[str, str]]:
    """Make a person's `checkout` one of the release meanwhile. Yields the variables with which its commands run.

    `folder` is where its sources are laid out. Raises BenchError where this clone has no such commit.
    """
    done = subprocess.run(["git", "archive", RELEASE, *_PARTS], cwd=CHECKOUT, capture_output=True)
    if done.returncode != 0:
        raise BenchError(f"{done.stderr.decode().strip()}; the release before is needed: git fetch --unshallow")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as sources:
        sources.extractall(folder, filter="data")
    program = checkout / "__main__.py"
    ours = program.read_text()
    shutil.copy(folder / program.name, program)
    try:
        yield {"PYTHONPATH": str(folder)}
    finally:
        program.write_text(ours)

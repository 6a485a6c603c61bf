"""A stand-in for `nvidia-smi` in a job on machines with GPUs, as there are none here: it shows what Monitoring does."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from . import spec as specs

_ASKED = "--query-gpu=utilization.gpu"
_PROGRAM = """#!/bin/sh
case "$*" in
*{asked}*) ;;
*) echo "NVIDIA-SMI of the local cloud: only {asked} is answered, as there is no GPU here" >&2; exit 9 ;;
esac
test -s {values} || {{ echo "NVIDIA-SMI of the local cloud: nothing was measured yet" >&2; exit 9; }}
cat {values}
"""


def place(folder: Path) -> Path:
    """Return the folder of the program, for a replica's PATH."""
    return folder / "programs"


def put(folder: Path) -> None:
    """Write the program into a replica's folder."""
    path = place(folder) / "nvidia-smi"
    path.parent.mkdir(exist_ok=True)
    path.write_text(_PROGRAM.format(asked=_ASKED, values=shlex.quote(str(folder / specs.GPUS))))
    path.chmod(0o755)


def show(folder: Path, uses: Sequence[float]) -> None:
    """Have it show the use of each GPU from now on, from 0 to 1."""
    path = folder / specs.GPUS
    new = path.with_suffix(".new")
    new.write_text("".join(f"{use * 100:.0f}\n" for use in uses))
    new.replace(path)

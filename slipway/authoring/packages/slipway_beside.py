"""Report the files that a job's code has written beside itself: they are deleted with the machine."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from slipway.authoring.packages.slipway_files import Moment
from slipway.authoring.packages.slipway_results import say

SHOWN = 5
#: Folders that tools fill while code runs, and that nobody wants to keep.
CACHES = frozenset(("__pycache__", ".git", ".cache", ".pytest_cache", ".ipynb_checkpoints"))
_MLFLOW = 'mlflow.set_tracking_uri("sqlite:///" + os.environ["SLIPWAY_OUTPUT"] + "/mlflow.db")'
#: How to keep what a framework writes by default, by the folder that it makes.
WAYS = {
    "lightning_logs": 'Trainer(default_root_dir=os.environ["SLIPWAY_OUTPUT"])',
    "outputs": "hydra.run.dir='${oc.env:SLIPWAY_OUTPUT}' as an argument of the command",
    "multirun": "hydra.sweep.dir='${oc.env:SLIPWAY_OUTPUT}' as an argument of the command",
    "wandb": 'wandb.init(dir=os.environ["SLIPWAY_OUTPUT"])',
    "mlruns": _MLFLOW,
    "mlflow.db": _MLFLOW,
    "gs:": 'os.environ["SLIPWAY_OUTPUT"] as the folder: this code does not write to gs:// addresses',
}
ANY_WAY = 'os.environ["SLIPWAY_OUTPUT"] as the folder in which the code writes'
UNITS = ("bytes", "kB", "MB", "GB", "TB")


class Beside:
    """The folder that a command runs in, as it was before the start."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.before = files(folder) if folder else {}

    def report(self) -> None:
        """Print what was written since the start, and how to keep it."""
        if not self.folder:
            return
        now = files(self.folder)
        new = [name for name, moment in now.items() if self.before.get(name) != moment]
        if new:
            say(described(new, now))


def files(folder: Path) -> dict[str, Moment]:
    """Return the files of a folder by their paths there, without caches."""
    found = {}
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in CACHES and not name.endswith(".egg-info")]
        for path in (Path(parent, name) for name in names):
            with contextlib.suppress(OSError):  # deleted in the meantime
                found[path.relative_to(folder).as_posix()] = Moment.of(path.lstat())
    return found


def described(names: list[str], moments: dict[str, Moment]) -> str:
    """Return a line with the folders, the number and the size of these files, and a line that keeps them."""
    tops: dict[str, list[str]] = {}
    for name in sorted(names):
        top, below, _ = name.partition("/")
        tops.setdefault(top + below, []).append(name)
    shown = [f"{top} ({counted(inside, moments)})" for top, inside in list(tops.items())[:SHOWN]]
    if len(tops) > SHOWN:
        shown.append(f"{len(tops) - SHOWN} more")
    ways = [WAYS[top.rstrip("/")] for top in tops if top.rstrip("/") in WAYS]
    return (
        f"not kept, as it is not in $SLIPWAY_OUTPUT: {counted(names, moments)} beside the code: {', '.join(shown)}"
        f"\n  fix: {(ways or [ANY_WAY])[0]}"
    )


def counted(names: list[str], moments: dict[str, Moment]) -> str:
    """Return the number and the size of files, as `2 files, 1.5 MB`."""
    size = float(sum(moments[name].size for name in names))
    unit = 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size /= 1000
        unit += 1
    amount = f"{size:.0f}" if unit == 0 or size >= 10 else f"{size:.1f}"
    return f"{len(names)} file{'' if len(names) == 1 else 's'}, {amount} {UNITS[unit]}"

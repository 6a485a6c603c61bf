"""A watchdog around everything that costs money, so that it is taken away again, whatever happens."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from journey.watchdog import Watch
from journey.watchdog import start as start_watchdog

_ROOT = Path(__file__).resolve().parents[1]


def guarded(
    run_file: Path, flags: Sequence[str], minutes: float, play: Callable[[], None], clean_up: Callable[[], None]
) -> None:
    """Play for so many minutes at most, then clean up.

    The `flags` of `journey.verify_cloud` name the journey: with them, and `--clean-up`, a watchdog cleans up once this
    process is gone or its time is over. The run file exists until everything is taken away.
    """
    me = psutil.Process()
    watch = Watch(
        pid=me.pid,
        started=me.create_time(),
        until=time.time() + minutes * 60,
        clean_up=(sys.executable, "-m", "journey.verify_cloud", *flags, "--clean-up"),
        log=str(run_file.parent / "watchdog.log"),
    )
    start_watchdog(run_file, watch, {**os.environ, "PYTHONPATH": str(_ROOT)})
    try:
        play()
    finally:
        clean_up()
        run_file.unlink(missing_ok=True)

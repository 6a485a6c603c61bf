"""The watchdog of a journey that costs money: a process of its own that cleans up when the journey dies or its time is
over. Started by `verify_cloud`; `python -m journey.watchdog RUN_FILE` is its only use."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from slipway.base.files import write_atomically
from slipway.base.standard_output import exit_after, print_progress

LOOK_EVERY = 1.0


@dataclass(frozen=True)
class Watch:
    """The journey's process (pid and start time, as pids are reused), the deadline (seconds since the epoch), and the
    command that cleans up. The environment, credentials included, is inherited, never written."""

    pid: int
    started: float
    until: float
    clean_up: tuple[str, ...]
    log: str

    @classmethod
    def read(cls, file: Path) -> Watch:
        values = json.loads(file.read_text())
        return cls(**{**values, "clean_up": tuple(values["clean_up"])})


def start(file: Path, watch: Watch, environment: Mapping[str, str]) -> None:
    """Start the watchdog apart from this terminal and session, so that no signal meant for the journey reaches it.

    The run file is its leash: it ends without doing anything once the file is gone.
    """
    write_atomically(file, json.dumps(asdict(watch)), mode=0o600)
    with Path(watch.log).open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-m", "journey.watchdog", str(file)],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def guard(file: Path, watch: Watch) -> int:
    """Wait for the end of the journey and return 0 when it ended in order, else the exit code of the clean-up."""
    while file.exists():
        overdue = time.time() > watch.until
        alive = _alive(watch)
        if alive and overdue:
            print_progress("the journey's time is over: ends it and cleans up")
            os.kill(watch.pid, signal.SIGKILL)
        if overdue or not alive:
            code = subprocess.run(watch.clean_up, check=False).returncode
            if code == 0:
                file.unlink(missing_ok=True)
            return code
        time.sleep(LOOK_EVERY)
    return 0


def _alive(watch: Watch) -> bool:
    try:
        process = psutil.Process(watch.pid)
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - watch.started) < 1
    except psutil.NoSuchProcess:
        return False


if __name__ == "__main__":
    run_file = Path(sys.argv[1])
    exit_after(lambda: guard(run_file, Watch.read(run_file)))

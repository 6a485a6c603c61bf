"""A process that starts clouds with all imports done, which are most of a start's cost: a bench starts a cloud for each
point.

`python -m bench.faults.nursery` is that process. It takes a line of JSON for each cloud, and answers with its pid.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock

import psutil
from vertex_local.server import client, daemon, main
from vertex_local.server.cloud_file import read_record

from bench.ground import CHECKOUT

_START_S = 60.0


class Nursery:
    """The nursery of all stages; it ends with its creator."""

    def __init__(self) -> None:
        self._lock = Lock()
        # In a session of its own, so that Ctrl-C does not end the cloud of a point that is played to its end.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.faults.nursery"],
            cwd=CHECKOUT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def start(self, folder: Path) -> None:
        """Start a cloud as `daemon.start` does, for a state folder whose cloud has ended: on its port, with its
        settings. After a failure, such as when another has the port by now, `daemon.start` starts it."""
        record = read_record(folder)
        pid = self._born(folder, record.port if record else 0)
        until = time.monotonic() + _START_S
        while psutil.pid_exists(pid) and time.monotonic() < until:
            record = read_record(folder)
            if record and record.pid == pid and client.answers(record, 1):
                return
            time.sleep(0.01)
        daemon.start(folder, {})

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _born(self, folder: Path, port: int) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        with self._lock:
            self._process.stdin.write(json.dumps([str(folder), str(port)]) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


def _serve() -> None:
    main.load_services()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # their exit codes are not read
    for line in sys.stdin:
        folder, port = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(folder, port)
        print(pid, flush=True)


def _become(folder: str, port: str) -> None:
    """Become the cloud. Does not return."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        nothing, log = (os.open(name, os.O_RDWR | os.O_APPEND) for name in (os.devnull, Path(folder, "cloud.log")))
        for source, target in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        code = main.main([folder, port])
    finally:
        os._exit(code)


if __name__ == "__main__":
    _serve()

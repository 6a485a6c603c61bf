"""A stage ends its own cloud and no other. # N2"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.faults.stage import Stage
from local.cloud.server.cloud_file import Record, write_record


class OfCloud:
    """As much of a cloud as its end needs."""

    def __init__(self, state: Path) -> None:
        self.state = state


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Looks like a local cloud."""
    waits = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", waits, "local.cloud.server.main"], stdin=subprocess.PIPE) as one:
        yield one
        one.kill()


@pytest.mark.parametrize(("earlier", "killed"), [(0.0, True), (3600.0, False)])
def test_a_number_that_another_process_has_by_now_kills_nothing(
    tmp_path: Path, process: subprocess.Popen[bytes], earlier: float, killed: bool
) -> None:
    """The clouds of stages that rest are killed again and again; now and then it hit that of another worker."""
    began = psutil.Process(process.pid).create_time()
    write_record(tmp_path, Record("http://127.0.0.1:1", 1, process.pid, began - earlier, {}))
    unused: Any = None
    of_cloud: Any = OfCloud(tmp_path)
    Stage(tmp_path, of_cloud, unused, unused).kill_cloud()
    assert (process.poll() is not None) == killed

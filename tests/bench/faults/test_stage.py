"""Clouds of the bench: a nursery's are as those of `vertex-local up`, and a stage ends its own and no other. # N2"""

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from vertex_local.server import client, daemon
from vertex_local.server.cloud_file import Record, process_of, read_record, write_record

from bench.faults.nursery import Nursery
from bench.faults.stage import Stage


class OfCloud:
    """As much of a cloud as its end needs."""

    def __init__(self, state: Path) -> None:
        self.state = state


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Looks like a local cloud."""
    waits = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", waits, "vertex_local.server.main"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


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


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[tuple[Path, Record]]:
    """The state folder of a cloud that was killed, and its record."""
    folder = tmp_path / "cloud"
    record = daemon.start(folder, {"scale_up_seconds": "7"}).record
    killed(record)
    yield folder, record
    daemon.stop(folder)


def killed(record: Record | None) -> None:
    assert record is not None
    process = process_of(record)
    assert process is not None
    process.kill()
    process.wait()


def test_it_serves_on_its_port_with_its_settings_and_is_one_like_others(stopped: tuple[Path, Record]) -> None:
    folder, before = stopped
    with closing(Nursery()) as nursery:
        for _ in range(2):
            nursery.start(folder)
            now = read_record(folder)
            assert now is not None and (now.url, now.tokens) == (before.url, before.tokens)
            assert client.call(now, "GET", "/vertex-local/settings", None)["scale_up_seconds"] == 7
            assert daemon.start(folder, {}) == daemon.Started(now, fresh=False)
            killed(now)
        nursery.start(folder)
    last = read_record(folder)
    assert last is not None and client.answers(last, 10), "it outlives the nursery"
    assert daemon.stop(folder)[0] and process_of(last) is None


def test_one_whose_port_is_taken_gets_another(stopped: tuple[Path, Record]) -> None:
    folder, before = stopped
    with closing(Nursery()) as nursery, socket.create_server(("127.0.0.1", before.port)):
        nursery.start(folder)
        now = read_record(folder)
        assert now is not None and now.port != before.port and client.answers(now, 10)

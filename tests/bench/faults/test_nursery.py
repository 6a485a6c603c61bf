"""Clouds that are born of a process which has their code already are as those that `local up` starts. # N2"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.faults.nursery import Nursery
from local.cloud.server import client, daemon
from local.cloud.server.cloud_file import Record, process_of, read_record


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
            assert client.call(now, "GET", "/slipway/settings", None)["scale_up_seconds"] == 7
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

"""The shared fixtures of the clients' tests."""

from collections.abc import Iterator

import pytest

from tests.slipway.google.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()

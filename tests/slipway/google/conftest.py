"""The shared fixtures of the clients' tests."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.slipway.google.live_service import connection, environ, service  # noqa: F401 - fixtures
from tests.slipway.google.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with closing(Server()) as running:
        yield running

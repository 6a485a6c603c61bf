"""Services of a test's own world, called without a network, under a clock that stands still."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from local.cloud import identities
from local.cloud.clock import ManualClock
from local.cloud.router import Router
from local.cloud.server.main import load_services
from local.cloud.settings import Settings
from local.cloud.wire import ApiError, Call
from local.cloud.world import World, open_world

START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)
PARENT = "projects/slipway-local/locations/us-central1"
NUMBERED = f"projects/{identities.PROJECT_NUMBER}/locations/us-central1"


@dataclass
class Calling:
    """Calls methods as one role after another; `refused` gives the error of a call that must fail."""

    world: World
    clock: ManualClock
    router: Router

    def call(self, method: str, path: str, body: Any = None, role: str = "owner", raw: bytes = b"") -> Any:
        path, _, query = path.partition("?")
        found = self.router.find(method, path)
        assert found, f"no route for {method} {path}"
        handler, params = found
        pairs = tuple(parse_qsl(query, keep_blank_values=True))
        raw = raw if body is None else json.dumps(body).encode()
        principal = identities.ROLES.get(role, role)
        return handler(Call(principal, "token", method, path, params, dict(pairs), {}, raw, pairs)).body

    def refused(self, method: str, path: str, body: Any = None, role: str = "owner") -> ApiError:
        with pytest.raises(ApiError) as caught:
            self.call(method, path, body, role)
        return caught.value


@contextmanager
def every_service(state: Path) -> Iterator[Calling]:
    """All services in a new world, without rate limits."""
    clock = ManualClock(START)
    limits = {"submissions_per_minute": 0, "calls_per_minute": 0, "log_reads_per_minute": 0}
    world = open_world(state, clock=clock, chosen=Settings().changed(limits))
    try:
        yield Calling(world, clock, Router([route for service in load_services() for route in service.routes(world)]))
    finally:
        world.store.close()
        world.logs.close()

"""Vertex AI: persistent resources, custom jobs, operations.

What the server asks for is imported when it asks: the settings of all services include this package's.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from local.cloud.services import Loop, World
    from local.cloud.wire import Route

API = "aiplatform.googleapis.com"


def routes(world: "World") -> "list[Route]":
    from local.cloud.vertex import service

    return service.routes(world)


def loop(world: "World") -> "Loop":
    from local.cloud.vertex import service

    return service.loop(world)


def summary(world: "World") -> Mapping[str, str | int]:
    """What `status` shows."""
    from local.cloud.vertex import service

    return service.summary(world)

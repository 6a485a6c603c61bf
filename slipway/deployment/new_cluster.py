"""A cluster that is to be made, how long that may take, and what it takes of the world."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from slipway.cloud.vertex import Vertex
from slipway.live import Unknown, Use


@dataclass(frozen=True)
class NewCluster:
    """A cluster to be made. `known_by` are the labels that prove it ours; `failed` are earlier ones to clear away."""

    id: str
    body: Mapping[str, Any]
    known_by: Mapping[str, str]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Patience:
    """Seconds. No new try is begun after `refused` of them; one that was accepted is waited for, up to `made`.

    `unreachable` is how long nothing may answer at all; pauses begin with `first` and double, up to `look` between two
    looks at a cluster and `again` between two tries. `cleared` is how long a failed one may take to be gone.
    """

    refused: float = 15 * 60
    made: float = 2 * 3600
    unreachable: float = 60
    cleared: float = 5 * 60
    first: float = 1.0
    look: float = 10.0
    again: float = 60.0


@dataclass(frozen=True)
class Cloud:
    """What making a cluster needs of the world. `use` tells what is on a cluster, by its full name.

    `stop` ends all waiting; `pause` waits so many seconds, or until then.
    """

    vertex: Vertex
    use: Callable[[str], Use | Unknown]
    say: Callable[[str], None]
    warn: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    stop: Event = field(default_factory=Event)
    pause: Callable[[Event, float], object] = Event.wait

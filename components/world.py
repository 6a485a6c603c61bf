"""The living resources of a test with Pulumi's mocks, in place of the cloud's answers."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace

from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import get_monitor

from slipway.google.live import Live, QuotaLimit, Unknown
from slipway.model.draw import UNLIMITED
from slipway.model.state import State


@dataclass(frozen=True)
class World:
    """The living resources, and the engine's knowledge of them."""

    live: Live
    state: State

    def seen(self, region: str, metrics: Iterable[str]) -> Live:
        """Return what lives, as a program in a region sees it that draws these quota metrics: unlimited by default."""
        known = {} if isinstance(self.live.limits, Unknown) else self.live.limits
        limits = {metric: replace(limit, region=region) for metric, limit in known.items()}
        unlimited = {metric: QuotaLimit(metric, region, UNLIMITED) for metric in metrics}
        return replace(self.live, limits={**unlimited, **limits})


NOTHING = World(Live(clusters=(), jobs=(), limits={}, catalog=None), State())
CURRENT: ContextVar[World] = ContextVar("slipway_testing", default=NOTHING)


def mocked() -> World | None:
    """Return what lives in a test; None in a real run."""
    return CURRENT.get() if isinstance(get_monitor(), MockMonitor) else None

"""The scenario in force, kept in the store, so that it outlives the cloud's process."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..world import World
from .parsing import parse
from .scenario import Scenario

_KIND, _NAME = "scenario", "current"


@dataclass(frozen=True)
class Loaded:
    """A scenario and when it began."""

    scenario: Scenario
    since: datetime
    #: The scenario as written; empty when there is none.
    document: Mapping[str, Any]

    def limits(self, region: str, now: datetime) -> dict[tuple[str, str], int]:
        """Return (machine, strategy) to machines in a region now, or at the scenario's beginning if that is later."""
        return self.scenario.limits(region, max((now - self.since).total_seconds(), 0.0))


def current(world: World) -> Loaded:
    text = world.store.get(_KIND, _NAME)
    if text is None:
        return Loaded(Scenario(), world.clock.now(), {})
    return Loaded(parse(text["document"]), datetime.fromisoformat(text["since"]), text["document"])


def load(world: World, document: Mapping[str, Any]) -> Loaded:
    """Put a scenario in force from now on. Raises ScenarioError, and then the former one stays."""
    parse(document)
    world.store.put(_KIND, _NAME, {"document": dict(document), "since": world.now()})
    world.changed.set()
    return current(world)


def clear(world: World) -> Loaded:
    """Return to unlimited machines that nobody takes away."""
    world.store.delete(_KIND, _NAME)
    world.changed.set()
    return current(world)

"""The scenario in force, kept in the store, so that it outlives the cloud's process."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..world import World
from .parsing import parse
from .scenario import Reservation, Scenario

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
        return self.scenario.limits(region, self._elapsed_s(now))

    def reservations(self, now: datetime) -> dict[str, Reservation]:
        """Return the reservations that exist now, by path: before its beginning and after its end none does."""
        elapsed, every = self._elapsed_s(now), self.scenario.reservations
        return {path: item for path, item in every.items() if item.begins <= elapsed and not item.over(elapsed)}

    def over(self, path: str | None, now: datetime) -> bool:
        """Return whether a reservation has ended, and its machines with it."""
        item = self.scenario.reservations.get(path or "")
        return item is not None and item.over(self._elapsed_s(now))

    def _elapsed_s(self, now: datetime) -> float:
        return max((now - self.since).total_seconds(), 0.0)


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

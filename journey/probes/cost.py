"""The ceiling of money and time for probes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from journey.budget import STORAGE_AND_CALLS
from journey.probes.probe import Probe
from slipway.base.errors import PolicyError
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price, hourly

SHARED_MACHINES = 2
CLUSTER_MINUTES = 20
"""The time to make the shared cluster; its deletion, with all else, may come after the time is over."""
_SLACK_MINUTES = 5
"""Minutes for the calls before and after."""
_SMALL = ("n1-standard-4", "e2-standard-4", "n2-standard-4")


@dataclass(frozen=True)
class Cost:
    """The cost of probes: `minutes` allowed, `most` in USD for them, and the `unpriced` probes, which are not asked,
    since they may get a machine whose price nobody knows."""

    probes: tuple[Probe, ...]
    minutes: int
    most: Decimal
    unpriced: tuple[Probe, ...] = ()


def small_machine(region: str) -> MachineSpec:
    """Return the machine that probes use in a region. Raises PolicyError where no price of one is known."""
    for name in _SMALL:
        machine = MachineSpec(name)
        if hourly(machine, region).complete:
            return machine
    raise PolicyError(
        f"the price of small machines in {region} is unknown",
        why=f"the price book has none of {', '.join(_SMALL)} there, so no ceiling of money could be kept",
        fix="choose REGION=us-central1, or make the price book anew: python -m journey.prices --help",
    )


def minutes_of(probes: Sequence[Probe]) -> int:
    """Return the minutes that probes take at most, with the shared cluster where one of them needs it."""
    shared = CLUSTER_MINUTES if any(probe.on_cluster for probe in probes) else 0
    return sum(probe.minutes for probe in probes) + shared + _SLACK_MINUTES


def cost(probes: Sequence[Probe], region: str, max_minutes: int, max_usd: Decimal) -> Cost:
    """Return the most that probes can cost one after another. Raises PolicyError above the ceiling of money.

    The small machines of all probes count for the whole time, a dear one for the minutes of its probe.
    """
    priced = tuple(probe for probe in probes if _dear(probe, region).complete)
    minutes = min(max_minutes, minutes_of(priced))
    small = hourly(small_machine(region), region).known
    at_once = max((SHARED_MACHINES if probe.on_cluster else probe.machines for probe in priced), default=0)
    dear = sum((_dear(probe, region).known * probe.dear_minutes / 60 for probe in priced), Decimal(0))
    most = small * at_once * minutes / 60 + dear + STORAGE_AND_CALLS
    if most > max_usd:
        raise PolicyError(
            f"the probes may cost ${most:.2f} in {minutes} minutes, the ceiling is ${max_usd:.2f}",
            why=f"{at_once} small machines at ${small:.2f} an hour each, and ${dear:.2f} for others that they ask for",
            fix=f"allow it with MAX_USD={most:.2f}, or less with MAX_MINUTES=… or fewer PROBES=…",
        )
    return Cost(priced, minutes, most, tuple(probe for probe in probes if probe not in priced))


def _dear(probe: Probe, region: str) -> Price:
    """Return the price of a probe's dear machine in USD an hour, on demand, since no capacity type costs more."""
    return hourly(probe.dear, region) if probe.dear else Price()

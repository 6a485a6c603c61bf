"""The Spot jobs that lose a machine now: by schedule, at random with a seed, or because there are fewer. Pure."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from .scenario import Chance, Preemption, Scenario


@dataclass(frozen=True)
class Target:
    """A Spot job on machines."""

    number: int
    job_id: str
    display_name: str
    attempt: int
    #: How often it lost its machines before.
    preempted: int
    replicas: tuple[str, ...]
    #: How long this attempt has been in RUNNING; None before that.
    running_s: float | None
    #: Counts by (region, type).
    machines: Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Victim:
    """A victim: the job with this number loses `replica`'s machine."""

    number: int
    replica: str


def victims(scenario: Scenario, targets: Iterable[Target], excess: Mapping[tuple[str, str], int]) -> tuple[Victim, ...]:
    """Return the victims of preemption now, the newest job first. `excess`: machines by (region, type)."""
    targets = list(targets)
    by_number: dict[int, Victim] = {}
    for target in targets:
        replica = _by_schedule(scenario.preemptions, target) or _by_chance(scenario.chance, target)
        if replica:
            by_number[target.number] = Victim(target.number, replica)
    return (*by_number.values(), *_by_shortage(targets, excess, by_number))


def _by_schedule(preemptions: Sequence[Preemption], target: Target) -> str | None:
    ahead = target.preempted
    for entry in preemptions:
        if not target.display_name.startswith(entry.job):
            continue
        if entry.times >= 0 and ahead >= entry.times:
            ahead -= entry.times
            continue
        due = target.running_s is not None and target.running_s >= entry.after
        return entry.replica if due and entry.replica in target.replicas else None
    return None


def _by_chance(chance: Chance | None, target: Target) -> str | None:
    if chance is None or not chance.rate_per_hour or target.running_s is None:
        return None
    drawn = random.Random(f"{chance.seed}/{target.job_id}/{target.attempt}")
    replica = drawn.choice(target.replicas)
    seconds = drawn.expovariate(chance.rate_per_hour * len(target.replicas) / 3600)
    return replica if target.running_s >= seconds else None


def _by_shortage(
    targets: Iterable[Target], excess: Mapping[tuple[str, str], int], gone: Mapping[int, Victim]
) -> list[Victim]:
    left = Counter(dict(excess))
    for target in targets:
        if target.number in gone:
            left.subtract(target.machines)
    victims = []
    for target in sorted(targets, key=lambda target: -target.number):
        if target.number not in gone and any(left[kind] > 0 for kind in target.machines):
            left.subtract(target.machines)
            victims.append(Victim(target.number, target.replicas[0]))
    return victims

"""A made month of a training cluster, since no package has a public one.

Its shapes are those that three published traces agree on: Microsoft's Philly (Jeon and others, USENIX ATC 2019),
SenseTime's Helios (Hu and others, SC 2021) and Alibaba's PAI (Weng and others, NSDI 2022): jobs arrive in bursts,
denser by day; run times are lognormal, one in twenty ends at once; most jobs take one machine. The numbers are made.
"""

import math
import random
from collections.abc import Iterator

from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.operating.whatif.model import ReplayedJob, Route

DAY = 86_400.0
SIZES = ((1, 0.72), (2, 0.14), (4, 0.09), (8, 0.05))
"""Machines of a job, with their shares."""


def month(
    jobs: int,
    machine: MachineSpec,
    *,
    seed: int = 1,
    days: float = 30,
    median: float = 13 * 60,
    spread: float = 1.6,
    most: int = 8,
    routes: tuple[Route, ...] = (Route("pool"),),
) -> list[ReplayedJob]:
    """Make about so many jobs. `median` of the run times in seconds, `spread` their lognormal's sigma; `most` machines
    of one job."""
    chance = random.Random(seed)
    sizes = [size for size, _ in SIZES if size <= most]
    shares = [share for size, share in SIZES if size <= most]
    made = []
    for number, moment in enumerate(_arrivals(jobs, days * DAY, chance)):
        run = 5.0 if chance.random() < 0.05 else min(7 * DAY, median * math.exp(chance.gauss(0, spread)))
        machines = chance.choices(sizes, shares)[0]
        groups = (MachineGroup(machine, machines),)
        made.append(ReplayedJob(f"job-{number}", f"template-{number % 5}", moment, run, groups, routes))
    return made


def _arrivals(jobs: int, length: float, chance: random.Random) -> Iterator[float]:
    """Yield moments in their order: a burst has some six jobs, a few seconds apart."""
    moments: list[float] = []
    while len(moments) < jobs:
        moment = chance.uniform(0, length)
        if chance.random() < _density(moment):
            burst = 1 if chance.random() < 0.8 else chance.randint(2, 20)
            moments += [moment + 3.0 * place for place in range(burst)]
    return iter(sorted(moment for moment in moments[:jobs] if moment < length))


def _density(moment: float) -> float:
    """Return the share of the busiest hour; a month begins on a Monday at midnight."""
    day, hour = int(moment // DAY) % 7, moment % DAY / 3600
    by_day = 0.25 + 0.75 * max(0.0, math.sin(math.pi * (hour - 7) / 14)) if 7 <= hour <= 21 else 0.2
    return by_day * (0.4 if day >= 5 else 1.0)

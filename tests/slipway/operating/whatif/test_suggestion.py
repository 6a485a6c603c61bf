"""The cheapest bounds that hold a target of waits: against all there are, where those are few. # N16"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from itertools import product

import pytest

from slipway.model.machines.spec import MachineSpec
from slipway.operating.history.model import MachinesUsed
from slipway.operating.whatif.comparison import Replayer
from slipway.operating.whatif.model import PoolDelays
from slipway.operating.whatif.replay import replay
from slipway.operating.whatif.suggestion import suggest
from tests.slipway.operating.whatif.month import DAY, month
from tests.slipway.operating.whatif.past import CPU, catalog, cluster, history, job, offer, pool, replayed, told

NOW = cluster("cpu", pool("workers", 3, 8))
DELAYS = PoolDelays(start=20.0, scale_up=240.0, idle=900.0)


@cache
def replayer(seed: int = 1) -> Replayer:
    happened = replay(month(150, CPU, seed=seed, most=4, days=5), replayed(NOW, DELAYS), 5 * DAY)
    offers = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}
    return Replayer.of(history(told(happened, NOW), [NOW], days=5), catalog([NOW], offers))


@pytest.mark.parametrize("seed", range(2))
def test_no_bounds_are_cheaper_that_hold_the_target(seed: int) -> None:
    here = replayer(seed)
    bounds = [(least, most) for least, most in product(range(1, 9), range(1, 17)) if least <= most]
    every = [here.outcome(here.pools([cluster("cpu", pool("workers", *one))])) for one in bounds]
    for target in (60.0, 600.0, 7200.0):
        found = suggest(here, here.pools([NOW]), target).outcome
        assert found is not None and found.waits.p95 is not None and found.waits.p95 <= target
        held = [one for one in every if one.never_ran == 0 and one.waits.p95 is not None and one.waits.p95 <= target]
        assert all(found.cost.known <= one.cost.known * Decimal("1.02") for one in held), target


def test_a_pool_that_is_too_small_is_suggested_to_grow() -> None:
    """Twelve jobs at once, for a minute each, on one machine: all of them would have to be there before."""
    one = cluster("cpu", pool("workers", 1, 1))
    jobs = [job(f"j{n}", 0, 1 + 61.0 * n, 60, on=one) for n in range(12)]
    here = Replayer.of(history(jobs, [one], days=1), catalog([one], {"t": [offer("pool", "cpu")]}))
    assert dict(suggest(here, here.pools([one]), 2.0).bounds) == {("cpu", "workers"): (12, 12)}
    assert dict(suggest(here, here.pools([one]), 3600.0).bounds) == {}


def test_a_shorter_wait_costs_more() -> None:
    here = replayer()
    pools = here.pools([NOW])
    costs = [one.cost.known for target in (60, 600, 7200) if (one := suggest(here, pools, target).outcome)]
    assert costs == sorted(costs, reverse=True) and len(costs) == 3


def test_what_no_machines_can_shorten_is_told() -> None:
    found = suggest(replayer(), replayer().pools([NOW]), 5.0)
    assert found.outcome is None and found.hinders == "cpu/workers" and found.shortest == DELAYS.start


def test_pools_that_nobody_used_stay_as_they_are() -> None:
    unused = cluster("gpu", pool("workers", 2, 4, MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)))
    jobs = [job(f"j{n}", n * 5000, 10, 600, on=NOW, machines=(MachinesUsed(CPU, 1, "workers"),)) for n in range(20)]
    here = Replayer.of(history(jobs, [NOW, unused], days=2), catalog([NOW, unused], {"t": [offer("pool", "cpu")]}))
    found = suggest(here, here.pools([NOW, unused]), 600.0)
    assert dict(found.bounds) == {("cpu", "workers"): (1, 1)}

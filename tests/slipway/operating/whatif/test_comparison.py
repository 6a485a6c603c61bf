"""A past replayed on other pools: what is measured of it, what it comes to, and how far it can be trusted. # N16"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.model.capacity import FLEX_START
from slipway.model.catalog.model import Catalog, Parameter
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price
from slipway.operating.history.model import Deployment, History, MachinesUsed
from slipway.operating.history.waits import Waits, rank
from slipway.operating.whatif.calibration import FEWEST, TOLERATED
from slipway.operating.whatif.comparison import Replayer
from slipway.operating.whatif.delays import ASSUMED, MeasuredDelays, measure
from slipway.operating.whatif.model import PoolDelays, Route
from slipway.operating.whatif.past_load import PastLoad
from slipway.operating.whatif.replay import replay
from slipway.operating.whatif.workload import Workload, workload
from slipway.using.submission.request import attempt_id
from tests.slipway.operating.whatif.month import DAY, month
from tests.slipway.operating.whatif.past import (
    CPU,
    SINCE,
    catalog,
    cluster,
    history,
    job,
    offer,
    pool,
    replayed,
    sampled,
    told,
)

REAL = PoolDelays(start=20.0, scale_up=240.0, idle=900.0)
ELASTIC = cluster("cpu", pool("workers", 2, 12))
OFFERS = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}
GPU = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)


def worked(past: History, of: Catalog) -> Workload:
    return workload(past, of, PastLoad(past))


def measured(past: History) -> MeasuredDelays:
    return measure(past, PastLoad(past))


@cache
def replayer() -> Replayer:
    """A month that pools with these delays really had."""
    happened = replay(month(600, CPU), replayed(ELASTIC, REAL), 30 * DAY)
    return Replayer.of(history(told(happened, ELASTIC), [ELASTIC]), catalog([ELASTIC], OFFERS))


def test_delays_are_measured_where_the_history_shows_them() -> None:
    found = replayer().delays
    assert found.start.seconds == REAL.start and found.start.count > 100
    assert found.scale_up.seconds == pytest.approx(REAL.scale_up, rel=0.1) and found.scale_up.count >= 3
    assert found.of("n1-standard-8").scale_up == pytest.approx(REAL.scale_up, rel=0.1)
    assert (found.idle.seconds, found.idle.count) == (ASSUMED.idle, 0)  # Nobody took samples.


def test_nothing_is_measured_of_too_few_cases() -> None:
    few = [job(str(number), number * 1000, 33, 10, on=ELASTIC) for number in range(2)]
    found = measured(history(few, [ELASTIC]))
    assert (found.start.seconds, found.start.count) == (ASSUMED.start, 0) and found.of("x") == ASSUMED


def test_the_idle_delay_is_what_agrees_with_most_samples() -> None:
    jobs, lives = [], []
    for number in range(12):
        begin = number * 20_000.0
        jobs.append(job(f"j{number}", begin, 0, 600, on=ELASTIC, machines=(MachinesUsed(CPU, 4, "workers"),)))
        ends, minute = begin + 600, 97.0 * number
        lives += [
            (at, 4 if at < ends + REAL.idle else 2)
            for at in (begin + 100 + minute + step for step in range(0, 9000, 300))
        ]
    found = measured(history(jobs, [ELASTIC], samples=sampled(lives, ELASTIC)))
    assert found.idle.count == 12 and found.idle.seconds == pytest.approx(REAL.idle, abs=100)


def test_a_past_that_a_replay_made_is_replayed_as_it_was() -> None:
    here = replayer()
    found = here.comparison([ELASTIC], [ELASTIC])
    assert found.calibration.trusted and found.calibration.jobs == found.jobs == len(here.work.jobs)
    assert found.before == found.after and found.before.never == ()


def test_another_past_is_not_trusted() -> None:
    """Waits that no pool explains: somebody held machines of whom the history does not tell."""
    here = replayer()
    later = tuple(replace(one, started=one.started and one.started + timedelta(hours=5)) for one in here.history.jobs)
    odd = Replayer.of(replace(here.history, jobs=later), here.catalog)
    error = replace(odd, delays=here.delays).calibration
    assert not error.trusted and error.error is not None and error.error > TOLERATED


@pytest.mark.parametrize(("live", "trusted"), [(6, False), (2, True)])
def test_machines_that_were_up_are_compared_where_they_were_recorded(live: int, trusted: bool) -> None:
    """Jobs of one machine each, one after the other, on a pool that keeps two."""
    jobs = [job(str(number), number * 1000, 20, 100, on=ELASTIC) for number in range(FEWEST)]
    seen = sampled([(hour * 3600.0, live) for hour in range(24)], ELASTIC)
    past = history(jobs, [ELASTIC], days=1, samples=seen)
    found = Replayer.of(past, catalog([ELASTIC], {"t": [offer("pool", "cpu")]})).calibration
    assert found.trusted is trusted and found.machines == pytest.approx(abs(2 - live) / live)
    unseen = Replayer.of(replace(past, samples=seen[:5]), catalog([ELASTIC], {"t": [offer("pool", "cpu")]}))
    assert unseen.calibration.machines is None and unseen.calibration.trusted


def test_of_few_jobs_nobody_can_tell() -> None:
    jobs = [job(str(number), number * 1000, 33, 10, on=ELASTIC) for number in range(FEWEST - 1)]
    found = Replayer.of(history(jobs, [ELASTIC]), catalog([ELASTIC], {"t": [offer("pool", "cpu")]})).calibration
    assert found.error is None and not found.trusted


def test_less_capacity_costs_less_and_is_waited_for_longer() -> None:
    smaller = cluster("cpu", pool("workers", 1, 4))
    found = replayer().comparison([ELASTIC], [smaller])
    before, after = found.before, found.after
    assert before.waits.p95 is not None and after.waits.p95 is not None and after.waits.p95 > before.waits.p95
    assert after.pools_cost.known < before.pools_cost.known and after.idle is not None
    (why,) = {one.why for one in after.never}
    assert "needs 8 n1-standard-8, " in why and "cpu/workers has 4 " in why
    assert after.never_ran + after.waits.jobs == found.jobs
    assert sum(one.waits.jobs for one in after.templates) == after.waits.jobs


def test_a_deployment_in_between_counts_from_its_time_on() -> None:
    """One job after the other had the pool to itself, then two at once."""
    small, large = cluster("cpu", pool("workers", 1, 1)), cluster("cpu", pool("workers", 2, 2), id="cpu-9z8y7x6")
    jobs = [job(f"a{n}", n * 100, n * 900, 1000, on=small) for n in range(6)]
    jobs += [job(f"b{n}", 50_000 + n * 100, (0, 0, 800, 800, 1600, 1600)[n], 1000, on=large) for n in range(6)]
    past = history(jobs, [small])
    changed = Deployment(SINCE + timedelta(seconds=40_000), "4f9c2e1", False, {"cpu": large})
    here = Replayer.of(
        replace(past, deployments=(*past.deployments, changed)), catalog([large], {"t": [offer("pool")]})
    )
    assert (
        replace(here, delays=replace(here.delays, start=replace(here.delays.start, seconds=0))).calibration.error == 0
    )


def test_a_job_goes_by_the_capacity_types_of_its_template() -> None:
    offers = [offer("pool", "cpu", wait=600.0), offer("flex-start", wait=3600.0), offer("spot", available=False)]
    templates = {"t": offers, "other": [offer("pool", "cpu")]}
    jobs = [
        job("plain", 0, 5, 10, on=ELASTIC),
        job("gone", 1, 5, 10, on=ELASTIC, template="gone"),
        job("moved", 2, 5, 10, capacity_type="on-demand", template="other"),
        job("spot", 3, 5, 10, capacity_type="spot"),
    ]
    found = {one.name: one.routes for one in worked(history(jobs, [ELASTIC]), catalog([ELASTIC], templates)).jobs}
    own = (Route("pool", 600.0), Route(FLEX_START, 3600.0))
    assert found["plain"] == own
    assert found["gone"] == (Route("pool", cluster="cpu"),)
    assert found["moved"] == (Route("on-demand"),)
    assert found["spot"] == (Route("spot", chosen=True), *own), "the pool had room, so somebody asked for Spot"


def test_who_was_told_to_wait_on_a_full_pool_waits_again_and_the_sweep_with_him() -> None:
    """Left alone the template goes on to Spot as soon as the pool is full."""
    one, offers = cluster("cpu", pool("workers", 1, 1)), [offer("pool", "cpu"), offer("spot")]
    jobs = [
        job("first", 0, 0, 1000, on=one),
        job("waited", 10, 990, 100, on=one, sweep="s"),
        job("sibling", 2000, 0, 10, on=one, sweep="s"),
        job("alone", 3000, 0, 10, on=one),
        job("full", 3001, 5, 10, capacity_type="spot"),
    ]
    here = catalog([one], {"t": offers})
    found = {job.name: job.routes[0] for job in worked(history(jobs, [one]), here).jobs}
    waits, free = Route("pool", chosen=True), Route("pool")
    assert found == {"first": free, "waited": waits, "sibling": waits, "alone": free, "full": free}
    ran = {run.job.name: run.capacity_type for run in replay(worked(history(jobs, [one]), here).jobs, (), 9000).runs}
    assert set(ran.values()) == {"spot"}, "without the pool all can go on to Spot"


def test_its_parameters_choose_the_case() -> None:
    large = {"model": ("27b",)}
    offers = [offer("pool", "cpu", when={"model": ("2b",)}), offer("spot", when=large)]
    here = catalog([ELASTIC], {"t": offers})
    parameters = (Parameter("model", "str", "2b"),)
    here = replace(here, templates={"t": replace(here.templates["t"], parameters=parameters)})
    jobs = [
        job("small", 0, 5, 10, on=ELASTIC),
        job("large", 1, 5, 10, capacity_type="spot", parameters={"model": "27b"}),
    ]
    found = {one.name: one.routes for one in worked(history(jobs, [ELASTIC]), here).jobs}
    assert found == {"small": (Route("pool"),), "large": (Route("spot"),)}


def test_attempts_of_one_submission_are_one_job() -> None:
    """It waited for the pool, was given up there, and ran beside it; its copy ran for a moment."""
    first = job("first", 0, None, None, on=ELASTIC, request_id="r")
    second = job("second", 600, 30, 100, capacity_type="spot", request_id=attempt_id("r", 1))
    copy = job("copy", 601, 5, 1, capacity_type="spot", request_id=attempt_id("r", 1))
    never = job("never", 700, None, None, on=ELASTIC, request_id="n")
    found = worked(history([first, second, copy, never], [ELASTIC]), catalog([ELASTIC], {}))
    (only,) = found.jobs
    assert (only.name, only.created, only.waited, only.run) == ("second", 0, 630, 100)
    assert found.never_started == 1 and found.counted == 1


def test_who_began_earlier_only_holds_machines() -> None:
    jobs = [job("earlier", -500, 0, 1000, on=ELASTIC), job("now", 10, 0, 5, on=ELASTIC)]
    found = worked(history(jobs, [ELASTIC]), catalog([ELASTIC], {}))
    assert [one.counted for one in found.jobs] == [False, True] and found.counted == 1


def test_waits_beside_the_pools_are_those_of_earlier_jobs() -> None:
    jobs = [job(f"s{n}", n, n * 10.0, 10, capacity_type="spot") for n in range(5)]
    jobs += [job(f"p{n}", 100 + n, 0, 10, on=ELASTIC) for n in range(50)]
    found = worked(history(jobs, [ELASTIC]), catalog([ELASTIC], {"t": [offer("pool", "cpu"), offer("spot")]}))
    waits = {one.name: one.delays["spot"] for one in found.jobs}
    assert [waits[f"s{n}"] for n in range(5)] == [0, 10, 20, 30, 40]
    assert {waits[f"p{n}"] for n in range(50)} == {0, 10, 20, 30, 40} and found.assumed == ()
    alone = worked(history(jobs[5:], [ELASTIC]), catalog([ELASTIC], {"t": [offer("pool", "cpu"), offer("spot")]}))
    assert alone.assumed == ("spot",)


def test_dollars_beside_the_pools_are_those_that_were_paid() -> None:
    paid = job("spot", 0, 5, 3600, capacity_type="spot", cost=Price(Decimal("1.25")))
    here = Replayer.of(history([paid], [ELASTIC]), catalog([ELASTIC], {}))
    found = here.comparison([ELASTIC], []).after
    assert found.beside_cost.known == Decimal("1.25") and found.pools_cost.known == 0 and found.idle is None


def test_a_machine_that_no_pool_has_is_named() -> None:
    h100 = cluster("h100", pool("workers", 1, 4, GPU))
    jobs = [job("a", 0, 5, 10, on=h100, machines=(MachinesUsed(GPU, 2, "workers"),))]
    here = Replayer.of(history(jobs, [h100]), catalog([h100], {"t": [offer("pool", "h100")]}))
    (never,) = here.comparison([h100], [ELASTIC]).after.never
    assert "a3-highgpu-8g" in never.why and "pd-ssd 100 GB" in never.why


@given(st.lists(st.floats(0, 1e6), min_size=1))
def test_median_and_p95_are_waits_that_somebody_had(seconds: list[float]) -> None:
    found = Waits.of(seconds)
    assert found.median in seconds and found.p95 in seconds and found.longest == max(seconds)
    assert sum(one <= rank(sorted(seconds), 0.95) for one in seconds) >= 0.95 * len(seconds)


def test_pools_are_paid_for_since_the_first_job_where_earlier_deployments_are_not_known() -> None:
    """They could not be read, or the bucket keeps no more of them: a month cost nothing, "of the last 0 s"."""
    known = replayer()
    jobs = tuple(replace(one, labels={"slipway-stack": "prod"}) for one in known.history.jobs)
    late = tuple(replace(one, at=known.history.until) for one in known.history.deployments)
    unread = replace(known, history=replace(known.history, jobs=jobs, deployments=late))
    assert unread.time == known.history.until - min(one.created for one in jobs if one.created)
    whole, part = (one.comparison([ELASTIC], [ELASTIC]).before for one in (known, unread))
    assert float(part.pools_cost.known) == pytest.approx(float(whole.pools_cost.known), rel=0.05)

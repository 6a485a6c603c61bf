"""A past replayed on other pools: what it comes to, how far it can be trusted, and the cheapest bounds. # N16"""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import cache
from itertools import product
from typing import Any

import pytest

from slipway.model.capacity import FLEX_START
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import OF_TEAM, Parameter
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import Price
from slipway.operating.history.model import Deployment, History, MachinesUsed
from slipway.operating.whatif.calibration import FEWEST, TOLERATED
from slipway.operating.whatif.comparison import Replayer
from slipway.operating.whatif.delays import ASSUMED, MeasuredDelays, measure
from slipway.operating.whatif.machine_changes import MachineChanges
from slipway.operating.whatif.model import PoolDelays, Route
from slipway.operating.whatif.past_load import PastLoad
from slipway.operating.whatif.replay import replay
from slipway.operating.whatif.routes import Routes
from slipway.operating.whatif.suggestion import suggest
from slipway.operating.whatif.workload import Workload, workload
from slipway.using.submission.request import attempt_id
from tests.slipway.operating.whatif.month import DAY, month
from tests.slipway.operating.whatif.past import (
    CPU,
    catalog,
    cluster,
    declared,
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
    return workload(past, Routes(of, of.regions), PastLoad(past))


def measured(past: History) -> MeasuredDelays:
    return measure(past, PastLoad(past))


@cache
def replayer() -> Replayer:
    """A month that pools with these delays really had."""
    happened = replay(month(600, CPU), replayed(ELASTIC, REAL), 30 * DAY)
    return Replayer.of(history(told(happened, ELASTIC), [ELASTIC]), catalog([ELASTIC], OFFERS))


def test_delays_are_measured_where_the_history_shows_them() -> None:
    outcome = replayer().delays
    assert outcome.start.seconds == REAL.start and outcome.start.count > 100
    assert outcome.scale_up.seconds == pytest.approx(REAL.scale_up, rel=0.1) and outcome.scale_up.count >= 3
    assert outcome.of("n1-standard-8").scale_up == pytest.approx(REAL.scale_up, rel=0.1)
    assert (outcome.idle.seconds, outcome.idle.count) == (ASSUMED.idle, 0)  # Nobody took samples.


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
    compared = measured(history(jobs, [ELASTIC], samples=sampled(lives, ELASTIC)))
    assert compared.idle.count == 12 and compared.idle.seconds == pytest.approx(REAL.idle, abs=100)


def test_a_past_that_a_replay_made_is_replayed_as_it_was() -> None:
    here = replayer()
    compared = here.comparison(declared(ELASTIC), declared(ELASTIC))
    assert compared.calibration.trusted and compared.calibration.jobs == compared.jobs == len(here.work.jobs)
    assert compared.before == compared.after and compared.before.never == ()


def test_another_past_is_not_trusted() -> None:
    """Waits that no pool explains: somebody held machines of whom the history does not tell."""
    here = replayer()
    later = tuple(replace(job, started=job.started and job.started + timedelta(hours=5)) for job in here.history.jobs)
    odd = Replayer.of(replace(here.history, jobs=later), here.catalog)
    error = replace(odd, delays=here.delays).calibration
    assert not error.trusted and error.error is not None and error.error > TOLERATED


def test_machines_that_were_up_are_compared_where_they_were_recorded_and_few_jobs_tell_nothing() -> None:
    """Jobs of one machine each, one after the other, on a pool that keeps two."""
    jobs = [job(str(number), number * 1000, 20, 100, on=ELASTIC) for number in range(FEWEST)]
    here, offered = history(jobs, [ELASTIC], days=1), catalog([ELASTIC], {"t": [offer("pool", "cpu")]})
    for live, trusted in ((6, False), (2, True)):
        seen = sampled([(hour * 3600.0, live) for hour in range(24)], ELASTIC)
        outcome = Replayer.of(replace(here, samples=seen), offered).calibration
        assert outcome.trusted is trusted and outcome.machines == pytest.approx(abs(2 - live) / live)
    few = Replayer.of(replace(here, jobs=here.jobs[1:]), offered).calibration
    assert few.error is None and few.machines is None and not few.trusted


def test_less_capacity_costs_less_and_is_waited_for_longer() -> None:
    smaller = cluster("cpu", pool("workers", 1, 4))
    compared = replayer().comparison(declared(ELASTIC), declared(smaller))
    before, after = compared.before, compared.after
    assert before.waits.p95 is not None and after.waits.p95 is not None and after.waits.p95 > before.waits.p95
    assert after.pools_cost.known < before.pools_cost.known and after.idle is not None
    (why,) = {job.why for job in after.never}
    assert "needs 8 n1-standard-8, " in why and "cpu/workers has 4 " in why
    assert after.never_ran + after.waits.jobs == compared.jobs
    assert sum(template.waits.jobs for template in after.templates) == after.waits.jobs


def test_a_job_goes_by_the_capacity_types_of_its_template() -> None:
    offers = [offer("pool", "cpu", wait=600.0), offer("flex-start", wait=3600.0), offer("spot", available=False)]
    templates = {"t": offers, "other": [offer("pool", "cpu")]}
    jobs = [
        job("plain", 0, 5, 10, on=ELASTIC),
        job("gone", 1, 5, 10, on=ELASTIC, template="gone"),
        job("moved", 2, 5, 10, capacity_type="on-demand", template="other"),
        job("spot", 3, 5, 10, capacity_type="spot"),
    ]
    outcome = {
        story.name: story.routes for story in worked(history(jobs, [ELASTIC]), catalog([ELASTIC], templates)).jobs
    }
    own = (Route("pool", 600.0), Route(FLEX_START, 3600.0))
    assert outcome["plain"] == own
    assert outcome["gone"] == (Route("pool", cluster="cpu"),)
    assert outcome["moved"] == (Route("on-demand"),)
    assert outcome["spot"] == (Route("spot", chosen=True), *own), "the pool had room, so somebody asked for Spot"


def test_who_was_told_to_wait_on_a_full_pool_waits_again_and_the_sweep_with_him() -> None:
    """Left alone the template goes on to Spot as soon as the pool is full."""
    story, offers = cluster("cpu", pool("workers", 1, 1)), [offer("pool", "cpu"), offer("spot")]
    jobs = [
        job("first", 0, 0, 1000, on=story),
        job("waited", 10, 990, 100, on=story, sweep="s"),
        job("sibling", 2000, 0, 10, on=story, sweep="s"),
        job("alone", 3000, 0, 10, on=story),
        job("full", 3001, 5, 10, capacity_type="spot"),
    ]
    here = catalog([story], {"t": offers})
    outcome = {job.name: job.routes[0] for job in worked(history(jobs, [story]), here).jobs}
    waits, free = Route("pool", chosen=True), Route("pool")
    assert outcome == {"first": free, "waited": waits, "sibling": waits, "alone": free, "full": free}
    ran = {run.job.name: run.capacity_type for run in replay(worked(history(jobs, [story]), here).jobs, (), 9000).runs}
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
    outcome = {story.name: story.routes for story in worked(history(jobs, [ELASTIC]), here).jobs}
    assert outcome == {"small": (Route("pool"),), "large": (Route("spot"),)}


def test_attempts_of_one_submission_are_one_job() -> None:
    """It waited for the pool, was given up there, and ran beside it; its copy ran for a moment."""
    first = job("first", 0, None, None, on=ELASTIC, request_id="r")
    second = job("second", 600, 30, 100, capacity_type="spot", request_id=attempt_id("r", 1))
    copy = job("copy", 601, 5, 1, capacity_type="spot", request_id=attempt_id("r", 1))
    never = job("never", 700, None, None, on=ELASTIC, request_id="n")
    compared = worked(history([first, second, copy, never], [ELASTIC]), catalog([ELASTIC], {}))
    (only,) = compared.jobs
    assert (only.name, only.created, only.waited, only.run) == ("second", 0, 630, 100)
    assert compared.never_started == 1 and compared.counted == 1


def test_dollars_beside_the_pools_are_those_that_were_paid() -> None:
    paid = job("spot", 0, 5, 3600, capacity_type="spot", cost=Price(Decimal("1.25")))
    here = Replayer.of(history([paid], [ELASTIC]), catalog([ELASTIC], {}))
    outcome = here.comparison(declared(ELASTIC), declared()).after
    assert outcome.beside_cost.known == Decimal("1.25") and outcome.pools_cost.known == 0 and outcome.idle is None


def test_pools_are_paid_for_since_the_first_job_where_earlier_deployments_are_not_known() -> None:
    """They could not be read, or the bucket keeps no more of them: a month cost nothing, "of the last 0 s"."""
    known = replayer()
    jobs = tuple(replace(job, labels={"slipway-stack": "prod"}) for job in known.history.jobs)
    late = tuple(replace(deployment, at=known.history.until) for deployment in known.history.deployments)
    unread = replace(known, history=replace(known.history, jobs=jobs, deployments=late))
    assert unread.time == known.history.until - min(job.created for job in jobs if job.created)
    whole, part = (story.comparison(declared(ELASTIC), declared(ELASTIC)).before for story in (known, unread))
    assert float(part.pools_cost.known) == pytest.approx(float(whole.pools_cost.known), rel=0.05)


NOW = cluster("cpu", pool("workers", 3, 8))


@cache
def five_days(seed: int = 1) -> Replayer:
    happened = replay(month(150, CPU, seed=seed, most=4, days=5), replayed(NOW, REAL), 5 * DAY)
    offers = {f"template-{number}": [offer("pool", "cpu")] for number in range(5)}
    return Replayer.of(history(told(happened, NOW), [NOW], days=5), catalog([NOW], offers))


@pytest.mark.parametrize("seed", range(2))
def test_no_bounds_are_cheaper_that_hold_the_target(seed: int) -> None:
    here = five_days(seed)
    bounds = [(least, most) for least, most in product(range(1, 9), range(1, 17)) if least <= most]
    every = [here.outcome(here.pools([cluster("cpu", pool("workers", *bound))])) for bound in bounds]
    for target in (60.0, 600.0, 7200.0):
        outcome = suggest(here, here.pools([NOW]), target).outcome
        assert outcome is not None and outcome.waits.p95 is not None and outcome.waits.p95 <= target
        held = [job for job in every if job.never_ran == 0 and job.waits.p95 is not None and job.waits.p95 <= target]
        assert all(outcome.cost.known <= row.cost.known * Decimal("1.02") for row in held), target


def test_a_pool_that_is_too_small_is_suggested_to_grow() -> None:
    """Twelve jobs at once, for a minute each, on one machine: all of them would have to be there before."""
    story = cluster("cpu", pool("workers", 1, 1))
    jobs = [job(f"j{n}", 0, 1 + 61.0 * n, 60, on=story) for n in range(12)]
    here = Replayer.of(history(jobs, [story], days=1), catalog([story], {"t": [offer("pool", "cpu")]}))
    assert dict(suggest(here, here.pools([story]), 2.0).bounds) == {("cpu", "workers"): (12, 12)}
    assert dict(suggest(here, here.pools([story]), 3600.0).bounds) == {}


def test_what_no_machines_can_shorten_is_told() -> None:
    suggestions = suggest(five_days(), five_days().pools([NOW]), 5.0)
    assert suggestions.outcome is None and suggestions.hinders == "cpu/workers" and suggestions.shortest == REAL.start


def test_pools_that_nobody_used_stay_as_they_are() -> None:
    unused = cluster("gpu", pool("workers", 2, 4, MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)))
    jobs = [job(f"j{n}", n * 5000, 10, 600, on=NOW, machines=(MachinesUsed(CPU, 1, "workers"),)) for n in range(20)]
    here = Replayer.of(history(jobs, [NOW, unused], days=2), catalog([NOW, unused], {"t": [offer("pool", "cpu")]}))
    suggestions = suggest(here, here.pools([NOW, unused]), 600.0)
    assert dict(suggestions.bounds) == {("cpu", "workers"): (1, 1)}


def test_jobs_of_a_template_that_moved_since_ask_for_its_new_machines() -> None:
    """For 30 days all of them could "never run". One beside the pools costs what the new machines do."""
    large = MachineSpec("n1-standard-16")
    moved = cluster("cpu", pool("workers", 1, 1, large), id="cpu-2b3c4d5")
    was, now = (
        catalog([on], {"t": [offer("pool", "cpu", request=request(machine)), offer("spot", request=request(machine))]})
        for on, machine in ((NOW, CPU), (moved, large))
    )
    jobs = [job(f"j{number}", number * 1000, 20, 100, on=NOW) for number in range(FEWEST)]
    beside = job("spot", 99, 20, 3600, capacity_type="spot", cost=Price(Decimal(99)))
    past = history([*jobs, beside], [NOW], days=1)
    deployments = Deployment(past.deployments[0].at, was), Deployment(past.until - timedelta(hours=1), now)
    here = Replayer.of(replace(past, deployments=deployments), now)
    compared = here.comparison(declared(moved), declared(moved))
    assert compared.before.never == () and here.work.moved == len(jobs) + 1
    assert compared.before.beside_cost.known < 99
    assert here.calibration.trusted, "the stack as it was had the old machines"


def test_jobs_of_a_team_ask_for_its_own_machines() -> None:
    large, huge = MachineSpec("n1-standard-16"), MachineSpec("n1-standard-32")

    def stack(usual: MachineSpec, theirs: MachineSpec | None = None) -> Catalog:
        of_team = [offer("spot", request=request(theirs), when={OF_TEAM: ("vision",)})] if theirs else []
        return catalog([NOW], {"t": [offer("spot", request=request(usual)), *of_team]})

    def machine(was: Catalog, now: Catalog, team: str) -> MachineSpec:
        return MachineChanges((), was, now).of(job("j", 0, 1, 1, capacity_type="spot", team=team), CPU)

    gets, keeps = (stack(CPU), stack(CPU, large)), (stack(CPU, CPU), stack(huge, CPU))
    assert [machine(*gets, team) for team in ("vision", "audio", "")] == [large, CPU, CPU]
    assert [machine(*keeps, team) for team in ("vision", "audio", "")] == [CPU, huge, huge]
    assert MachineChanges((), *gets) and not MachineChanges((), gets[1], gets[1])


def request(machine: MachineSpec) -> dict[str, Any]:
    return {"jobSpec": {"workerPoolSpecs": [machine.request()]}}

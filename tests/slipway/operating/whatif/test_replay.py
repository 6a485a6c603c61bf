"""The replay of jobs on pools: what holds for all jobs and pools, single cases as a table would have them, and the
month that is made for it. # N16"""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.model.machines.spec import Disk, MachineGroup, MachineSpec
from slipway.model.prices import Price
from slipway.operating.whatif.model import PoolBounds, PoolDelays, Replay, ReplayedJob, ReplayedPool, Route
from slipway.operating.whatif.replay import replay

CPU, HEAD = MachineSpec("n1-standard-8"), MachineSpec("n1-standard-4")
AT_ONCE = PoolDelays(0, 0, 0)
ON_POOL = (Route("pool"),)
BEGINNING = float("-inf")


def pool(
    most: int, least: int = 0, *, name: str = "workers", machine: MachineSpec = CPU, delays: PoolDelays = AT_ONCE
) -> ReplayedPool:
    """A pool of cluster `cpu`, of a fixed size unless it has a least one."""
    bounds = (PoolBounds(BEGINNING, least or most, most),)
    return ReplayedPool("cpu", name, machine, Price(Decimal(1)), bounds, delays)


def job(
    name: str,
    created: float,
    run: float,
    machines: int = 1,
    *,
    heads: int = 0,
    routes: tuple[Route, ...] = ON_POOL,
    **more: float,
) -> ReplayedJob:
    groups = (*((MachineGroup(HEAD, heads),) if heads else ()), MachineGroup(CPU, machines))
    return ReplayedJob(name, "t", created, run, groups, routes, more)


def starts(replayed: Replay) -> dict[str, float | None]:
    return {run.job.name: run.started for run in replayed.runs}


def test_jobs_start_in_the_order_in_which_they_came() -> None:
    jobs = [job("a", 0, 100, 2), job("b", 10, 50, 2), job("c", 20, 5)]
    assert starts(replay(jobs, [pool(3)], 200)) == {"a": 0, "b": 100, "c": 100}  # c could have overtaken b.


def test_nobody_waits_for_a_pool_that_it_does_not_need() -> None:
    jobs = [job("a", 0, 100, 1, heads=1), job("b", 10, 50, 1, heads=1), job("c", 20, 5)]
    there = [pool(1, name="head", machine=HEAD), pool(3)]
    assert starts(replay(jobs, there, 200)) == {"a": 0, "b": 100, "c": 100}
    assert starts(replay(jobs[:1] + jobs[2:], there, 200)) == {"a": 0, "c": 20}


def test_a_machine_or_a_disk_that_differs_is_another_one() -> None:
    other = pool(3, machine=replace(CPU, disk=Disk("pd-ssd", 500)))
    assert starts(replay([job("a", 0, 100)], [other], 200)) == {"a": None}


def test_a_job_that_is_too_large_never_runs_and_holds_nobody_up() -> None:
    replayed = replay([job("a", 0, 100, 4), job("b", 1, 1)], [pool(3)], 200)
    assert starts(replayed) == {"a": None, "b": 1}


def test_a_pool_grows_for_who_waits_and_shrinks_when_it_has_been_idle() -> None:
    elastic = pool(4, 1, delays=PoolDelays(start=5, scale_up=60, idle=30))
    replayed = replay([job("a", 0, 100, 3), job("b", 10, 10)], [elastic], 1000)
    assert starts(replayed) == {"a": 65, "b": 75}  # b waits behind a, whose machines come at 60; its own come at 70.
    # 1 until 60, 3 until 70, 4 until b ends at 85 and 30 more; then 3 until a ends at 165 and 30 more.
    assert replayed.pools[0].live == 60 + 10 * 3 + 45 * 4 + 80 * 3 + (1000 - 195)
    assert replayed.pools[0].held == 105 * 3 + 15 and replayed.pools[0].most == 4


def test_a_job_moves_on_after_its_wait_and_not_before() -> None:
    moves = (Route("pool", wait=30), Route("spot"))
    jobs = [job("a", 0, 100), job("b", 10, 50, routes=moves, spot=7), job("c", 60, 1)]
    replayed = replay(jobs, [pool(1)], 200)
    assert starts(replayed) == {"a": 0, "b": 47, "c": 100}
    assert [run.capacity_type for run in replayed.runs] == ["pool", "spot", "pool"]


def test_machines_beside_the_pools_that_come_too_late_are_given_up() -> None:
    flex = (Route("flex-start", wait=60), Route("on-demand"))
    flexible = replace(job("a", 0, 1, routes=flex), delays={"flex-start": 500.0, "on-demand": 20.0})
    assert starts(replay([flexible], [], 200)) == {"a": 80}
    assert starts(replay([replace(flexible, routes=flex[:1])], [], 200)) == {"a": 500}


def test_bounds_change_with_deployments_and_kill_no_job() -> None:
    changing = replace(pool(2), bounds=(PoolBounds(BEGINNING, 2, 2), PoolBounds(50, 1, 1), PoolBounds(150, 0, 0)))
    jobs = [job("a", 0, 100), job("b", 10, 100), job("c", 20, 10), job("d", 160, 1)]
    replayed = replay(jobs, [changing], 200)
    assert starts(replayed) == {"a": 0, "b": 10, "c": 110, "d": None}
    assert replayed.pools[0].live == 2 * 100 + 1 * 50


MACHINES = st.tuples(st.integers(0, 2), st.integers(0, 8)).filter(any)


@st.composite
def traces(draw: st.DrawFn) -> tuple[list[ReplayedJob], list[ReplayedPool]]:
    """Jobs and two pools, in whole seconds; some jobs do not fit, and some may take another capacity type."""
    delays = st.builds(PoolDelays, *[st.integers(0, 40).map(float)] * 3)
    pools = [
        pool(most, draw(st.integers(1, most)), name=name, machine=machine, delays=draw(delays))
        for name, machine in (("head", HEAD), ("workers", CPU))
        for most in [draw(st.integers(2, 6))]
    ]
    routes = st.sampled_from([ON_POOL, (Route("pool", wait=20), Route("spot")), (Route("pool"), Route("spot"))])
    jobs = []
    for number in range(draw(st.integers(0, 25))):
        heads, workers = draw(MACHINES)
        groups = [MachineGroup(HEAD, heads)] * bool(heads) + [MachineGroup(CPU, workers)] * bool(workers)
        made = (float(draw(st.integers(-50, 300))), float(draw(st.integers(0, 80))))
        jobs.append(ReplayedJob(f"j{number}", "t", *made, tuple(groups), draw(routes), {"spot": 9.0}))
    return jobs, pools


def held(replayed: Replay, at: int) -> list[tuple[float, int]]:
    """Changes of the machines that jobs hold of a pool, in the order of their times."""
    changes = []
    for run in replayed.runs:
        count = dict(run.pools).get(at, 0)
        if run.started is not None and count:
            delay = max(replayed.pools[place].pool.delays.start for place, _ in run.pools)
            changes += [(run.started - delay, count), (run.started + run.job.run, -count)]
    return sorted(changes)


@given(traces())
def test_pools_give_what_they_have_to_all_that_fit_and_machine_time_is_neither_lost_nor_made(
    trace: tuple[list[ReplayedJob], list[ReplayedPool]],
) -> None:
    jobs, pools = trace
    replayed = replay(jobs, pools, 400)
    assert replayed == replay(jobs, pools, 400), "the same comes of the same"
    assert [run.job for run in replayed.runs] == jobs
    assert all(run.wait is None or run.wait >= 0 for run in replayed.runs)
    for at, use in enumerate(replayed.pools):
        now = most = 0
        for _, change in held(replayed, at):  # At one moment machines are freed before they are given.
            now += change
            most = max(most, now)
        assert now == 0 and most <= use.most <= use.pool.bounds[0].max
        level, last, seconds = 0, 0.0, 0.0
        for moment, change in [*held(replayed, at), (400.0, 0)]:
            inside = min(max(moment, 0.0), 400.0)
            seconds, last, level = seconds + level * (inside - last), inside, level + change
        assert use.held == pytest.approx(seconds)
        bounds = use.pool.bounds[0]
        assert max(use.held, bounds.min * 400) <= use.live <= bounds.max * 400
    for run in replayed.runs:
        needs = {group.machine: group.count for group in run.job.machines}
        fits = all(needs.get(pool.machine, 0) <= pool.bounds[0].max for pool in pools)
        assert (run.started is None) == (run.job.routes == ON_POOL and not fits)

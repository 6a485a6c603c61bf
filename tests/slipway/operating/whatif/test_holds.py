"""Urgent jobs, teams' shares and pauses in a replay: single cases, and what holds for all jobs. # N24"""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.operating.whatif.holds import Holds
from slipway.operating.whatif.making_room import CHECKPOINT_S
from slipway.operating.whatif.model import PoolDelays, Replay, ReplayedJob, ReplayedPause, ReplayedPool, Route
from slipway.operating.whatif.replay import replay

from .test_replay import AT_ONCE, job, pool, starts

LENGTH = 100_000
SHARES = Holds(shares={"cpu": {"vision": 2, "language": 2}})


def urgent(name: str, created: float, run: float, machines: int = 1) -> ReplayedJob:
    return replace(job(name, created, run, machines, routes=(Route("pool", chosen=True),)), urgent=True)


def yielding(name: str, created: float, run: float, machines: int = 1) -> ReplayedJob:
    return replace(job(name, created, run, machines), yields=True)


def of(team: str, name: str, created: float, run: float, *, sweep: bool = False) -> ReplayedJob:
    return replace(job(name, created, run), team=team, of_sweep=sweep)


def breaks(replayed: Replay) -> Mapping[str, tuple[tuple[float, float], ...]]:
    return {run.job.name: run.breaks for run in replayed.runs if run.breaks}


def test_who_loses_least_makes_room_after_its_next_checkpoint_and_goes_on_behind() -> None:
    jobs = [yielding("old", 0, 5000), yielding("new", 500, 5000), job("fixed", 900, 9000), urgent("now", 1000, 300)]
    replayed = replay(jobs, [pool(3)], LENGTH)
    assert starts(replayed)["now"] == 2 * CHECKPOINT_S, "old would lose 400 s, and new 500"
    assert breaks(replayed) == {"old": ((1200, 1500),)}
    assert replayed.pools[0].held == sum(run.job.run for run in replayed.runs), "nothing is computed twice"


def test_what_gets_ready_has_computed_nothing_and_makes_room_first() -> None:
    slow = pool(2, delays=PoolDelays(start=30, scale_up=0, idle=0))
    replayed = replay([yielding("runs", 0, 5000), yielding("ready", 601, 5000), urgent("u", 625, 10)], [slow], LENGTH)
    assert breaks(replayed) == {"ready": ((631, 701),)} and starts(replayed)["u"] == 661


def test_one_machine_more_leaves_them_alone_and_one_less_has_more_make_room() -> None:
    jobs = [yielding("a", 0, 5000), yielding("b", 10, 5000), urgent("u", 100, 5000), urgent("v", 700, 50)]
    assert breaks(replay(jobs, [pool(4)], LENGTH)) == {}
    assert breaks(replay(jobs, [pool(3)], LENGTH)).keys() == {"b"}
    assert breaks(replay(jobs, [pool(2)], LENGTH)).keys() == {"a", "b"}


def test_who_is_asked_makes_room_for_a_later_urgent_job_where_the_first_has_begun() -> None:
    jobs = [yielding("old", 0, 5000), yielding("new", 300, 5000), urgent("u", 350, 5000), urgent("v", 360, 5000)]
    begun = starts(replay(jobs, [pool(2)], LENGTH))
    assert (begun["u"], begun["v"]) == (600, 900), "new was asked for u, old for v"


def test_nobody_stops_where_room_comes_by_itself_and_none_for_another_urgent_job() -> None:
    jobs = [yielding("a", 0, 5000), job("short", 0, 200), urgent("u", 100, 5000), urgent("v", 700, 50)]
    replayed = replay(jobs[:3], [pool(2)], LENGTH)
    assert starts(replayed)["u"] == 200 and not breaks(replayed), "short ends before a's checkpoint"
    assert breaks(replay(jobs, [pool(2)], LENGTH)) == {"a": ((1200, 1250),)}, "v has it, and never u"


def test_who_waits_before_an_urgent_job_steps_back_or_gets_room_too() -> None:
    jobs = [yielding("a", 0, 5000, 2), yielding("b", 10, 100, 2), urgent("u", 20, 50)]
    replayed = replay(jobs, [pool(2)], LENGTH)
    assert starts(replayed) == {"a": 0, "u": 600, "b": 650}, "b, which can go on later, goes on before a, asked later"
    fixed = replay([jobs[0], job("b", 10, 100, 1), jobs[2]], [pool(2)], LENGTH)
    assert starts(fixed) == {"a": 0, "b": 600, "u": 600}


def test_above_its_share_a_team_waits_while_another_is_below_its_own() -> None:
    jobs = [of("vision", f"v{number}", number, 1000) for number in range(4)]
    jobs += [of("language", "l", 10, 100), of("vision", "v4", 20, 100), of("", "none", 21, 100)]
    free = starts(replay(jobs, [pool(4)], LENGTH))
    shared = starts(replay(jobs, [pool(4)], LENGTH, holds=SHARES))
    assert [free[name] for name in ("l", "v4", "none")] == [1000, 1001, 1002]
    assert [shared[name] for name in ("l", "v4", "none")] == [1000, 1001, 1002], "nobody is before language here"
    late = [*jobs[:4], of("vision", "v4", 5, 100), *jobs[4:5]]
    assert starts(replay(late, [pool(4)], LENGTH, holds=SHARES))["l"] == 1001, "what was sent is not taken back"


def test_a_sweep_above_its_share_goes_onto_free_machines_alone() -> None:
    jobs = [of("vision", f"v{number}", number, 1000, sweep=True) for number in range(10)]
    jobs.append(of("language", "l", 10, 100))
    assert starts(replay(jobs, [pool(4)], LENGTH))["l"] == 2002
    shared = replay(jobs, [pool(4)], LENGTH, holds=SHARES)
    assert starts(shared)["l"] == 1000 and shared.pools[0].held == 10_100


@pytest.mark.parametrize("cluster", ["", "cpu"])
def test_nothing_is_sent_in_a_pause_and_what_was_sent_goes_on(cluster: str) -> None:
    pause = Holds(pauses=(ReplayedPause(cluster, 50, 200),))
    moves = (Route("pool"), Route("spot"))
    jobs = [job("runs", 0, 100), job("waits", 10, 10), job("held", 60, 5), job("moves", 61, 5, routes=moves)]
    outcome = replay(jobs, [pool(1)], LENGTH, holds=pause)
    assert starts(outcome) == {"runs": 0, "waits": 100, "held": 200, "moves": 61 if cluster else 205}
    told = replay([replace(jobs[2], pausable=False)], [pool(1)], LENGTH, holds=pause)
    assert starts(told) == {"held": 60}, "it was sent in the pause all the same"


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[ReplayedJob], list[ReplayedPool], Holds]:
    """Jobs of any sort on one pool that all of them fit, in whole seconds."""
    jobs = []
    for number in range(draw(st.integers(0, 20))):
        created, run, machines = draw(st.tuples(st.integers(0, 3000), st.integers(0, 3000), st.integers(1, 3)))
        made = job(f"j{number}", created, run, machines)
        sort = draw(st.sampled_from(["", "urgent", "yields", "yields", "sweep"]))
        team = draw(st.sampled_from(["", "vision", "language"]))
        made = replace(made, urgent=sort == "urgent", yields=sort == "yields", of_sweep=sort == "sweep")
        jobs.append(replace(made, team=team))
    delays = draw(st.builds(PoolDelays, *[st.integers(0, 40).map(float)] * 3))
    times = st.tuples(st.integers(0, 3000), st.integers(0, 3000)).map(sorted)
    clusters = draw(st.lists(st.sampled_from(["", "cpu"]), max_size=2))
    pauses = tuple(ReplayedPause(cluster, *draw(times)) for cluster in clusters)
    most = draw(st.integers(3, 6))
    shares = draw(st.sampled_from([{}, {"cpu": {"vision": 1, "language": 2}}]))
    return jobs, [pool(most, draw(st.integers(1, most)), delays=delays)], Holds(shares, pauses)


@given(crowds())
def test_every_job_runs_once_for_its_time_whoever_makes_room_or_waits(
    crowd: tuple[list[ReplayedJob], list[ReplayedPool], Holds],
) -> None:
    jobs, (only,), holds = crowd
    replayed = replay(jobs, [only], 1e9, holds=holds)
    assert [run.job for run in replayed.runs] == jobs and replayed == replay(jobs, [only], 1e9, holds=holds)
    (use,) = replayed.pools
    machine_seconds, spans = 0.0, list[tuple[float, int]]()
    for run in replayed.runs:
        assert run.started is not None and run.started >= run.job.created
        assert not run.breaks or (run.job.yields and not run.job.urgent)
        machines = sum(group.count for group in run.job.machines)
        begins = [run.started, *(resumed for _, resumed in run.breaks)]
        stops = [stopped for stopped, _ in run.breaks]
        computed = sum(stopped - begun for begun, stopped in zip(begins, stops, strict=False))
        stops.append(begins[-1] + run.job.run - computed)
        assert all(begun <= stopped for begun, stopped in zip(begins, stops, strict=True))
        assert all(stopped <= resumed for stopped, resumed in run.breaks)
        for begun, stopped in zip(begins, stops, strict=True):
            spans += [(begun - only.delays.start, machines), (stopped, -machines)]
        machine_seconds += machines * (run.job.run + len(begins) * only.delays.start)
        for pause in holds.pauses:
            assert not pause.since <= run.job.created < pause.until or run.started >= pause.until
    assert use.held == pytest.approx(machine_seconds), "no machine time is lost or made"
    held = most = 0
    for _, change in sorted(spans):
        held += change
        most = max(most, held)
    assert held == 0 and most <= only.bounds[0].max


@given(crowds())
def test_without_urgent_jobs_shares_and_pauses_the_order_is_that_of_arrival(
    crowd: tuple[list[ReplayedJob], list[ReplayedPool], Holds],
) -> None:
    jobs = sorted((replace(one, urgent=False) for one in crowd[0]), key=lambda one: one.created)
    fixed = [replace(crowd[1][0], delays=AT_ONCE)]
    replayed = replay(jobs, fixed, 1e9)
    began = [run.started for run in replayed.runs]
    assert began == sorted(began, key=lambda at: at or 0.0) and not any(run.breaks for run in replayed.runs)
    assert starts(replayed) == starts(replay([replace(one, yields=False) for one in jobs], fixed, 1e9))

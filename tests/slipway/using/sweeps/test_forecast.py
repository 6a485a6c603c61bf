"""Cost and duration of a sweep, as a range, and sending as fast as is permitted and no faster. # N7 # W2"""

from collections import deque
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.google.jobs import VertexJob
from slipway.google.worker_pools import WorkerPool
from slipway.model.capacity import WEEK
from slipway.model.prices import UNKNOWN, Price
from slipway.model.rules.code import SCRIPT
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.earlier_jobs import Times, programs_of, run_times
from slipway.using.submission.costs import RunTotal
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps.forecast import Forecast, Share, forecast_lines, share
from slipway.using.sweeps.rate_limit import WINDOW, RateLimiter, seconds_to_send
from tests.builders.jobs import job
from tests.builders.pools import CPU, L4, pool
from tests.slipway.using.submission.fallback_command import catalog

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TOOK = Times(240.0, 540.0, 11)


def of(
    runs: int,
    hourly: Price | str,
    at_once: int | None = None,
    times: Times | None = TOOK,
    longest: float = WEEK,
    trials: bool = False,
    grows: Price | None = None,
) -> Share:
    """Return the share of so many runs: on a pool, where that takes only so many `at_once`."""
    each = RunTotal(Price(Decimal(hourly)) if isinstance(hourly, str) else hourly, times, longest, trials)
    return Share(runs, each, at_once is not None, at_once, grows or Price())


POOL, SPOT = of(100, "0.25", 3), of(100, "0.31")
HOUR = of(100, "0.31", longest=3600.0)
GROWING = of(100, "0.40", 3, grows=Price(Decimal("0.31")), longest=3600.0)


def earlier(number: int, seconds: float, *, ago: float = 1, capacity_type: str = "spot", **changed: Any) -> VertexJob:
    """A job of so many days `ago` that ran for so long."""
    labels = {"slipway-capacity-type": capacity_type, "slipway-request": f"r{changed.pop('request', number)}"}
    begin = NOW - timedelta(days=ago)
    times = {"start_time": begin, "end_time": begin + timedelta(seconds=seconds)}
    return job(str(number), labels=labels, **{"state": "SUCCEEDED", **times, **changed})


def test_earlier_runs_on_the_same_machines_tell_how_long_one_takes() -> None:
    jobs = [earlier(1, 60), earlier(2, 300), earlier(3, 90)]
    demand = Demand.of(jobs[0])
    assert run_times(jobs, "spot", demand, NOW) == Times(60, 300, 3)
    others = [
        earlier(4, 2, request=1),  # A copy.
        earlier(10, 1, request=10),  # Its copy came to Spot.
        earlier(11, 0, request=10, capacity_type="pool", state="RUNNING", end_time=None),
        earlier(5, 1, machine=L4),
        earlier(6, 1, replicas=2),
        earlier(7, 1, state="FAILED"),
        earlier(8, 1, capacity_type="pool"),
        earlier(9, 1, ago=80),
    ]
    assert run_times([*jobs, *others], "spot", demand, NOW) == Times(60, 300, 3)
    assert run_times(jobs[:2], "spot", demand, NOW) is None


def test_a_command_s_runs_are_told_by_its_own_program() -> None:  # N25
    """Of `script` the forecast of a training was that of `ls`."""

    def ran(number: int, seconds: float, command: str) -> VertexJob:
        args = ("--module", SCRIPT, "--", f"--command={command}")
        return earlier(number, seconds, worker_pools=(WorkerPool(CPU, 1, module="slipway_launcher", args=args),))

    jobs = [ran(number, 300, f"python train.py --lr {number}") for number in range(3)]
    listed = [*jobs, *(ran(number, 2, "ls") for number in range(3, 7)), *(earlier(number, 9) for number in (8, 9, 10))]
    demand = Demand.of(jobs[0])
    assert run_times(listed, "spot", demand, NOW, programs_of(jobs[0])) == Times(300, 300, 3)
    assert run_times(listed, "spot", demand, NOW, programs_of(listed[3])) == Times(2, 2, 4)
    assert run_times(listed, "spot", demand, NOW) == Times(9, 9, 3)


@pytest.mark.parametrize(("least", "most", "machines"), [(0, 4, 3), (3, 4, 1), (4, 4, 0)])
def test_no_machines_are_counted_that_a_pool_can_t_grow_by(least: int, most: int, machines: int) -> None:  # N25
    """A run of three machines on a pool that has three and may have four."""
    deployed = catalog(launcher=True)
    workers = pool("workers", CPU, least, most)
    deployed = replace(deployed, clusters={"cpu": replace(deployed.clusters["cpu"], pools=(workers,))})
    (on_pool, *_) = prepare(deployed, SubmissionRequest("digits"), "ada").candidates
    parts = tuple(replace(part, machines=3) for part in on_pool.demand.parts)
    vars(on_pool)["demand"] = replace(on_pool.demand, parts=parts)
    assert share(deployed, on_pool, 10, [], NOW).grows == workers.price_per_hour * machines


def test_a_pool_bounds_how_many_run_at_a_time(snapshot: SnapshotAssertion) -> None:
    forecast = Forecast(100, (POOL,), 60.0)
    assert (forecast.least_seconds, forecast.most_seconds) == (34 * 240, 60 + 34 * 540)
    each, bound, together = forecast_lines(forecast)
    assert each == snapshot and bound.startswith("at most $0 for all 100 runs")
    money, time = together.split("; ")
    assert money == snapshot
    assert time == snapshot


def test_shapes_are_told_together() -> None:
    small = of(10, Price(Decimal(1), complete=False), 10, Times(60, 60, 3))
    both = Forecast(110, (POOL, small), 0.0)
    assert (both.least_seconds, both.most_seconds, both.earlier) == (34 * 240, 34 * 540 + 60, 14)
    (_, line) = forecast_lines(both)
    assert "$1.83 to $3.92 and more" in line


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ((HOUR,), "at most $31.00 for all 100 runs, as each ends after 1 h at the latest"),
        ((replace(HOUR, runs=1),), "at most $0.31 for the run, as it ends after 1 h at the latest"),
        (
            (POOL, HOUR),
            "at most $31.00 for all 200 runs, of which those on pools",
        ),
        ((of(100, UNKNOWN),), "the most that all 100 runs may cost is not known: no list has the price"),
        ((of(100, Price(Decimal(1), complete=False)),), "$16,800.00 and more for all 100 runs"),
        ((POOL,), "at most $0 for all 100 runs, beyond the pools' own price"),
        ((GROWING,), "at most $31.00 for all 100 runs, where a pool grows for them, as each ends after 1 h"),
        ((replace(GROWING, grows=UNKNOWN),), "the most that all 100 runs may cost is not known"),
        ((GROWING,), "each run: $0.40/h, paid for anyway where the pool need not grow for it; 4–9 min"),
    ],
)
def test_the_most_that_all_runs_may_cost_is_always_told(shares: tuple[Share, ...], said: str) -> None:  # W2
    """It was not, where fewer than three earlier runs told what is usual."""
    forecast = Forecast(sum(share.runs for share in shares), shares, 0.0)
    assert any(line.startswith(said) for line in forecast_lines(forecast))


@pytest.mark.parametrize(
    ("forecast", "said"),
    [
        (
            Forecast(1, (of(1, "1", times=None),), 0.0),
            "what the run usually costs and takes is not known",
        ),
        (Forecast(1, (of(1, UNKNOWN),), 0.0), "the run: price unknown; 4 min at least"),
        (Forecast(1, (of(1, "1", trials=True),), 0.0), "the run: at most $0.15; 4 min"),
        (Forecast(1, (SPOT, of(1, UNKNOWN, 1, None)), 0.0), "fewer than 3 earlier runs on such machines"),
        (
            Forecast(1, (of(1, UNKNOWN, 1, None),), 0.0, "earlier runs can't be read (no)"),
            "can't be read (no)",
        ),
    ],
)
def test_what_is_not_known_is_said(forecast: Forecast, said: str) -> None:
    assert said in forecast_lines(forecast)[-1]


class Limit:
    """The service's rule: so many in any minute, counted when it gets them; refused ones are not counted."""

    def __init__(self, per_minute: int) -> None:
        self._limit, self._taken = per_minute, deque[float]()

    def take(self, now: float) -> bool:
        while self._taken and self._taken[0] <= now - WINDOW:
            self._taken.popleft()
        if len(self._taken) >= self._limit:
            return False
        self._taken.append(now)
        return True


def sent(
    count: int, pace: RateLimiter, limit: Limit, *, latency: float = 0.1, others: float = 0.0
) -> tuple[float, int]:
    """Seconds until `count` are accepted one after the other, and refusals. `others` submit so many a minute."""
    now, refusals, accepted, other_at = 0.0, 0, 0, 0.0
    while accepted < count:
        if others:
            while other_at <= now:
                limit.take(other_at)
                other_at += 60 / others
        wait = pace.wait(now)
        if wait > 0:
            now += min(max(wait, 0.001), 1.0)
            continue
        pace.sent()
        if limit.take(now + latency / 2):
            accepted += 1
            pace.answered(now + latency)
        else:
            refusals += 1
            pace.refused(now + latency, None)
        now += 0.01
    return now, refusals


@given(latency=st.floats(0.0, 5.0), limit=st.integers(1, 40))
def test_whatever_the_latency_it_is_never_refused(latency: float, limit: int) -> None:  # N7
    assert sent(3 * limit, RateLimiter(limit), Limit(limit), latency=latency)[1] == 0


def test_beside_others_it_takes_what_is_left_and_loses_nothing() -> None:  # N7
    """Others use half of the rate: the other half is used, with a refusal now and then to see whether there is more."""
    seconds, refusals = sent(300, RateLimiter(60), Limit(60), others=30)
    assert refusals < 150
    assert seconds < 1.35 * 300 / 30 * 60


def test_what_it_will_take() -> None:
    assert [seconds_to_send(*item) for item in ((60, 60), (61, 60), (1000, 60), (1000, 0))] == [0, 60, 960, 0]


def test_the_service_says_when_to_come_back() -> None:
    pace = RateLimiter(60)
    pace.sent()
    pace.refused(10.0, 7.0)
    assert pace.wait(10.0) == 7.0 and pace.wait(17.0) == 0.0


def test_many_refusals_at_once_are_one_piece_of_news() -> None:
    pace = RateLimiter(0)
    for _ in range(64):
        pace.sent()
    for _ in range(64):
        pace.refused(10.0, None)
    assert pace.wait(10.0) == 1.0


def test_while_all_that_is_permitted_is_under_way_only_an_answer_can_tell() -> None:
    pace = RateLimiter(1)
    pace.sent()
    assert pace.wait(5.0) == float("inf")
    pace.answered(6.0)
    assert WINDOW <= pace.wait(6.0) <= WINDOW + 0.1

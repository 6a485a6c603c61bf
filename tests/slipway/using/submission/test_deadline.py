"""A deadline: the cheapest capacity types that likely end a job in time, and how long each is waited for. # N24"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.using.submission.deadline import Rung, climb, deadline, going_on, plan_by
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest

from .fallback_command import catalog

NOW = datetime(2026, 11, 25, 12, 0, tzinfo=UTC)  # a Wednesday
HOUR = 3600.0
NO_CONTEXT: Any = None
POOL, SPOT, DEAR = (
    Rung("pool", 0.0, starts=0.0, runs=HOUR),
    Rung("spot", 1.0, starts=2 * HOUR, runs=HOUR),
    Rung("on-demand", 3.0, starts=600.0, runs=HOUR),
)


def told(left: float, *rungs: Rung) -> list[tuple[str, float | None]]:
    return [(rung.type, None if wait is None else wait / HOUR) for rung, wait in climb(rungs, left * HOUR)]


def test_it_climbs_as_time_shrinks() -> None:
    assert told(8, DEAR, POOL, SPOT) == [("pool", 5.0), ("spot", pytest.approx(8 - 1 - 1 / 6 - 5)), ("on-demand", None)]
    assert told(2.5, POOL, SPOT, DEAR) == [("pool", pytest.approx(2.5 - 1 - 1 / 6)), ("on-demand", None)]
    assert told(1.1, POOL, SPOT, DEAR) == [("pool", None)], "it ends in time where it starts now, and nothing else does"
    assert told(0.9, POOL, SPOT, DEAR) == []
    assert told(8, SPOT) == [("spot", None)]


def test_typed_again_it_goes_on_from_the_job_that_waits() -> None:
    plan = climb([POOL, SPOT, DEAR], 8 * HOUR)
    (pool, wait), *later = going_on(plan, "pool", HOUR)
    assert (pool, wait, later) == (POOL, 6 * HOUR, plan[1:]), "as long from now as the plan says"
    assert going_on(plan, "on-demand", HOUR) == plan[2:]
    last = POOL.runs + 600.0 + 30.0  # Half a minute before the step.
    assert climb([POOL, DEAR], last) == [(POOL, None)], "nothing begins a wait of less than a minute"
    assert going_on(climb([POOL, DEAR], last, "pool", HOUR), "pool", HOUR) == [(POOL, HOUR + 30), (DEAR, None)]
    full = replace(POOL, sure=False)
    assert going_on(climb([full, DEAR], last, "pool", HOUR), "pool", HOUR) == [(full, HOUR + 30), (DEAR, None)]
    late = climb([DEAR], 8 * HOUR)
    assert [(rung.type, wait) for rung, wait in going_on(late, "pool", HOUR)] == [("pool", 1.0), ("on-demand", None)]


def test_what_waits_for_an_unknown_time_is_never_the_last_hope() -> None:
    full = replace(POOL, sure=False)
    assert told(8, full, DEAR)[-1] == ("on-demand", None)
    assert told(1.1, full, DEAR) == [] and told(8, full) == []
    assert told(1 + 1 / 6 + 0.01, full, DEAR) == [("on-demand", None)], "too late for a wait before it"
    assert str(full) == "pool: waits, and nothing tells how long, runs 1 h"


@given(
    st.lists(
        st.builds(
            Rung,
            st.text(),
            st.floats(0, 9),
            starts=st.floats(0, 9 * HOUR),
            runs=st.floats(1, 9 * HOUR),
            sure=st.booleans(),
        ),
        max_size=5,
    ),
    st.floats(0, 24 * HOUR),
)
def test_each_is_sent_while_it_still_has_time_and_none_is_cheaper_than_the_one_before(
    rungs: list[Rung], left: float
) -> None:
    begin, prices = 0.0, []
    for rung, wait in climb(rungs, left):
        assert rung.latest(left) >= begin - 1e-6
        assert wait is None or wait >= 60
        begin += wait or 0.0
        prices.append(rung.price)
    assert prices == sorted(prices) and (not prices or rung.sure)


def test_a_time_is_the_next_one_of_that_name() -> None:
    local = NOW.astimezone()
    soon, over = local + timedelta(hours=2), local - timedelta(hours=2)
    assert deadline(f"{soon:%a %H:%M}", NOW) == soon and deadline(f"{soon:%A %H:%M}", NOW) == soon
    assert deadline(f"{over:%a %H:%M}", NOW) == over + timedelta(days=7)
    assert deadline(f"{over:%H:%M}", NOW) == over + timedelta(days=1)
    assert deadline("2026-11-27T09:00:00Z", NOW) == datetime(2026, 11, 27, 9, tzinfo=UTC)
    for wrong, what in (
        ("Freitag", "no time"),
        ("Monster 9:00", "no time"),
        ("25:00", "no time"),
        ("2026-11-20", "over"),
    ):
        with pytest.raises(ConfigError, match=what):
            deadline(wrong, NOW)


@pytest.mark.parametrize("noun", ["shape", "region"])
def test_no_deadline_is_planned_over_several_shapes_or_regions(noun: str) -> None:
    """It says so before it reads anything. A single one is planned for, which needs the service."""
    usual = catalog(launcher=True)
    template = usual.templates["digits"]
    first, *others = template.offers
    elsewhere: dict[str, Any] = {noun: "x"}
    several = replace(usual, templates={"digits": replace(template, offers=(replace(first, **elsewhere), *others))})
    with pytest.raises(ConfigError, match=f"no deadline is planned for the {noun}s of digits"):
        plan_by(NO_CONTEXT, prepare(several, SubmissionRequest("digits"), "ada"), NOW)
    with pytest.raises(AttributeError):
        plan_by(NO_CONTEXT, prepare(usual, SubmissionRequest("digits"), "ada"), NOW)

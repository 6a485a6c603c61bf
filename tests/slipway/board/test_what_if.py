"""A change of pools on the page: its hours are the replay's, and where that is not trusted there are none. # N16"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from bench import month
from slipway.board.what_if import Change, WhatIf, means, what_if
from slipway.generations.published_clusters import declared
from slipway.history.model import History
from slipway.whatif.model import PoolStep
from tests.slipway.board.moment import what_if_of
from tests.slipway.whatif.past import catalog


@cache
def past() -> History:
    return month.history(300)


@cache
def found_change() -> WhatIf:
    return what_if_of(past())


@given(some.dictionaries(some.integers(0, 990), some.tuples(some.integers(0, 9), some.integers(0, 9)), max_size=20))
def test_machine_seconds_of_all_hours_are_those_of_the_steps(drawn: dict[int, tuple[int, int]]) -> None:
    steps, ends = [PoolStep(since, *drawn[since]) for since in sorted(drawn)], [0.0, 70.0, 400.5, 1000.0]
    lasted = [(one, after.since - one.since) for one, after in pairwise([*steps, PoolStep(1000, 0, 0)])]
    found = list(zip(means(steps, ends), pairwise(ends), strict=True))
    for place, told in ((0, [one.live * length for one, length in lasted]), (1, [n.held * m for n, m in lasted])):
        assert sum(one[place] * (end - begin) for one, (begin, end) in found) == pytest.approx(sum(told))


def test_no_time_has_no_machines() -> None:
    assert means((), (5.0, 5.0)) == [(0.0, 0.0)]


def test_days_add_up_to_the_idle_shares_that_are_told() -> None:
    found = found_change()
    assert found.comparison.before and found.comparison.after and not found.why_not
    sides = [{one.pool: one for one in side.pools} for side in (found.comparison.before, found.comparison.after)]
    assert len(found.pools) == 3
    for pool in found.pools:
        before = sum(one.used_before for one in pool.days), sum(one.idle_before for one in pool.days)
        after = sum(one.used_after for one in pool.days), sum(one.idle_after for one in pool.days)
        for (used, idle), side in zip((before, after), sides, strict=True):
            assert idle / (used + idle) == pytest.approx(side[pool.name].idle, abs=1e-3)
        assert 0 < max(max(before[0], after[0]) for _, before, after in pool.hours) <= pool.top


def test_a_pool_that_goes_and_one_that_comes_have_both_sides() -> None:
    clusters = past().deployments[-1].clusters
    h100 = declared(clusters["h100"])
    change = Change(("a", "b"), (h100,), (replace(h100, name="other"),))
    found = what_if(change, past(), catalog(clusters.values(), {}))
    gone, new = found.pools
    assert (gone.bounds[1], new.bounds[0]) == ("", "")
    assert {after for _, _, after in gone.hours} == {before for _, before, _ in new.hours} == {(0.0, 0.0)}


def test_a_replay_that_is_not_trusted_tells_what_could_never_run_alone() -> None:
    few = what_if_of(replace(past(), jobs=past().jobs[:5]))
    assert few.why_not and not few.pools and few.comparison.before is few.comparison.after is None
    none = what_if_of(replace(past(), jobs=()))
    assert none.why_not and not none.comparison.never_ran

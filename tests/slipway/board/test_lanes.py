"""No two jobs are drawn on each other, and none on more machines than it had. # Z5"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from slipway.board.lanes import Stay, arrange

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)


def stay(begin: int, hours: int, count: int) -> Stay:
    return Stay(BEGIN + timedelta(hours=begin), BEGIN + timedelta(hours=begin + hours), count)


STAYS = st.lists(st.builds(stay, st.integers(0, 50), st.integers(1, 20), st.integers(1, 5)), max_size=40).map(
    lambda some: sorted(some, key=lambda one: one.begin)
)


def most_at_once(stays: Sequence[Stay]) -> int:
    return max((sum(o.count for o in stays if o.begin <= one.begin < o.end) for one in stays), default=0)


@given(STAYS, st.integers(0, 12))
def test_each_has_its_machines_and_nobody_elses(stays: list[Stay], most: int) -> None:
    lanes = arrange(stays, most)
    taken = [{lane for low, high in one for lane in range(low, high)} for one in lanes]
    for place, one in enumerate(stays):
        assert len(taken[place]) == one.count
        others = [taken[at] for at, o in enumerate(stays) if at != place and o.begin < one.end and one.begin < o.end]
        assert not any(taken[place] & other for other in others)


@given(STAYS)
def test_a_pool_that_suffices_is_not_left(stays: list[Stay]) -> None:
    most = most_at_once(stays)
    assert all(high <= most for one in arrange(stays, most) for _, high in one)


def test_machines_lie_together_where_they_can() -> None:
    stays = [stay(0, 1, 1), stay(0, 5, 1), stay(0, 5, 2), stay(2, 1, 1), stay(2, 1, 2)]
    assert arrange(stays, 6) == [((0, 1),), ((1, 2),), ((2, 4),), ((0, 1),), ((4, 6),)]


def test_a_job_that_finds_no_room_together_is_drawn_in_parts() -> None:
    stays = [stay(0, 1, 1), stay(0, 9, 1), stay(0, 1, 1), stay(2, 1, 2)]
    assert arrange(stays, 3)[-1] == ((0, 1), (2, 3))

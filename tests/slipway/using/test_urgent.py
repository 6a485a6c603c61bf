"""Who makes room for an urgent job, and who may ask for it. # N24"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import PolicyError
from slipway.using.submission.yielding import may_urge, require_urgent
from slipway.using.urgent import Holder, Room, chosen, rivals_of, shortage
from tests.builders.catalogs import catalog
from tests.builders.clusters import cluster, living
from tests.builders.jobs import job
from tests.builders.pools import pool


def holder(name: str, since: float, machines: int = 1, *, session: bool = False) -> Holder:
    labels = {"slipway-user": "ada", **({"slipway-session": "x"} if session else {})}
    return Holder(job(name, replicas=machines, labels=labels), {"workers": machines}, since)


def names(holders: tuple[Holder, ...]) -> list[str]:
    return [holder.job.display_name for holder in holders]


def test_who_loses_least_makes_room() -> None:
    some = [holder("late", 60.0), holder("early", 600.0), holder("wide", 30.0, 4)]
    assert names(chosen({"workers": 1}, some)) == ["late"]
    assert names(chosen({"workers": 4}, some)) == ["wide"]


def test_an_idle_session_ends_before_any_job() -> None:
    assert names(chosen({"workers": 1}, [holder("tune", 0.0), holder("session", 0.0, session=True)])) == ["session"]


def test_several_make_room_where_none_is_enough_and_nobody_where_all_are_not() -> None:
    some = [holder("a", 600.0), holder("b", 10.0), holder("c", 20.0)]
    assert names(chosen({"workers": 2}, some)) == ["b", "c"]
    assert chosen({"workers": 4}, some) == () and chosen({"gpus": 1}, some) == ()


@given(st.lists(st.tuples(st.floats(0, 1e5), st.integers(1, 8)), max_size=6), st.integers(1, 12))
def test_they_are_enough_and_none_of_them_is_needless(each: list[tuple[float, int]], short: int) -> None:
    holders = [holder(f"j{place}", since, machines) for place, (since, machines) in enumerate(each)]
    taken = chosen({"workers": short}, holders)
    counts = [of.machines["workers"] for of in taken]
    if sum(machines for _, machines in each) < short:
        assert not taken
    else:
        assert sum(counts) >= short and all(sum(counts) - count < short for count in counts)


def test_room_is_for_those_that_wait_before_it_too() -> None:
    there = living(declared := cluster("cpu", pool(high=4)), used=3, replicas=4)
    first, later = (job(name, on=declared, state="QUEUED", minutes=age) for name, age in (("first", 30), ("later", 1)))
    urgent = job("urgent", on=declared, state="QUEUED", minutes=10)
    one = {"workers": 1}
    assert shortage(one, rivals_of(one, urgent, there, [later, urgent]), there) == {}
    assert shortage({"workers": 2}, [], there) == one
    assert rivals_of(one, urgent, there, [later, urgent, first]) == [first] and shortage(one, [first], there) == one
    assert shortage(one, rivals_of(one, None, there, [later, first]), there) == {"workers": 2}


@pytest.mark.parametrize(
    ("user", "team", "may"),
    [
        ("Ada", "", True),
        ("ada@acme.example", "", True),
        ("bob", "", False),
        ("bob", "ml-leads", True),
        ("ml-leads", "", False),
        ("", "", False),
    ],
)
def test_the_stack_says_who_may(user: str, team: str, may: bool) -> None:
    stack = catalog(urgent=("user:ada@acme.example", "group:ml-leads@acme.example"))
    assert may_urge(stack, user, team) is may and not may_urge(catalog(), user, team)


def test_a_refusal_says_who_may_and_what_to_do() -> None:
    with pytest.raises(PolicyError) as caught:
        require_urgent(catalog(urgent=("user:ada@acme.example",)), "bob", "")
    problem = caught.value
    assert problem.why == "user:ada@acme.example may, and you are bob" and "slipway jobs yield JOB" in str(problem.fix)


def test_what_is_told() -> None:
    some = (holder("tune", 720.0, 4), holder("notebook", 0.0, session=True))
    assert [*Room(some).lines("would make room")] == [
        "urgent: tune (ada), which loses at most 12 min on 4 machines, would make room",
        "urgent: notebook (ada), a session that runs nothing, would make room",
    ]
    assert [*Room(ahead=2).lines("")] == ["urgent: nobody has to make room; 2 jobs wait before it"]
    assert "waits all the same" in next(Room(lacking=True).lines(""))

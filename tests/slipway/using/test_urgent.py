"""Who makes room for an urgent job, and who may ask for it. # N24"""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.packages.slipway_exchange import Request
from slipway.authoring.packages.slipway_round import Asked
from slipway.base.errors import PolicyError
from slipway.google.clusters import PersistentResource
from slipway.google.failures import Answer, Call, Denied, failure
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, StoredObject
from slipway.google.worker_pools import WorkerPool
from slipway.model.identity import Identity
from slipway.using.jobs.demand import Demand
from slipway.using.sessions.session import command_of
from slipway.using.submission.yielding import may_urge, require_urgent
from slipway.using.urgent import Holder, Room, ask_for_room, chosen, find_room, rivals_of, shortage
from tests.builders.catalogs import catalog
from tests.builders.clusters import cluster, living
from tests.builders.jobs import job
from tests.builders.place import NOW, STACK
from tests.builders.pools import CPU, pool


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


def test_idle_sessions_that_are_enough_together_end_before_a_job_that_is_alone() -> None:
    sessions = [holder("session", 0.0, session=True), holder("another", 0.0, session=True)]
    assert names(chosen({"workers": 2}, [holder("wide", 5.0, 2), *sessions])) == ["another", "session"]


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
    assert shortage(one, rivals_of(one, urgent, there, [later, urgent]), [], there) == {}
    assert shortage({"workers": 2}, [], [], there) == one
    assert rivals_of(one, urgent, there, [later, urgent, first]) == [first]
    assert shortage(one, [first], [], there) == one
    assert shortage(one, rivals_of(one, None, there, [later, first]), [], there) == {"workers": 2}


def test_a_job_that_gets_ready_has_its_machines_and_waits_for_none() -> None:
    there = living(declared := cluster("cpu", pool(high=2)), used=2, replicas=2)
    runs, ready = job("runs", on=declared), job("ready", on=declared, state="PENDING", minutes=1)
    one = {"workers": 1}
    assert rivals_of(one, None, there, [runs, ready]) == []
    assert shortage(one, [], [runs, ready], there) == one
    not_counted = living(declared, used=1, replicas=2)
    assert shortage({"workers": 2}, [], [runs, ready], not_counted) == {"workers": 2}


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


DECLARED = cluster("cpu", pool(high=2))


def room_for(urgent: VertexJob, *jobs: VertexJob, stored: dict[str, bytes] | None = None) -> Room:
    """Return the room on a full pool of two machines, beside these jobs."""
    return find_room(context_of(urgent, *jobs, stored=stored), Demand.of(urgent), DECLARED.id, "", urgent)


def context_of(urgent: VertexJob, *jobs: VertexJob, stored: dict[str, bytes] | None = None) -> Any:
    objects, there = {} if stored is None else stored, living(DECLARED, used=2, replicas=2)

    class Here:
        def persistent_resource(self, _: str) -> PersistentResource:
            return there

        def active_jobs(self, _: object) -> list[VertexJob]:
            return [*jobs, urgent]

    class Stored:
        def objects(self, under: Location) -> list[StoredObject]:
            if under.name.startswith("claims/foreign"):
                raise failure(Call("list"), Answer(403, "PERMISSION_DENIED", "denied"))
            listed = (Location.parse(name) for name in objects if name.startswith(str(under)))
            return [StoredObject(at, size=0, generation="1", md5="", updated=NOW, created=NOW) for at in listed]

        def read(self, at: Location) -> bytes:
            return objects[str(at)]

        def create(self, at: Location, body: bytes, *, again: bool) -> bool:
            return objects.setdefault(str(at), body) is body

    return SimpleNamespace(
        vertex=SimpleNamespace(at=lambda region: Here()),
        connection=SimpleNamespace(storage=Stored()),
        catalog=SimpleNamespace(stack=STACK, identity=Identity("", STACK)),
        now=NOW,
    )


def going_on(name: str, state: str = "RUNNING", minutes: float = 30, **fields: Any) -> VertexJob:
    env = ("SLIPWAY_YIELD={}",)
    worker = WorkerPool(CPU, 1, image="executor:1", args=("--claim", f"gs://w/claims/{name}", "--module", "x"), env=env)
    return job(name, on=DECLARED, state=state, minutes=minutes, worker_pools=(worker,), **fields)


def session(name: str, state: str = "RUNNING", minutes: float = 30) -> VertexJob:
    command = command_of(Location("w", f"sessions/ada/{name}"), 600, 3600, "")
    env = {"SLIPWAY_PARAMETERS": json.dumps({"command": command}), "SLIPWAY_YIELD": "{}"}
    labels = {"slipway-user": "ada", "slipway-session": name}
    return job(name, on=DECLARED, state=state, minutes=minutes, env=env, labels=labels)


URGENT = job("urgent", on=DECLARED, state="QUEUED", minutes=1)


def test_what_gets_ready_makes_room_before_what_has_computed() -> None:
    room = room_for(URGENT, going_on("runs"), going_on("ready", "PENDING", 2))
    assert names(room.holders) == ["ready"] and not room.ahead and not room.lacking
    assert [*room.lines("makes room")] == ["urgent: ready (user-a), which has not begun and loses nothing, makes room"]


def test_who_is_about_to_leave_is_waited_for_and_nobody_else_is_asked() -> None:
    cancelled = room_for(URGENT, going_on("runs"), going_on("cancelled", "CANCELLING", start_time=NOW))
    assert names(cancelled.leaving) == ["cancelled"] and not cancelled.holders
    assert next(cancelled.lines("")) == "urgent: nobody else has to make room"
    closed = {
        "gs://w/sessions/ada/idle/runs/000001.request": Request("x", "bob", closed="as bob stopped it").packed({})
    }
    assert names(room_for(URGENT, going_on("runs"), session("idle")).holders) == ["idle"]
    room = room_for(URGENT, going_on("runs"), session("idle"), stored=closed)
    assert names(room.leaving) == ["idle"] and not room.holders


def test_who_makes_room_for_another_one_makes_it_for_who_counts_on_it_too() -> None:
    asked = Asked(by="bob", whom="first (bob)", within=60.0, behind="next", needless=("first", "next"))
    stored = {"gs://w/claims/leaves/yield/1.asked": asked.packed()}
    second, told = going_on("second", "QUEUED", 1), list[str]()
    context = context_of(second, going_on("leaves"), going_on("runs"), stored=stored)
    room = find_room(context, Demand.of(second), DECLARED.id, "", second)
    ask_for_room(context, second, room, tell=told.append, again="")
    assert "gs://w/claims/leaves/yield/1.also.second" in stored and not told and not room.holders


def test_a_session_that_waits_or_gets_ready_stays_where_it_is() -> None:
    room = room_for(URGENT, going_on("runs"), going_on("other", minutes=20), session("waits", "QUEUED", 5))
    assert names(room.holders) == ["other", "runs"] and room.ahead == 1
    assert names(room_for(URGENT, going_on("runs"), session("ready", "PENDING", 5)).holders) == ["runs"]


def test_a_job_of_another_stack_whose_bucket_can_not_be_read_stays() -> None:
    foreign = going_on("foreign", labels={"slipway-stack": "other"})
    assert names(room_for(URGENT, foreign, going_on("runs")).holders) == ["runs"]
    with pytest.raises(Denied):
        room_for(URGENT, going_on("foreign"), going_on("runs"))

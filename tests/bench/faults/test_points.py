"""Points of a journey: which there are, in which order, what becomes of a call at one, and who was told. # N2 # N4"""

import pytest

from bench.faults import points
from bench.faults.play import told
from bench.faults.points import FAULTS, Point
from bench.faults.proxy import Action, Proxy, Strike, standing_before
from bench.faults.stage import Ran
from tests.local.conftest import LocalCloud

CALLS = ["GET /v1/p/customJobs", "POST /v1/p/customJobs", "GET /v1/p/customJobs"]


def test_a_call_is_the_same_in_every_run() -> None:
    called = points.signature("POST", "/t/slp_secret/v1/p/customJobs/7000000000000000001:cancel?alt=json")
    assert called == "POST /v1/p/customJobs/N:cancel"


@pytest.mark.parametrize("engine", [True, False])
def test_each_call_is_a_point_for_each_thing_that_can_happen_there(engine: bool) -> None:
    found = points.of("submit", CALLS, engine)
    assert len({point.key for point in found}) == len(found)
    assert [points.named(f"`{point.key}`") for point in found] == found
    assert [(point.call, point.nth) for point in found if point.fault == "cut"] == [
        (CALLS[0], 1),
        (CALLS[1], 1),
        (CALLS[0], 2),
    ]
    kills = {"kill-engine", "kill-program", "kill-plugin"} if engine else {"kill-cli"}
    assert {point.fault for point in found if point.fault.startswith("kill")} == {*kills, "kill-cloud"}
    faults = {call: {point.fault for point in found if point.call == call} for call in CALLS}
    assert {"lag", "circle"} <= faults[CALLS[0]] and not {"lag", "circle"} & faults[CALLS[1]], "only a list has pages"
    assert "lost" in faults[CALLS[1]] - faults[CALLS[0]], "a read that is lost is one that was cut"
    overtaken = {"stolen"} if engine else {"again"}
    assert {"stolen", "again"} & faults[CALLS[1]] == overtaken and not {"stolen", "again"} & faults[CALLS[0]]


def test_breadth_comes_first_and_what_was_tried_counts() -> None:
    every = [*points.of("create", [*CALLS, *CALLS], True), *points.of("edit", CALLS, True)]
    kinds = {point.kind for point in every}
    drawn = points.drawn(every, 7)
    assert {point.kind for point in drawn[: len(kinds)]} == kinds
    changing = [points.changes(point.call) for point in drawn[: len(kinds)]]
    assert changing == sorted(changing, reverse=True), "calls that change something are first"
    tried = drawn[0]
    left = points.drawn([point for point in every if point != tried], 7, [tried.key])
    assert {point.kind for point in left[: len(kinds) - 1]} == kinds - {tried.kind}


def test_a_seed_is_an_order_in_which_journeys_take_turns() -> None:
    every = [*points.of("create", CALLS, True), *points.of("submit", CALLS, False)]
    drawn = points.drawn(every, 7)
    assert drawn == points.drawn(every, 7) != points.drawn(every, 8)
    assert sorted(drawn, key=str) == sorted(every, key=str)
    assert [point.journey for point in drawn[:4]] == ["create", "submit", "create", "submit"]


@pytest.mark.parametrize(
    ("fault", "actions"),
    [
        ("before", ["pass", "cut", "cut", "cut"]),
        ("lost", ["pass", "lose", "cut", "cut"]),
        ("cut", ["pass", "cut", "pass", "pass"]),
        ("429", ["pass", "429", "429", "pass"]),
        ("503", ["pass", "503", "503", "pass"]),
        ("timeout", ["pass", "hold", "pass", "pass"]),
        ("slow", ["pass", "slow", "pass", "pass"]),
        ("circle", ["pass", "circle", "circle", "pass"]),
        ("token", ["pass", "token", "token", "token"]),
        ("kill-cli", ["pass", "pass", "pass", "pass"]),
    ],
)
def test_what_becomes_of_calls_from_a_point_on(fault: str, actions: list[Action]) -> None:
    assert fault in FAULTS
    proxy, happened = Proxy("http://127.0.0.1:1"), list[str]()
    proxy.begin(Strike(Point("submit", "GET /a", 2, fault), lambda: happened.append(fault)))
    assert [proxy.action(call) for call in ("GET /a", "GET /a", "GET /a", "GET /b")] == actions
    assert proxy.struck
    assert happened == [fault]
    proxy.begin()
    assert proxy.action("GET /a") == "pass"
    assert proxy.calls == ["GET /a"]


def test_slow_bytes_and_pages_in_a_circle_are_what_they_are_called(cloud: LocalCloud) -> None:
    listed = "/storage/v1/b?project=local-project"
    (call,) = {points.signature("GET", listed)}
    with standing_before(lambda: cloud.url) as proxy:
        proxy.begin(Strike(Point("submit", call, 1, "circle")))
        asked = cloud.session()
        tokens, token = [], ""
        for _ in range(3):
            token = asked.get(f"{proxy.url}{listed}&pageToken={token}").json()["nextPageToken"]
            tokens.append(token)
        assert tokens[0] != tokens[1] and tokens[0] == tokens[2]
        proxy.begin(Strike(Point("submit", call, 1, "slow")))
        with asked.get(f"{proxy.url}{listed}", stream=True) as answer:
            assert len(answer.raw.read1(1 << 16)) == 1


WAITING = "job-1  waiting 0:03  why is not known: The service is currently unavailable."


@pytest.mark.parametrize(
    ("code", "said", "fault", "verdict"),
    [
        (1, "error: googleapi: Error 401: expired", "token", True),
        (1, "error: could not read the catalog", "token", False),
        (1, "error: could not read the catalog\n  fix: try again", "token", True),
        (-2, WAITING, "token", False),
        (-2, "job-1 could not be given up, which is tried again every minute; Ctrl-C loses nothing", "503", True),
        (-2, f"{WAITING}  (looks at spot again in 0:57)", "token", True),
        (0, "", "token", True),
        (1, "", "kill-engine", True),
    ],
)
def test_a_person_was_told_what_to_do(code: int, said: str, fault: str, verdict: bool) -> None:
    assert told(Ran(code, said), Point("create", "GET /x", 1, fault)) is verdict

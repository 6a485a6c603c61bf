"""Scenarios: what people may write, what it means over time, that it is kept (W1, X2, Z6, N4)."""

import re
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.settings import Settings
from local.cloud.supply import records as scenarios
from local.cloud.supply.parsing import ScenarioError, parse
from local.cloud.supply.scenario import Chance, Entry, Preemption, Reservation, Scenario
from local.cloud.world import open_world
from tests.local.cloud.vertex.scheduling.conftest import HELD, Stage
from tests.local.conftest import ROOT

ENTRY = {"region": "us-central1", "machine": "a3-highgpu-8g", "machines": 2}


def test_a_scenario_is_read_whole() -> None:
    found = parse(
        {
            "supply": [ENTRY, ENTRY | {"at": 5, "strategy": "spot", "machines": 0}],
            "spot": {
                "preempt": [{"job": "spot", "after": 3}, {"job": "s", "replica": "workerpool1-2", "times": -1}],
                "random": {"rate_per_hour": 2, "seed": 7},
                "notice": 30,
            },
            "reservations": {HELD: {"machine": "a3-highgpu-8g", "count": 2}},
        }
    )
    assert found == Scenario(
        supply=(
            Entry(0, "us-central1", "a3-highgpu-8g", "any", 2),
            Entry(5, "us-central1", "a3-highgpu-8g", "spot", 0),
        ),
        preemptions=(Preemption("spot", "workerpool0-0", 3, 1), Preemption("s", "workerpool1-2", 0, -1)),
        chance=Chance(2, 7),
        notice_s=30,
        reservations={HELD: Reservation(HELD, "a3-highgpu-8g", "NVIDIA_H100_80GB", 8, 2, "ALLOW_ALL")},
    )


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"suply": []}, "suply: there is no such key; did you mean 'supply'?"),
        ({"supply": {}}, "supply is a list of tables"),
        ({"spot": "often"}, "spot is a table"),
        ({"supply": [ENTRY | {"machines": -1}]}, "supply[0].machines is at least 0, not -1"),
        ({"supply": [ENTRY | {"machines": True}]}, "supply[0].machines is a whole number, not True"),
        ({"supply": [ENTRY | {"at": "soon"}]}, "supply[0].at is a number, not 'soon'"),
        ({"supply": [ENTRY | {"at": float("nan")}]}, "supply[0].at is a number, not nan"),
        ({"supply": [ENTRY, {"region": "us-central1", "machines": 1}]}, "supply[1].machine is missing: text"),
        ({"supply": [ENTRY | {"region": "us-centrall1"}]}, "'us-centrall1' is not known; did you mean"),
        ({"supply": [ENTRY | {"machine": "a3-highgpu-9g"}]}, "supply[0].machine: 'a3-highgpu-9g' is not known"),
        ({"supply": [ENTRY | {"strategy": "SPOT"}]}, "supply[0].strategy is one of any, standard, spot"),
        ({"spot": {"notice": True}}, "spot.notice is false, or the seconds"),
        ({"spot": {"preempt": [{"after": 1}]}}, "spot.preempt[0].job is missing"),
        ({"spot": {"preempt": [{"job": "a", "replica": "chief"}]}}, "a replica's name as in workerpool1-0"),
        ({"spot": {"preempt": [{"job": "a", "times": 0}]}}, "spot.preempt[0].times is at least 1"),
        ({"spot": {"random": {"rate_per_hour": 1}}}, "spot.random.seed is missing"),
        ({"reservations": {"held": {"machine": "a3-highgpu-8g", "count": 1}}}, "projects/PROJECT/zones/ZONE"),
        ({"reservations": {HELD: {"machine": "a3-highgpu-8g"}}}, f'reservations."{HELD}".count is missing'),
        ({"reservations": {HELD: {"machine": "e2-standard-4", "count": 1, "accelerator": "T4"}}}, "not supported on"),
    ],
)
def test_what_can_not_be_is_said_with_its_key(document: Any, words: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(words)):
        parse(document)


@given(
    entries=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from(["a2-highgpu-1g", "e2-standard-4"]), st.integers(0, 9)), max_size=8
    ),
    elapsed=st.integers(0, 6),
)
def test_of_each_machine_the_entry_that_began_last_stands(entries: list[tuple[int, str, int]], elapsed: int) -> None:
    scenario = parse({"supply": [ENTRY | {"at": at, "machine": kind, "machines": n} for at, kind, n in entries]})
    limits = scenario.limits("us-central1", elapsed)
    for kind in ("a2-highgpu-1g", "e2-standard-4"):
        begun = [(at, place, n) for place, (at, name, n) in enumerate(entries) if name == kind and at <= elapsed]
        assert limits.get((kind, "any")) == (max(begun)[2] if begun else None)
    assert scenario.limits("europe-west4", elapsed) == {}


def test_a_scenario_is_kept_with_its_beginning_and_can_be_cleared(stage: Stage) -> None:
    stage.supply((0, "a3-highgpu-8g", "any", 2), (60, "a3-highgpu-8g", "any", 5))
    stage.calling.clock.advance(61)
    again = open_world(stage.world.state_folder, clock=stage.calling.clock, chosen=Settings())
    limits = scenarios.current(again).limits("us-central1", again.clock.now())
    assert limits == {("a3-highgpu-8g", "any"): 5}
    assert scenarios.clear(again).scenario == Scenario()
    again.store.close()


def test_who_looked_at_the_clock_too_early_sees_the_beginning(stage: Stage) -> None:
    before = stage.world.clock.now()
    stage.calling.clock.advance(1)
    stage.supply((0, "a3-highgpu-8g", "any", 0))
    assert scenarios.current(stage.world).limits("us-central1", before) == {("a3-highgpu-8g", "any"): 0}


def test_a_scenario_that_can_not_be_leaves_the_one_before(stage: Stage) -> None:
    stage.supply((0, "a3-highgpu-8g", "any", 2))
    with pytest.raises(ScenarioError):
        stage.scenario(supply=[{}])
    assert len(scenarios.current(stage.world).scenario.supply) == 1


def test_the_guide_s_scenario_is_one() -> None:
    guide = (ROOT / "docs" / "local-cloud.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```toml\n(.*?)^```$", guide, re.M | re.S)
    found = parse(tomllib.loads(block))
    assert [entry.machines for entry in found.supply] == [0, 2]
    assert (found.preemptions[0].times, found.chance, found.notice_s) == (2, Chance(2.0, 7), None)
    assert len(found.reservations) == 1

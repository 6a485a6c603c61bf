"""Scenarios: what people may write, what it means over time, that it is kept (W1, X2, Z6, N4)."""

import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.vertex.scheduling.conftest import HELD, Stage
from vertex_local.settings import Settings
from vertex_local.supply import records as scenarios
from vertex_local.supply.gpu_recording import GpuSample
from vertex_local.supply.gpu_recording import parse as parse_recording
from vertex_local.supply.parsing import ScenarioError, parse
from vertex_local.supply.parsing import parse as scenario
from vertex_local.supply.scenario import Chance, Entry, Preemption, Reservation, Scenario
from vertex_local.world import open_world

ENTRY = {"region": "us-central1", "machine": "a3-highgpu-8g", "machines": 2}


def test_a_scenario_is_read_whole() -> None:
    parsed = parse(
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
    assert parsed == Scenario(
        supply=(
            Entry(0, "us-central1", "a3-highgpu-8g", "any", 2),
            Entry(5, "us-central1", "a3-highgpu-8g", "spot", 0),
        ),
        preemptions=(Preemption("spot", "workerpool0-0", 3, 1), Preemption("s", "workerpool1-2", 0, -1)),
        chance=Chance(2, 7),
        notice_s=30,
        reservations={HELD: Reservation(HELD, "a3-highgpu-8g", "NVIDIA_H100_80GB", 8, 2, "ALLOW_ALL")},
    )


def test_a_number_that_is_none_is_no_number() -> None:
    """TOML has one; all else that can't be is in `contracts/refused_controls.txt`."""
    with pytest.raises(ScenarioError, match=r"supply\[0\].at is a number, not nan"):
        parse({"supply": [ENTRY | {"at": float("nan")}]})


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
    guide = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```toml\n(.*?)^```$", guide, re.M | re.S)
    parsed = parse(tomllib.loads(block))
    assert [entry.machines for entry in parsed.supply] == [0, 2]
    assert (parsed.preemptions[0].times, parsed.chance, parsed.notice_s) == (2, Chance(2.0, 7), None)
    assert len(parsed.reservations) == 1


# --- Recordings of GPUs as nvidia-smi writes them. # Z5
HEAD = "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n"


def line(
    at: str = "13:11:59.204", index: str = "0", use: str = "97 %", used: str = "40 MiB", of: str = "80 MiB"
) -> str:
    return f"2025/01/17 {at}, {index}, NVIDIA H100 80GB HBM3, {use}, {used}, {of}\n"


def test_it_is_read_with_units_and_without_and_remarks_are_passed_over() -> None:
    scenario = parse_recording(
        f"# mine\n\n{HEAD}{line()}{line(index='1', use='3', used='8', of='80')}{line('13:12:59.704')}"
    )
    assert scenario.samples == (GpuSample(0, 0, 0.97, 0.5), GpuSample(0, 1, 0.03, 0.1), GpuSample(60.5, 0, 0.97, 0.5))
    assert [sample.use for sample in scenario.of(5)] == [0.03], "the second GPU again"


def test_what_a_gpu_does_not_tell_is_left_out() -> None:
    assert len(parse_recording(HEAD + line() + line(index="1", use="[N/A]")).samples) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column timestamp"),
        (HEAD.replace("index, ", ""), "no column index"),
        (HEAD, "no GPU was measured"),
        (HEAD + line(use="[N/A]"), "no GPU was measured"),
        (HEAD + line() + "2025/01/17 13", "line 3: "),
        (HEAD + line("at noon"), "line 2: time data"),
        (f"# a remark\n{HEAD}{line(index='GPU-1')}", "line 3: invalid literal"),
        (HEAD + line(use="130 %"), "line 2: a use of more"),
        (HEAD + line(index="640"), "line 2: a use of more than all there is, or no GPU's number"),
        (HEAD + line(of="0 MiB"), "line 2: "),
    ],
)
def test_what_it_can_not_be_is_said_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse_recording(text)
    with pytest.raises(ScenarioError, match=re.escape("gpus[0].csv is nothing that nvidia-smi recorded")):
        scenario({"gpus": [{"job": "a", "csv": text}]})


@given(st.text())
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        parse_recording(HEAD + text)
    except ValueError:
        return

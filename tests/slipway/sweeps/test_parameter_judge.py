"""What is wrong with the parameters of a sweep is told once, where it is written."""

from __future__ import annotations

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from slipway.catalog.model import Parameter, Template
from slipway.sweeps.points import Content, PointMistake, Points, points
from slipway.sweeps.sweep_file import of_csv, of_yaml
from slipway.sweeps.sweep_plan import ParameterJudge

PARAMETERS = (Parameter("trees", "int", default=1, min=1, max=50), Parameter("name", "str"))
TEMPLATE = Template("t", summary="", kind="custom-job", roles=(), parameters=PARAMETERS, offers=())


def judged(content: Content, template: Template = TEMPLATE, **params: str) -> list[PointMistake]:
    found: Points = points(content)
    judge = ParameterJudge(template, params, "-p")
    for index, point in enumerate(found.each):
        judge.values(index, point)
    return [*found.mistakes, *judge.mistakes(len(found.each))]


def mistakes(content: Content, template: Template = TEMPLATE, **params: str) -> list[str]:
    return [str(one) for one in judged(content, template, **params)]


def test_a_value_of_a_grid_is_wrong_once_however_many_runs_it_spoils(snapshot: SnapshotAssertion) -> None:
    text = "grid:\n  trees: [1, 99, many]\n  name: [a, b]\n  tres: [1]\n"
    assert mistakes(of_yaml(text, "g.yaml")) == snapshot


def test_a_range_is_one_mistake_whichever_of_its_values_are_wrong(snapshot: SnapshotAssertion) -> None:
    (told,) = mistakes(of_yaml("grid: {trees: {from: 1, to: 60}, name: [a]}", "g.yaml"))
    assert told == snapshot


def test_what_all_runs_share_is_told_without_a_place_in_the_file(snapshot: SnapshotAssertion) -> None:
    assert mistakes(of_csv("name\na\nb\n", "r.csv"), trees="99") == snapshot
    assert mistakes(of_csv("name,trees\na,1\n", "r.csv"), trees="99") == snapshot


def test_a_parameter_is_missing_where_its_run_is_and_not_where_it_is_a_mistake_by_itself(
    snapshot: SnapshotAssertion,
) -> None:
    assert mistakes(of_csv("name,trees\na,1\n,99\n", "r.csv")) == snapshot
    assert mistakes(of_yaml("- {name: [a], trees: 99}\n- 5\n", "l.yaml")) == snapshot
    assert mistakes(of_yaml("grid: {name: [], trees: [1, 99]}", "g.yaml")) == snapshot


def test_values_that_are_too_much_together_are_told_by_their_run() -> None:
    long = "x" * 20_000
    (told,) = mistakes(of_yaml(f"grid: {{name: [a, {long}{long}], trees: [1]}}", "g.yaml"))
    assert told.startswith("run 1: all values together")


def test_a_grid_has_parameters_that_the_command_names(snapshot: SnapshotAssertion) -> None:  # N7
    command = Parameter("command", "str", default="python train.py", command=True)
    script = replace(TEMPLATE, parameters=(command,))
    grid = of_yaml("grid: {lr: [0.1, 1e-2], decay: [0, 1]}", "g.yaml")
    assert mistakes(grid, script, command="run {lr} {decay}") == []
    assert mistakes(grid, script, command="run {lr} {decay} {seed}") == snapshot
    assert mistakes(grid, script, command="run {lr}") == snapshot
    assert mistakes(of_yaml("grid: {command: [a, b && c]}", "g.yaml"), script) == snapshot
    assert mistakes(of_csv("lr,decay\n1,2\n3,\n", "r.csv"), script, command="run {lr} {decay}") == snapshot
    assert mistakes(of_csv("name\na\n", "r.csv"), script, command="run {name} {lr} {seed}") == snapshot


def test_the_way_out_is_no_other_mistake() -> None:
    """A parameter that some runs have can't be given to all of them."""
    script = replace(TEMPLATE, parameters=(Parameter("command", "str", default="run {lr}", command=True),))
    (lacking,) = judged(of_csv("lr,decay\n1,2\n3,\n", "r.csv"), script, command="run {lr} {decay}")
    assert lacking.fix == "give decay in every run: it has no default"
    (twice,) = judged(of_csv("name,trees\na,1\n", "r.csv"), trees="9")
    assert twice.fix == "give it once: one value for all runs, or one in each"

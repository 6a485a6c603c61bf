"""A sweep's file: its points in order, and what is wrong with it, told once where it is written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError
from slipway.model.catalog.parameter_types import Typed
from slipway.model.catalog.template import Parameter, Template
from slipway.using.sweeps.points import MOST, Node, Point, PointMistake, Points, points, refusal
from slipway.using.sweeps.sweep_file import of_csv, of_json, of_yaml, points_of, read
from slipway.using.sweeps.sweep_plan import ParameterJudge


def right(points_read: Points) -> tuple[Point, ...]:
    """Raises ConfigError when anything is wrong."""
    if points_read.mistakes:
        raise refusal(points_read.source, points_read.mistakes)
    return points_read.each


def values(tmp_path: Path, name: str, text: str) -> list[dict[str, Typed]]:
    (tmp_path / name).write_text(text)
    return [dict(point.values) for point in right(read(tmp_path / name))]


def refused(tmp_path: Path, name: str, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        values(tmp_path, name, text)
    assert error.value.fix
    return error.value.what.replace(f"{tmp_path}/", "")


def test_a_range_has_both_ends(tmp_path: Path) -> None:
    assert values(tmp_path, "g.yaml", "grid: {seed: {from: 0, to: 2}}") == [
        {"seed": str(number)} for number in range(3)
    ]
    rates = values(tmp_path, "g.yaml", "grid: {rate: {from: 0.1, to: 0.3, step: 0.1}}")
    assert [rate["rate"] for rate in rates] == ["0.1", "0.2", "0.3"]
    down = values(tmp_path, "g.yaml", "grid: {seed: {from: 3, to: 1, step: -1}}")
    assert [row["seed"] for row in down] == ["3", "2", "1"]


def test_a_list_is_its_entries_with_every_combination_of_the_grid(tmp_path: Path) -> None:
    """The last name of a grid varies fastest."""
    grid = values(tmp_path, "g.yaml", "grid:\n  trees: [100, 200]\n  seed: [1, 2]\n")
    assert [tuple(point.values()) for point in grid] == [("100", "1"), ("100", "2"), ("200", "1"), ("200", "2")]
    text = "list:\n- {trees: 100}\n- {trees: 200, folds: 5}\ngrid: {seed: [1, 2]}\n"
    assert values(tmp_path, "l.yml", text) == [
        {"trees": "100", "seed": "1"},
        {"trees": "100", "seed": "2"},
        {"trees": "200", "folds": "5", "seed": "1"},
        {"trees": "200", "folds": "5", "seed": "2"},
    ]
    assert values(tmp_path, "l.yml", "- {trees: 1}\n- {trees: 1}\n") == [{"trees": "1"}] * 2


def test_values_stay_as_they_are_written(tmp_path: Path) -> None:
    text = "- {a: 0.10, b: 1e-3, c: yes, d: 007, e: 'x y', f: null, g: '', h: 2026-11-20}\n"
    as_written = {"a": "0.10", "b": "1e-3", "c": "yes", "d": "007", "e": "x y", "g": "", "h": "2026-11-20"}
    assert values(tmp_path, "l.yaml", text) == [as_written]
    json = '[{"a": 0.10, "b": 1e-3, "c": true, "d": 7, "e": "x y", "f": null, "g": ""}]'
    assert values(tmp_path, "l.json", json) == [{"a": "0.10", "b": "1e-3", "c": "true", "d": "7", "e": "x y", "g": ""}]


def test_a_csv_has_names_first_and_an_empty_cell_is_the_default(tmp_path: Path) -> None:
    text = 'trees,name\n100,a\n\n200,\n300,"x, y"\n'
    assert values(tmp_path, "r.csv", text) == [
        {"trees": "100", "name": "a"},
        {"trees": "200"},
        {"trees": "300", "name": "x, y"},
    ]


def test_each_point_knows_its_place(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("trees\n1\n\n2\n")
    assert [point.where.rpartition("/")[2] for point in right(read(tmp_path / "r.csv"))] == ["r.csv:2", "r.csv:4"]
    (tmp_path / "g.yaml").write_text("list:\n- {a: 1}\ngrid: {b: [2]}\n")
    assert [point.where.rpartition("/")[2] for point in right(read(tmp_path / "g.yaml"))] == ["g.yaml:2 (b=2)"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("g.yaml", "", "g.yaml: has no point"),
        ("g.yaml", "trees: [1]", "g.yaml:1:1: 'trees' is neither grid nor list"),
        ("g.yaml", "grid: {}", "g.yaml: has no point"),
        ("g.yaml", "list: []", "g.yaml: has no point"),
        ("g.yaml", "grid: {trees: []}", "g.yaml:1:15: grid: trees has no values"),
        ("g.yaml", "grid: {trees: 5}", "g.yaml:1:15: grid: trees has no list of values"),
        ("g.yaml", "grid: {trees: [[[1]]]}", "g.yaml:1:16: grid: trees holds something that is not one value"),
        ("g.yaml", "grid: {trees: {from: 1}}", "g.yaml:1:15: grid: trees is not a range"),
        *(
            ("g.yaml", f"grid: {{trees: {{{ends}}}}}", "1:15: grid: trees is a range of something that is not a number")
            for ends in ("from: a, to: b", "from: 1, to: 9, step: 0", "from: 1, to: nan")
        ),
        ("g.yaml", "grid: {trees: {from: 9, to: 1}}", "g.yaml:1:15: grid: trees goes from 9 to 1 and never gets there"),
        ("g.yaml", "grid: {trees: {from: 0, to: 1e99}}", "g.yaml:1:15: grid: trees has 1"),
        ("g.yaml", "grid: {trees: {from: 0, to: 1e9999}}", "g.yaml:1:15: grid: trees has far too many values"),
        ("g.yaml", "list: [{trees: 1}]\ngrid: {trees: [1]}", "g.yaml:1:9: trees is in both the grid and the list"),
        ("g.yaml", "list:\n- {a: 1}\n- 5\n", "g.yaml:3:3: a point must name its parameters"),
        ("g.yaml", "- {a: [[1]]}\n", "g.yaml:1:7: a is not one value"),
        ("g.yaml", "- {a: 1, a: 2}\n", "g.yaml:1:10: a appears twice"),
        ("g.yaml", "- {a: 1\n", "g.yaml:2:1: expected ',' or '}'"),
        ("g.yaml", "- &x {a: *x}\n", "g.yaml: expands to more than a sweep can hold"),
        ("g.json", "{", "g.json:1:2: Expecting property name"),
        ("g.json", '[{"a": 1, "a": 2}]', "g.json:1:11: a appears twice"),
        ("g.csv", "", "g.csv:1: the first line must name each parameter once"),
        ("g.csv", "a,a\n1,2\n", "g.csv:1:3: the first line must name each parameter once"),
        ("g.csv", "a,b\n1\n", "g.csv:2:1: 1 cell under 2 names"),
        ("g.csv", "a\n", "g.csv: has no point"),
        ("g.txt", "a", "g.txt is not a sweep file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in refused(tmp_path, name, text)


@pytest.mark.parametrize(("value", "listed"), [("ok", "['ok']"), (5, "[5]"), (False, "[False]")])
def test_one_value_of_a_grid_is_told_with_the_list_that_was_meant(value: Any, listed: str) -> None:
    (mistake,) = points_of({"lr": [0.1, 0.2], "mode": value}).mistakes
    assert str(mistake) == "mode: grid: mode has no list of values" and mistake.fix == f"{{'mode': {listed}}}"


def test_one_value_of_a_grid_is_not_told_as_missing_in_the_command_too() -> None:
    grid: Any = {"lr": [0.1, 0.2], "mode": "ok"}
    read_points = points_of(grid)
    command = Parameter("command", "str", "python t.py --lr {lr} --mode {mode}", command=True)
    judge = ParameterJudge(Template("script", "", "custom-job", (), (command,), ()), {}, "an argument")
    for index, point in enumerate(read_points.each):
        judge.values(index, point)
    assert judge.mistakes(2) == []


@pytest.mark.parametrize(("text", "fix"), [("5", "trees: [5], or "), ("'a, b'", "trees: [VALUE, …], or ")])
def test_one_value_of_a_file_s_grid_is_told_with_the_list_that_was_meant(tmp_path: Path, text: str, fix: str) -> None:
    (tmp_path / "g.yaml").write_text(f"grid: {{trees: {text}}}")
    (mistake,) = read(tmp_path / "g.yaml").mistakes
    assert str(mistake.fix).startswith(fix)


@pytest.mark.usefixtures("no_garbage")
def test_a_file_that_is_deeper_than_any_reader_goes_is_no_sweep(tmp_path: Path) -> None:
    assert refused(tmp_path, "g.json", "[" * 900 + "]" * 900).startswith("g.json: ")


def test_a_grid_that_multiplies_too_far_is_refused_before_it_is_made(tmp_path: Path) -> None:
    axes = ", ".join(f"p{index}: {{from: 1, to: 1000}}" for index in range(9))
    assert "makes 1,000,000,000,000,000,000,000,000,000 runs" in refused(tmp_path, "g.yaml", f"grid: {{{axes}}}")
    axes_ = {f"p{index}": [str(n) for n in range(10)] for index in range(4500)}
    with pytest.raises(ConfigError, match="makes far too many runs"):
        right(of_grid(axes_))
    assert len(right(of_grid({"a": [str(n) for n in range(MOST)]}))) == MOST


def of_grid(axes: dict[str, list[str]]) -> Points:
    values = {name: Node("f", items=tuple(Node("f", text) for text in texts)) for name, texts in axes.items()}
    grid = Node("f", entries=tuple((Node("f", name), value) for name, value in values.items()))
    return points("f", Node("f", entries=((Node("f", "grid"), grid),)))


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't read") as error:
        read(tmp_path / "gone.yaml")
    assert error.value.fix == "runs='FILE', in UTF-8"


def test_every_mistake_is_said_once_with_its_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "l.json"
    file.write_text('[\n  {"a": [[1]],\n   "b": {"c": 2}},\n  "x",\n  {"a": 1, "a": 2}\n]')
    ordered = sorted(str(mistake).removeprefix(f"{file}:").partition(": ")[0] for mistake in read(file).mistakes)
    assert ordered == ["2:9", "3:9", "4:3", "5:12"]
    with pytest.raises(ConfigError) as error:
        right(read(file))
    assert error.value.what.endswith("l.json: 4 mistakes") and len(error.value.why.splitlines()) == 4


def test_what_is_given_knows_its_place_in_every_format(tmp_path: Path) -> None:
    texts = {"l.yaml": "- a: x\n  bc: 'y z'\n", "l.json": '[{"a": "x",\n  "bc": "y z"}]', "l.csv": 'a,bc\nx,"y z"\n'}
    places = {"l.yaml": ("1:6", "2:7", "2:3"), "l.json": ("1:8", "2:9", "2:3"), "l.csv": ("2:1", "2:3", "1:3")}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        (point,) = right(read(tmp_path / name))
        one, other = point.given["a"], point.given["bc"]
        points = [place.partition(f"{name}:")[2] for place in (one.place, other.place, other.named)]
        assert (tuple(points), other.text) == (places[name], "y z")


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    for reader in (of_yaml, of_json, of_csv):
        try:
            right(reader(text, "f"))
        except ConfigError as error:
            assert error.what.startswith("f")


PARAMETERS = (Parameter("trees", "int", default=1, min=1, max=50), Parameter("name", "str"))
TEMPLATE = Template("t", summary="", kind="custom-job", roles=(), parameters=PARAMETERS, offers=())


def judged(found: Points, template: Template = TEMPLATE, **params: str) -> list[PointMistake]:
    judge = ParameterJudge(template, params, "-p")
    for index, point in enumerate(found.each):
        judge.values(index, point)
    return [*found.mistakes, *judge.mistakes(len(found.each))]


def mistakes(found: Points, template: Template = TEMPLATE, **params: str) -> list[str]:
    return [str(value) for value in judged(found, template, **params)]


def test_a_value_of_a_grid_is_wrong_once_however_many_runs_it_spoils(snapshot: SnapshotAssertion) -> None:
    text = "grid:\n  trees: [1, 99, many]\n  name: [a, b]\n  tres: [1]\n"
    assert mistakes(of_yaml(text, "g.yaml")) == snapshot


def test_what_all_runs_share_is_told_without_a_place_in_the_file(snapshot: SnapshotAssertion) -> None:
    assert mistakes(of_csv("name\na\nb\n", "r.csv"), trees="99") == snapshot
    assert mistakes(of_csv("name,trees\na,1\n", "r.csv"), trees="99") == snapshot


def test_a_parameter_is_missing_where_its_run_is_and_not_where_it_is_a_mistake_by_itself(
    snapshot: SnapshotAssertion,
) -> None:
    assert mistakes(of_csv("name,trees\na,1\n,99\n", "r.csv")) == snapshot
    assert mistakes(of_yaml("- {name: {a}, trees: 99}\n- 5\n", "l.yaml")) == snapshot
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

"""A sweep's file: its points in order, and what is wrong with it by its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.errors import ConfigError
from slipway.sweeps.points import MOST, Content, points, read


def values(tmp_path: Path, name: str, text: str) -> list[dict[str, str]]:
    (tmp_path / name).write_text(text)
    return [dict(point.values) for point in read(tmp_path / name)]


def refused(tmp_path: Path, name: str, text: str) -> str:
    with pytest.raises(ConfigError) as error:
        values(tmp_path, name, text)
    assert error.value.fix
    return error.value.what.replace(f"{tmp_path}/", "")


def test_a_grid_is_every_combination_and_its_last_name_varies_fastest(tmp_path: Path) -> None:
    found = values(tmp_path, "g.yaml", "grid:\n  trees: [100, 200]\n  seed: [1, 2]\n")
    assert found == [
        {"trees": "100", "seed": "1"},
        {"trees": "100", "seed": "2"},
        {"trees": "200", "seed": "1"},
        {"trees": "200", "seed": "2"},
    ]


def test_a_range_has_both_ends(tmp_path: Path) -> None:
    assert values(tmp_path, "g.yaml", "grid: {seed: {from: 0, to: 2}}") == [{"seed": "0"}, {"seed": "1"}, {"seed": "2"}]
    rates = values(tmp_path, "g.yaml", "grid: {rate: {from: 0.1, to: 0.3, step: 0.1}}")
    assert [one["rate"] for one in rates] == ["0.1", "0.2", "0.3"]
    down = values(tmp_path, "g.yaml", "grid: {seed: {from: 3, to: 1, step: -1}}")
    assert [one["seed"] for one in down] == ["3", "2", "1"]


def test_a_list_is_its_entries_with_every_combination_of_the_grid(tmp_path: Path) -> None:
    text = "list:\n- {trees: 100}\n- {trees: 200, folds: 5}\ngrid: {seed: [1, 2]}\n"
    assert values(tmp_path, "l.yml", text) == [
        {"trees": "100", "seed": "1"},
        {"trees": "100", "seed": "2"},
        {"trees": "200", "folds": "5", "seed": "1"},
        {"trees": "200", "folds": "5", "seed": "2"},
    ]
    assert values(tmp_path, "l.yml", "- {trees: 1}\n- {trees: 1}\n") == [{"trees": "1"}, {"trees": "1"}]


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
    assert [point.where.rpartition("/")[2] for point in read(tmp_path / "r.csv")] == ["r.csv:2", "r.csv:4"]
    (tmp_path / "g.yaml").write_text("list:\n- {a: 1}\ngrid: {b: [2]}\n")
    assert [point.where.rpartition("/")[2] for point in read(tmp_path / "g.yaml")] == ["g.yaml:2 (b=2)"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("g.yaml", "", "g.yaml: is not a sweep"),
        ("g.yaml", "trees: [1]", "g.yaml: 'trees' is neither grid nor list"),
        ("g.yaml", "grid: {}", "g.yaml: has no point"),
        ("g.yaml", "list: []", "g.yaml: has no point"),
        ("g.yaml", "grid: {trees: []}", "g.yaml: grid: trees has no values"),
        ("g.yaml", "grid: {trees: 5}", "g.yaml: grid: trees has no list of values"),
        ("g.yaml", "grid: {trees: [[1]]}", "g.yaml: grid: trees holds something that is not one value"),
        ("g.yaml", "grid: {trees: {from: 1}}", "g.yaml: grid: trees is not a range"),
        ("g.yaml", "grid: {trees: {from: a, to: b}}", "is a range of something that is not a number"),
        ("g.yaml", "grid: {trees: {from: 1, to: 9, step: 0}}", "is a range of something that is not a number"),
        ("g.yaml", "grid: {trees: {from: 1, to: nan}}", "is a range of something that is not a number"),
        ("g.yaml", "grid: {trees: {from: 9, to: 1}}", "goes from 9 to 1 and never gets there"),
        ("g.yaml", "grid: {trees: {from: 0, to: 1e99}}", "g.yaml: grid: trees has 1"),
        ("g.yaml", "grid: {trees: {from: 0, to: 1e9999}}", "g.yaml: grid: trees has far too many values"),
        ("g.yaml", "list: [{trees: 1}]\ngrid: {trees: [1]}", "g.yaml: trees is in both the grid and the list"),
        ("g.yaml", "list:\n- {a: 1}\n- 5\n", "g.yaml:3: a point must name its parameters"),
        ("g.yaml", "- {a: [1]}\n", "g.yaml:1: a is not one value"),
        ("g.yaml", "- {a: 1, a: 2}\n", "g.yaml:1: a appears twice"),
        ("g.yaml", "- {a: 1\n", "g.yaml:2: expected ',' or '}'"),
        ("g.yaml", "- &x {a: *x}\n", "g.yaml: expands to more than a sweep can hold"),
        ("g.json", "{", "g.json: Expecting property name"),
        ("g.json", '[{"a": 1, "a": 2}]', "g.json: a appears twice"),
        ("g.json", "[" * 900 + "]" * 900, "g.json: maximum recursion depth exceeded"),
        ("g.csv", "", "g.csv:1: the first line must name each parameter once"),
        ("g.csv", "a,a\n1,2\n", "g.csv:1: the first line must name each parameter once"),
        ("g.csv", "a,b\n1\n", "g.csv:2: 1 cells under 2 names"),
        ("g.csv", "a\n", "g.csv: has no point"),
        ("g.txt", "a", "g.txt is not a sweep file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert said in refused(tmp_path, name, text)


def test_a_grid_that_multiplies_too_far_is_refused_before_it_is_made(tmp_path: Path) -> None:
    axes = ", ".join(f"p{index}: {{from: 1, to: 1000}}" for index in range(9))
    assert "makes 1,000,000,000,000,000,000,000,000,000 runs" in refused(tmp_path, "g.yaml", f"grid: {{{axes}}}")
    axes_ = {f"p{index}": [str(n) for n in range(10)] for index in range(4500)}
    with pytest.raises(ConfigError, match="makes far too many runs"):
        points(Content("f", {"grid": axes_}))
    assert len(points(Content("f", {"grid": {"a": [str(n) for n in range(MOST)]}}))) == MOST


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't read") as error:
        read(tmp_path / "gone.yaml")
    assert error.value.fix == "sweep='FILE', in UTF-8"


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    from slipway.sweeps.points import _csv, _json, _yaml

    for reader in (_yaml, _json, _csv):
        try:
            points(reader(text, "f"))
        except ConfigError as error:
            assert error.what.startswith("f")


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_a_grid_has_as_many_points_as_its_axes_make(sizes: list[int]) -> None:
    grid = {f"p{index}": [str(value) for value in range(size)] for index, size in enumerate(sizes)}
    found = points(Content("f", {"grid": grid}))
    count = 1
    for size in sizes:
        count *= size
    assert len(found) == len({tuple(point.values.items()) for point in found}) == count

"""The points of a sweep as given: a file (YAML, JSON, CSV), by line and column, or the values of a Python call."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from json import JSONDecodeError
from numbers import Real
from pathlib import Path
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted
from slipway.model.catalog.placeholders import render, single
from slipway.using.sweeps.points import MOST, SHAPE, Node, PointMistake, Points, points

_NULL = "tag:yaml.org,2002:null"
_LARGEST = 16 * 2**20
_DEEPEST = 8
_CELL = re.compile(r'"(?:[^"]|"")*"|[^,]*')

Value = str | float | Sequence[str | float] | None
Runs = Mapping[str, Iterable[Value]] | Iterable[Mapping[str, Value]] | str | os.PathLike[str]
"""The runs of a call: `{"trees": [100, 200], "seed": range(10)}` is every combination, `[{"trees": 100}, {"trees": 200,
"seed": 3}]` a run for each entry (None is the default), and a text the path of a sweep's file."""

_FIX = 'runs={"trees": [100, 200]}, for every combination, or runs=[{"trees": 100}, {"trees": 200}]'


def read(path: Path) -> Points:
    """Return the points of a file, with their mistakes. Raises ConfigError for a file in none of these formats."""
    reader = {".yaml": of_yaml, ".yml": of_yaml, ".json": of_json, ".csv": of_csv}.get(path.suffix.lower())
    if reader is None:
        suffix = f"{path.suffix} is not a known suffix" if path.suffix else "its name has no suffix"
        why = f"{suffix}: .yaml, .json or .csv names its format"
        raise ConfigError(f"{path} is not a sweep file", why=why, fix=({"runs": "grid.yaml"},))
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} is larger than {_LARGEST >> 20} MB", fix="split it into several sweeps")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        why = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise ConfigError(f"can't read {path}", why=why, fix=({"runs": "FILE"}, ", in UTF-8")) from problem
    return reader(text, str(path))


def of_yaml(text: str, file: str) -> Points:
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        return points(file, None if root is None else _Yaml(file).node(root))
    except (yaml.YAMLError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or str(problem)
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        raise ConfigError(f"{place}: {what}", why="not valid YAML", fix=SHAPE) from problem


class _Yaml:
    """A converter of YAML's nodes to ours. Aliases may repeat a value, but neither multiply nor contain themselves."""

    def __init__(self, file: str) -> None:
        self._file, self._nodes_left = file, 20 * MOST

    def node(self, node: Any, depth: int = 0) -> Node:
        self._nodes_left -= 1
        if self._nodes_left < 0 or depth > _DEEPEST:
            raise ConfigError(f"{self._file}: expands to more than a sweep can hold", fix=SHAPE)
        place = f"{self._file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        if node.id == "scalar":
            return Node(place) if node.tag == _NULL else Node(place, _joined(node.value))
        if node.id == "sequence":
            return Node(place, items=tuple(self.node(item, depth + 1) for item in node.value))
        return Node(
            place, entries=tuple((self.node(key, depth), self.node(item, depth + 1)) for key, item in node.value)
        )


def _joined(text: str) -> str:
    """Return the text with each pair of surrogate escapes, which JSON writes for one character, made one."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def of_json(text: str, file: str) -> Points:
    """Read JSON as YAML, whose reader tells the place of every value. YAML takes no tabs where JSON may have them."""
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except JSONDecodeError as problem:
        place = f"{file}:{problem.lineno}:{problem.colno}"
        raise ConfigError(f"{place}: {problem.msg}", why="not valid JSON", fix=SHAPE) from problem
    except RecursionError as problem:
        raise ConfigError(f"{file}: {problem}", why="not valid JSON", fix=SHAPE) from problem
    return of_yaml(text.replace("\t", " "), file)


def of_csv(text: str, file: str) -> Points:
    """Read a table with names in the first line; an empty cell is the parameter's default."""
    lines = list(io.StringIO(text))
    reader = csv.reader(lines, strict=True)
    mistakes: list[PointMistake] = []
    rows: list[Node] = []
    try:
        header = _cells(next(reader, []), lines, 0, file)
        names = [Node(cell.place, (cell.text or "").strip()) for cell in header]
        texts = [name.text for name in names]
        wrong = [name for index, name in enumerate(names) if not name.text or name.text in texts[:index]]
        if wrong or not names:
            place = wrong[0].place if wrong else f"{file}:1"
            mistakes.append(PointMistake(place, "the first line must name each parameter once", "trees,seed"))
        lines_read = reader.line_num
        for row in reader:
            cells = _cells(row, lines[lines_read : reader.line_num], lines_read, file)
            lines_read = reader.line_num
            if not any(cell.text for cell in cells):
                continue
            if len(cells) != len(names):
                place = cells[min(len(cells) - 1, len(names))].place
                mistakes.append(
                    PointMistake(place, f"{counted(len(cells), 'cell')} under {counted(len(names), 'name')}")
                )
                continue
            entries = tuple((name, cell) for name, cell in zip(names, cells, strict=True) if name not in wrong)
            rows.append(Node(cells[0].place, entries=entries))
    except csv.Error as problem:
        raise ConfigError(f"{file}:{reader.line_num}: {problem}", why="not valid CSV", fix=SHAPE) from problem
    return points(file, Node(file, items=tuple(rows)) if rows or not mistakes else None, mistakes)


def _cells(row: Sequence[str], lines: Sequence[str], before: int, file: str) -> list[Node]:
    """Return the cells of a row that is written in `lines`, after `before` lines; an empty cell is null."""
    cells: list[Node] = []
    written, offset = "".join(lines), 0
    for cell in row:
        line, line_start = written.count("\n", 0, offset), written.rfind("\n", 0, offset) + 1
        cells.append(Node(f"{file}:{before + line + 1}:{offset - line_start + 1}", cell if cell.strip() else None))
        match = _CELL.match(written, offset)
        offset = match.end() + 1 if match else offset
    return cells


def points_of(runs: Runs) -> Points:
    """Return points with their mistakes, by the numbers of runs, or by the place among a parameter's values:
    `trees[1]`.

    Raises ConfigError for a file that can't be read.
    """
    if isinstance(runs, str | os.PathLike):
        return read(Path(os.fsdecode(runs)))
    if isinstance(runs, Mapping):
        axes = tuple((Node(str(name), str(name)), _node(values, str(name))) for name, values in runs.items())
        root = Node("runs", entries=((Node("runs", "grid"), Node("runs", entries=axes)),))
    else:
        numbered = ((f"run {number}", run) for number, run in enumerate(islice(runs, MOST + 1)))
        # Anything but a mapping is a mistake as a whole.
        each = (_node(run, place) if isinstance(run, Mapping) else Node(place) for place, run in numbered)
        root = Node("runs", items=tuple(each))
    read_points = points("runs", root)
    mistakes = (replace(mistake, fix=_fix(mistake, runs)) for mistake in read_points.mistakes)
    return replace(read_points, mistakes=tuple(mistakes))


def _fix(mistake: PointMistake, runs: object) -> str:
    """Return the way out of a mistake in points of Python."""
    value = single(runs.get(mistake.place)) if isinstance(runs, Mapping) else None
    if isinstance(value, str | Real):
        return f"{{{mistake.place!r}: [{value!r}]}}"
    return _FIX


def _node(value: object, place: str) -> Node:
    """Return a node. A value that is neither text nor number, nor a list or mapping of these, becomes a mapping without
    names, which is refused."""
    value = single(value)
    if value is None:
        return Node(place)
    if isinstance(value, str | Real):
        try:
            return Node(place, render(value))
        except ValueError:  # Python writes no whole number of thousands of digits.
            return Node(place, entries=())
    if isinstance(value, Mapping):
        pairs = ((Node(place, str(name)), _node(inner, place)) for name, inner in value.items())
        return Node(place, entries=tuple(pairs))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        # A set of texts has another order in each process, and each order would give the sweep another id.
        ordered = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        listed: Sequence[object] = list(islice(ordered, MOST + 1))
        return Node(place, items=tuple(_node(item, f"{place}[{index}]") for index, item in enumerate(listed)))
    return Node(place, entries=())

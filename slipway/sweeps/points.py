"""The points of a sweep: one set of parameters for each run, by a file (YAML, JSON, CSV) with a grid, a list, or both.

Values stay the text that was written (`0.10`, `1e-3`, `yes`), as on the command line; the template's types judge
them later. `null` leaves a parameter out, which means its default.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from slipway.errors import ConfigError
from slipway.formatting import quoted

MOST = 100_000
"""A grid multiplies quickly; nobody means more than this."""

SHAPE = "grid: {NAME: [VALUE, …], …}, or list: [{NAME: VALUE, …}, …], or a CSV with names in its first line"

_NULL = "tag:yaml.org,2002:null"
_LARGEST = 16 * 2**20
_DEEPEST = 8


@dataclass(frozen=True)
class Point:
    """`values` as text by parameter; `where` names its place in the file for errors."""

    values: Mapping[str, str]
    where: str


@dataclass(frozen=True)
class Content:
    """A file's content: nested mappings, lists and texts; `lines` of the entries of its list, from 1, if known."""

    file: str
    tree: Any
    lines: tuple[int, ...] = ()

    def wrong(self, what: str, fix: str = "") -> ConfigError:
        return ConfigError(f"{self.file}: {what}", fix=fix or SHAPE)


def points(content: Content) -> tuple[Point, ...]:
    """All points in order: each entry of the list with each combination of the grid, whose last name varies fastest.

    Raises ConfigError for a file of another shape, one without a point, and one with too many.
    """
    tree = content.tree
    if isinstance(tree, Sequence) and not isinstance(tree, str):
        tree = {"list": tree}
    if not isinstance(tree, Mapping):
        raise content.wrong("is not a sweep: it holds neither a grid nor a list")
    unknown = [key for key in tree if key not in ("grid", "list")]
    if unknown:
        raise content.wrong(f"{quoted(unknown[0])} is neither grid nor list")
    rows = _rows(content, tree["list"]) if "list" in tree else [({}, content.file)]
    axes = _axes(content, tree["grid"]) if "grid" in tree else {}
    count = len(rows) * prod(len(values) for values in axes.values())
    if count > MOST:
        raise content.wrong(f"makes {_many(count)} runs", fix=f"at most {MOST:,} in one sweep: split it")
    twice = sorted({name for row, _ in rows for name in row} & set(axes))
    if twice:
        raise content.wrong(f"{twice[0]} is in both the grid and the list", fix="leave it in one of them")
    found = tuple(Point(values, where) for values, where in _combined(rows, axes, content.file))
    if not found or not ("list" in tree or axes):
        raise content.wrong("has no point, so there is nothing to run")
    return found


def _combined(
    rows: Sequence[tuple[Mapping[str, str], str]], axes: Mapping[str, tuple[str, ...]], file: str
) -> Iterator[tuple[Mapping[str, str], str]]:
    for row, where in rows:
        for combination in product(*axes.values()):
            chosen = dict(zip(axes, combination, strict=True))
            place = ", ".join(f"{name}={value}" for name, value in chosen.items())
            yield {**row, **chosen}, f"{where} ({place})" if place and where != file else where


def _rows(content: Content, tree: Any) -> list[tuple[Mapping[str, str], str]]:
    if not isinstance(tree, Sequence) or isinstance(tree, str):
        raise content.wrong("list: must be a list of points")
    found: list[tuple[Mapping[str, str], str]] = []
    for index, entry in enumerate(tree):
        where = f"{content.file}:{content.lines[index]}" if index < len(content.lines) else f"{content.file}[{index}]"
        if not isinstance(entry, Mapping):
            raise ConfigError(f"{where}: a point must name its parameters", fix="- {NAME: VALUE, …}")
        nested = [name for name, value in entry.items() if not isinstance(value, str | None)]
        if nested:
            raise ConfigError(f"{where}: {nested[0]} is not one value", fix="one value for each parameter of a point")
        found.append(({name: value for name, value in entry.items() if value is not None}, where))
    return found


def _axes(content: Content, tree: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(tree, Mapping):
        raise content.wrong("grid: names parameters with their values")
    return {name: _axis(content, name, values) for name, values in tree.items()}


def _axis(content: Content, name: str, values: Any) -> tuple[str, ...]:
    if isinstance(values, Mapping):
        return _range(content, name, values)
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise content.wrong(f"grid: {name} has no list of values", fix=f"{name}: [VALUE, …], or {{from: 0, to: 9}}")
    if not all(isinstance(value, str) for value in values):
        raise content.wrong(f"grid: {name} holds something that is not one value")
    if not values:
        raise content.wrong(f"grid: {name} has no values, so there is nothing to run")
    return tuple(values)


def _range(content: Content, name: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    fix = f"{name}: {{from: 0, to: 9, step: 1}}, both ends included"
    if not {"from", "to"} <= set(given) <= {"from", "to", "step"}:
        raise content.wrong(f"grid: {name} is not a range", fix=fix)
    try:
        first, last, step = (Decimal(str(given.get(key, "1"))) for key in ("from", "to", "step"))
        count = int((last - first) / step) + 1 if (last - first) * step >= 0 else 0
    except ArithmeticError:
        raise content.wrong(f"grid: {name} is a range of something that is not a number", fix=fix) from None
    if count > MOST:
        raise content.wrong(f"grid: {name} has {_many(count)} values", fix=f"at most {MOST:,} in one sweep")
    if count < 1:
        raise content.wrong(f"grid: {name} goes from {first} to {last} and never gets there", fix=fix)
    return tuple(str(first + step * index) for index in range(count))


def _many(count: int) -> str:
    """Python does not write out numbers of thousands of digits."""
    return f"{count:,}" if count < 10**100 else "far too many"


def read(path: Path) -> tuple[Point, ...]:
    """The points of the file. Raises ConfigError with the file's name, and the line where it is known."""
    reader = {".yaml": _yaml, ".yml": _yaml, ".json": _json, ".csv": _csv}.get(path.suffix.lower())
    if reader is None:
        why = f"{path.suffix or 'no suffix'} is not .yaml, .json or .csv"
        raise ConfigError(f"{path} is not a sweep file", why=why, fix=({"sweep": "grid.yaml"},))
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} is larger than {_LARGEST >> 20} MB", fix="split it into several sweeps")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"can't read {path}", why=str(problem), fix=({"sweep": "FILE"}, ", in UTF-8")) from problem
    return points(reader(text, str(path)))


def _yaml(text: str, file: str) -> Content:
    import yaml

    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        tree = None if root is None else _Plain(file).value(root)
    except (yaml.YAMLError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or str(problem)
        raise ConfigError(
            f"{file}{f':{mark.line + 1}' if mark else ''}: {what}", why="not valid YAML", fix=SHAPE
        ) from problem
    return Content(file, tree, tuple(_lines(root)))


class _Plain:
    """YAML's nodes as plain values. Aliases may repeat a value, but neither multiply nor contain themselves."""

    def __init__(self, file: str) -> None:
        self._file, self._left = file, 20 * MOST

    def value(self, node: Any, depth: int = 0) -> Any:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise ConfigError(f"{self._file}: expands to more than a sweep can hold", fix=SHAPE)
        if node.id == "scalar":
            return None if node.tag == _NULL else node.value
        if node.id == "sequence":
            return [self.value(item, depth + 1) for item in node.value]
        found: dict[str, Any] = {}
        for key, item in node.value:
            if key.id != "scalar":
                raise ConfigError(f"{self._file}:{key.start_mark.line + 1}: a name must be a single string", fix=SHAPE)
            if key.value in found:
                raise ConfigError(
                    f"{self._file}:{key.start_mark.line + 1}: {key.value} appears twice",
                    fix="name each parameter once",
                )
            found[key.value] = self.value(item, depth + 1)
        return found


def _lines(root: Any) -> Iterable[int]:
    """The lines of the entries of the list, which is the root or the value of `list`."""
    if root is not None and root.id == "mapping":
        root = next((item for key, item in root.value if key.value == "list"), None)
    if root is not None and root.id == "sequence":
        yield from (item.start_mark.line + 1 for item in root.value)


def _json(text: str, file: str) -> Content:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"{file}: {twice} appears twice", fix="name each parameter once")
        return dict(pairs)

    try:
        tree = _worded(json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=unique))
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file}: {problem}", why="not valid JSON", fix=SHAPE) from problem
    return Content(file, tree)


def _worded(tree: Any) -> Any:
    """true and false as they are written."""
    if isinstance(tree, bool):
        return "true" if tree else "false"
    if isinstance(tree, dict):
        return {name: _worded(value) for name, value in tree.items()}
    return [_worded(value) for value in tree] if isinstance(tree, list) else tree


def _csv(text: str, file: str) -> Content:
    """Names in the first line; an empty cell is the parameter's default."""
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
        if not names or not all(names) or len(set(names)) < len(names):
            raise ConfigError(f"{file}:1: the first line must name each parameter once", fix="trees,seed")
        rows, lines = [], []
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if len(row) != len(names):
                raise ConfigError(f"{file}:{reader.line_num}: {len(row)} cells under {len(names)} names", fix=SHAPE)
            rows.append({name: cell if cell.strip() else None for name, cell in zip(names, row, strict=True)})
            lines.append(reader.line_num)
    except csv.Error as problem:
        raise ConfigError(f"{file}:{reader.line_num}: {problem}", why="not valid CSV", fix=SHAPE) from problem
    return Content(file, rows, tuple(lines))

"""Reading a sweep's file: YAML, JSON or CSV, with every scalar kept as the text that was written."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slipway.errors import ConfigError
from slipway.sweep.points import MOST, SHAPE, Content, Point, points

_NULL = "tag:yaml.org,2002:null"
_LARGEST = 16 * 2**20
_DEEPEST = 8


def read(path: Path) -> tuple[Point, ...]:
    """The points of the file. Raises ConfigError with the file's name, and the line where it is known."""
    reader = {".yaml": _yaml, ".yml": _yaml, ".json": _json, ".csv": _csv}.get(path.suffix.lower())
    if reader is None:
        why = f"{path.suffix or 'no suffix'} is not .yaml, .json or .csv"
        raise ConfigError(f"{path} is not a sweep file", why=why, fix="--sweep grid.yaml")
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} is larger than {_LARGEST >> 20} MB", fix="split it into several sweeps")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise ConfigError(f"can't read {path}", why=str(problem), fix="--sweep FILE, a UTF-8 file") from problem
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
                raise ConfigError(f"{self._file}:{key.start_mark.line + 1}: a name is a single string", fix=SHAPE)
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
            raise ConfigError(f"{file}:1: the first line names each parameter once", fix="trees,seed")
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

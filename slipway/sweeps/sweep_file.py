"""Reads a sweep's file (YAML, JSON, CSV) into its content, with the line and column of everything in it."""

from __future__ import annotations

import csv
import io
import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import Any

from slipway.errors import ConfigError
from slipway.formatting import counted
from slipway.sweeps.mistakes import SHAPE, Mistake
from slipway.sweeps.points import MOST, Content, Node, Points, points

_NULL = "tag:yaml.org,2002:null"
_LARGEST = 16 * 2**20
_DEEPEST = 8
_ONCE = "name each parameter once"

_SPACE = re.compile(r"[ \t\n\r]*")
_WORD = re.compile(r"[^][{},\s]+")
_CELL = re.compile(r'"(?:[^"]|"")*"|[^,]*')


def read(path: Path) -> Points:
    """The points of the file, with their mistakes. Raises ConfigError for one that is none of these formats."""
    reader = {".yaml": of_yaml, ".yml": of_yaml, ".json": of_json, ".csv": of_csv}.get(path.suffix.lower())
    if reader is None:
        why = f"{path.suffix or 'no suffix'} is not .yaml, .json or .csv"
        raise ConfigError(f"{path} is not a sweep file", why=why, fix=({"sweep": "grid.yaml"},))
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigError(f"{path} is larger than {_LARGEST >> 20} MB", fix="split it into several sweeps")
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        why = (problem.strerror if isinstance(problem, OSError) else None) or str(problem)
        raise ConfigError(f"can't read {path}", why=why, fix=({"sweep": "FILE"}, ", in UTF-8")) from problem
    return points(reader(text, str(path)))


def of_yaml(text: str, file: str) -> Content:
    import yaml

    reader = _Yaml(file)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        node = None if root is None else reader.node(root)
    except (yaml.YAMLError, RecursionError) as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or str(problem)
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        raise ConfigError(f"{place}: {what}", why="not valid YAML", fix=SHAPE) from problem
    return Content(file, node, tuple(reader.mistakes))


class _Yaml:
    """YAML's nodes as ours. Aliases may repeat a value, but neither multiply nor contain themselves."""

    def __init__(self, file: str) -> None:
        self._file, self._left = file, 20 * MOST
        self.mistakes: list[Mistake] = []

    def node(self, node: Any, depth: int = 0) -> Node:
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise ConfigError(f"{self._file}: expands to more than a sweep can hold", fix=SHAPE)
        place = self._place(node)
        if node.id == "scalar":
            return Node(place) if node.tag == _NULL else Node(place, node.value)
        if node.id == "sequence":
            return Node(place, items=tuple(self.node(item, depth + 1) for item in node.value))
        return Node(place, entries=_once(self._entries(node, depth), self.mistakes))

    def _entries(self, node: Any, depth: int) -> Iterator[tuple[Node, Node]]:
        for key, item in node.value:
            if key.id == "scalar":
                yield Node(self._place(key), key.value), self.node(item, depth + 1)
            else:
                self.mistakes.append(Mistake(self._place(key), "a name must be a single string"))

    def _place(self, node: Any) -> str:
        return f"{self._file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"


def of_json(text: str, file: str) -> Content:
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
        reader = _Json(text, file)
        node = reader.node(0)[0]
    except JSONDecodeError as problem:
        place = f"{file}:{problem.lineno}:{problem.colno}"
        raise ConfigError(f"{place}: {problem.msg}", why="not valid JSON", fix=SHAPE) from problem
    except (ValueError, RecursionError) as problem:
        raise ConfigError(f"{file}: {problem}", why="not valid JSON", fix=SHAPE) from problem
    return Content(file, node, tuple(reader.mistakes))


class _Json:
    """Where everything is in a text that is known to be valid JSON, which the library's own parser does not tell.
    Numbers, `true` and `false` stay as they are written."""

    def __init__(self, text: str, file: str) -> None:
        self._text, self._file, self._decoder = text, file, JSONDecoder()
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self.mistakes: list[Mistake] = []

    def node(self, at: int) -> tuple[Node, int]:
        """What begins at or after `at`, and where it ends."""
        at = self._after_space(at)
        place, begin = self._place(at), self._text[at]
        if begin == '"':
            text, end = self._decoder.raw_decode(self._text, at)
            return Node(place, text), end
        if begin == "[":
            return self._items(at, place)
        if begin == "{":
            return self._entries(at, place)
        word = _WORD.match(self._text, at)
        assert word is not None, "json.loads has taken it"
        return Node(place, None if word[0] == "null" else word[0]), word.end()

    def _items(self, at: int, place: str) -> tuple[Node, int]:
        found: list[Node] = []
        at = self._after_space(at + 1)
        while self._text[at] != "]":
            item, at = self.node(at)
            found.append(item)
            at = self._after_comma(at)
        return Node(place, items=tuple(found)), at + 1

    def _entries(self, at: int, place: str) -> tuple[Node, int]:
        found: list[tuple[Node, Node]] = []
        at = self._after_space(at + 1)
        while self._text[at] != "}":
            key, at = self.node(at)
            value, at = self.node(self._after_space(at) + 1)
            found.append((key, value))
            at = self._after_comma(at)
        return Node(place, entries=_once(found, self.mistakes)), at + 1

    def _after_space(self, at: int) -> int:
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def _after_comma(self, at: int) -> int:
        at = self._after_space(at)
        return self._after_space(at + 1) if self._text[at] == "," else at

    def _place(self, at: int) -> str:
        line = bisect_right(self._lines, at)
        return f"{self._file}:{line}:{at - self._lines[line - 1] + 1}"


def of_csv(text: str, file: str) -> Content:
    """Names in the first line; an empty cell is the parameter's default."""
    lines = list(io.StringIO(text))
    reader = csv.reader(lines, strict=True)
    mistakes: list[Mistake] = []
    rows: list[Node] = []
    try:
        header = _cells(next(reader, []), lines, 0, file)
        names = [Node(cell.place, (cell.text or "").strip()) for cell in header]
        known = [one.text for one in names]
        wrong = [one for place, one in enumerate(names) if not one.text or one.text in known[:place]]
        if wrong or not names:
            place = wrong[0].place if wrong else f"{file}:1"
            mistakes.append(Mistake(place, "the first line must name each parameter once", "trees,seed"))
        begin = reader.line_num
        for row in reader:
            cells, begin = _cells(row, lines[begin : reader.line_num], begin, file), reader.line_num
            if not any(one.text for one in cells):
                continue
            if len(cells) != len(names):
                place = cells[min(len(cells) - 1, len(names))].place
                mistakes.append(Mistake(place, f"{counted(len(cells), 'cell')} under {counted(len(names), 'name')}"))
                continue
            entries = tuple((name, cell) for name, cell in zip(names, cells, strict=True) if name not in wrong)
            rows.append(Node(cells[0].place, entries=entries))
    except csv.Error as problem:
        raise ConfigError(f"{file}:{reader.line_num}: {problem}", why="not valid CSV", fix=SHAPE) from problem
    return Content(file, Node(file, items=tuple(rows)) if rows or not mistakes else None, tuple(mistakes))


def _cells(row: Sequence[str], lines: Sequence[str], before: int, file: str) -> list[Node]:
    """The cells of a row that is written in `lines`, with so many lines before it; an empty one is null."""
    found: list[Node] = []
    written, at = "".join(lines), 0
    for cell in row:
        line, begin = written.count("\n", 0, at), written.rfind("\n", 0, at) + 1
        found.append(Node(f"{file}:{before + line + 1}:{at - begin + 1}", cell if cell.strip() else None))
        match = _CELL.match(written, at)
        at = match.end() + 1 if match else at
    return found


def _once(entries: Iterable[tuple[Node, Node]], mistakes: list[Mistake]) -> tuple[tuple[Node, Node], ...]:
    """Each name's first value; the others are mistakes."""
    found: dict[str, tuple[Node, Node]] = {}
    for key, value in entries:
        name = key.text or ""
        if name in found:
            mistakes.append(Mistake(key.place, f"{name} appears twice", _ONCE))
        else:
            found[name] = (key, value)
    return tuple(found.values())

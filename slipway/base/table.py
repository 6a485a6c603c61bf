"""Tables no wider than the terminal: unchanged where that fits, else wrapped at the spaces, else a block a row.

A word is never broken and nothing is left out: names are to be copied. A word that is wider than the terminal is a line
of its own. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len

_WIDEST = 100_000
_TALLEST = 4
"""The most lines of a cell: where one needs more, a block is easier to read."""
_GAP = 2
_FIELD = 10


@dataclass(frozen=True)
class TableLine:
    """A line."""

    text: str
    #: It names the contents of the others.
    head: bool = False


@dataclass(frozen=True)
class Table:
    """A table. A row with fewer cells than heads ends with a text that runs across the missing columns."""

    heads: Sequence[str]
    #: The rows' cells; an empty first cell repeats that of the row above.
    rows: Sequence[Sequence[str]]
    #: The heads of columns that are flush right.
    right: Sequence[str] = ()
    #: The heads of columns whose cells may be wrapped, as heads may be; other cells are kept in one piece.
    wraps: Sequence[str] = ()
    #: The number of first columns that name the row. Where a row is a block they stand above it, without their heads.
    names: int = 1
    #: Whether the first head says more than the cells below it, so that blocks keep it.
    title: bool = False

    @property
    def _columns(self) -> list[tuple[str, list[str]]]:
        rows = [self._cells(row) for row in self.rows]
        return [(head, [row[index] for row in rows]) for index, head in enumerate(self.heads)]

    def _cells(self, row: Sequence[str]) -> Sequence[str]:
        """Return a cell for each head; those below a running text are empty."""
        missing = len(self.heads) - len(row)
        return row if not missing else [*row[:-1], *[""] * (missing + 1)]

    def _runs_on(self, row: Sequence[str], widths: Sequence[int]) -> tuple[str, int]:
        """Return the running text, empty where there is none, and its first column on the screen."""
        before = widths[: len(row) - 1]
        return (row[-1] if len(row) < len(self.heads) else ""), sum(before) + _GAP * len(before)

    def lines(self, room: int | None) -> list[TableLine]:
        """Return lines no wider than `room`, None for any width."""
        widths = [max(map(_width, (head, *cells))) for head, cells in self._columns]
        if room is not None:
            fitting = self._fitting([min(width, room) for width in widths], room) if _total(widths) > room else widths
            if fitting is None or not self._texts_fit(fitting, room):
                return self._blocks(room)
            widths = fitting
        return self._grid(widths, room)

    def _fitting(self, widths: list[int], room: int) -> list[int] | None:
        """Narrow the widest until all fit; None where they can't, or the rows get too tall."""
        least = [
            max(_longest(head), *map(_longest if head in self.wraps else _width, cells))
            for head, cells in self._columns
        ]
        if _total(least) > room:
            return None
        while _total(widths) > room:
            index = max((at for at, width in enumerate(widths) if width > least[at]), key=widths.__getitem__)
            widths[index] -= 1
        rows = [self._cells(row) for row in self.rows]
        heights = (len(wrapped(cell, width)) for row in rows for cell, width in zip(row, widths, strict=True))
        return widths if max(heights) <= _TALLEST else None

    def _texts_fit(self, widths: Sequence[int], room: int) -> bool:
        texts = (self._runs_on(row, widths) for row in self.rows)
        return all(
            begin + _longest(text) <= room and len(wrapped(text, room - begin)) <= _TALLEST
            for text, begin in texts
            if text
        )

    def _grid(self, widths: Sequence[int], room: int | None) -> list[TableLine]:
        lines = []
        for number, row in enumerate((self.heads, *self.rows)):
            cells = [wrapped(cell, width) for cell, width in zip(self._cells(row), widths, strict=True)]
            own = [self._line(parts, widths) for parts in zip_longest(*cells, fillvalue="")]
            text, begin = self._runs_on(row, widths)
            # The lines of a text that runs across columns stand beside those of the row's own cells.
            beside = wrapped(text, room - begin if room else _WIDEST) if text else ()
            for line, more in zip_longest(own, beside, fillvalue=""):
                joined = f"{line}{' ' * (begin - cell_len(line))}{more}".rstrip() if more else line
                lines.append(TableLine(joined, head=number == 0))
        return lines

    def _line(self, parts: Iterable[str], widths: Iterable[int]) -> str:
        padded = []
        for head, part, width in zip(self.heads, parts, widths, strict=True):
            space = " " * (width - cell_len(part))
            padded.append(f"{space}{part}" if head in self.right else f"{part}{space}")
        return (" " * _GAP).join(padded).rstrip()

    def _blocks(self, room: int) -> list[TableLine]:
        lines = [TableLine(self.heads[0], head=True)] if self.title else []
        above = ""
        for row in self.rows:
            above = row[0] or above
            name = [above, *row[1 : self.names]]
            one_line = (" " * _GAP).join(name)
            lines += [TableLine(text, head=True) for text in ([one_line] if cell_len(one_line) <= room else name)]
            heads = self.heads if len(row) == len(self.heads) else [*self.heads[: len(row) - 1], ""]
            rest = zip(heads[self.names :], row[self.names :], strict=True)
            lines += map(TableLine, _flow([f"{head} {cell}".strip() for head, cell in rest if cell], room))
        return lines


def fields(facts: Iterable[tuple[str, str]], room: int | None) -> list[str]:
    """Return `key        value` for each: a value that is too long continues below its beginning."""
    lines = []
    for key, value in facts:
        begin, longest = f"{key:<{_FIELD}} ", _longest(value)
        if room is None or cell_len(begin) + _width(value) <= room:
            lines.append(f"{begin}{value}")
        elif cell_len(begin) + longest <= room:
            first, *others = wrapped(value, room - cell_len(begin))
            lines += [f"{begin}{first}", *(f"{' ' * cell_len(begin)}{other}" for other in others)]
        else:
            lines += [key, *(_indented(line, _GAP, room) for line in wrapped(value, room - _GAP))]
    return lines


def wrapped(text: str, room: int) -> list[str]:
    """Break lines at spaces alone: a word that is wider than `room` is a line of its own."""
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and cell_len(longer) > room:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return lines


def _flow(parts: Sequence[str], room: int) -> list[str]:
    """Put as many parts in a line as fit. A wider part has lines of its own, and continues with a larger indent."""
    lines, line = [], ""
    for part in parts:
        longer = f"{line}   {part}" if line else part
        if cell_len(longer) <= room - _GAP:
            line = longer
            continue
        if line:
            lines.append(_indented(line, _GAP, room))
        line = part
        if cell_len(part) > room - _GAP:
            first, *others = wrapped(part, room - 2 * _GAP)
            lines += [_indented(first, _GAP, room), *(_indented(other, 2 * _GAP, room) for other in others)]
            line = ""
    if line:
        lines.append(_indented(line, _GAP, room))
    return lines


def _indented(line: str, indent: int, room: int) -> str:
    return f"{' ' * indent}{line}" if indent + cell_len(line) <= room else line


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _longest(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)

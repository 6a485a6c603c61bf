"""Tables no wider than the terminal: as they are where that fits, else wrapped at the spaces, else a block a row.

A word is never broken and nothing is left out: names are to be copied. One that is wider than the terminal is a line of
its own. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

_WIDEST = 100_000
_TALLEST = 4
"""Lines of a cell: where one needs more, a block is easier to read."""
_GAP = 2
_FIELD = 10


@dataclass(frozen=True)
class Line:
    """A line; a `head` says what the others are about."""

    text: str
    head: bool = False


@dataclass(frozen=True)
class Table:
    """Columns under `heads`, those of `right` flush right. Cells of `wraps` may be wrapped, and heads; others are kept
    in one piece.

    The first `names` columns name the row, above its block where it is one; an empty first cell means that of the row
    above. Their heads are not told there, but for a `title`: a first head that says more than what is below it.
    """

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()
    wraps: Sequence[str] = ()
    names: int = 1
    title: bool = False

    @property
    def _columns(self) -> list[tuple[str, list[str]]]:
        return [(head, [row[index] for row in self.rows]) for index, head in enumerate(self.heads)]

    def lines(self, room: int | None) -> list[Line]:
        """Return lines no wider than `room`, None for as wide as they are."""
        widths = [max(map(_width, (head, *cells))) for head, cells in self._columns]
        if room is not None and _total(widths) > room:
            fitting = self._fitting([min(width, room) for width in widths], room)
            if fitting is None:
                return self._blocks(room)
            widths = fitting
        return self._grid(widths)

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
        heights = (len(wrapped(cell, width)) for row in self.rows for cell, width in zip(row, widths, strict=True))
        return widths if max(heights) <= _TALLEST else None

    def _grid(self, widths: Sequence[int]) -> list[Line]:
        grid = Grid(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), show_header=False)
        for head in self.heads:
            grid.add_column(justify="right" if head in self.right else "left", no_wrap=True)
        heads = [wrapped(head, width) for head, width in zip(self.heads, widths, strict=True)]
        grid.add_row(*(Text("\n".join(lines)) for lines in heads))
        for row in self.rows:
            grid.add_row(*(Text("\n".join(wrapped(cell, width))) for cell, width in zip(row, widths, strict=True)))
        shown = Console(width=_WIDEST).render_lines(grid, pad=False)
        texts = ["".join(segment.text for segment in line).rstrip() for line in shown]
        return [Line(text, head=place < max(map(len, heads))) for place, text in enumerate(texts)]

    def _blocks(self, room: int) -> list[Line]:
        found, above = [Line(self.heads[0], head=True)] if self.title else [], ""
        for row in self.rows:
            above = row[0] or above
            name = [above, *row[1 : self.names]]
            one_line = (" " * _GAP).join(name)
            found += [Line(text, head=True) for text in ([one_line] if cell_len(one_line) <= room else name)]
            rest = zip(self.heads[self.names :], row[self.names :], strict=True)
            found += map(Line, _flow([f"{head} {cell}".strip() for head, cell in rest if cell], room))
        return found


def fields(facts: Iterable[tuple[str, str]], room: int | None) -> list[str]:
    """`key        value` for each: a value that is too long goes on below its beginning."""
    found = []
    for key, value in facts:
        begin, longest = f"{key:<{_FIELD}} ", _longest(value)
        if room is None or cell_len(begin) + _width(value) <= room:
            found.append(f"{begin}{value}")
        elif cell_len(begin) + longest <= room:
            first, *others = wrapped(value, room - cell_len(begin))
            found += [f"{begin}{first}", *(f"{' ' * cell_len(begin)}{other}" for other in others)]
        else:
            found += [key, *(_indented(line, _GAP, room) for line in wrapped(value, room - _GAP))]
    return found


def wrapped(text: str, room: int) -> list[str]:
    """Break lines at spaces alone: a word that is wider than `room` is a line of its own."""
    found = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            if line and cell_len(longer) > room:
                found.append(line)
                longer = word
            line = longer
        found.append(line)
    return found


def _flow(parts: Sequence[str], room: int) -> list[str]:
    """Put as many parts in a line as fit. A wider one has lines of its own, and goes on further in."""
    found, line = [], ""
    for part in parts:
        longer = f"{line}   {part}" if line else part
        if cell_len(longer) <= room - _GAP:
            line = longer
            continue
        found += [_indented(line, _GAP, room)] if line else []
        line = part
        if cell_len(part) > room - _GAP:
            first, *others = wrapped(part, room - 2 * _GAP)
            found += [_indented(first, _GAP, room), *(_indented(other, 2 * _GAP, room) for other in others)]
            line = ""
    return [*found, _indented(line, _GAP, room)] if line else found


def _indented(line: str, indent: int, room: int) -> str:
    return f"{' ' * indent}{line}" if indent + cell_len(line) <= room else line


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _longest(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)

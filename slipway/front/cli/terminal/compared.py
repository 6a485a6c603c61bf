"""Jobs or runs side by side on the terminal: what differs as a table, what is the same below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slipway.base.formatting import exact, exact_span, short
from slipway.front.cli.terminal import screen
from slipway.model.catalog.parameter_types import Value
from slipway.model.catalog.placeholders import render
from slipway.using.jobs.comparison import PRICE, ComparedField
from slipway.using.jobs.results import number

_SECONDS = (("outcome", "waited"), ("outcome", "ran"), ("setting", "max-run"))

_ASSIGNED = ("parameter", "env", "secret", "setting", "label", "metric")
"""The groups whose fields are written `name=value` if all values are equal."""


def show_compared(
    names: Sequence[str], fields: Sequence[ComparedField], text: Callable[[ComparedField, int], str]
) -> None:
    """Print the fields of what has these names. `text` returns a field's text at a place among the names."""
    rows: list[list[str]] = []
    same: list[str] = []
    group = ""
    for field in fields:
        name = "price" if (field.group, field.name) == PRICE else short(field.name)
        if field.alike:
            same.append(f"{name}{'=' if field.group in _ASSIGNED else ' '}{text(field, 0)}")
            continue
        head = "" if field.group == group else field.group.upper()
        rows.append([head, name, *(text(field, place) for place in range(len(names)))])
        group = field.group
    screen.table(("", "", *names), rows, names=2, wraps=names)
    if same:
        screen.prose(f"alike: {', '.join(dict.fromkeys(same))}")


def compared_text(field: ComparedField, value: Value | None) -> str:
    """Return a value as text: a time in words, a metric rounded, other values as they are."""
    if value is None:
        return "–"
    if not isinstance(value, str | tuple) and (field.group, field.name) in _SECONDS:
        return exact_span(value) if field.group == "setting" else exact(value)
    if not isinstance(value, str | tuple) and field.group == "metric":
        return number(value)
    text = render(value)
    return screen.brief(text, 200) if text == " ".join(text.split()) else repr(text)

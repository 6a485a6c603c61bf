"""Two YAML documents compared value by value, within a second whatever they are. # N5"""

import time

import pytest

from slipway.reviewing.change.files import Sides
from slipway.reviewing.change.leaves import leaf_edits


def test_values_differ_by_their_path() -> None:
    (edit,) = leaf_edits(Sides("a: { b: 1, c: [x] }\n", "a:\n  c: [x]\n  b: 2\n"))
    assert (edit.name, edit.before, edit.after) == ("a.b", "1", "2")


def test_items_of_one_name_are_told_apart() -> None:
    (edit,) = leaf_edits(Sides("a: [{run: x}, {run: x, if: b}]", "a: [{run: x}, {run: x, if: c}]"))
    assert edit.before == "b" and "x 1" in edit.name


@pytest.mark.parametrize(
    "text",
    [
        "[" * 90_000,
        "{a: " * 40_000,
        "- " * 90_000,
        f"a: {'[' * 60}{']' * 60}",
        "".join(f"k{number}: {{ a: [x, y] }}\n" for number in range(9_000)),
        f"a: &a [{'x, ' * 4_900}]\nb: [{'*a, ' * 4_900}]",
    ],
)
def test_a_document_that_is_too_large_or_too_deep_is_one_value(text: str) -> None:
    start = time.monotonic()
    edits = leaf_edits(Sides("", text))
    assert edits[-1].name == "text" and edits[-1].after == text
    assert time.monotonic() - start < 4

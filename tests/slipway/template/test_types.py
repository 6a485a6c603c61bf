"""The types of a template's fields, however deep, and where they are."""

from typing import Any

import pytest

from slipway.kinds.settings import Study
from slipway.template import Disk, Image, Metric, Search, WorkerPool
from slipway.template.types import mistyped


@pytest.mark.parametrize("value", [WorkerPool("a", "b", tpu_topology=None), WorkerPool("a", "b", replicas="${n}")])
def test_what_is_as_declared_is_nobodys_news(value: WorkerPool) -> None:
    assert list(mistyped(value, WorkerPool)) == []
    assert list(mistyped(3, float)) == [] == list(mistyped((1, 0.5), tuple[float, ...]))


@pytest.mark.parametrize(
    ("value", "hint", "said"),
    [
        (True, float, "here: True is not a number"),
        (2.0, int | str, "here: 2.0 is not a whole number or a string"),
        ("a", tuple[str, ...], "here: 'a' is not a tuple"),
        ((1, "a"), tuple[int, ...], "here: 'a' is not a whole number"),
        ({"a": ("b", 1)}, dict[str, str | tuple[str, ...]], "here: 1 is not a string"),
        (WorkerPool("w", "m", Disk(5)), WorkerPool, "here.disk.type of w: 5 is not a string"),  # type: ignore[arg-type]
        (WorkerPool("w", "m", code=Image("i", ("a", None))), WorkerPool, "here.code.command of w: None is not"),  # type: ignore[arg-type]
        (
            Study((Metric("m", 1),), (Search("rate", "double", "x", 1),), 1, 1),  # type: ignore[arg-type]
            Study,
            "here.parameters.min of rate: 'x' is not a number or None",
        ),
    ],
)
def test_the_place_and_what_is_expected_there_are_named(value: Any, hint: Any, said: str) -> None:
    assert any(one.startswith(said) for one in mistyped(value, hint, "here"))

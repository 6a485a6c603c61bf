"""Parameters of a template, as reviews tell their changes: defaults, bounds, names. # N5 # N31"""

from dataclasses import replace
from typing import Any

import pytest

from slipway.model.catalog.template import Parameter
from tests.slipway.reviewing.rules.templates.two_ways import LORA, found


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ({"min": 1, "max": 9}, {"max": 9}, ["may have `n` below 1 too"]),
        ({"min": 1, "max": 9}, {}, ["may have `n` below 1 too and above 9 too"]),
        ({"choices": (1, 8)}, {"min": 1, "max": 8}, ["may have `n` of 1 to 8, not only its choices"]),
        (
            {"choices": (1, 8)},
            {"max": 4},
            ["with `n` `8` are refused", "may have `n` of at most 4, not only its choices"],
        ),
        ({"choices": (1, 8)}, {}, ["may have `n` of any value, not only its choices"]),
    ],
)
def test_bounds_say_what_is_refused_now_and_what_was_before(
    old: dict[str, Any], new: dict[str, Any], words: list[str]
) -> None:
    before, after = (replace(LORA, parameters=(Parameter("n", "int", 1, **side),)) for side in (old, new))
    assert [told.sentence.removeprefix("Submissions of `lora` ") for told in found(before, after)] == words

"""Phrases of the table with the values of a rule. # N5"""

import pytest

from slipway.reviewing.rules.table import phrase

COSTS = "it costs [{price}|an unknown amount][; it takes jobs of {team} alone]"
ENDS = "is [gone? gone already|busy? deleted [{when}|at once]|idle]"


@pytest.mark.parametrize(
    ("text", "values", "told"),
    [
        (COSTS, {"price": "$5", "team": "vision"}, "it costs $5; it takes jobs of vision alone"),
        (COSTS, {"price": "", "team": None}, "it costs an unknown amount"),
        (ENDS, {"gone": True, "busy": True, "when": ""}, "is gone already"),
        (ENDS, {"gone": False, "busy": True, "when": "later"}, "is deleted later"),
        (ENDS, {"gone": False, "busy": True, "when": ""}, "is deleted at once"),
        (ENDS, {"gone": False, "busy": False, "when": "later"}, "is idle"),
        ("[first?|then ]it goes", {"first": True}, "it goes"),
        ("[{a}]\n[{b}]\nit goes", {"a": "", "b": "$5"}, "$5; it goes"),
        ("[{it} of {team}]", {"team": "[vision|{it}]"}, "{it} of [vision|{it}]"),
    ],
)
def test_of_alternatives_the_first_stands_whose_values_are_there(
    text: str, values: dict[str, object], told: str
) -> None:
    assert phrase(text, values) == told


def test_a_value_that_no_rule_gives_is_a_fault() -> None:
    with pytest.raises(KeyError):
        phrase("it ends[ when {ended}]", {})

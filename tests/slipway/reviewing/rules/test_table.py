"""Phrases of the table with the values of a rule. # N5"""

import pytest

from slipway.reviewing.rules.table import phrase


def test_a_value_that_no_rule_gives_is_a_fault() -> None:
    with pytest.raises(KeyError):
        phrase("it ends[ when {ended}]", {})

"""Words that rules share. # N5"""

import pytest

from slipway.reviewing.rules.words import exact_span


@pytest.mark.parametrize(("seconds", "told"), [(5400, "1 h 30 min"), (302_400, "84 h"), (345_600, "4 days")])
def test_a_limit_of_time_is_told_as_it_is(seconds: int, told: str) -> None:
    assert exact_span(seconds) == told

"""Whether a first error said what to do: the rule by which a point is silent. # N4"""

import pytest

from bench.faults.play import told
from bench.faults.points import Point
from bench.faults.stage import Ran
from slipway.cloud.foreign_words import ON_ERROR

POINT = Point("create", "GET /x", 1, "token")
OUTPUTS = f'\nOutputs:\n    onError : "{ON_ERROR}"\n'


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("error: googleapi: Error 401: expired", False),
        ("error: googleapi: Error 401: expired" + OUTPUTS, True),
        ("error: could not read the catalog" + OUTPUTS, False),
        ("error: could not read the catalog\n  fix: try again" + OUTPUTS, True),
    ],
)
def test_the_outputs_of_a_stack_excuse_no_error_of_our_own(said: str, verdict: bool) -> None:
    assert told(Ran(1, said), POINT) is verdict


def test_a_command_that_goes_on_by_itself_says_when() -> None:
    said = "job-1  waiting 0:03  why is not known: The service is currently unavailable."
    assert not told(Ran(-2, said), POINT)
    assert told(Ran(-2, f"{said}  (looks at spot again in 0:57)"), POINT)


def test_nothing_has_to_be_said_when_all_went_well_or_the_command_itself_was_killed() -> None:
    assert told(Ran(0, ""), POINT)
    assert told(Ran(1, ""), Point("create", "GET /x", 1, "kill-engine"))

"""What costs more an hour than the stack lets pass unasked is sent once somebody confirms it. # W2 # N3 # N7"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .stack import Stack, held

SPOT = ("submit", "hello", "--capacity", "spot")


@pytest.fixture
def dear(stack: Stack) -> Iterator[Stack]:
    """The stack asks above a cent an hour, and has quota for Spot."""
    stack.catalog["confirmAbove"] = 0.01
    stack.publish()
    with stack.settings(quota={"custom_model_training_preemptible_cpus": 64}):
        yield stack


def test_without_a_terminal_nothing_is_sent_unless_the_flag_says_so(dear: Stack) -> None:
    refused = dear.run(*SPOT, "--request-id", "r1")
    assert refused.code == 5 and dear.jobs() == []
    assert "error: nothing was sent" in refused.err and "hello by spot" in refused.err
    assert "stack s" in refused.err and "asks above $0.01/h (slipway:workspace.confirmAbove)" in refused.err
    assert "fix: add --yes" in refused.err
    planned = dear.well(*SPOT, "--dry-run")
    assert "by spot: up to $0." in planned.err and "asks above $0.01/h" in planned.err
    dear.well(*SPOT, "--request-id", "r1", "--yes")
    assert len(dear.jobs()) == 1


def test_what_the_submission_may_move_on_to_is_confirmed_before_it_waits(dear: Stack) -> None:
    held(dear)
    moving = ("submit", "hello", "--wait-for", "pool=1s", "--then", "spot")
    assert dear.run(*moving).code == 5
    assert len(dear.jobs()) == 1, "the one that holds the pool"
    done = dear.well(*moving, "--yes")
    assert dear.jobs()[0]["labels"]["slipway-capacity-type"] == "spot"
    assert " --yes --request-id " in done.err, "the command that would resume it does not ask either"


def test_a_terminal_is_asked(dear: Stack) -> None:
    for typed in ("n", ""):
        done = dear.asked(*SPOT, answer=typed)
        assert "by spot: up to $0." in done.err and "Send it? [y/N]" in done.err
        assert done.code == 130 and dear.jobs() == [] and done.err.endswith("interrupted; nothing was sent\n")
    assert dear.asked(*SPOT, answer="y").code == 0 and len(dear.jobs()) == 1

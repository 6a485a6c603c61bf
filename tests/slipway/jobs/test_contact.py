"""What somebody who waits hears of a service that does not answer: at once, rarely then, and not for ever. # N4"""

from datetime import UTC, datetime, timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.cloud.failures import Answer, Call, Unavailable, failure
from slipway.context import Clock, Context
from slipway.errors import ConfigError
from slipway.jobs.contact import Contact

BUSY = failure(Call("read job 1"), Answer(503, "UNAVAILABLE", "busy"))


class Hands:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.at = 0.0
        begun = datetime(2026, 11, 21, 12, 1, tzinfo=UTC)
        self.clock = Clock(lambda: begun + timedelta(seconds=self.at), lambda: self.at)


def test_it_is_said_at_once_then_rarely_and_given_up_after_a_while(snapshot: SnapshotAssertion) -> None:
    hands = Hands()
    contact = Contact(hands.clock, 3600.0)
    assert contact.lost(BUSY) == "no contact (busy); still trying for 1 h; Ctrl-C loses nothing: the job goes on"
    said: list[str] = []
    for hands.at in range(5, 3600, 5):
        said += filter(None, [contact.lost(BUSY)])
    assert set(said) == snapshot and len(said) == 11
    hands.at = 3601.0
    with pytest.raises(Unavailable):
        contact.lost(BUSY)


def test_an_answer_begins_it_anew() -> None:
    hands = Hands()
    contact = Contact(hands.clock, 60.0, goes_on="the runs go on")
    assert contact.lost(BUSY).endswith(": the runs go on")
    hands.at = 59.0
    contact.there()
    hands.at = 90.0
    assert contact.lost(BUSY).startswith("no contact (busy)")


def test_what_only_shows_something_is_never_given_up() -> None:
    hands = Hands()
    contact = Contact(hands.clock, float("inf"), "logs are unread")
    assert contact.lost(BUSY).startswith("logs are unread (busy)")
    hands.at = 86_400.0
    assert contact.lost(BUSY).startswith("logs are unread since")


def test_how_long_is_a_setting() -> None:
    assert Context(environ={}).no_contact == 3600.0
    assert Context(environ={"SLIPWAY_NO_CONTACT": "12h"}).no_contact == 43_200.0
    with pytest.raises(ConfigError):
        assert Context(environ={"SLIPWAY_NO_CONTACT": "long"}).no_contact

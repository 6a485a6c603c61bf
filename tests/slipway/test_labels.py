"""Labels: what is written into them, and what is read out of them again."""

import re

from hypothesis import given
from hypothesis import strategies as st

from slipway.labels import label_value, roles_of, roles_value


@given(st.text())
def test_whatever_the_user_is_called_the_label_is_valid(text: str) -> None:
    assert re.fullmatch(r"([a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?)?", label_value(text))


def test_a_user_stays_readable() -> None:
    assert label_value("Ada.Lovelace@acme.example") == "ada-lovelace-acme-example"


@given(st.lists(st.from_regex(r"[a-z][a-z0-9_-]{0,8}[a-z0-9]", fullmatch=True), min_size=1, max_size=4))
def test_roles_survive_their_label(roles: list[str]) -> None:
    assert len(roles_of(roles_value(tuple(roles)))) == len(roles)
    assert roles_of(roles_value(("scheduler", "workers"))) == ("scheduler", "workers")


def test_roles_too_long_for_a_label_are_left_out() -> None:
    assert roles_value(("a" * 40, "b" * 40)) == ""
    assert roles_of("") == ()

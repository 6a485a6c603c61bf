"""Request ids, job names and labels."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.errors import ConfigError
from slipway.labels import label_value, roles_of, roles_value
from slipway.submission.request_id import checked_request_id, job_name, new_request_id


def test_a_job_is_named_after_template_and_request() -> None:
    assert re.fullmatch(r"dask-digits-[a-z2-7]{8}", job_name("dask-digits", new_request_id()))


def test_the_same_request_gives_the_same_name() -> None:
    assert job_name("t", "nightly-1") == job_name("t", "nightly-1") != job_name("t", "nightly-2")


def test_new_ids_are_fit_and_different() -> None:
    ids = {new_request_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(checked_request_id(one) == one for one in ids)


@pytest.mark.parametrize("text", ["", "A", "-a", "a b", "a.b", "ä", "a" * 64, 'a"'])
def test_an_id_that_could_be_no_label_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        checked_request_id(text)


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

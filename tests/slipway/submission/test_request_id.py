"""Request ids and job names."""

import re

import pytest

from slipway.errors import ConfigError
from slipway.submission.request import checked_request_id, job_name, new_request_id


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

"""Labels of jobs, and the parameters that they record: anybody may have sent one that records something else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.formatting import unfit
from slipway.google.jobs import VertexJob
from slipway.model.labels import VARIABLE, excess, label_value, parameters_in, record, roles_of, roles_value


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


@pytest.mark.usefixtures("no_garbage")
def test_what_no_submission_records_is_unknown() -> None:
    deep, long = "[" * 2000, "9" * 5000
    for text in (deep, f'{{"a":{deep}', '{"a":NaN}', '{"a":-Infinity}', '{"a":1e999}', f'{{"a":{long}}}'):
        assert parameters_in([f"{VARIABLE}={text}"]) is None
    for text in ('{"a":"\\ud800"}', '{"\\udfff":1}', '{"a":null}', '{"a":[[1]]}', '{"a":[NaN]}', "[]", ""):
        assert parameters_in([f"{VARIABLE}={text}"]) is None
    assert parameters_in([f'{VARIABLE}={{"a":1e-9,"b":"é","c":true}}']) == {"a": 1e-9, "b": "é", "c": True}


@pytest.mark.usefixtures("no_garbage")
def test_one_damaged_job_is_read_like_any_other() -> None:
    task = {"env": [{"name": VARIABLE, "value": "[" * 2000}]}
    job = VertexJob.read({"jobSpec": {"workerPoolSpecs": [{"containerSpec": task}]}})
    assert job.parameters is None


def test_an_environment_that_is_null_has_the_parameters_then() -> None:
    spec = {"workerPoolSpecs": [{"containerSpec": {"env": None}}]}
    record(spec, "{}")
    assert spec == {"workerPoolSpecs": [{"containerSpec": {"env": [{"name": VARIABLE, "value": "{}"}]}}]}


CASES = {
    "infinite": (float("inf"), "is not finite"),
    "nan": (float("nan"), "is not finite"),
    "large": (10**5000, "is too large"),
    "half a character": ("\ud800", "is not valid UTF-8"),
    "float": (1e308, ""),
    "int": (2**64, ""),
    "bool": (True, ""),
    "null character": ("é\0", ""),
}


@pytest.mark.parametrize(("value", "why"), CASES.values(), ids=CASES)
def test_what_json_can_carry(value: float | str, why: str) -> None:
    assert unfit(value) == why
    if not why:
        assert json.loads(json.dumps(value)) == value


def test_too_much_says_how_much() -> None:
    assert excess({"a": "x" * (32 * 1024 - len('{"a":""}'))}) == ""
    assert excess({"a": "x" * 40_000}).startswith("take 40,008 bytes")

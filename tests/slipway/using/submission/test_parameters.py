"""Parameters as people type them, and a call of Python held to its types."""

import math
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

import slipway
from slipway.base.errors import ConfigError, SlipwayError
from slipway.front.api.call import params_as_typed, timeout_s, types, waits_as_typed
from slipway.model.catalog.placeholders import render
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.labels import recorded
from slipway.model.prices import UNKNOWN
from slipway.using.submission.parameters import assignments, describe, resolve, texts, waits

TREES = Parameter("trees", "int", default=200, min=1, max=5000)
RATE = Parameter("rate", "float", default=0.1, min=0)
NAME = Parameter("name", "str")
SIZE = Parameter("size", "str", default="small", choices=("small", "large"))
DEEP = Parameter("deep", "bool", default=False)
TEMPLATE = Template("digits", "", "custom-job", (), (TREES, RATE, NAME, SIZE, DEEP), ())


def test_values_get_their_types_and_defaults_fill_what_is_not_given() -> None:
    given_ = assignments(["trees= 500", "rate=1e-3", "name=a=b c", "deep=Yes"])
    assert resolve(TEMPLATE, given_) == {"trees": 500, "rate": 0.001, "name": "a=b c", "size": "small", "deep": True}


def test_a_whole_default_of_a_number_is_the_number_that_would_be_typed() -> None:
    half = Parameter("t", "float", default=1, choices=(1, 2.5))
    template = Template("digits", "", "custom-job", (), (half,), ())
    usual, typed = resolve(template, {}), resolve(template, {"t": "1"})
    assert recorded(usual) == recorded(typed) == '{"t":1.0}'
    assert [render(item["t"]) for item in (usual, typed)] == ["1.0", "1.0"]


def test_everything_wrong_is_said_at_once(snapshot: SnapshotAssertion) -> None:
    with pytest.raises(ConfigError) as error:
        resolve(TEMPLATE, {"tree": "5", "trees": "many", "rate": "-1", "size": "medium", "deep": "perhaps", "zzz": ""})
    said = error.value.why.splitlines()
    assert said == snapshot
    assert error.value.what == "digits: 7 parameters wrong"
    assert error.value.exit_code == 2


def test_a_value_that_becomes_a_variable_has_no_apostrophe() -> None:
    """In an argument it may have one, and so it may in the record of all parameters."""
    task = {"args": ["${name}"], "env": [{"name": "SIZE", "value": "${size}"}, {"name": "NOTE", "value": "x ${note}"}]}
    request = {"jobSpec": {"workerPoolSpecs": [{}, {"containerSpec": task}]}}
    note = Parameter("note", "str", default="")
    offer = Offer("pool", True, "", "cpu", (), UNKNOWN, request)
    template = Template("digits", "", "custom-job", (), (NAME, SIZE, note), (offer,))
    assert resolve(template, {"name": "don't", "note": "do"})["name"] == "don't"
    with pytest.raises(ConfigError) as error:
        resolve(template, {"name": "don't", "note": "don't stop"})
    assert error.value.exit_code == 2
    said = "note=don't stop: environment variable NOTE has an apostrophe in its value, which Vertex AI refuses"
    assert error.value.why == said
    assert error.value.fix == "leave the apostrophe out, or hand the text over as an argument"


def test_all_values_together_fit_into_one_variable_of_the_environment() -> None:
    room = 32 * 1024 - len('{"deep":false,"name":"","rate":0.1,"size":"small","trees":200}')
    assert resolve(TEMPLATE, {"name": "x" * room})["name"] == "x" * room
    for long in ("x" * (room + 1), "é" * (room // 2 + 1), '"' * (room // 2 + 1)):
        with pytest.raises(ConfigError) as error:
            resolve(TEMPLATE, {"name": long})
        assert "at most 32,768 (32 KB)" in error.value.why


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("trees", ["0", "5001", "1.5", "", "0x10", "nan", "1_0_"]),
        ("rate", ["nan", "inf", "-inf", "1e999"]),
        # From a sweep's file or from Python: a job with such an argument would start its machines and fail there.
        ("name", ["a\0b", "\ud800"]),
    ],
)
def test_what_is_out_of_bounds_or_no_number_or_no_argument_of_a_program_is_refused(name: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ConfigError, match="parameter wrong") as error:
            resolve(TEMPLATE, {"name": "a", name: text})
        assert error.value.why.isprintable()


@pytest.mark.parametrize("typed", [("trees",), ("=5",), ("trees=5", "trees=6")])
def test_what_is_no_assignment(typed: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError):
        assignments(typed)


@given(st.floats(min_value=0, allow_nan=False, allow_infinity=False))
def test_numbers_survive_the_way_to_the_argument(value: float) -> None:
    resolved = resolve(TEMPLATE, {"name": "a", "rate": repr(value)})["rate"]
    assert math.isclose(float(render(resolved)), value)


def test_bounds_and_choices_in_words(snapshot: SnapshotAssertion) -> None:
    assert [describe(item) for item in (TREES, RATE, NAME, SIZE, DEEP)] == snapshot


COMMAND = Parameter("command", "str", default="python train.py", command=True)
MACHINE = Parameter("machine", "str", default="small", choices=("small", "large"))
SCRIPT = Template("script", "", "custom-job", (), (COMMAND, MACHINE), ())


def wrong(template: Template, **given_: str) -> ConfigError:
    with pytest.raises(ConfigError) as error:
        resolve(template, given_)
    return error.value


def test_a_command_names_parameters_that_nobody_declared() -> None:  # N11
    given_ = {"command": "python train.py --lr {lr} --on {machine} '{name}'", "lr": "1e-3", "name": "it's"}
    values = resolve(SCRIPT, given_)
    assert values == {**given_, "machine": "small"}, "recorded as they were written"
    assert texts(SCRIPT, values)["command"] == """python train.py --lr 1e-3 --on small 'it'"'"'s'"""
    assert texts(SCRIPT, resolve(SCRIPT, {}))["command"] == "python train.py"


@pytest.mark.parametrize("command", ["", "  ", "'' train.py", "{program} train.py"])
def test_a_command_without_a_program_is_refused_before_it_waits_for_a_machine(command: str) -> None:
    error = wrong(SCRIPT, command=command, **({"program": ""} if "program" in command else {}))
    assert error.why == "command names no program: its first word is empty"
    assert error.fix == "command='python train.py', for example"


def test_an_argument_by_the_name_of_another_tool_is_told_as_that_of_a_call() -> None:
    with pytest.raises(ConfigError) as error:
        resolve(SCRIPT, {"timeout": "5m"}, ("max_run", "env"))
    assert error.value.why == "unknown parameter timeout; did you mean max_run=?"
    assert error.value.fix.startswith("max_run='5m'; for a parameter of the command: command='… {timeout}'")


@pytest.mark.parametrize(
    ("name", "value", "meant", "fix"),
    [
        ("env_file", ".env", "env", "env={'NAME': 'VALUE', …}; for a parameter"),
        ("wait", "true", "wait()", "wait() of what the call returns; for a parameter"),
        ("follow", "true", "logs(follow=True)", "logs(follow=True) of what the call returns; for a parameter"),
        ("as_", "custom-job", "kind", "kind='custom-job'"),
        ("output", "json", "", "write {output} in the command"),
    ],
)
def test_a_flag_of_the_command_is_told_as_what_a_call_has_for_it(name: str, value: str, meant: str, fix: str) -> None:
    with pytest.raises(ConfigError) as error:
        resolve(SCRIPT, {name: value}, ("max_run", "env", "kind"))
    assert error.value.fix.startswith(fix)
    assert not meant or f"did you mean {meant}" in error.value.why


def test_a_name_near_a_given_parameter_of_the_command_is_told_as_that_one() -> None:
    """A job's parameters are given where another is submitted like it."""
    error = wrong(SCRIPT, command="python train.py --lr {lr}", lr="0.1", lrr="2")
    assert error.why == "unknown parameter lrr, and command has no {lrr}; did you mean lr?"
    assert error.fix == "lr='2'"


def test_a_mistyped_parameter_is_no_parameter_of_the_command() -> None:
    machine = wrong(SCRIPT, machin="large", command="python train.py --lr {lr}", lr="0.1")
    assert machine.why == "unknown parameter machin, and command has no {machin}; did you mean machine?"
    rate = wrong(SCRIPT, lrr="0.1", command="python train.py --lr {lr}")
    assert rate.why.splitlines() == [
        "unknown parameter lrr, and command has no {lrr}; did you mean lr?",
        "command has {lr}, and no parameter lr is given",
    ]
    assert rate.fix.splitlines()[1] == "lr='VALUE', or for these very characters {{lr}}"
    dry_run = wrong(SCRIPT, dry_run="true", command="x")
    assert "a call of Python has no dry run" in dry_run.why
    assert dry_run.fix == "slipway submit … --dry-run --output json"
    assert "command has no {lr}" in wrong(SCRIPT, lr="0.1").why
    assert wrong(SCRIPT, lr="0.1").fix == "write {lr} in the command, where its value belongs"
    assert wrong(SCRIPT, **{"learning rate": "1"}).fix.startswith("a name of letters, digits, _, - and . can stand in")
    assert wrong(TEMPLATE, name="{lr}", lr="0.1").why.startswith("unknown parameter lr; the template has ")


@pytest.mark.parametrize(
    ("command", "fix"),
    [
        ("python a.py && python b.py", """command="bash -c 'python a.py && python b.py'"\n"""),
        ('python a.py "$HOME"', """command='bash -c \\'python a.py "$HOME"\\''\n"""),
        ("python 'a.py", "close every quote"),
    ],
)
def test_a_command_for_a_shell_is_refused_with_one_that_needs_none(command: str, fix: str) -> None:
    error = wrong(SCRIPT, command=command)
    assert error.why.startswith("command ") and fix in error.fix
    if "bash" in error.fix:
        assert resolve(SCRIPT, {"command": literal_eval(error.fix.partition("\n")[0].removeprefix("command="))})


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("template", 5, "a template's name"),
        ("wait_for", "pool=30m", 'times by capacity type: {"pool": "30m"}'),
        ("wait_for", {"pool": None}, "times by capacity type"),
        ("then", (5,), "or a list of several"),
        ("request_id", 5, "a text"),
        ("catalog", Path("gs://bucket"), "gs://BUCKET"),
        ("code", 5, "a folder's path"),
        ("number", {1}, "a string, a number or a bool, or a list of these"),
    ],
)
def test_an_argument_of_another_type_is_named_with_what_it_takes(name: str, value: Any, fix: str) -> None:
    given: dict[str, Any] = {"template": "hello", name: value}
    with pytest.raises(ConfigError, match=rf"^{name}\S* is (given a |None)") as error:
        slipway.submit(**given)
    assert fix in error.value.fix and "--" not in str(error.value)


def test_a_list_within_a_list_is_named_by_its_place() -> None:
    given: dict[str, Any] = {"number": [1, [2]]}
    with pytest.raises(ConfigError, match=r"^number\[1\] is given a list") as error:
        params_as_typed(given)
    assert error.value.fix == "a string, a number or a bool"


def test_a_number_that_python_does_not_write_is_refused() -> None:
    with pytest.raises(ConfigError, match="number is given a number that is too large to write"):
        params_as_typed({"number": 10**5000})


@pytest.mark.parametrize(("text", "said"), [("", "is empty"), ("\ud800", "is not valid UTF-8")])
def test_an_empty_text_is_not_the_default_and_half_a_character_names_nothing(text: str, said: str) -> None:
    """In a script an empty one is a variable that nobody set."""
    for name in ("capacity", "kind", "catalog", "code", "request_id", *(["template"] if text else [])):
        given: dict[str, Any] = {"template": "hello", name: text}
        with pytest.raises(ConfigError, match=f"^{name} {said}"):
            slipway.submit(**given)


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), -1, -0.5])
def test_a_time_to_wait_ends(timeout: float) -> None:
    with pytest.raises(ConfigError, match=f"^timeout is {timeout}") as error:
        timeout_s(timeout)
    assert "None" in error.value.fix


@pytest.mark.parametrize(
    ("given", "read"), [(None, None), (0, 0), (0.5, 0.5), (300, 300), ("1m", 60), ("2h", 7200), ("90", 90)]
)
def test_a_time_to_wait_is_written_as_the_time_that_a_job_runs(given: str | float | None, read: float | None) -> None:
    assert timeout_s(given) == read


@pytest.mark.parametrize("wrong", ["soon", "", "-1m", "0"])
def test_a_text_that_is_no_time_to_wait_is_refused_with_one_that_is(wrong: str) -> None:
    with pytest.raises(ConfigError) as error:
        timeout_s(wrong)
    assert "2h" in str(error.value.fix)


def test_a_folder_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(SlipwayError, match="this folder is gone"):
        slipway.submit("hello")


@pytest.mark.parametrize(
    "given",
    [
        {"request_id": ""},
        {"wait_for": {"pol": 5}},
        {"wait_for": {"pool": 10.0**300}},
        {"wait_for": {"pool": float("nan")}},
    ],
)
def test_what_is_wrong_is_told_without_the_words_of_a_shell(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        slipway.submit("hello", catalog="gs://nowhere-at-all", **given)
    assert "--" not in str(error.value)


def test_what_is_right_is_as_it_would_be_typed() -> None:
    assert waits(waits_as_typed({"pool": "30m", "spot": 90, "flex-start": 0})) == {
        "pool": 1800,
        "spot": 90,
        "flex-start": 0,
    }
    assert waits_as_typed(None) == {} and types("spot") == ("spot",) and types(["spot", "pool"]) == ("spot", "pool")
    assert params_as_typed({"code__": "x", "kind___": "y", "rate_": 1}) == {"code_": "x", "kind__": "y", "rate_": "1"}
    assert params_as_typed({"code_": "x", "rate": 0.5, "deep": True, "share": 1}) == {
        "code": "x",
        "rate": "0.5",
        "deep": "true",
        "share": "1",
    }

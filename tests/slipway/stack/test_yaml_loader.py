"""A stack file's scalars are what the engine takes them for: what passes a check passes a preview, and the reverse."""

from typing import Any

import pytest

from slipway.stack.yaml_file import from_text


def value(text: str) -> Any:
    document = from_text(f"a: {text}\n", "Pulumi.dev.yaml")
    return document.mistakes or document.values["a"]


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "on", "Off", "y", "1:30", "1:30.5", "=", "tRUE", "0o8", "1e", ".", "-x", "1.5.2", "0x", "1 2"],
)
def test_what_only_yaml_1_1_takes_for_something_else_is_text(text: str) -> None:  # D1
    assert value(text) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0o17", 15),
        ("0O17", 15),
        ("017", 15),
        ("-017", -15),
        ("+0x1F", 31),
        ("0b101", 5),
        ("1_000", 1000),
        ("08", 8),
        ("1e3", 1000),
        ("1.0", 1),
        ("1.", 1),
        ("0", 0),
        ("-0", 0),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.5e-3", 0.0015),
        ("!!float 1", 1),
    ],
)
def test_numbers(text: str, number: float) -> None:  # D1
    found = value(text)
    assert found == number and type(found) is type(number)


@pytest.mark.parametrize(
    ("text", "plain"), [("true", True), ("True", True), ("FALSE", False), ("~", None), ("null", None), ("''", "")]
)
def test_what_is_a_bool_or_nothing(text: str, plain: object) -> None:
    assert value(text) is plain or value(text) == plain == ""


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", "!!int 1:30", "!!float 1:30"])
def test_what_the_engine_can_not_take_either_is_refused(text: str) -> None:
    (finding,) = value(text)
    assert "not a valid one" in finding.what


@pytest.mark.parametrize("key", ["1", "1.5", "true", "~", "2026-11-20"])
def test_a_key_that_is_no_text_is_refused_and_one_in_quotes_is_not(key: str) -> None:
    (finding,) = value(f"{{{key}: x}}")
    assert finding.key == f"a.{key}" and finding.fix == "put it in quotes"
    assert value(f"{{'{key}': x}}") == {key: "x"}

"""A call of Python is held to its types, in words."""

from pathlib import Path
from typing import Any

import pytest

import slipway
from slipway.errors import ConfigError, SlipwayError
from slipway.submission.call import check_timeout, params_as_typed, types, waits_as_typed
from slipway.submission.parameters import waits


@pytest.mark.parametrize(
    ("name", "value", "fix"),
    [
        ("template", None, "a template's name"),
        ("capacity", 5, "a capacity type's name"),
        ("kind", b"custom-job", "a kind's name"),
        ("wait_for", "pool=30m", 'times by capacity type: {"pool": "30m"}'),
        ("wait_for", {"pool": None}, "times by capacity type"),
        ("wait_for", {5: "30m"}, "times by capacity type"),
        ("then", 5, "or several"),
        ("then", (5,), "or several"),
        ("request_id", 5, "a text"),
        ("catalog", Path("gs://bucket"), "gs://BUCKET"),
        ("code", 5, "a folder's path"),
        ("number", [1], "a string, a number or a bool"),
    ],
)
def test_an_argument_of_another_type_is_named_with_what_it_takes(name: str, value: Any, fix: str) -> None:
    given: dict[str, Any] = {"template": "hello", name: value}
    with pytest.raises(ConfigError, match=f"^{name} is given a ") as error:
        slipway.submit(**given)
    assert fix in error.value.fix and "--" not in str(error.value)


def test_a_number_that_python_does_not_write_is_refused() -> None:
    with pytest.raises(ConfigError, match="number is given a number that is too large to write"):
        params_as_typed({"number": 10**5000})


@pytest.mark.parametrize("name", ["capacity", "kind", "catalog", "code", "request_id"])
def test_an_empty_text_is_not_the_default(name: str) -> None:
    """In a script it is a variable that nobody set."""
    given: dict[str, Any] = {"template": "hello", name: ""}
    with pytest.raises(ConfigError, match=f"^{name} is empty"):
        slipway.submit(**given)


@pytest.mark.parametrize("name", ["template", "capacity", "kind", "catalog", "code", "request_id"])
def test_half_a_character_names_nothing(name: str) -> None:
    given: dict[str, Any] = {"template": "hello", name: "\ud800"}
    with pytest.raises(ConfigError, match=f"^{name} is not valid UTF-8"):
        slipway.submit(**given)


@pytest.mark.parametrize("timeout", [float("nan"), float("inf"), -1, -0.5])
def test_a_time_to_wait_is_a_number_of_seconds_that_ends(timeout: float) -> None:
    with pytest.raises(ConfigError, match=f"^timeout is {timeout}") as error:
        check_timeout(timeout)
    assert "None" in error.value.fix
    for right in (None, 0, 0.5, 300):
        check_timeout(right)


class Named:
    def __fspath__(self) -> bytes:
        return b"src"


def test_a_folder_may_be_named_by_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_code(context: Any, asked: Any, folder: Path, *_: Any, **__: Any) -> None:
        raise ConfigError(f"{folder} it is", fix="none")

    monkeypatch.setattr("slipway.api.with_code", with_code)
    with pytest.raises(ConfigError, match=r"^src it is"):
        slipway.submit("hello", code=Named())  # type: ignore[arg-type]


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

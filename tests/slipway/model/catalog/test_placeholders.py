"""`${name}` stands for a value, in text and whole."""

from enum import Enum

from hypothesis import given
from hypothesis import strategies as st

from slipway.model.catalog.placeholders import fill, names, render, whole


def test_names_come_in_order_and_whole_is_one_placeholder_alone() -> None:
    assert names("a ${b} $c $(D) ${slipway.job}${b}") == ("b", "slipway.job", "b")
    assert [whole(text) for text in ("${workers}", "x${workers}", "${a}${b}")] == ["workers", None, None]


def test_fill_goes_through_json_and_leaves_unknown_ones() -> None:
    body = {"args": ["--trees=${trees}", "${other}"], "replicaCount": "${workers}", "size": 100}
    assert fill(body, {"trees": 5, "workers": 2}) == {
        "args": ["--trees=5", "${other}"],
        "replicaCount": "2",
        "size": 100,
    }


def test_booleans_are_written_as_programs_read_them() -> None:
    assert (render(True), render(False), render(0.5)) == ("true", "false", "0.5")


def test_an_enums_member_is_its_value() -> None:
    class Colour(str, Enum):  # noqa: UP042 - whose `str` is its name
        RED = "red"

    class Size(int, Enum):
        BIG = 7

    class Rate(float, Enum):
        HALF = 0.5

    assert [render(one) for one in (Colour.RED, Size.BIG, Rate.HALF)] == ["red", "7", "0.5"]
    assert fill("--colour=${colour}", {"colour": Colour.RED}) == "--colour=red"


@given(st.text(), st.text())
def test_a_value_is_never_filled_again(before: str, value: str) -> None:
    before = before.replace("$", "")
    assert fill(before + "${a}", {"a": "${b}" + value, "b": "never"}) == before + "${b}" + value

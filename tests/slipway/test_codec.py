"""One definition, read and written: the same value comes back, and an error names its place. # D4 # N8"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.codec import KEY_OF_ENTRY, NOT_WRITTEN, Across, At, Else, Form, MalformedError, read, write


@dataclass(frozen=True)
class Wheel:
    name: Annotated[str, KEY_OF_ENTRY]
    inches: int
    spokes: Annotated[tuple[float, ...], Form(bool, "a list with something in it")] = (1.0,)


@dataclass(frozen=True)
class Bicycle:
    wheels: Mapping[str, Wheel]
    top_speed: float
    colour: Annotated[str | None, Else(None)]
    bell: Annotated[str, At("extras.bell")]
    kind: Literal["city", "race"] = "city"
    size: Annotated[int, Across(lambda body: len(body.get("letters", "")), lambda size: {"letters": "x" * size})] = 0
    notes: tuple[Mapping[str, Any], ...] = ()
    seen: Annotated[str, NOT_WRITTEN] = field(default="", compare=False)


BODY: dict[str, Any] = {
    "wheels": {"front": {"inches": 28, "spokes": [1, 2.5]}},
    "topSpeed": 30,
    "extras": {"bell": "loud", "basket": True},
    "letters": "xx",
    "unknown": [1],
}


def test_names_are_keys_in_camel_case_and_unknown_keys_are_passed_over() -> None:
    found = read(Bicycle, BODY)
    assert found == Bicycle({"front": Wheel("front", 28, (1, 2.5))}, 30, None, "loud", size=2)
    assert write(found) == {
        "wheels": {"front": {"inches": 28, "spokes": [1, 2.5]}},
        "topSpeed": 30,
        "extras": {"bell": "loud"},
        "kind": "city",
        "letters": "xx",
        "notes": [],
    }


def test_null_stands_for_a_default_and_none_is_not_written() -> None:
    assert read(Bicycle, {**BODY, "kind": None, "notes": None, "colour": None}) == read(Bicycle, BODY)
    assert "colour" not in write(read(Bicycle, BODY))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"topSpeed": None}, "topSpeed is None, where a number is expected"),
        ({"topSpeed": True}, "topSpeed is True, where a number is expected"),
        ({"wheels": {"front": {}}}, "wheels.front.inches is missing, where a whole number is expected"),
        ({"wheels": {"front": {"inches": 2.5}}}, "wheels.front.inches is 2.5, where a whole number is expected"),
        ({"wheels": {"front": {"inches": 1, "spokes": [1, "2"]}}}, "wheels.front.spokes[1] is '2', where a number"),
        ({"wheels": {"front": {"inches": 1, "spokes": []}}}, "spokes is [], where a list with something in it"),
        ({"wheels": []}, "wheels is [], where an object is expected"),
        ({"notes": [{}, 7]}, "notes[1] is 7, where an object is expected"),
        ({"extras": 7}, "extras is 7, where an object is expected"),
        ({"extras": {}}, "extras.bell is missing, where a string is expected"),
        ({"kind": "toy"}, "kind is 'toy', where one of city, race is expected"),
    ],
)
def test_an_error_names_the_place_and_what_belongs_there(change: dict[str, Any], said: str) -> None:
    with pytest.raises(MalformedError) as error:
        read(Bicycle, {**BODY, **change})
    assert said in str(error.value)


WHEELS = st.builds(
    Wheel, st.just("w"), st.integers(), st.lists(st.floats(allow_nan=False), min_size=1, max_size=3).map(tuple)
)
BICYCLES = st.builds(
    Bicycle,
    WHEELS.map(lambda one: {"w": one}),
    st.floats(allow_nan=False),
    st.none() | st.text(max_size=5),
    st.text(max_size=5),
    st.sampled_from(["city", "race"]),
    st.integers(0, 5),
)


@given(BICYCLES)
def test_what_is_written_is_what_is_read(bicycle: Bicycle) -> None:
    assert read(Bicycle, write(bicycle)) == bicycle

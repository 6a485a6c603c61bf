"""Reading and writing by one definition: the same value comes back, and no file is half written. # D4 # N8"""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.codec import KEY_OF_ENTRY, NOT_WRITTEN, Across, At, Else, Form, MalformedError, read, write
from slipway.base.files import write_atomically


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
    value = read(Bicycle, BODY)
    assert value == Bicycle({"front": Wheel("front", 28, (1, 2.5))}, 30, None, "loud", size=2)
    assert write(value) == {
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
    WHEELS.map(lambda item: {"w": item}),
    st.floats(allow_nan=False),
    st.none() | st.text(max_size=5),
    st.text(max_size=5),
    st.sampled_from(["city", "race"]),
    st.integers(0, 5),
)


@given(BICYCLES)
def test_what_is_written_is_what_is_read(bicycle: Bicycle) -> None:
    assert read(Bicycle, write(bicycle)) == bicycle


def test_a_new_file_and_a_replaced_one_hold_the_whole_text_with_the_mode_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "file"
    write_atomically(file, "one", mode=0o600)
    write_atomically(file, "two", mode=0o600)
    assert file.read_text() == "two"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["file"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_atomically(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\ud800")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2, before[1]))
        with pytest.raises(OSError):
            write_atomically(file, "longer than the disk takes")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert file.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(pipe, "a page")
        assert os.read(reader, 100) == b"a page"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


def test_a_link_is_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "deep" / "file", tmp_path / "link"
    link.symlink_to(file)
    write_atomically(link, "one", mode=0o640)
    write_atomically(link, "two\r\n", mode=0o640)
    assert link.is_symlink() and file.read_bytes() == b"two\r\n"
    assert file.stat().st_mode & 0o777 == 0o640

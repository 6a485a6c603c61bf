"""The files that objects become: none leaves the folder, whatever a job has called them."""

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.google.storage import Location, StoredObject
from slipway.using.jobs.outputs import PARTS, output_files

UNDER = "jobs/tune/"


def stored(name: str, size: int = 3) -> StoredObject:
    return StoredObject(Location("work", f"{UNDER}{name}"), size, "1", "", None)


def test_names_below_the_output_directory_become_paths() -> None:
    folders = stored("", 0), stored("logs/", 0)
    files, left = output_files([*folders, stored("metrics.json"), stored("logs/a b/events.1")], UNDER)
    assert [str(one.path) for one in files] == ["metrics.json", "logs/a b/events.1"] and left == []


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../tune2/model", "its name leads to another folder"),
        ("logs/../../../.bashrc", "its name leads to another folder"),
        ("logs/.", "its name leads to another folder"),
        ("/etc/passwd", "a part of its name is empty"),
        ("logs//events", "a part of its name is empty"),
        ("logs/", "a part of its name is empty"),
        ("a\0b", "its name has a null character"),
        ("\udce9", "its name is not valid UTF-8"),
        ("é" * 128, "a part of its name is longer than 255 bytes"),
        (f"{PARTS}/0", f"{PARTS} is for what has not arrived wholly"),
    ],
)
def test_what_can_be_no_path_below_a_folder_is_left_out_and_said(name: str, why: str) -> None:
    files, (left,) = output_files([stored(name), stored("kept")], UNDER)
    assert [str(one.path) for one in files] == ["kept"]
    assert (left.name, left.why) == (f"{UNDER}{name}", why)


def test_a_name_that_others_have_as_their_folder_is_left_out(snapshot: SnapshotAssertion) -> None:
    files, left = output_files([stored("model"), stored("model/weights")], UNDER)
    assert [str(one.path) for one in files] == ["model/weights"]
    assert [(one.name, one.why) for one in left] == snapshot


@given(st.lists(st.text("./a\\\0é", max_size=8), unique=True))
def test_whatever_they_are_called_every_object_is_a_file_in_the_folder_or_left_out(names: list[str]) -> None:
    files, left = output_files([stored(name) for name in names], UNDER)
    assert len(files) + len(left) == len(names)
    folder = Path("/folder")
    for one in files:
        assert (folder / one.path).resolve(strict=False).is_relative_to(folder) and one.path != PurePosixPath(".")
    assert len({one.path for one in files}) == len(files)

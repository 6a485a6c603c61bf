"""What is removed is out of its place at once, and gone when there is time; a kill loses nothing of that. (N4)"""

import time
from pathlib import Path

from local.cloud.trash import Trash


def filled(folder: Path) -> Path:
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "file").write_text("x")
    return folder


def emptied(folder: Path) -> None:
    until = time.monotonic() + 600
    while any(folder.iterdir()):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_what_is_taken_is_gone_from_its_place_and_removed_in_the_background(tmp_path: Path) -> None:
    trash = Trash(tmp_path / "trash")
    old = filled(tmp_path / "work")
    trash.take([old, tmp_path / "never-was"])
    assert not old.exists()
    assert [item.name for item in (tmp_path / "trash").glob("*/deep/*")] == ["file"], "nobody waited for it"
    trash.start()
    emptied(tmp_path / "trash")
    trash.take([filled(tmp_path / "another")])
    emptied(tmp_path / "trash")
    trash.stop()


def test_what_a_killed_cloud_left_goes_with_the_next_start(tmp_path: Path) -> None:
    filled(tmp_path / "trash" / "left")
    trash = Trash(tmp_path / "trash")
    trash.start()
    emptied(tmp_path / "trash")
    trash.stop()


def test_what_cannot_be_moved_is_removed_where_it_is(tmp_path: Path) -> None:
    """As on a full disk."""
    trash = Trash(tmp_path / "trash")
    (tmp_path / "trash").rmdir()
    (tmp_path / "trash").touch()
    old = filled(tmp_path / "work")
    trash.take([old])
    assert not old.exists()

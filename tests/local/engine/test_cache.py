"""The cache: what has its name is complete, whatever was killed, and only one writes at a time."""

import json
import os
import stat
from pathlib import Path

import pytest

from local.engine.cache import Cache, check_usable, root
from local.engine.errors import EngineError


def quiet(line: str) -> None:
    assert line


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "engine" / "1.0.0")


def fill(cache: Cache, name: str, content: str = "whole") -> None:
    with cache.hold(quiet), cache.making(name) as folder:
        (folder / "pulumi").write_text(content)


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"SLIPWAY_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/h"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/h"}, "/b/slipway"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/slipway"),
        ({"SLIPWAY_CACHE": "", "HOME": "/h"}, "/h/.cache/slipway"),
    ],
)
def test_the_cache_lies_outside_the_checkout(environ: dict[str, str], place: str) -> None:
    assert root(environ) == Path(place)


def test_a_relative_cache_is_made_absolute() -> None:
    assert root({"SLIPWAY_CACHE": "here"}) == Path.cwd() / "here"


def test_a_finished_folder_is_ready(cache: Cache) -> None:
    assert cache.ready("built") is None
    fill(cache, "built")
    place = cache.ready("built")
    assert place is not None
    assert (place / "pulumi").read_text() == "whole"
    assert stat.S_IMODE(place.stat().st_mode) == 0o755


def test_a_failure_leaves_nothing(cache: Cache) -> None:
    with pytest.raises(RuntimeError), cache.hold(quiet), cache.making("built") as folder:
        (folder / "pulumi").write_text("half")
        raise RuntimeError
    assert cache.ready("built") is None
    assert [path.name for path in cache.folder.iterdir()] == ["lock"]


def test_what_a_dead_builder_left_is_removed_by_the_next(cache: Cache) -> None:
    left = cache.folder / ".partial-dead" / ".work"
    left.mkdir(parents=True)
    (left / "object").write_text("x")
    with cache.hold(quiet):
        assert not left.parent.exists()


@pytest.mark.parametrize("damage", ["cut", "missing", "marker"])
def test_a_damaged_folder_is_not_ready_and_is_made_again(cache: Cache, damage: str) -> None:
    fill(cache, "built")
    place = cache.folder / "built"
    if damage == "cut":
        (place / "pulumi").write_text("who")
    elif damage == "missing":
        (place / "pulumi").unlink()
    else:
        (place / "complete.json").write_text('{"pulumi": ')
    assert cache.ready("built") is None
    fill(cache, "built", "again")
    assert cache.ready("built") == place
    assert (place / "pulumi").read_text() == "again"


def test_a_folder_without_marker_is_not_ready(cache: Cache) -> None:
    (cache.folder / "built").mkdir(parents=True)
    assert cache.ready("built") is None
    (cache.folder / "built" / "complete.json").write_text(json.dumps(["pulumi"]))
    assert cache.ready("built") is None


def test_the_lock_names_its_holder(cache: Cache) -> None:
    with cache.hold(quiet):
        assert (cache.folder / "lock").read_text() == str(os.getpid())


def test_a_file_in_place_of_the_cache_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="is not a folder"):
        check_usable(tmp_path / "file" / "engine")
    check_usable(tmp_path / "not" / "yet" / "there")

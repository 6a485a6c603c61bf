"""What judges reviews is kept, and takes a bounded room. # N4"""

import fcntl
import os
from pathlib import Path

import pytest

from local import judge
from local.engine.cache import MARKER, Cache

KB = 1000


def pinned(folder: Path, pins: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "requirements.txt").write_text(pins)
    return folder


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, in which an environment takes 100 kB."""

    def install(place: Path, *_: object, **__: object) -> None:
        (place / "packages").write_bytes(b"x" * 100 * KB)

    monkeypatch.setattr(judge, "_install", install)
    monkeypatch.setattr(judge, "_MOST_BYTES", 250 * KB)
    return tmp_path / "cache"


def judged(tmp_path: Path, cache: Path, pins: str) -> Path:
    made = judge.judge_of(pinned(tmp_path / "base", pins), "main", "c1", {"SLIPWAY_CACHE": str(cache)}, lambda _: None)
    assert made.environment
    return made.environment


def left(cache: Path) -> set[Path]:
    return {mark.parent for mark in (cache / "judges").glob(f"*/{MARKER}")}


def earlier(cache: Path, name: str, used: int) -> Path:
    """An environment that another process has made."""
    judges = Cache(cache / "judges")
    with judges.hold(lambda _: None), judges.making(name) as place:
        (place / "packages").write_bytes(b"x" * 100 * KB)
    os.utime(judges.folder / name / MARKER, (used, used))
    return judges.folder / name


def test_beyond_the_bound_those_go_that_were_used_longest_ago_but_none_that_a_review_uses(
    tmp_path: Path, cache: Path
) -> None:
    in_use, unused, newer = (earlier(cache, name, used) for used, name in enumerate(("a", "b", "c"), 1))
    with (in_use / MARKER).open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        mine = judged(tmp_path, cache, "slipway==1")
        assert left(cache) == {in_use, mine}
        assert judged(tmp_path, cache, "slipway==1") == mine, "it is not made again"
    assert not unused.exists() and not newer.exists()

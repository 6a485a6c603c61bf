"""The machine's cache is bounded: what no job used for long goes, and nothing that one uses (N4)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.cloud import files
from local.cloud.images import cache, upkeep
from tests.local.conftest import ROOT, LocalCloud

NOW = 1_800_000_000.0
LONG_AGO, KB = NOW - 2 * upkeep.RECENT_S, 1000


def made(root: Path, name: str, used: float = LONG_AGO, kilobytes: int = 100) -> Path:
    """An entry of the cache, such as `images/a`, that a job used then."""
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "module.py").write_bytes(b"x" * kilobytes * KB)
    (folder / cache.READY).touch()
    folder.with_name(f"{folder.name}.lock").touch()
    for path in (folder / cache.READY, folder.with_name(f"{folder.name}.lock"), folder):
        os.utime(path, (used, used))
    return folder


def left(root: Path) -> set[str]:
    return {entry.folder.name for entry in upkeep.entries(root)}


def test_beyond_the_bound_the_oldest_go_and_what_a_job_used_just_now_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "MOST_BYTES", 250 * KB)
    for at, part in enumerate(("images/oldest", "environments/old", "images/newer", "environments/newest")):
        made(tmp_path, part, used=LONG_AGO + at)
    made(tmp_path, "images/used", used=NOW, kilobytes=300)
    upkeep.trim(tmp_path, NOW)
    assert left(tmp_path) == {"used"}, "which is more than the bound by itself"


def test_files_that_entries_share_count_once_and_for_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "MOST_BYTES", 250 * KB)
    image = made(tmp_path, "images/a", kilobytes=200)
    for name in ("b", "c", "d"):
        copy = made(tmp_path, f"environments/{name}", used=LONG_AGO + 1, kilobytes=1)
        (copy / "shared.py").hardlink_to(image / "module.py")
    assert upkeep.trim(tmp_path, NOW) == []


def test_a_part_has_so_many_entries_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST", {"environments": 1, "images": 2, "wheels": 2})
    for at, name in enumerate("abc"):
        made(tmp_path, f"environments/{name}", used=LONG_AGO + at)
        made(tmp_path, f"images/{name}", used=LONG_AGO + at)
    assert {entry.folder.relative_to(tmp_path).as_posix() for entry in upkeep.trim(tmp_path, NOW)} == {
        *("environments/a", "environments/b", "images/a")
    }


def test_it_looks_once_an_hour(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MOST_BYTES", 0)
    upkeep.trim(tmp_path, NOW)
    made(tmp_path, "images/a")
    assert upkeep.trim(tmp_path, NOW + 60) == []
    assert len(upkeep.trim(tmp_path, NOW + upkeep.RECENT_S + 1)) == 1


def test_one_that_is_being_made_or_run_from_stays_until_then(tmp_path: Path) -> None:
    building, running = made(tmp_path, "environments/a"), made(tmp_path, "images/b")
    code = f"""
from pathlib import Path
from local.cloud.images import cache
print(cache.hold(Path({str(running)!r})), flush=True)
input()
"""
    with (
        files.locked(building.with_name("a.lock")),
        subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as replica,
    ):
        assert replica.stdout and replica.stdout.readline() == "True\n"
        assert [upkeep.remove(entry) for entry in upkeep.entries(tmp_path)] == [False, False]
        replica.communicate("\n")
    assert [upkeep.remove(entry) for entry in upkeep.entries(tmp_path)] == [True, True]
    assert not cache.hold(running), "which is why a replica looks again"


def test_the_verb_shows_and_clears_it(tmp_path: Path) -> None:
    cloud = LocalCloud(tmp_path / "state", {"SLIPWAY_CACHE": str(tmp_path / "cache")})
    made(tmp_path / "cache", "images/a", kilobytes=3000)
    (tmp_path / "cache" / "engine").mkdir()
    (tmp_path / "cache" / "engine" / "pulumi").write_bytes(b"x" * 2_000_000)
    shown = cloud.local("cache").stdout.splitlines()
    assert [line.split()[:3] for line in shown if line.startswith("images")] == [["images", "3", "MB"]]
    assert any(line.startswith("5 MB in ") for line in shown), "the sum of the lines, whatever is made meanwhile"
    assert cloud.local("cache", "clear").stdout == "removed 1 entry, 3 MB\n"
    assert (tmp_path / "cache" / "engine" / "pulumi").exists()

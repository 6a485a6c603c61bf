"""What jobs of a pool bring is installed once for those that come soon after each other (B4, N4)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from local.cloud.images import cache, packages


@dataclass
class Pool:
    """A pool's image folder with one image, and what was installed there."""

    folder: Path
    installed: list[Path] = field(default_factory=list)
    broken: bool = False

    def __post_init__(self) -> None:
        self.image = self.folder / "python-3"
        (self.image / "bin").mkdir(parents=True)
        (self.image / "bin" / "python").write_text("an interpreter")
        self.package = self.brought("digits.tar.gz", "one")

    def brought(self, name: str, content: str) -> Path:
        file = self.folder / content / name
        file.parent.mkdir()
        file.write_text(content)
        return file

    def install(self, environment: Path) -> None:
        self.installed.append(environment)
        (environment / "bin" / "digits").write_text(f"#!{environment}/bin/python")
        if self.broken:
            raise InterruptedError

    def job(self, name: str, *brought: Path, later: float = 0.0) -> bool:
        """A job's environment made; whether its packages were to be installed."""
        now = (self.folder / "one" / "digits.tar.gz").stat().st_mtime + later
        target, brought = self.folder / "jobs" / name, brought or (self.package,)
        return packages.filled(
            self.folder, self.image, brought, target, self.install, lambda: None, lasting=False, now=now
        )


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    return Pool(tmp_path)


def test_the_next_job_with_the_same_packages_gets_a_copy_of_its_own(pool: Pool) -> None:
    assert pool.job("a", later=1) and not pool.job("b", later=2)
    for name in ("a", "b"):
        home = pool.folder / "jobs" / name
        assert (home / "bin" / "digits").read_text() == f"#!{home}/bin/python", "scripts name the copy"
        assert not (home / cache.READY).exists()
    (pool.folder / "jobs" / "a" / "bin" / "digits").unlink()
    assert (pool.folder / "jobs" / "b" / "bin" / "digits").exists()
    assert not (pool.image / "bin" / "digits").exists()


def test_jobs_that_come_at_once_wait_for_the_first(pool: Pool) -> None:
    with ThreadPoolExecutor(4) as jobs:
        began = list(jobs.map(lambda number: pool.job(str(number)), range(4)))
    assert sorted(began) == [False, False, False, True] and len(pool.installed) == 1


def test_other_contents_under_the_same_name_are_installed(pool: Pool) -> None:
    assert pool.job("a", later=1)
    assert pool.job("b", pool.brought("digits.tar.gz", "two"), later=2)


def test_what_was_installed_long_ago_is_installed_anew(pool: Pool) -> None:
    assert pool.job("a", later=1)
    assert pool.job("b", later=packages.FRESH_S + 60)


def test_what_was_broken_off_is_begun_again(pool: Pool) -> None:
    pool.broken = True
    with pytest.raises(InterruptedError):
        pool.job("a", later=1)
    pool.broken = False
    assert pool.job("b", later=2)


def test_a_cleared_cache_has_none_and_counts_images_alone(pool: Pool) -> None:
    (pool.image / cache.READY).touch()
    (pool.folder / "python-3.lock").touch()
    assert pool.job("a", later=1)
    assert cache.clear(pool.folder) == 1
    assert [path for path in pool.folder.glob("packages-*") if path.is_dir()] == []

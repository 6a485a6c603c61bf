"""Every deployment names the reviewed commit it is made from. # N8"""

import subprocess
from pathlib import Path

import pytest

from slipway.deployment.revision import Revision, revision
from slipway.errors import ConfigError


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "one")
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_commit_of_a_clean_checkout(checkout: Path) -> None:
    assert revision(checkout, {}) == Revision(git(checkout, "rev-parse", "HEAD")[:7], dirty=False)


@pytest.mark.parametrize("name", ["file", "untracked"])
def test_changes_beside_the_commit_are_told(checkout: Path, name: str) -> None:
    (checkout / name).write_text("two")
    found = revision(checkout, {})
    assert found.dirty
    assert str(found).endswith(" with local changes")


def test_what_ci_has_checked_out_goes_first(checkout: Path) -> None:
    assert revision(checkout, {"SLIPWAY_COMMIT": "0123456789ABCDEF0123456789abcdef01234567"}) == Revision(
        "0123456", False
    )


def test_a_variable_that_is_no_commit_is_refused(checkout: Path) -> None:
    with pytest.raises(ConfigError, match="SLIPWAY_COMMIT is no commit: 'main'"):
        revision(checkout, {"SLIPWAY_COMMIT": "main"})


def test_outside_of_git_it_is_unknown(tmp_path: Path) -> None:
    assert revision(tmp_path, {}) == Revision("unknown", dirty=False)


def test_before_the_first_commit_it_is_unknown(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert revision(tmp_path, {}) == Revision("unknown", dirty=False)

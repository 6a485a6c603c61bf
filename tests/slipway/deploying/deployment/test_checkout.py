"""Every deployment names the reviewed commit it is made from. # N8"""

from pathlib import Path

import pytest

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.checkout import CommitOrder, checkout_revision, commit_order, commits_since
from slipway.model.labels import Revision
from tests.checkouts.git import git


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "file").write_text("one")
    git(tmp_path, "add", "file")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    return tmp_path


def test_the_commit_of_a_clean_checkout(checkout: Path) -> None:
    assert checkout_revision(checkout, {}) == Revision(git(checkout, "rev-parse", "HEAD")[:7], dirty=False)


@pytest.mark.parametrize("name", ["file", "untracked"])
def test_changes_beside_the_commit_are_told(checkout: Path, name: str) -> None:
    git(checkout, "config", "status.showUntrackedFiles", "no")
    (checkout / name).write_text("two")
    found = checkout_revision(checkout, {"SLIPWAY_COMMIT": git(checkout, "rev-parse", "HEAD")})
    assert found.dirty
    assert str(found).endswith(" with local changes")


def test_another_checkout_that_a_git_hook_points_to_is_not_asked(
    checkout: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = git(checkout, "rev-parse", "HEAD")[:7]
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert checkout_revision(checkout, {}) == Revision(head, dirty=False)


@pytest.mark.parametrize("name", ["templates/secret.py", "jobs/digits/secret.csv", "jobs/digits/deep/secret.py"])
def test_what_is_published_though_git_ignores_it_is_a_change(checkout: Path, name: str) -> None:
    (checkout / ".git" / "info" / "exclude").write_text("secret.*\n")
    (checkout / name).parent.mkdir(parents=True)
    (checkout / name).touch()
    assert checkout_revision(checkout, {}).dirty


@pytest.mark.parametrize("name", ["secret.py", "docs/secret.py", "jobs/digits/__pycache__/secret.pyc"])
def test_what_git_ignores_and_nobody_publishes_is_none(checkout: Path, name: str) -> None:
    (checkout / ".git" / "info" / "exclude").write_text("secret.*\n")
    (checkout / name).parent.mkdir(parents=True, exist_ok=True)
    (checkout / name).touch()
    assert not checkout_revision(checkout, {}).dirty


class TestWhatTheEnvironmentSays:
    """`SLIPWAY_COMMIT` is compared where there is git, and believed where there is none."""

    @pytest.mark.parametrize("digits", [7, 12, 40])
    def test_the_checkouts_own_commit_is_as_if_nothing_was_said(self, checkout: Path, digits: int) -> None:
        head = git(checkout, "rev-parse", "HEAD")
        assert checkout_revision(checkout, {"SLIPWAY_COMMIT": head[:digits].upper()}) == Revision(head[:7], dirty=False)

    def test_another_commit_than_the_checkouts_is_refused(self, checkout: Path) -> None:
        head = git(checkout, "rev-parse", "--short=7", "HEAD")
        with pytest.raises(ConfigError, match=f"SLIPWAY_COMMIT is 0123456, and the checkout is at {head}") as caught:
            checkout_revision(checkout, {"SLIPWAY_COMMIT": "0123456789"})
        assert "git checkout 0123456789" in caught.value.fix

    def test_a_tarball_is_believed(self, tmp_path: Path) -> None:
        assert checkout_revision(tmp_path, {}) == Revision("unknown", dirty=False)
        assert checkout_revision(tmp_path, {"SLIPWAY_COMMIT": "0123456789ABCDEF0123456789abcdef01234567"}) == Revision(
            "0123456", dirty=False
        )

    def test_a_tarball_in_somebody_elses_checkout_is_not_of_that(self, checkout: Path) -> None:
        (checkout / ".git" / "info" / "exclude").write_text("unpacked\n")
        unpacked = checkout / "unpacked"
        unpacked.mkdir()
        (unpacked / "file").touch()
        assert checkout_revision(unpacked, {"SLIPWAY_COMMIT": "0123456"}) == Revision("0123456", dirty=False)
        assert checkout_revision(unpacked, {}) == Revision("unknown", dirty=False)

    def test_where_there_is_no_git_command_it_is_believed(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(checkout))
        assert checkout_revision(checkout, {"SLIPWAY_COMMIT": "0123456"}) == Revision("0123456", dirty=False)

    def test_a_checkout_that_git_refuses_to_read_is_not_guessed_at(self, checkout: Path) -> None:
        (checkout / ".git" / "config").write_text("[broken\n")
        with pytest.raises(ConfigError, match="can't be compared with the checkout: git says 'bad config"):
            checkout_revision(checkout, {"SLIPWAY_COMMIT": "0123456"})
        assert checkout_revision(checkout, {}) == Revision("unknown", dirty=False)


def test_a_variable_that_is_no_commit_is_refused(checkout: Path) -> None:
    with pytest.raises(ConfigError, match="SLIPWAY_COMMIT is not a commit: 'main'"):
        checkout_revision(checkout, {"SLIPWAY_COMMIT": "main"})


def test_commits_since_another_are_those_that_touch_what_is_named(checkout: Path) -> None:
    first = git(checkout, "rev-parse", "HEAD")[:7]
    (checkout / "file").write_text("two")
    git(checkout, "commit", "--quiet", "--all", "-m", "Be two")
    second = git(checkout, "log", "-1", "--format=%h %s")
    assert commits_since(checkout, first, ("file",)) == (second,)
    assert commits_since(checkout, first, ("templates",)) == commits_since(checkout, "unknown", ("file",)) == ()


class TestOrder:
    """Of a commit and the deployed one, so that an older run of CI rolls nothing back. # N14"""

    @pytest.fixture
    def history(self, checkout: Path) -> dict[str, str]:
        """Return commits by name: `first`, `second` after it, its `revert`, and `fork`, of the first."""
        commits = {"first": git(checkout, "rev-parse", "HEAD")}
        (checkout / "file").write_text("two")
        git(checkout, "commit", "--quiet", "--all", "--message", "second")
        commits["second"] = git(checkout, "rev-parse", "HEAD")
        git(checkout, "revert", "--no-edit", "HEAD")
        commits["revert"] = git(checkout, "rev-parse", "HEAD")
        git(checkout, "switch", "--quiet", "--create", "fork", commits["first"])
        git(checkout, "commit", "--quiet", "--allow-empty", "--message", "fork")
        commits["fork"] = git(checkout, "rev-parse", "HEAD")
        return {name: commit[:7] for name, commit in commits.items()}

    @pytest.mark.parametrize(
        ("commit", "deployed", "order"),
        [
            ("second", "second", CommitOrder.SAME),
            ("second", "first", CommitOrder.LATER),
            ("revert", "second", CommitOrder.LATER),
            ("first", "second", CommitOrder.EARLIER),
            ("second", "revert", CommitOrder.EARLIER),
            ("fork", "second", CommitOrder.DIVERGED),
        ],
    )
    def test_two_commits_of_a_whole_clone(
        self, checkout: Path, history: dict[str, str], commit: str, deployed: str, order: CommitOrder
    ) -> None:
        assert commit_order(checkout, history[commit], history[deployed]) is order

    def test_a_deployed_commit_that_a_forced_push_removed(self, checkout: Path, history: dict[str, str]) -> None:
        assert commit_order(checkout, history["first"], "0123456") is CommitOrder.MISSING

    def test_a_shallow_clone_never_calls_commits_unrelated(
        self, checkout: Path, history: dict[str, str], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        clone = tmp_path_factory.mktemp("clone")
        git(clone, "clone", "--quiet", "--depth", "1", f"file://{checkout}", "shallow")
        assert commit_order(clone / "shallow", history["fork"], history["second"]) is CommitOrder.SHALLOW
        assert commit_order(clone / "shallow", history["fork"], history["fork"]) is CommitOrder.SAME

    def test_a_branch_named_like_a_commit_is_not_that_commit(self, checkout: Path, history: dict[str, str]) -> None:
        git(checkout, "branch", "0123456", history["first"])
        assert commit_order(checkout, history["second"], "0123456") is CommitOrder.MISSING

    def test_an_unknown_commit_is_missing(self, checkout: Path, history: dict[str, str]) -> None:
        assert commit_order(checkout, history["second"], "") is CommitOrder.MISSING

    def test_no_checkout_has_no_commits(self, tmp_path: Path) -> None:
        assert commit_order(tmp_path, "0123456", "6543210") is CommitOrder.MISSING

"""A repository's address: as people paste it, and fetched by their own git without a question. # N11 # N25"""

import os
import shutil
from pathlib import Path

import pytest

from slipway.authoring.packages.git_address import GitAddress
from slipway.authoring.packages.working_tree import read
from slipway.base.errors import ConfigError
from tests.checkouts.git import git


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("https://host/org/repo.git@main", GitAddress("https://host/org/repo.git", "main")),
        ("git+https://host/org/repo@v1.2#subdirectory=a/b", GitAddress("https://host/org/repo", "v1.2", "a/b")),
        ("git+https://host/r.git@x#egg=r&subdirectory=a", GitAddress("https://host/r.git", "x", "a")),
        ("https://host/org/repo#jobs/lora", GitAddress("https://host/org/repo", "", "jobs/lora")),
        (
            "https://ada@dev.azure.com/o/p/_git/r@feature/x",
            GitAddress("https://ada@dev.azure.com/o/p/_git/r", "feature/x"),
        ),
        ("ssh://git@host:2222/org/repo.git@1a2b", GitAddress("ssh://git@host:2222/org/repo.git", "1a2b")),
        ("git@github.com:org/repo.git", GitAddress("git@github.com:org/repo.git")),
        ("git@github.com:org/repo.git@dev", GitAddress("git@github.com:org/repo.git", "dev")),
        ("https://github.com/o/r/tree/main/jobs/lora", GitAddress("https://github.com/o/r", "main", "jobs/lora")),
        ("https://gitlab.com/o/r/-/tree/v1", GitAddress("https://gitlab.com/o/r", "v1")),
        ("https://github.com/o/r/blob/main/jobs/train.py", GitAddress("https://github.com/o/r", "main", "jobs")),
        ("https://gitlab.com/o/r/-/blob/v1/train.py", GitAddress("https://gitlab.com/o/r", "v1")),
        ("https://host/org/repo/", GitAddress("https://host/org/repo")),
        ("./repo", None),
        ("gs://bucket/x", None),
        ("ext::sh -c id", None),
        ("--upload-pack=id", None),
        ("https://host/r.git@--upload-pack=id", None),
    ],
)
def test_an_address_is_read_as_people_write_it(typed: str, address: GitAddress | None) -> None:
    assert GitAddress.parse(typed) == address


def test_a_name_is_that_of_the_folder_or_the_repository() -> None:
    assert [GitAddress("https://h/o/r.git").name, GitAddress("git@h:r.git").name] == ["r", "r"]
    assert GitAddress("https://h/o/r.git", folder="jobs/lora").name == "lora"


@pytest.mark.parametrize("user", ["ada:secret", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"])
def test_a_token_in_it_is_refused_and_not_repeated(user: str) -> None:
    with pytest.raises(ConfigError) as error:
        GitAddress.parse(f"https://{user}@github.com/o/r.git")
    assert user not in str(error.value)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    (made / "jobs").mkdir(parents=True)
    (made / "jobs" / "train.py").write_text("print('first')\n")
    git(made, "init", "-q", "-b", "main")
    git(made, "add", ".")
    git(made, "commit", "-qm", "first")
    git(made, "tag", "-a", "v1", "-m", "one")
    (made / "jobs" / "train.py").write_text("print('second')\n")
    git(made, "commit", "-qam", "second")
    return made


def fetched(repository: Path, into: Path, revision: str, folder: str = "") -> tuple[str, str]:
    into.mkdir()
    path, commit = GitAddress(f"file://{repository}", revision, folder).fetch(into)
    return (path / ("train.py" if folder else "jobs/train.py")).read_text(), commit


def test_a_branch_a_tag_a_commit_and_none_are_resolved_to_a_commit(repository: Path, tmp_path: Path) -> None:
    first, second = git(repository, "rev-parse", "HEAD~1"), git(repository, "rev-parse", "HEAD")
    for number, revision in enumerate(("main", "", second)):
        assert fetched(repository, tmp_path / f"a{number}", revision) == ("print('second')\n", second)
    for number, revision in enumerate(("v1", first)):
        assert fetched(repository, tmp_path / f"b{number}", revision, "jobs") == ("print('first')\n", first)
    assert git(tmp_path / "a0", "rev-list", "--count", "HEAD") == "1", "the commit alone"


def test_what_can_t_be_fetched_is_told_with_what_to_type(repository: Path, tmp_path: Path) -> None:
    for number, (revision, fix) in enumerate((("nowhere", "git ls-remote file://"), ("1a2b3c4", "all 40 digits"))):
        with pytest.raises(ConfigError, match=f"can't fetch file://.* @ {revision}") as error:
            fetched(repository, tmp_path / f"c{number}", revision)
        assert fix in str(error.value.fix) and "couldn't find remote ref" in error.value.why
    command = str(error.value.fix).partition("asking you: ")[2].split()
    assert "refs/tags/v1" in git(tmp_path, *command[1:]), "the fix as it is typed"


@pytest.mark.parametrize("folder", ["absent", "../..", "link"])
def test_a_folder_that_is_not_within_it_is_refused(repository: Path, tmp_path: Path, folder: str) -> None:
    (repository / "link").symlink_to(tmp_path)
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "link")
    with pytest.raises(ConfigError, match="has no folder") as error:
        fetched(repository, tmp_path / "d", "main", folder)
    assert "jobs" in error.value.why


def test_a_submodule_comes_along(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q", "-b", "main")
    git(outer, "submodule", "--quiet", "add", f"file://{repository}", "lib")
    git(outer, "commit", "-qm", "lib")
    (tmp_path / "e").mkdir()
    folder, _ = GitAddress(f"file://{outer}", "main").fetch(tmp_path / "e")
    assert (folder / "lib" / "jobs" / "train.py").is_file()


def test_a_submodule_that_can_t_be_fetched_is_told(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # dstackai/dstack 598, mlcommons/training 485, 10XGenomics/lariat 1
    for name, value in {"COUNT": "1", "KEY_0": "protocol.file.allow", "VALUE_0": "always"}.items():
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)
    outer = tmp_path / "outer"
    shutil.copytree(repository, outer / "lib")
    git(outer, "init", "-q", "-b", "main")
    git(outer, "add", "lib")
    git(outer, "commit", "-qm", "lib")
    (tmp_path / "e").mkdir()
    folder, commit = GitAddress(f"file://{outer}", "main").fetch(tmp_path / "e")
    assert read(folder, "its address", commit).unfetched == ("lib",)
    (outer / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = file:///nowhere\n')
    git(outer, "add", ".gitmodules")
    git(outer, "commit", "-qm", "private")
    (tmp_path / "f").mkdir()
    with pytest.raises(ConfigError, match="can't fetch the submodules of") as error:
        GitAddress(f"file://{outer}", "main").fetch(tmp_path / "f")
    assert f"git clone --recursive file://{outer}, and --code" in str(error.value.fix)
    assert "'file:///nowhere' into submodule path 'lib' failed" in error.value.why


def test_git_never_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that tells what it was given, in place of one that would ask."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    tells = 'echo "$GIT_TERMINAL_PROMPT/$GIT_ASKPASS/$GIT_DIR/$(ps -o tty= -p $$)" >&2'
    program.write_text(f"#!/bin/sh\n[ -t 0 ] && exit 9\n{tells}\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("GIT_DIR", "/of/a/hook")
    monkeypatch.setenv("GIT_ASKPASS", "/usr/bin/asks")
    with pytest.raises(ConfigError) as error:
        GitAddress("https://host/r.git").fetch(tmp_path)
    assert error.value.why.replace("?", "").startswith("0///")

"""`make review`: what is missing is said before anything is previewed. Its reviews: tests/end_to_end. # N14"""

import os
import subprocess
from pathlib import Path

import pytest

from local.environment import engine_variables
from local.pull_request import Repository, judged, main, preview, silent
from slipway.errors import ConfigError


def test_a_stack_without_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"there is no stacks/Pulumi\.nosuch\.yaml"):
        preview(tmp_path, "nosuch", tmp_path / "events", {})


def test_without_the_engine(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pulumi is not on PATH"):
        judged(Repository(tmp_path, {"PATH": str(tmp_path)}), "main", ["local"], [])


@pytest.mark.parametrize(("stack", "fix"), [("local", "make demo"), ("dev", "make select STACK=dev")])
def test_a_stack_that_the_backend_does_not_have(tmp_path: Path, stack: str, fix: str) -> None:
    engine, file = tmp_path / "pulumi", tmp_path / "stacks" / f"Pulumi.{stack}.yaml"
    engine.write_text(f"#!/bin/sh\necho \"error: no stack named '{stack}' found\" >&2\nexit 255\n")
    engine.chmod(0o755)
    file.parent.mkdir()
    file.write_text("config: {}\n")
    work = tmp_path / "work"
    work.mkdir()
    why = preview(tmp_path, stack, work / "events", {"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert fix in silent(stack, why).render()


def test_a_stack_that_was_never_deployed_on_the_laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_LOCAL_STATE", str(tmp_path))
    for name, value in engine_variables(tmp_path, tmp_path, "").items():
        monkeypatch.setenv(name, value)
    assert "make demo STACK=dev" in silent("dev", "error: no stack named 'dev' found").render()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A checkout of one commit, with a stack `dev`, and an engine on PATH that is not asked."""
    (tmp_path / "bin").mkdir()
    git = subprocess.run(["which", "git"], check=True, capture_output=True, text=True).stdout.strip()
    for command in ("git", "pulumi"):
        (tmp_path / "bin" / command).symlink_to(git)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    root = tmp_path / "checkout"
    (root / "stacks").mkdir(parents=True)
    (root / "stacks" / "Pulumi.dev.yaml").write_text("config: {}\n")
    monkeypatch.chdir(root)
    made = Repository(root, os.environ)
    made.git("init", "-q")
    commit(made)
    return made


def commit(repository: Repository, *flags: str) -> None:
    repository.git("add", "--all")
    repository.git("-c", "user.name=ci", "-c", "user.email=ci@slipway.example", "commit", "-qm", "one", *flags)


REVIEWS = """import sys
from pathlib import Path
if "check" not in sys.argv:
    print("the base judges", Path(sys.argv[sys.argv.index("--files") + 1]).read_text().split(), flush=True)
"""
REWRITES = """#!/bin/sh
echo '{}'
[ -e program.py ] || exit 0
mkdir -p .slipway/review/base/slipway
echo 'print("the change judges")' > .slipway/review/base/slipway/__main__.py
: > .slipway/review/files
"""


def test_the_change_s_program_rewrites_nothing_that_judges_it(
    repository: Repository, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (repository.root / "slipway" / "cli").mkdir(parents=True)
    for name in ("__init__.py", "cli/review.py"):
        (repository.root / "slipway" / name).touch()
    (repository.root / "slipway" / "__main__.py").write_text(REVIEWS)
    (repository.root / ".gitignore").write_text(".slipway/\n")
    commit(repository)
    (repository.root / "program.py").touch()
    (tmp_path / "bin" / "pulumi").unlink()
    (tmp_path / "bin" / "pulumi").write_text(REWRITES.replace("mkdir", "/bin/mkdir"))
    (tmp_path / "bin" / "pulumi").chmod(0o755)
    assert main(["--base", "HEAD", "--stack", "dev"]) == 0
    assert capfd.readouterr().out == "the base judges ['A', 'program.py']\n"


def test_another_commit_of_a_submodule_that_asks_to_be_ignored_is_told(repository: Repository) -> None:
    inner = repository.root / "lib"
    inner.mkdir()
    sub = Repository(inner, repository.environment)
    sub.git("init", "-q")
    commit(sub, "--allow-empty")
    (repository.root / ".gitmodules").write_text('[submodule "lib"]\n path = lib\n url = ./lib\n ignore = all\n')
    first = sub.git("rev-parse", "HEAD")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{first},lib")
    commit(repository)
    commit(sub, "--allow-empty")
    assert repository.changed("HEAD") == [("M", "lib")]
    second = sub.git("rev-parse", "HEAD")
    assert second in repository.git("ls-tree", repository.tree())


def said(capsys: pytest.CaptureFixture[str], base: str = "HEAD", stack: str = "dev") -> str:
    assert main(["--base", base, "--stack", stack]) in (1, 2)
    error = capsys.readouterr().err
    assert "  why: " in error and "  fix: " in error
    return error


@pytest.mark.parametrize("stack", ["nope", "../dev", ""])
def test_a_stack_that_this_checkout_does_not_have(
    repository: Repository, capsys: pytest.CaptureFixture[str], stack: str
) -> None:
    assert f"there is no stack {stack}\n" in said(capsys, stack=stack)


@pytest.mark.parametrize("base", ["nope", "HEAD~9", ""])
def test_a_base_that_is_not_there(repository: Repository, capsys: pytest.CaptureFixture[str], base: str) -> None:
    assert f"BASE {base} is nothing" in said(capsys, base)


def test_a_base_of_another_history(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    user = ("-c", "user.name=ci", "-c", "user.email=ci@slipway.example")
    other = repository.git(*user, "commit-tree", "-m", "other", "HEAD^{tree}")
    assert "is nothing that" in said(capsys, other)


def test_no_git(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="git can't be run"):
        Repository(tmp_path, {"PATH": "/nowhere"}).git("status")


@pytest.mark.parametrize("left", ["nothing", "a folder", "a worktree", "a locked worktree"])
def test_what_a_killed_run_left_is_made_anew(repository: Repository, left: str) -> None:
    folder = repository.root / ".slipway" / "base"
    if left == "a folder":
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    elif left != "nothing":
        repository.git("worktree", "add", "--detach", str(folder), "HEAD")
        if left == "a locked worktree":
            repository.git("worktree", "lock", str(folder))
    with repository.at("HEAD", folder) as there:
        assert (there / "stacks" / "Pulumi.dev.yaml").is_file()
    assert not folder.exists()


def test_names_of_files_are_as_they_are(repository: Repository) -> None:
    (repository.root / "components").mkdir()
    (repository.root / "components" / "ä.py").write_text("")
    assert repository.git("ls-files", "--others") == "components/ä.py"

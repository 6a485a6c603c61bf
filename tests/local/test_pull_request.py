"""`make review`: what is missing is said before anything is previewed. Its reviews: tests/end_to_end. # N14"""

import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from local.environment import engine_variables
from local.judge import Judge, included, judge_of, local_paths
from local.pull_request import Repository, judged, main, offering, preview, silent
from local.select_stack import fix_of_missing, select
from slipway.base.errors import ConfigError
from slipway.front.cli.check import command as check
from tests.checkouts.git import git
from tests.local.conftest import ROOT


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


ANOTHER = "export PULUMI_BACKEND_URL=URL, or pulumi login URL, if the stack was deployed: another backend has it"
EMPTY = "or make select STACK=dev, which creates an empty stack"


@pytest.mark.parametrize(
    ("names", "project", "flags", "fixes"),
    [
        (
            ["former", "ours"],
            "former",
            "",
            [
                ANOTHER,
                "or `name: former` again in Pulumi.yaml, the project's former name: the backend has its stack dev",
                "or make select STACK=dev, which creates a second stack",
            ],
        ),
        (["another-team", "template", "ours"], "another-team", "", [ANOTHER, EMPTY]),
        (["former", "ours"], "another-team", "", [ANOTHER, EMPTY]),
        (
            ["former", "ours"],
            "ours",
            "LAPTOP=1",
            [
                "leave out LAPTOP=1, if the stack was deployed with another backend: LAPTOP=1 takes the local cloud's",
                "or make select STACK=dev LAPTOP=1, which creates an empty stack",
            ],
        ),
    ],
)
def test_another_backend_is_the_first_fix_of_a_missing_stack(
    tmp_path: Path, names: list[str], project: str, flags: str, fixes: list[str]
) -> None:
    engine = tmp_path / "pulumi"
    stacks = [f"organization/{project}/dev", "organization/other/prod", "staging"]
    engine.write_text(f"#!/bin/sh\necho '{json.dumps([{'name': name} for name in stacks])}'\n")
    engine.chmod(0o755)
    git(tmp_path, "init", "--quiet")
    for name in names:
        (tmp_path / "Pulumi.yaml").write_text(f"name: {name}\nruntime: python\n")
        git(tmp_path, "add", "Pulumi.yaml")
        git(tmp_path, "commit", "--quiet", "--message", name)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert fix_of_missing(tmp_path, "dev", flags, environ).splitlines() == [
        line if number == 0 else f"       {line}" for number, line in enumerate(fixes)
    ]


def test_a_deleted_stack_file_is_restored_from_the_last_commit(repository: Repository) -> None:
    file = Path("stacks", "Pulumi.dev.yaml")
    text = file.read_text()
    file.unlink()
    restored, renamed = "git checkout HEAD -- stacks/Pulumi.dev.yaml\n", "pulumi stack rename dev --stack dev2"
    failure = CliRunner().invoke(check, []).exception
    assert isinstance(failure, ConfigError) and str(failure.fix).startswith(restored)
    Path("stacks", "Pulumi.dev2.yaml").write_text(text)  # as `pulumi stack rename` does
    for missing in (
        lambda: preview(repository.root, "dev", repository.root / "events", {}),
        lambda: select(repository.root, "dev"),
    ):
        with pytest.raises(ConfigError) as error:
            missing()
        assert str(error.value.fix).startswith(restored)
        assert str(error.value.fix).splitlines()[-1] == renamed
    for words in (["dev"], ["stacks/Pulumi.dev.yaml"]):
        failure = CliRunner().invoke(check, words).exception
        assert isinstance(failure, ConfigError) and str(failure.fix).startswith(restored)
    for makefile in ("Makefile", "slipway/front/starter/Makefile.in"):
        text = (ROOT / makefile).read_text()
        recipe = re.search(r"^copied = (.*?\}; )", text, re.MULTILINE | re.DOTALL)
        assert recipe is not None
        shell = recipe.group(1).replace("$(STACK)", "dev").replace("$$", "$") + ":"
        shell = shell.replace("$(PY)", sys.executable).replace("slipway.local.", "local.")
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["/bin/bash", "-euc", shell], cwd=repository.root, env=environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, restored in done.stdout) == (2, True), done.stderr
        assert done.stdout.splitlines()[-1].strip() == renamed


def test_make_rejects_a_target_that_it_would_break() -> None:
    for arguments, code in (("--target a$Child", 2), ("--target 'a$$Child'", 0)):
        command = ["make", "-n", "preview", "STACK=dev", f"ARGS={arguments}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("ARGS has a $ that make would remove" in done.stderr) == (code == 2)


def test_a_shell_without_a_login_is_told_how_to_get_one() -> None:
    why = "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions"
    told = silent("dev", why).render()
    assert "fix: add LAPTOP=1 for the local cloud, or export PULUMI_BACKEND_URL, where the state is" in told


def test_a_stack_that_was_never_deployed_on_the_laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERTEX_LOCAL_STATE", str(tmp_path))
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
    repository.git("-c", "user.name=ci", "-c", "user.email=ci@company.example", "commit", "-qm", "one", *flags)


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
    (repository.root / "slipway" / "front" / "cli").mkdir(parents=True)
    for name in ("__init__.py", "front/cli/review.py"):
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


def test_a_terminated_run_leaves_no_worktree(repository: Repository, tmp_path: Path) -> None:
    (repository.root / "slipway" / "front" / "cli").mkdir(parents=True)
    (repository.root / "slipway" / "front" / "cli" / "review.py").touch()
    (repository.root / ".gitignore").write_text(".slipway/\n")
    commit(repository)
    engine = tmp_path / "bin" / "pulumi"
    engine.unlink()
    engine.write_text("#!/bin/sh\necho '{}'\ncase $PWD in */base) kill $PPID; exec /bin/sleep 60;; esac\n")
    engine.chmod(0o755)
    command = (sys.executable, "-m", "local.pull_request", "--base", "HEAD", "--stack", "dev")
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=repository.root, env=environ, capture_output=True, text=True, timeout=50)
    assert done.returncode == 130 and "interrupted; nothing was changed" in done.stderr
    assert len(repository.git("worktree", "list").splitlines()) == 1


def test_a_second_review_of_a_checkout_waits_for_the_first(
    repository: Repository, capfd: pytest.CaptureFixture[str]
) -> None:
    (repository.root / ".slipway" / "review").mkdir(parents=True)
    with (repository.root / ".slipway" / "review" / "lock").open("w") as lock, ThreadPoolExecutor() as pool:
        fcntl.flock(lock, fcntl.LOCK_EX)
        second = pool.submit(main, ["--base", "nosuch", "--stack", "dev"])
        with pytest.raises(TimeoutError):
            second.result(timeout=0.5)
        assert "waiting for another review" in capfd.readouterr().err
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert second.result(timeout=60) == ConfigError.exit_code
    assert "BASE nosuch" in capfd.readouterr().err


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


def test_a_base_that_is_not_there(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    user = ("-c", "user.name=ci", "-c", "user.email=ci@company.example")
    another_history = repository.git(*user, "commit-tree", "-m", "other", "HEAD^{tree}")
    for base in ("nope", "", another_history):
        assert f"BASE {base} is nothing" in said(capsys, base)


def test_a_base_that_a_shallow_clone_lacks(repository: Repository, tmp_path: Path) -> None:
    shallow = Path(tmp_path, "shallow")
    repository.git("clone", "--quiet", "--depth", "1", f"file://{repository.root}", str(shallow))
    with pytest.raises(ConfigError) as error:
        Repository(shallow, repository.environment).base("HEAD~1")
    assert "git fetch --unshallow" in str(error.value.fix)


def test_a_branch_that_lacks_commits_of_its_base(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """A review told main's later deployments as this branch's doing, without a word."""
    repository.git("branch", "mine")
    (repository.root / "README.md").touch()
    commit(repository)
    repository.git("branch", "theirs")
    repository.git("reset", "-q", "--hard", "mine")
    assert "undo what it lacks of theirs, 1 commit: merge theirs first" in said(capsys, "theirs")
    assert "undo" not in said(capsys, "mine")


def test_no_git(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="git can't be run"):
        Repository(tmp_path, {"PATH": "/nowhere"}).git("status")


@pytest.mark.parametrize("left", ["a folder", "a locked worktree"])
def test_what_a_killed_run_left_is_made_anew(repository: Repository, left: str) -> None:
    folder = repository.root / ".slipway" / "base"
    if left == "a folder":
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    else:
        repository.git("worktree", "add", "--detach", str(folder), "HEAD")
        repository.git("worktree", "lock", str(folder))
    with repository.at("HEAD", folder) as there:
        assert (there / "stacks" / "Pulumi.dev.yaml").is_file()
    assert not folder.exists()


def test_names_of_files_are_as_they_are(repository: Repository) -> None:
    (repository.root / "components").mkdir()
    (repository.root / "components" / "ä.py").write_text("")
    assert repository.git("ls-files", "--others") == "components/ä.py"


def test_a_name_that_is_no_text_is_told(repository: Repository) -> None:
    (repository.root / os.fsdecode(b"b\xffd.py")).touch()
    assert repository.changed("HEAD") == [("A", os.fsdecode(b"b\xffd.py"))]


# --- The judge of a team's repository is what its base branch pins, and nothing of the change. # N14 # D8


TELLS = "import json, os, sys\nprint(json.dumps({'args': sys.argv[1:], 'path': sys.path, 'judge': %r}))\n"


def wheel(folder: Path, judge: str, version: str = "0.1.0") -> Path:
    """A slipway that says what it was started with."""
    made, info = (
        folder / f"slipway_vertex-{version}-py3-none-any.whl",
        f"slipway_vertex-{version}.dist-info",
    )
    files = {
        "slipway/__init__.py": "",
        "slipway/__main__.py": TELLS % judge,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: slipway-vertex\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")))
    return made


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The project's folder in the base branch, inside of the change's, whose files stand in for packages."""
    change = tmp_path / "change"
    folder = change / ".slipway" / "review" / "base"
    folder.mkdir(parents=True)
    for name in ("sitecustomize.py", "yaml.py", "slipway.py"):
        (change / name).write_text("raise SystemExit('the change was run')")
    (change / "uv.toml").write_text('index-url = "https://change.invalid/simple"\n')
    pin(folder, wheel(tmp_path, "base"))
    return folder


def pin(folder: Path, made: Path, digest: str = "") -> None:
    found = digest or hashlib.sha256(made.read_bytes()).hexdigest()
    (folder / "requirements.txt").write_text(f"slipway-vertex @ {made.as_uri()}#sha256={found}\n")


def environ(base: Path) -> Mapping[str, str]:
    change = base.parents[2]
    (change / "temporary").mkdir(exist_ok=True)
    mine = {
        "TMPDIR": str(change / "temporary"),
        "XDG_CACHE_HOME": str(change.parent / "cache"),
        "SLIPWAY_CACHE": "",
        "PYTHONPATH": str(change),
    }
    return {**os.environ, **mine}


def made(base: Path, told: list[str] | None = None) -> Judge:
    return judge_of(base, "main", "c" * 40, environ(base), (told if told is not None else []).append)


def told_by(judge: Judge, *words: str, folder: Path) -> Any:
    done = subprocess.run(judge.command(*words), cwd=folder, env=judge.variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_is_the_base_s_and_nothing_of_the_change_is_on_its_path(base: Path) -> None:
    change = base.parents[2]
    sentences = told_by(made(base), "review", "x", folder=change)
    assert (sentences["judge"], sentences["args"]) == ("base", ["review", "x"])
    assert not [path for path in sentences["path"] if Path(path).is_relative_to(change) or not path]


def test_it_is_made_once_for_the_same_pins(base: Path) -> None:
    told: list[str] = []
    first = made(base, told)
    assert made(base, told) == first and len(told) == 1
    pin(base, wheel(base.parents[3], "next", "0.2.0"))
    assert told_by(made(base, told), folder=base)["judge"] == "next" and len(told) == 2


def test_what_a_killed_run_left_is_no_judge(base: Path) -> None:
    whole = made(base).environment
    assert whole is not None
    (whole / "complete.json").unlink()
    (whole.parent / ".partial-killed").mkdir()
    again = made(base)
    assert again.environment == whole and told_by(again, folder=base)["judge"] == "base"
    assert not (whole.parent / ".partial-killed").exists()


def test_a_wheel_with_another_hash_is_refused(base: Path) -> None:
    pin(base, wheel(base.parents[3], "other"), "0" * 64)
    with pytest.raises(ConfigError, match="pins of main can't be installed"):
        made(base)
    assert not [path for path in (base.parents[3] / "cache" / "slipway" / "judges").iterdir() if path.is_dir()]


def test_a_wheel_of_a_path_that_became_another_is_another_judge(base: Path) -> None:
    place = wheel(base.parents[3], "one", "0.3.0")
    (base / "requirements.txt").write_text("-r pins/all.txt\n")
    (base / "pins").mkdir()
    (base / "pins" / "all.txt").write_text(f"slipway-vertex @ {place.as_uri()}\n")
    assert told_by(made(base), folder=base)["judge"] == "one"
    wheel(base.parents[3], "two", "0.3.0")
    assert told_by(made(base), folder=base)["judge"] == "two"


BACKEND = """import pathlib, shutil, tempfile
def build_wheel(folder, *rest):
    pathlib.Path(tempfile.gettempdir(), "lock").touch()
    (made,) = pathlib.Path().glob("*.whl")
    return shutil.copy(made, folder) and made.name
"""


def test_a_branch_that_moved_is_another_judge_and_a_commit_stays_one(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "backend.py").write_text(BACKEND)
    (source / "pyproject.toml").write_text(
        '[project]\nname = "slipway-vertex"\nversion = "0.4.0"\n'
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    for key, value in (
        ("COUNT", "1"),
        ("KEY_0", f"url.file://{source}.insteadOf"),
        ("VALUE_0", "https://git.invalid/x"),
    ):
        monkeypatch.setenv(f"GIT_CONFIG_{key}", value)

    def committed(judge: str) -> str:
        wheel(source, judge, "0.4.0")
        who = ("-c", "user.name=ci", "-c", "user.email=ci@company.example")
        for words in (("init", "-q", "-b", "main"), ("add", "--all"), (*who, "commit", "-qm", judge)):
            subprocess.run(("git", *words), cwd=source, check=True)
        return subprocess.run(
            ("git", "rev-parse", "HEAD"), cwd=source, check=True, capture_output=True, text=True
        ).stdout

    first, told = committed("one").strip(), list[str]()
    (base / "requirements.txt").write_text("slipway-vertex @ git+https://git.invalid/x@main\n")
    assert told_by(made(base), folder=base)["judge"] == "one"
    committed("two")
    assert told_by(made(base), folder=base)["judge"] == "two"
    (base / "requirements.txt").write_text(f"slipway-vertex @ git+https://git.invalid/x@{first}\n")
    assert told_by(made(base, told), folder=base)["judge"] == "one"
    assert made(base, told).environment and len(told) == 1
    assert not [*(base.parents[2] / "temporary").iterdir()], "what builds a source leaves nothing there"


def test_a_base_without_pins_has_no_judge(base: Path) -> None:
    (base / "requirements.txt").unlink()
    with pytest.raises(ConfigError, match="nothing to judge by"):
        made(base)


def test_pins_without_slipway_bring_no_judge(base: Path) -> None:
    (base / "requirements.txt").write_text("# nothing\n")
    with pytest.raises(ConfigError, match="bring no slipway"):
        made(base)


def test_an_environment_that_names_the_change_s_checkout_runs_nothing_of_it(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment imports from there as after an editable install of slipway's repository."""
    change, own = base.parents[2], base.parents[3] / "venv"
    venv.create(own, with_pip=False)
    (packages,) = own.glob("lib/python*/site-packages")
    (packages / "editable.pth").write_text(f"{change}\n")
    monkeypatch.setattr(sys, "executable", str(own / "bin" / "python"))
    (base / "slipway" / "front" / "cli").mkdir(parents=True)
    for name in ("__init__.py", "front/cli/review.py"):
        (base / "slipway" / name).touch()
    (base / "slipway" / "__main__.py").write_text("import yaml\n" + TELLS % "source")
    sentences = told_by(made(base), "review", "x", folder=change)
    assert (sentences["judge"], sentences["args"], sentences["path"][0]) == ("source", ["review", "x"], str(base))
    beside = [path for path in sentences["path"] if Path(path).is_relative_to(change) or not path]
    assert beside == [str(base)]


def test_the_base_s_program_runs_with_the_base_s_pins(base: Path) -> None:
    judge = made(base)
    judge.lend(".venv")
    judge.lend(".venv")
    assert (base / ".venv").resolve() == judge.environment


def test_other_stacks_that_offer_an_edited_template_are_named(tmp_path: Path) -> None:  # N14
    files = {
        "dev": "config: {slipway:templates: [hello]}",
        "prod": "config: {slipway:templates: [count-words]}",
        "odd": "[",
    }
    (tmp_path / "stacks").mkdir()
    for stack, text in files.items():
        (tmp_path / "stacks" / f"Pulumi.{stack}.yaml").write_text(text)
    assert [*offering(tmp_path, ("templates/count_words.py", "README.md"))] == [("prod", "count-words")]


def test_where_requirements_lead() -> None:
    text = "-r a.txt\n--constraint=b.txt\n-e ../lib[x]\ny @ ./y.whl#sha256=0\nz @ https://example.com/z.whl\n.\nclick\n"
    assert included(text) == ("a.txt", "b.txt")
    assert local_paths(text) == ("../lib", "./y.whl", ".")

"""A team's five files call ours: with all that these need, nothing more, and as linters would have them."""  # D5

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from slipway.front.cli.terminal import starter_files
from tests.checkouts.git import git
from tests.checkouts.made_once import once
from tests.ci import tools
from tests.ci.conftest import ROOT, All, Workflow, read
from tests.ci.test_actionlint import lint

OWNED, REF, FOLDER = "acme/slipway", "0123456789abcdef0123456789abcdef01234567", "ml/training"
VALUES = {"OWNED": OWNED, "REF": REF, "STACKS": '["dev", "prod"]', "FOLDER": FOLDER}
NAMES = ("preview", "gate", "up", "schedule", "doctor")
LONGEST = 24


def filled(folder: Path, **values: str) -> All:
    """The files as `slipway init --workflows` writes them, by their names."""
    files = {}
    for name, text in starter_files.files(workflows=True, production=True).items():
        if name.startswith(".github/workflows/"):
            (at := folder / name).parent.mkdir(parents=True, exist_ok=True)
            at.write_text(starter_files.filled(text, VALUES | values))
            files[at.stem] = read(at)
    return files


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> All:
    return filled(tmp_path_factory.mktemp("team"))


def calls(files: All, workflows: All) -> Iterator[tuple[dict[str, Any], Workflow]]:
    """Yield each job that calls a workflow of ours, with that workflow."""
    for file in files.values():
        for job in file.jobs().values():
            if "uses" in job:
                match = re.fullmatch(rf"(?:\$|{OWNED})/\.github/workflows/([\w-]+)\.yaml(?:@{REF})?", job["uses"])
                assert match, job["uses"]
                yield job, workflows[match[1]]


def test_a_call_gives_what_is_asked_for(team: All, workflows: All) -> None:
    """Ours are held to that by actionlint."""
    listed = list(calls(team, workflows))
    assert len(listed) == len(NAMES)
    for job, called in listed:
        declared, given = called.tree["on"]["workflow_call"]["inputs"], job["with"]
        assert {name for name, about in declared.items() if about.get("required")} <= set(given) <= set(declared), job
        for name, value in (("stacks", VALUES["STACKS"]), ("folder", FOLDER)):
            assert name not in declared or given[name] == value, job
    (schedule,) = team["slipway-schedule"].jobs().values()
    assert schedule["strategy"]["matrix"] == {"stack": json.loads(VALUES["STACKS"])}
    assert schedule["with"]["stack"] == "${{ matrix.stack }}"


def test_a_call_lends_the_rights_that_are_asked_for_no_others_and_no_secret(team: All, workflows: All) -> None:
    """With less GitHub refuses the file: https://docs.github.com/en/actions/reference/workflows-and-actions/reusable-workflows"""
    for job, called in [*calls(team, workflows), *calls(workflows, workflows)]:
        asked = {right for body in called.jobs().values() for right in body["permissions"].items()}
        # Whoever may write may read.
        asked -= {(name, "read") for name, right in asked if right == "write"}
        assert set(job["permissions"].items()) == asked, job
        assert "secrets" not in job and "secrets" not in called.tree["on"]["workflow_call"]
    assert all(file.tree["permissions"] == {} for file in team.values())


def test_the_gate_asks_the_preview_again(team: All, workflows: All) -> None:
    (gate,) = team["slipway-gate"].jobs().values()
    assert (gate["with"]["preview"]).removesuffix(".yaml") in team
    (again,) = workflows["gate"].steps()
    pattern = re.search(r'test\("(.*?)"\)', again["run"])
    (preview,) = team["slipway-preview"].jobs()
    assert pattern and re.search(pattern[1], f"{preview} / reviewed")
    assert not re.search(pattern[1], f"{preview} / previewed"), "another check"


def test_they_begin_when_ours_do(team: All, workflows: All) -> None:
    assert all(file.tree["name"] == name for name, file in team.items()), "what others know it by"
    for name in NAMES:
        assert set(team[f"slipway-{name}"].tree["on"]) == set(workflows[name].tree["on"]) - {"workflow_call"}, name
    assert team["slipway-up"].tree["on"]["push"] == {"branches": ["main"]}
    asked = team["slipway-up"].tree["on"]["workflow_dispatch"]["inputs"]
    assert set(asked) == set(workflows["up"].tree["on"]["workflow_dispatch"]["inputs"])


class TestLinters:
    @pytest.mark.parametrize("folder", [".", FOLDER])
    def test_actionlint(self, actionlint: Path, tmp_path: Path, folder: str) -> None:
        files = filled(tmp_path, FOLDER=folder)
        git(tmp_path, "init", "-q")
        done = lint(actionlint, *(file.path for file in files.values()), at=tmp_path)
        assert done.returncode == 0, done.stdout

    def test_zizmor(self, team: All) -> None:
        folder = team["slipway-up"].path.parents[1]
        for path in (ROOT / ".github", folder):
            done = zizmor(path)
            assert done.returncode == 0, done.stdout
            assert "No findings to report" in done.stdout

    def test_of_a_tag_zizmor_says_that_it_can_be_moved(self, tmp_path: Path) -> None:
        filled(tmp_path, REF="v0.2.0")
        done = zizmor(tmp_path)
        assert done.returncode != 0
        assert set(re.findall(r"^\w+\[([\w-]+)\]", done.stdout, re.MULTILINE)) == {"unpinned-uses"}


def zizmor(path: Path) -> subprocess.CompletedProcess[str]:
    flags = ("--offline", "--no-progress", "--quiet", "--color=never")
    environ = {name: value for name, value in os.environ.items() if name not in ("GH_TOKEN", "GITHUB_TOKEN", "CI")}
    command = [str(Path(sys.executable).with_name("zizmor")), *flags, str(path)]
    return subprocess.run(command, env=environ, capture_output=True, text=True)


@dataclass(frozen=True)
class Checkout:
    """A team's repository on a runner, its folder in it, and a wheel that stands for Slipway's."""

    root: Path
    folder: Path
    wheel: Path
    step: dict[str, Any]

    def requires(self, text: str) -> None:
        (self.folder / "requirements.txt").write_text(text)
        self.git("add", ".")
        self.git("commit", "-qm", "pinned")

    @property
    def pinned(self) -> str:
        digest = hashlib.sha256(self.wheel.read_bytes()).hexdigest()
        return f"slipway-vertex @ {self.wheel.as_uri()} --hash=sha256:{digest}\n"

    def git(self, *words: str) -> str:
        return git(self.root, *words)

    def install(self) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": f"{self.root.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_PATH": str(self.root.parent / "path"),
            "GITHUB_ENV": str(self.root.parent / "env"),
            "PIP_NO_INDEX": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        return tools.run(self.step, environ, self.folder)

    def judge(self, *variables: str) -> subprocess.CompletedProcess[str]:
        """As the workflows run it, with what setup put on PATH, in the folder."""
        python = Path((self.root.parent / "path").read_text().strip()) / "python"
        environ = dict(variable.split("=", 1) for variable in variables)
        command = [str(python), "-I", "-m", "slipway"]
        return subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True)


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with pip alone, as `python -I -m venv .venv` makes it in seconds. Its pip is this one's and
    lies beside it: a copy has few files."""

    def make(folder: Path) -> None:
        subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", ".venv"], cwd=folder, check=True)
        (folder / "pip").mkdir()
        for part in Path(sysconfig.get_path("purelib")).glob("pip*"):
            (folder / "pip" / part.name).symlink_to(part)
        (packages,) = folder.glob(".venv/lib/python3*/site-packages")
        (packages / "pip.pth").write_text(f"{folder / 'pip'}\n")

    return once(tmp_path_factory, "empty-environment", make) / ".venv"


# A pip's own first line would name the environment that it was made in.
PYTHON = """#!/bin/sh
[ "$*" = "-I -m venv .venv" ] || exec {python} "$@"
cp -R {environment} .venv
printf '#!/bin/sh\\nexec "%s" -m pip "$@"\\n' "$PWD/.venv/bin/python" > .venv/bin/pip
chmod +x .venv/bin/pip
"""


@pytest.fixture
def checkout(tmp_path: Path, workflows: All, environment: Path) -> Checkout:
    step = workflows["actions/packages"].step("Packages")
    assert step["working-directory"] == "${{ inputs.folder }}"
    root = tmp_path / "checkout"
    (root / FOLDER).mkdir(parents=True)
    wheel = tmp_path / "slipway_vertex-0.2.0-py3-none-any.whl"
    about = "slipway_vertex-0.2.0.dist-info/"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("slipway/__init__.py", "")
        archive.writestr("slipway/__main__.py", "print('the judge that was pinned')")
        archive.writestr(f"{about}METADATA", "Metadata-Version: 2.1\nName: slipway-vertex\nVersion: 0.2.0\n")
        archive.writestr(
            f"{about}WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}RECORD", "")
    (tmp_path / "bin").mkdir()
    for name in ("python", "python3"):
        tool = tmp_path / "bin" / name
        tool.write_text(PYTHON.format(python=sys.executable, environment=environment))
        tool.chmod(0o755)
    made = Checkout(root, root / FOLDER, wheel, step)
    made.git("init", "-q")
    return made


class TestPackages:
    def test_what_is_pinned_judges_nothing_of_the_checkout_does_and_the_commit_stays_the_reviewed_one(
        self, checkout: Checkout
    ) -> None:  # N5 N8
        (checkout.folder / "policy").mkdir()
        (checkout.folder / "policy" / "__main__.py").touch()
        checkout.requires(checkout.pinned)
        done = checkout.install()
        assert done.returncode == 0, done.stdout + done.stderr
        (checkout.root / "gha-creds-0123456789abcdef.json").write_text("{}")
        (checkout.folder / ".slipway").mkdir()
        (checkout.folder / ".slipway" / "x").touch()
        assert checkout.git("status", "--porcelain") == ""
        told = (checkout.root.parent / "env").read_text()
        assert told == f"PULUMI_OPTION_POLICY_PACK={checkout.folder}/policy/__main__.py\n", "started with each preview"
        for name in ("slipway/__init__.py", "slipway/__main__.py", "sitecustomize.py", "usercustomize.py"):
            (checkout.folder / name).parent.mkdir(exist_ok=True)
            (checkout.folder / name).write_text("raise SystemExit('the checkout judges itself')")
        judged = checkout.judge(f"PYTHONPATH={checkout.folder}")
        assert judged.stdout == "the judge that was pinned\n", judged.stderr

    def test_other_bytes_than_were_pinned_are_refused(self, checkout: Checkout) -> None:
        checkout.requires(checkout.pinned)
        with zipfile.ZipFile(checkout.wheel, "a") as archive:
            archive.writestr("slipway/more.py", "")
        done = checkout.install()
        assert done.returncode != 0 and "DO NOT MATCH THE HASHES" in done.stderr

    def test_without_hashes_it_warns_and_without_slipway_it_says_so(self, checkout: Checkout) -> None:
        checkout.requires(f"slipway-vertex @ {checkout.wheel.as_uri()}\n")
        done = checkout.install()
        assert done.returncode == 0 and "::warning title=packages are not pinned by hash::" in done.stdout
        shutil.rmtree(checkout.folder / ".venv")
        checkout.requires("")
        done = checkout.install()
        assert done.returncode == 1 and "::error title=no slipway::" in done.stdout

    def test_in_our_own_repository_it_is_the_checkout_s(self, checkout: Checkout) -> None:
        (checkout.folder / "slipway").mkdir()
        (checkout.folder / "slipway" / "__init__.py").touch()
        (checkout.folder / "slipway" / "__main__.py").write_text("print('the checkout')")
        checkout.requires("")
        assert checkout.install().returncode == 0
        assert checkout.judge().stdout == "the checkout\n"


SECTION = (ROOT / "docs" / "ci.md").read_text().split("## From a repository of yours")[1].split("\n## ")[0]


def test_the_guide_names_the_checks_as_github_does(team: All, workflows: All) -> None:  # D7
    (preview,) = team["slipway-preview"].jobs()
    told = re.findall(r"`(\w+) / (\w+)`", SECTION)
    assert told == [(preview, word) for word in ("test", "check", "previewed", "reviewed")]
    assert {job for _, job in told} <= set(workflows["preview"].jobs())
    assert "slipway-up.yaml" in SECTION and "slipway-preview.yaml" in SECTION


def test_what_the_guide_types_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (command,) = re.findall(r"^\$ slipway (init .*?)  +#", SECTION, re.MULTILINE)
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    given = ["--project", "acme-ml-dev", "--submitter", "group:ml@acme.example", "--team", "@acme/ml", "--yes"]
    subprocess.run([sys.executable, "-m", "slipway", *command.replace("COMMIT", REF).split(), *given], check=True)
    written = [read(path) for path in sorted((tmp_path / ".github" / "workflows").glob("*.yaml"))]
    assert len(written) == len(NAMES)
    for file in written:
        for job in file.jobs().values():
            assert job["uses"].endswith(f"@{REF}") and job["with"].get("folder", FOLDER) == FOLDER
            assert len(file.text.splitlines()) <= LONGEST

"""Pulumi's state in a folder: a killed engine can't spoil it; where one did, docs/runbook.md has the way out. (N4)"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.backend import file_backend
from tests.checkouts.shell import Done
from tests.local.conftest import ROOT

PROJECT = "name: plain\nruntime: python\n"
PROGRAM = "import pulumi\npulumi.export('fact', 1)\n"
UP = ("up", "--yes", "--skip-preview", "--stack", "dev")


@dataclass(frozen=True)
class Project:
    """A program of one line, with its state in a folder whose name needs to be quoted in an address."""

    folder: Path
    engine: Path
    forked: Mapping[str, str]

    @property
    def state(self) -> Path:
        return self.folder / "a state"

    @property
    def files(self) -> Path:
        return self.state / ".pulumi"

    @property
    def unsafe(self) -> str:
        """The address that people write who were not told."""
        return f"file://{self.state}"

    def pulumi(self, *arguments: str, backend: str = "") -> Done:
        return self.type(f"pulumi {' '.join(arguments)} --non-interactive", backend)

    def type(self, command: str, backend: str = "") -> Done:
        environ = {
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), str(self.engine), os.environ["PATH"])),
            "HOME": str(self.folder),
            "PULUMI_BACKEND_URL": backend or file_backend(self.state),
            "PULUMI_CONFIG_PASSPHRASE": "a phrase",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "STATE": str(self.state),
            **self.forked,
        }
        done = subprocess.run(
            ["bash", "-eu", "-c", command],
            cwd=self.folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def does(self, *arguments: str, backend: str = "") -> str:
        done = self.pulumi(*arguments, backend=backend)
        assert done.code == 0, done.said
        return done.out

    def says(self, *arguments: str, backend: str = "") -> str:
        """What a command that fails says."""
        done = self.pulumi(*arguments, backend=backend)
        assert done.code != 0, done.said
        return done.said

    def lock(self, name: str, text: str) -> None:
        folder = self.files / "locks" / "organization" / "plain" / "dev"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def sidecars(self) -> list[Path]:
        return sorted(self.files.rglob("*.attrs"))


@pytest.fixture
def project(tmp_path: Path, engine: Path, forked: Mapping[str, str]) -> Project:
    made = Project(tmp_path, engine, forked)
    made.state.mkdir()
    (tmp_path / "Pulumi.yaml").write_text(PROJECT)
    (tmp_path / "__main__.py").write_text(PROGRAM)
    return made


CUT_OFF = {
    "stacks/plain/dev.json.attrs": "error: failed to load checkpoint: EOF",
    "meta.yaml.attrs": 'error: read ".pulumi/meta.yaml": EOF',
}


@pytest.mark.journey
def test_a_folder_from_before_is_mended_and_the_engine_writes_nothing_that_it_can_not_write_in_one_step(
    project: Project,
) -> None:
    project.does("stack", "init", "dev", backend=project.unsafe)
    project.does(*UP, backend=project.unsafe)
    assert project.files / "stacks" / "plain" / "dev.json.attrs" in project.sidecars()
    project.does(*UP)  # what lies there does no harm
    for cut_off, words in CUT_OFF.items():
        who_is_left_with_a_file_that_was_cut_off_types_what_the_docs_say(project, cut_off, words)

    # A lock that was cut off in writing goes with `pulumi cancel`.
    project.lock("killed.json.123.tmp", "")
    words = "unexpected end of JSON input"
    assert words in project.says(*UP) and words in page()
    project.does("cancel", "dev", "--yes")
    assert len(json.loads(project.does("stack", "history", "--stack", "dev", "--json"))) == 2 + len(CUT_OFF)
    project.does("destroy", "--yes", "--skip-preview", "--stack", "dev")
    assert project.sidecars() == [], "nothing is written that can be cut off"


def who_is_left_with_a_file_that_was_cut_off_types_what_the_docs_say(
    project: Project, cut_off: str, words: str
) -> None:
    project.lock("killed.json", '{"pid": 1, "hostname": "here", "username": "ada"}')
    (project.files / cut_off).write_text("")
    for backend in (project.unsafe, ""):
        assert words in project.says(*UP, backend=backend)
    typed = project.type(runbook().replace("STACK", "dev"))
    assert typed.code == 0, typed.said
    assert "1 unchanged" in project.does(*UP)


def test_the_words_by_which_people_know_it_stand_in_the_docs_and_so_does_the_address() -> None:
    assert "failed to load checkpoint: EOF" in page()
    assert "?metadata=skip" in page()
    assert "?metadata=skip" in (ROOT / "docs" / "by-hand.md").read_text()


def runbook() -> str:
    (block,) = re.findall(r"^```bash\n(find .*?)^```$", page(), re.MULTILINE | re.DOTALL)
    return str(block)


def page() -> str:
    return (ROOT / "docs" / "runbook.md").read_text()

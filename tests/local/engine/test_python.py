"""The engine's Python lists packages once, until something is installed or removed."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from local import environment

LIST = ("-m", "pip", "list", "-v", "--format", "json")
FOLDER = "include-system-site-packages = {}\n"


@dataclass(frozen=True)
class Venv:
    """A virtual environment whose interpreter says what it is asked, and notes it."""

    folder: Path

    @property
    def packages(self) -> Path:
        return self.folder / "lib" / "python3.11" / "site-packages"

    def make(self, *, outside: str = "false") -> None:
        self.packages.mkdir(parents=True)
        (self.folder / "pyvenv.cfg").write_text(FOLDER.format(outside))
        self.python(0)

    def python(self, code: int) -> None:
        program = self.folder / "bin" / "python3"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f'#!/bin/sh\necho "$*" >>"{self.folder}/asked"\necho "[$*]"\nexit {code}\n')
        program.chmod(0o755)

    def run(self, *words: str) -> tuple[int, str]:
        variables = environment.engine_variables(self.folder, self.folder, os.environ["PATH"])
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        call = (variables["PULUMI_PYTHON_CMD"], *words)
        done = subprocess.run(call, env={"PATH": path}, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    def asked(self) -> int:
        return len((self.folder / "asked").read_text().splitlines())

    def crumbs(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"bin", "lib", "pyvenv.cfg", "asked"}


@pytest.fixture
def venv(tmp_path: Path) -> Venv:
    return Venv(tmp_path / "venv of mine")


def test_the_list_stands_until_something_is_installed(venv: Venv) -> None:
    venv.make()
    os.utime(venv.packages, (1, 1))
    assert venv.run(*LIST) == venv.run(*LIST) == (0, f"[{' '.join(LIST)}]\n")
    assert venv.asked() == 1
    (venv.packages / "new").mkdir()
    assert venv.run(*LIST)[0] == 0
    assert venv.asked() == 2
    assert venv.crumbs() == {".packages.json"}


def test_what_was_installed_while_it_was_listed_makes_it_out_of_date(venv: Venv) -> None:
    venv.make()
    program = venv.folder / "bin" / "python3"
    program.write_text(program.read_text().replace("echo", f'mkdir -p "{venv.packages}/new-$$"; echo', 1))
    venv.run(*LIST)
    venv.run(*LIST)
    assert venv.asked() == 2


def test_all_else_is_the_interpreters(venv: Venv) -> None:
    venv.make()
    venv.python(3)
    assert venv.run("program.py", "two words") == (3, "[program.py two words]\n")
    assert venv.run(*LIST) == (3, f"[{' '.join(LIST)}]\n"), "a list that fails is not kept"
    assert venv.crumbs() == set()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_where_nothing_can_be_kept_the_interpreter_lists(venv: Venv) -> None:
    venv.make()
    (venv.folder / "asked").touch()
    venv.folder.chmod(0o555)
    try:
        assert venv.run(*LIST) == (0, f"[{' '.join(LIST)}]\n")
    finally:
        venv.folder.chmod(0o755)
    assert venv.crumbs() == set()


def test_packages_from_outside_are_listed_every_time(venv: Venv) -> None:
    venv.make(outside="true")
    venv.run(*LIST)
    venv.run(*LIST)
    assert (venv.asked(), venv.crumbs()) == (2, set())

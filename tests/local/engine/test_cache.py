"""The cache: what has its name is complete, whatever was killed, and only one writes at a time."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from local import environment
from local.engine import gotool
from local.engine.cache import Cache, root
from local.engine.errors import EngineError

from .conftest import Machine


def quiet(line: str) -> None:
    assert line


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "engine" / "1.0.0")


def fill(cache: Cache, name: str, content: str = "whole") -> None:
    with cache.hold(quiet), cache.making(name) as folder:
        (folder / "pulumi").write_text(content)


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"SLIPWAY_CACHE": "/a", "XDG_CACHE_HOME": "/b", "HOME": "/h"}, "/a"),
        ({"XDG_CACHE_HOME": "/b", "HOME": "/h"}, "/b/slipway"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/slipway"),
        ({"SLIPWAY_CACHE": "", "HOME": "/h"}, "/h/.cache/slipway"),
    ],
)
def test_the_cache_lies_outside_the_checkout(environ: dict[str, str], place: str) -> None:
    assert root(environ) == Path(place)


@pytest.mark.parametrize("damage", ["cut", "missing", "marker", "none"])
def test_a_damaged_folder_is_not_ready_and_is_made_again(cache: Cache, damage: str) -> None:
    fill(cache, "built")
    place = cache.folder / "built"
    if damage == "cut":
        (place / "pulumi").write_text("who")
    elif damage == "missing":
        (place / "pulumi").unlink()
    elif damage == "marker":
        (place / "complete.json").write_text('{"pulumi": ')
    else:
        (place / "complete.json").unlink()
    assert cache.ready("built") is None
    fill(cache, "built", "again")
    assert cache.ready("built") == place
    assert (place / "pulumi").read_text() == "again" and stat.S_IMODE(place.stat().st_mode) == 0o755


# --- Go missing, too old, or failing: what happened, why, and what to do.


def refusal(machine: Machine) -> EngineError:
    with pytest.raises(EngineError) as caught:
        gotool.find(machine.environ, "1.25.11")
    return caught.value


@pytest.mark.parametrize(
    ("version", "toolchain"), [("go1.20.14", "auto"), ("go1.25.10", "local"), ("go1.20", "local"), ("go1.9.7", "auto")]
)
def test_a_go_that_is_too_old_is_said_with_both_versions(machine: Machine, version: str, toolchain: str) -> None:
    machine.install_go(version=version, toolchain=toolchain)
    why = refusal(machine).why
    assert version in why
    assert "go1.25.11" in why


@pytest.mark.parametrize(
    ("version", "toolchain"),
    [("go1.25.11", "local"), ("go1.26.8", "local"), ("go1.21.0", "auto"), ("go1.100", "local")],
)
def test_a_go_that_serves_or_can_fetch_one_that_does_is_taken(machine: Machine, version: str, toolchain: str) -> None:
    machine.install_go(version=version, toolchain=toolchain)
    go = gotool.find(machine.environ, "1.25.11")
    assert go.program == machine.bin / "go"
    assert go.environ["GOWORK"] == "off"


@pytest.mark.parametrize(
    ("said", "why", "fix"),
    [
        ("link: write /c/x: no space left on device", "no space left on device", "GOCACHE"),
        ("verifying m@v1: checksum mismatch\n\nSECURITY ERROR\nThis download does NOT match.", "pinned", "modcache"),
        ("x.go:1: undefined: y", "go build failed: x.go:1: undefined: y", "install Pulumi"),
        ("", "no words, exit code 2", "install Pulumi"),
    ],
)
def test_what_go_says_is_put_into_words(said: str, why: str, fix: str) -> None:
    error = gotool.explain("build", 2, said)
    assert why in error.why
    assert fix in error.fix


def test_a_password_in_a_proxy_address_is_never_shown() -> None:
    error = gotool.explain("list", 1, 'go: Get "https://ada:s3cret@proxy.example/m": dial tcp: no such host')
    assert "s3cret" not in str(error)
    assert "https://***@proxy.example/m" in error.why


# --- The engine's Python lists packages once, until something is installed or removed.


LIST = ("-m", "pip", "list", "-v", "--format", "json")
FOLDER = "include-system-site-packages = {}\n"


@dataclass(frozen=True)
class Venv:
    """A virtual environment whose interpreter says what it is asked, and notes it."""

    folder: Path
    #: The folder of the program that it runs.
    project: Path = Path()

    @property
    def packages(self) -> Path:
        return self.folder / "lib" / "python3.11" / "site-packages"

    def make(self, *, outside: str = "false") -> None:
        (self.packages / "pip").mkdir(parents=True)
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
        done = subprocess.run(call, env={"PATH": path}, cwd=self.project, capture_output=True, text=True, check=False)
        assert done.stderr == ""
        return done.returncode, done.stdout

    def asked(self) -> int:
        return len((self.folder / "asked").read_text().splitlines())

    def crumbs(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()} - {"bin", "lib", "pyvenv.cfg", "asked"}


@pytest.fixture
def venv(tmp_path: Path) -> Venv:
    return Venv(tmp_path / "venv of mine")


@pytest.mark.parametrize(
    "written",
    [
        "runtime:\n  name: python\n  options:\n    virtualenv: .venv\n",
        "runtime: { name: python, options: { virtualenv: '.venv' } }  # mine",
        '{"runtime": {"name": "python", "options": {"toolchain": "pip", "virtualenv": ".venv"}}}',
        "runtime:\n  name: python\n  options:\n    toolchain: uv\n",
        "runtime: {name: python, options: {toolchain: uv}}",
    ],
)
def test_a_programs_own_virtual_environment_runs_it(tmp_path: Path, written: str) -> None:
    """The language host that is built here ignored it: `make shell` had the repository's Python run every program."""
    on_path, own = Venv(tmp_path / "on path", tmp_path), Venv(tmp_path / ".venv")
    on_path.make()
    (tmp_path / "Pulumi.yaml").write_text(written)
    assert on_path.run("-m", "program") == (0, "[-m program]\n") and on_path.asked() == 1, "there is none yet"
    own.make()
    assert on_path.run("-m", "program") == (0, "[-m program]\n")
    assert (own.asked(), on_path.asked()) == (1, 1)


def test_the_list_stands_until_something_is_installed(venv: Venv) -> None:
    venv.make()
    os.utime(venv.packages, (1, 1))
    assert venv.run(*LIST) == venv.run(*LIST) == (0, f"[{' '.join(LIST)}]\n")
    assert venv.asked() == 1
    (venv.packages / "new").mkdir()
    assert venv.run(*LIST)[0] == 0
    assert venv.asked() == 2
    assert venv.crumbs() == {".packages.json"}


def test_packages_are_listed_without_pip(tmp_path: Path) -> None:
    """As in a virtual environment that `uv venv` has created."""
    venv = Venv(tmp_path / ".venv", tmp_path)
    venv.make()
    (venv.packages / "pip").rmdir()
    (venv.packages / "small-1.0.dist-info").mkdir()
    (venv.packages / "small-1.0.dist-info" / "METADATA").write_text("Name: small\nVersion: 1.0\n")
    program = venv.folder / "bin" / "python3"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{venv.packages}" exec "{sys.executable}" -S "$@"\n')
    code, listed = venv.run(*LIST)
    assert (code, json.loads(listed)) == (
        0,
        [{"name": "small", "version": "1.0", "location": str(venv.packages)}],
    )


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


def test_packages_from_outside_are_listed_every_time(venv: Venv) -> None:
    venv.make(outside="true")
    venv.run(*LIST)
    venv.run(*LIST)
    assert (venv.asked(), venv.crumbs()) == (2, set())

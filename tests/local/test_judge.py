"""The judge of a team's repository is what its base branch pins, and nothing of the change. # N14 # D8"""

import hashlib
import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from local.judge import Judge, judge_of
from slipway.errors import ConfigError

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


def said(judge: Judge, *words: str, folder: Path) -> Any:
    done = subprocess.run(judge.command(*words), cwd=folder, env=judge.variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_is_the_base_s_and_nothing_of_the_change_is_on_its_path(base: Path) -> None:
    change = base.parents[2]
    found = said(made(base), "review", "x", folder=change)
    assert (found["judge"], found["args"]) == ("base", ["review", "x"])
    assert not [path for path in found["path"] if Path(path).is_relative_to(change) or not path]


def test_it_is_made_once_for_the_same_pins(base: Path) -> None:
    told: list[str] = []
    first = made(base, told)
    assert made(base, told) == first and len(told) == 1
    pin(base, wheel(base.parents[3], "next", "0.2.0"))
    assert said(made(base, told), folder=base)["judge"] == "next" and len(told) == 2


def test_what_a_killed_run_left_is_no_judge(base: Path) -> None:
    whole = made(base).environment
    assert whole is not None
    (whole / "complete.json").unlink()
    (whole.parent / ".partial-killed").mkdir()
    again = made(base)
    assert again.environment == whole and said(again, folder=base)["judge"] == "base"
    assert not (whole.parent / ".partial-killed").exists()


def test_a_wheel_with_another_hash_is_refused(base: Path) -> None:
    pin(base, wheel(base.parents[3], "other"), "0" * 64)
    with pytest.raises(ConfigError, match="pins of main can't be installed"):
        made(base)
    assert not [one for one in (base.parents[3] / "cache" / "slipway" / "judges").iterdir() if one.is_dir()]


def test_a_wheel_of_a_path_that_became_another_is_another_judge(base: Path) -> None:
    place = wheel(base.parents[3], "one", "0.3.0")
    (base / "requirements.txt").write_text("-r pins/all.txt\n")
    (base / "pins").mkdir()
    (base / "pins" / "all.txt").write_text(f"slipway-vertex @ {place.as_uri()}\n")
    assert said(made(base), folder=base)["judge"] == "one"
    wheel(base.parents[3], "two", "0.3.0")
    assert said(made(base), folder=base)["judge"] == "two"


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
        who = ("-c", "user.name=ci", "-c", "user.email=ci@slipway.example")
        for words in (("init", "-q", "-b", "main"), ("add", "--all"), (*who, "commit", "-qm", judge)):
            subprocess.run(("git", *words), cwd=source, check=True)
        return subprocess.run(
            ("git", "rev-parse", "HEAD"), cwd=source, check=True, capture_output=True, text=True
        ).stdout

    first, told = committed("one").strip(), list[str]()
    (base / "requirements.txt").write_text("slipway-vertex @ git+https://git.invalid/x@main\n")
    assert said(made(base), folder=base)["judge"] == "one"
    committed("two")
    assert said(made(base), folder=base)["judge"] == "two"
    (base / "requirements.txt").write_text(f"slipway-vertex @ git+https://git.invalid/x@{first}\n")
    assert said(made(base, told), folder=base)["judge"] == "one"
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


def test_a_base_with_slipway_s_source_judges_by_that(base: Path) -> None:
    (base / "slipway" / "cli").mkdir(parents=True)
    for name in ("__init__.py", "cli/review.py"):
        (base / "slipway" / name).touch()
    (base / "slipway" / "__main__.py").write_text(TELLS % "source")
    assert said(made(base), folder=base)["judge"] == "source"


def test_an_environment_that_names_the_change_s_checkout_runs_nothing_of_it(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an editable install of slipway's repository does."""
    change, own = base.parents[2], base.parents[3] / "venv"
    venv.create(own, with_pip=False)
    (packages,) = own.glob("lib/python*/site-packages")
    (packages / "editable.pth").write_text(f"{change}\n")
    monkeypatch.setattr(sys, "executable", str(own / "bin" / "python"))
    (base / "slipway" / "cli").mkdir(parents=True)
    for name in ("__init__.py", "cli/review.py"):
        (base / "slipway" / name).touch()
    (base / "slipway" / "__main__.py").write_text("import yaml\n" + TELLS % "source")
    found = said(made(base), "review", "x", folder=change)
    assert (found["judge"], found["args"], found["path"][0]) == ("source", ["review", "x"], str(base))
    beside = [path for path in found["path"] if Path(path).is_relative_to(change) or not path]
    assert beside == [str(base)]


def test_the_base_s_program_runs_with_the_base_s_pins(base: Path) -> None:
    judge = made(base)
    judge.lend(".venv")
    judge.lend(".venv")
    assert (base / ".venv").resolve() == judge.environment

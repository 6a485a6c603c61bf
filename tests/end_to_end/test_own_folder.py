"""Pages for an ML engineer, typed line by line as they stand, each in an empty folder and a home of its own, on the
demo's stack. # D8 # N11 # N12"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.checkouts.checkout import Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.shell import Done
from tests.docs.console import blocks, commands, exit_code, missing
from tests.local.conftest import FAST, ROOT, LocalCloud
from tests.templates.stack import files

pytestmark = pytest.mark.journey

_MAKES_THE_SHELL = "eval "
_CHOOSES = next(one.command for one in commands(ROOT / "docs" / "first-job.md") if "slipway use" in one.command)
_IN_THE_REPOSITORY = "--code jobs/"


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory, new_checkout: NewCheckout) -> Iterator[Checkout]:
    folder = tmp_path_factory.mktemp("laptop")
    cloud = LocalCloud(folder / "cloud")
    cloud.up(*[word for setting in FAST for word in ("--set", setting)])
    checkout = new_checkout(folder, cloud, "local", files=files)
    config = yaml.safe_load((ROOT / "stacks" / "Pulumi.local.yaml").read_text())["config"]
    checkout.write(**{key.removeprefix("slipway:"): value for key, value in config.items() if "slipway:" in key})
    done = checkout.pulumi("up", SLIPWAY_COMMIT="0123456789abcdef")
    assert done.code == 0, done.said
    yield checkout
    cloud.local("down")


class Reader:
    """Somebody with a shell that has the stack's cloud, an empty folder and a new home."""

    def __init__(self, laptop: Checkout, folder: Path) -> None:
        self.folder, self._repository = folder / "mine", laptop.folder
        self.folder.mkdir()
        kept = {name: one for name, one in laptop.cloud.env("submitter").items() if not name.startswith("XDG_")}
        path = f"{Path(sys.executable).parent}:{kept['PATH']}"
        self._environ = {**kept, "PATH": path, "HOME": str(folder / "home"), "NO_COLOR": "1"}

    def type_(self, line: str) -> Done:
        there = self._repository if _IN_THE_REPOSITORY in line else self.folder
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=there,
            env=self._environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Done(done.returncode, done.stdout, "")


@pytest.fixture
def reader(laptop: Checkout, tmp_path: Path) -> Reader:
    return Reader(laptop, tmp_path)


def typed(reader: Reader, page: str) -> None:
    """Type all commands of a page."""
    for one in commands(ROOT / "docs" / page):
        if one.command.startswith(_MAKES_THE_SHELL):
            continue
        done = reader.type_(one.command)
        assert missing(one.shown, done.out) == [], f"{one.command}:\n{done.out}"
        assert done.code == exit_code("".join(one.shown)), f"{one.command}:\n{done.out}"


def test_the_first_job(reader: Reader) -> None:
    typed(reader, "first-job.md")
    assert [one.name for one in reader.folder.iterdir()] == [], "nothing is left in the folder"


def test_own_code(reader: Reader) -> None:
    assert reader.type_(_CHOOSES).code == 0
    shutil.copy(ROOT / "jobs" / "script" / "train.py", reader.folder)
    typed(reader, "own-code.md")
    listed = reader.type_("slipway submit script --code . --dry-run 2>&1 >/dev/null").out
    assert "  2 files, " in listed, "train.py and grid.yaml, and nothing that was fetched"


def test_a_sweep(reader: Reader) -> None:  # N7
    assert reader.type_(_CHOOSES).code == 0
    (grid,) = blocks(ROOT / "docs" / "sweeps.md", "yaml")
    (reader.folder / "grid.yaml").write_text(grid)
    typed(reader, "sweeps.md")
    again = reader.type_("slipway submit dask-digits -p workers=1 --sweep grid.yaml")
    assert re.search(r"0 submitted now, 4 before, of 4", again.out), again.out


def test_python(reader: Reader) -> None:
    assert reader.type_(_CHOOSES).code == 0
    for number, program in enumerate(blocks(ROOT / "docs" / "python.md", "python")):
        (reader.folder / f"{number}.py").write_text(program)
        done = reader.type_(f"python {number}.py")
        assert done.code == 0, done.out

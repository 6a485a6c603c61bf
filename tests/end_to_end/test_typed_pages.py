"""The commands of the pages, typed as they stand on the demo's stack: an ML engineer's each in an empty folder with a
new home, the others in a folder with a stack file. # D8 # N11 # N12"""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checkouts.checkout import Checkout
from tests.checkouts.digits import spare_training
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.shell import Done, bash, slipway, wait_for
from tests.docs.console import blocks, commands, exit_code, missing
from tests.local.conftest import FAST, ROOT, LocalCloud
from tests.templates.stack import Stack, files

pytestmark = pytest.mark.journey

_MAKES_THE_SHELL = "eval "
_CHOOSES = next(
    command.command for command in commands(ROOT / "docs" / "first-job.md") if "slipway use" in command.command
)
_IN_THE_REPOSITORY = "--code jobs/"
_SHELL = re.compile(r"[|&;<>$`*?(]")
_TRAINS = """
import os, sys
from pathlib import Path

output = Path(os.environ["SLIPWAY_OUTPUT"])
(output / "model.joblib").write_bytes(bytes(6000))
(output / "metrics.json").write_text(f'{{"accuracy": {sys.argv[-1]}}}')
"""
"""A stand-in for the shipped `train.py`, which tests/templates lets learn."""
_HOLDS_THE_POOL = (
    "slipway submit dask-digits -p candidates=100",
    "slipway jobs logs dask-digits --follow | grep --max-count=1 'Job is running'",
    "slipway submit dask-digits",
)
_STANDS_FOR = {
    "--stack prod": "--stack local",
    "check dev": f"--debug check {ROOT / 'stacks' / 'Pulumi.local.yaml'}",
    "--job NAME": "--job {first}",
    "show NAME": "show dask-digits",
    "submit NAME": "submit dask-digits",
    "logs JOB": "logs {first}",
    "show JOB": "show {first}",
    "dask-digits-7k2p3f9a": "{first}",
    "--like torchrun-digits-7k2p3f9a": "--like {first}",
    "my-mlp-k24lpqrl my-mlp-9x2fa7uw": "{first} {second}",
    "--sweep ID": "--sweep {sweep}",
    "slipway pause h100": "slipway pause cpu --yes",
    "slipway resume h100": "slipway resume cpu",
    "slipway diff staging prod": "slipway diff local next",
}
"""The jobs, sweeps, clusters and stacks that pages name, as this stack has them."""
_TYPED_ELSEWHERE = {
    "slipway init ": "it asks a person",
    "slipway use ": "it is typed before the pages",
    "slipway board --serve": "it ends with Ctrl-C",
    "slipway jobs cancel JOB": "it is typed before, of all that run",
    "slipway jobs yield torchrun-digits-": "it takes a full pool",
    "slipway submit gemma2-lora ": "it takes a GPU",
    "slipway submit script ": "it takes a person's own folder",
    "slipway run --secret HF_TOKEN=": "it takes a folder of that kind too, and the hub",
    "slipway pools adopt ": "it takes a cluster of somebody else's",
    "slipway templates import ": "it takes a person's own job file",
    "slipway drift ": "it takes a preview's events",
    "slipway review dev.events": "it takes a preview's events too",
    "slipway submit NAME -p KEY=VALUE": "it stands for any",
    "slipway what-if --base main": "it takes a branch of that name",
    "slipway what-if --suggest ": "it takes a past that a replay tells rightly",
}
"""Lines that are typed by tests of their own, or by nobody, and why."""
_CODES = {"slipway quota --request": 3}
"""Exit codes of what a submitter may not do."""


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory, new_checkout: NewCheckout) -> Iterator[Checkout]:
    folder = tmp_path_factory.mktemp("laptop")
    cloud = LocalCloud(folder / "cloud")
    cloud.up(*[word for setting in FAST for word in ("--set", setting)])
    checkout = new_checkout(folder, cloud, "local", files=files)
    spare_training(checkout.folder)
    config = yaml.safe_load((ROOT / "stacks" / "Pulumi.local.yaml").read_text())["config"]
    checkout.write(**{key.removeprefix("slipway:"): value for key, value in config.items() if "slipway:" in key})
    done = checkout.pulumi("up", SLIPWAY_COMMIT="0123456789abcdef")
    assert done.code == 0, done.said
    yield checkout
    cloud.command("down")


class Reader:
    """Somebody with a shell that has the stack's cloud, an empty folder and a new home."""

    def __init__(self, laptop: Checkout, folder: Path) -> None:
        self.folder, self._repository = folder / "mine", laptop.folder
        self.folder.mkdir()
        kept = {
            name: variable for name, variable in laptop.cloud.env("submitter").items() if not name.startswith("XDG_")
        }
        path = f"{Path(sys.executable).parent}:{kept['PATH']}"
        self._environ = {**kept, "PATH": path, "HOME": str(folder / "home"), "NO_COLOR": "1", "GITHUB_RUN_ID": "1"}

    def type_(self, line: str) -> Done:
        """Run a line as bash does, one of plain words in this process; errors are part of what it prints."""
        there = self._repository if _IN_THE_REPOSITORY in line else self.folder
        if line.startswith("slipway ") and not _SHELL.search(line):
            return slipway(shlex.split(line)[1:], self._environ, there, together=True)
        return bash(line, there, self._environ)


@pytest.fixture
def reader(laptop: Checkout, tmp_path: Path) -> Iterator[Reader]:
    """Yield a reader who finds the pools idle, as the pages do: what a page leaves under way is cancelled after it."""
    yield Reader(laptop, tmp_path)
    Stack(laptop).cancel_all()
    wait_for(lambda: all("endTime" in job for job in laptop.jobs()), "all jobs have ended")


def typed(reader: Reader, page: str) -> None:
    """Type all commands of a page."""
    for command in commands(ROOT / "docs" / page):
        if command.command.startswith(_MAKES_THE_SHELL):
            continue
        done = reader.type_(command.command)
        assert missing(command.shown, done.out) == [], f"{command.command}:\n{done.out}"
        assert done.code == exit_code("".join(command.shown)), f"{command.command}:\n{done.out}"


def test_the_first_job(reader: Reader) -> None:
    typed(reader, "first-job.md")
    typed(reader, "follow.md")
    assert [path.name for path in reader.folder.iterdir()] == [], "nothing is left in the folder"


def test_own_code(reader: Reader) -> None:
    assert reader.type_(_CHOOSES).code == 0
    (reader.folder / "train.py").write_text(_TRAINS)
    typed(reader, "own-code.md")
    listed = reader.type_("slipway submit script --code . --dry-run 2>&1 >/dev/null").out
    assert "  3 files, " in listed, "train.py, code.tgz and grid.yaml, and nothing that was fetched"


def test_a_session(reader: Reader) -> None:
    assert reader.type_(_CHOOSES).code == 0
    (reader.folder / "train.py").write_text(_TRAINS)
    typed(reader, "session.md")  # N25
    (program,) = blocks(ROOT / "docs" / "session.md", "python")
    (reader.folder / "notebook.py").write_text(program)
    done = reader.type_("python notebook.py")
    assert done.code == 0, done.out


def test_python(reader: Reader) -> None:
    assert reader.type_(_CHOOSES).code == 0
    for number, program in enumerate(blocks(ROOT / "docs" / "python.md", "python")):
        (reader.folder / f"{number}.py").write_text(program)
        done = reader.type_(f"python {number}.py")
        assert done.code == 0, done.out


@pytest.mark.parametrize("page", ["submit", "fall-back", "why-it-failed"])
def test_what_follows_the_first_job(reader: Reader, page: str) -> None:
    assert reader.type_(_CHOOSES).code == 0
    typed(reader, f"{page}.md")


def test_a_job_that_waits(reader: Reader) -> None:  # N9
    assert reader.type_(_CHOOSES).code == 0
    for line in _HOLDS_THE_POOL:
        assert reader.type_(line).code == 0
    typed(reader, "why-it-waits.md")


def test_a_sweep_and_of_its_jobs_the_lines_of_all_pages(reader: Reader) -> None:  # N7
    assert reader.type_(_CHOOSES).code == 0
    (grid,) = blocks(ROOT / "docs" / "sweeps.md", "yaml")
    (reader.folder / "grid.yaml").write_text(grid)
    typed(reader, "sweeps.md")
    again = reader.type_("slipway submit dask-digits -p workers=1 --sweep grid.yaml")
    assert re.search(r"0 submitted now, 4 before, of 4", again.out), again.out
    swept = as_json(reader, "submit dask-digits -p workers=1 --sweep grid.yaml")
    # A line of a page, which then finds its job.
    pipelined = as_json(reader, 'submit dask-digits --request-id "train-$GITHUB_RUN_ID" --wait')["job"]["displayName"]
    (*_, point) = as_json(reader, f"jobs list --sweep {swept['sweep']}")["jobs"]
    lines_of_all_pages(reader, first=pipelined, second=point["displayName"], sweep=swept["sweep"])


def as_json(reader: Reader, command: str) -> Any:
    return json.loads(reader.type_(f"slipway {command} --output json 2>/dev/null").out)


def lines_of_all_pages(reader: Reader, **meanings: str) -> None:
    """Each line that runs slipway, of a block that shows no output, in a folder with a stack file."""
    (reader.folder / "stacks").mkdir()
    for name in ("local", "next"):
        shutil.copy(ROOT / "stacks" / "Pulumi.local.yaml", reader.folder / "stacks" / f"Pulumi.{name}.yaml")
    (reader.folder / ".git").mkdir()
    shutil.copy(ROOT / "Pulumi.yaml", reader.folder)
    pages = (blocks(page, "sh") for page in sorted((ROOT / "docs").glob("*.md")))
    lines = (line.partition("  #")[0].strip() for page in pages for block in page for line in block.splitlines())
    for line in dict.fromkeys(lines):
        if not line.startswith("slipway ") or line.startswith(tuple(_TYPED_ELSEWHERE)):
            continue
        there = line
        for said, meant in _STANDS_FOR.items():
            there = there.replace(said, meant.format(**meanings))
        done = reader.type_(there)
        code = next((code for begins, code in _CODES.items() if line.startswith(begins)), 0)
        assert done.code == code, f"{line}:\n{done.out}"

"""docs/cli.md and the pages that it leads to tell what the command does: exit codes, variables, capacity types."""

import re
from pathlib import Path

import click
import pytest

from slipway.base.errors import SlipwayError
from slipway.front.cli import INTERRUPTED, submit
from slipway.front.cli.terminal import watching
from slipway.google.endpoints import OVERRIDES
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.kinds import KINDS

ROOT = Path(__file__).resolve().parents[4]
GUIDE, SUBMIT = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("cli.md", "submit.md"))
VARIABLE = re.compile(r"\b(?:SLIPWAY|GOOGLE|XDG)_[A-Z_]+[A-Z]\b")
ROOMS = ("slipway", "components", "local", "jobs")
OPTIONS = [option for option in submit.command.params if isinstance(option, click.Option)]
PLANNED = {flag for option in OPTIONS if option.hidden for flag in option.opts}


def subclasses(kind: type[SlipwayError]) -> set[type[SlipwayError]]:
    return {kind}.union(*(subclasses(one) for one in kind.__subclasses__()))


def test_every_exit_code_stands_in_its_table() -> None:
    written = {int(code) for code in re.findall(r"^\| (\d+) \|", GUIDE, re.MULTILINE)}
    assert written == {0, INTERRUPTED, watching.Detached.exit_code} | {
        one.exit_code for one in subclasses(SlipwayError)
    }


def test_what_is_not_there_yet_is_named() -> None:
    assert bool(PLANNED) == ("## Not in this version" in GUIDE)
    for flag in PLANNED:
        assert f"`{flag}`" in GUIDE


@pytest.mark.parametrize("name", [*CAPACITY_TYPES, *KINDS])
def test_every_capacity_type_and_kind_of_job_stands_in_it(name: str) -> None:
    assert f"`{name}`" in SUBMIT


def test_its_variables_are_the_real_ones() -> None:
    led = [GUIDE, *((ROOT / "docs" / name).read_text("utf-8") for name in re.findall(r"\]\((\S+\.md)\)", GUIDE))]
    sources = "".join(path.read_text("utf-8") for room in ROOMS for path in ROOT.glob(f"{room}/**/*.py"))
    for name in {name for page in led for name in VARIABLE.findall(page)}:
        assert name in sources, name
    assert OVERRIDES["vertex"] in GUIDE

"""A command whose packages are not there says what to install. # N18"""

import subprocess
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

WITHOUT = """
import sys
sys.modules[{missing!r}] = None
from slipway.cli import main
sys.exit(main({arguments!r}))
"""


def without(missing: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = WITHOUT.format(missing=missing, arguments=list(arguments))
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


def test_a_command_that_needs_more_than_the_thin_package_says_what_to_type_in_a_checkout(
    snapshot: SnapshotAssertion, tmp_path: Path
) -> None:
    done = without("pydantic", "check", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    what, why, fix = done.stderr.splitlines()
    assert what == snapshot
    assert "there is no pydantic" in why
    assert fix == "  fix: make setup, then .venv/bin/slipway"


def test_the_page_of_the_board_needs_an_extra_of_its_own(tmp_path: Path) -> None:
    done = without("jinja2", "board", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no jinja2" in done.stderr and "a page" in done.stderr


def test_debug_shows_where_it_was_needed(tmp_path: Path) -> None:
    done = without("pydantic", "check", "--debug", folder=tmp_path)
    assert done.returncode == 2
    assert "Traceback" in done.stderr and "make setup" in done.stderr


@pytest.mark.parametrize("module", ["slipway.cli.check", "slipway"])
def test_a_module_of_slipways_own_that_is_missing_is_a_fault_of_ours(tmp_path: Path, module: str) -> None:
    program = f"""
import sys
from slipway import cli
def broken(_): raise ModuleNotFoundError("no module", name={module!r})
cli.importlib.import_module = broken
sys.exit(cli.main(["check"]))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "is a fault of slipway" in done.stderr

"""The README is run: what it shows is what a reader sees (D8, N4, B4, B5)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .console import Typed, commands, missing, normal

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
TOLD = {typed.command: typed for typed in commands(README)}
AFTER_THE_DEMO = [typed for command, typed in TOLD.items() if not command.startswith("make ")]


def run(command: str, environment: dict[str, str], timeout: float = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=timeout, check=False
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, str], str]]:
    """`make demo`, run once in a state folder of its own; its environment and what it printed."""
    state = tmp_path_factory.mktemp("readme") / "state"
    environment = {**os.environ, "SLIPWAY_LOCAL_STATE": str(state), "SLIPWAY_LOCAL_PORT": "0", "NO_COLOR": "1"}
    done = run("make --no-print-directory demo", environment)
    yield environment, done.stdout
    gone = run("make --no-print-directory demo-down", environment)
    assert gone.returncode == 0, gone.stderr
    assert not state.exists()


def test_the_two_commands_are_told_first() -> None:
    assert [command for command in TOLD if command.startswith("make")] == ["make demo", "make test"]


@pytest.mark.journey
def test_the_demo_prints_what_the_readme_shows(demo: tuple[dict[str, str], str]) -> None:  # N4, B5
    _, printed = demo
    assert missing(TOLD["make demo"].shown, printed) == []
    assert printed.rstrip().splitlines()[-1].startswith("demo finished:")


@pytest.mark.journey
def test_the_second_run_starts_sooner(demo: tuple[dict[str, str], str]) -> None:  # B4
    _, printed = demo
    assert "second run started" in printed
    assert "a local figure" in printed


@pytest.mark.journey
def test_what_the_readme_tells_to_type_after_the_demo_works(demo: tuple[dict[str, str], str]) -> None:
    environment, _ = demo
    shell = TOLD['eval "$(.venv/bin/python -m local env --as submitter)"'].command
    for typed in AFTER_THE_DEMO:
        catalog = "export SLIPWAY_CATALOG=gs://slipway-local-local-catalog"  # `use` would write into this checkout
        line = typed.command if not typed.command.startswith("slipway use") else "true"
        done = run(f"{shell}; {catalog}; {line}", environment)
        assert missing(typed.shown, done.stdout + done.stderr) == [], typed.command
        assert done.returncode == exit_code("".join(typed.shown)), done.stderr


def exit_code(shown: str) -> int:
    """What docs/cli.md says of the error that is shown."""
    return 5 if "can never run" in shown else 2 if "error:" in shown else 0


def test_numbers_and_names_may_differ_and_words_may_not() -> None:
    shown = Typed("slipway pools", ("cpu  head  0 / 1 / 1   2 s", "…", "done"))
    assert missing(shown.shown, "cpu head 1 / 1 / 3 14 min\nmore\ndone\n") == []
    assert missing(shown.shown, "cpu tail 1 / 1 / 3 14 min\ndone\n") != []
    assert missing(shown.shown, "done\ncpu head 1 / 1 / 3 14 min\n") == ["done"]
    assert normal("dask-digits-lxyht5gh  waited 9.4 s") == "dask-digits-JOB waited N"

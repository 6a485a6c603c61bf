"""Killed at any moment, run twice at once: the same command goes through, and what it made is whole."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Machine, alive

Until = Callable[[Callable[[], object]], None]


@pytest.fixture
def held(machine: Machine, tmp_path: Path) -> Path:
    """Go builds, but not to an end before this file is gone."""
    hold = tmp_path / "hold"
    hold.touch()
    machine.install_go(hold=str(hold))
    machine.environ["SLIPWAY_ENGINE"] = "build"
    return hold


def go_pid(machine: Machine) -> int:
    return int(machine.log.read_text().splitlines()[-1].split()[0])


def test_the_command_prints_the_folder_and_nothing_else(machine: Machine) -> None:
    machine.install_go()
    machine.environ["SLIPWAY_ENGINE"] = "build"
    run = machine.start()
    out, err = run.communicate()
    assert run.returncode == 0, err
    assert (Path(out.removesuffix("\n")) / "pulumi").exists()
    assert "building the Pulumi engine v3.259.0" in err


def test_the_command_fails_with_words_and_without_traceback(machine: Machine) -> None:
    machine.environ["SLIPWAY_ENGINE"] = "build"
    run = machine.start()
    out, err = run.communicate()
    assert (run.returncode, out) == (1, "")
    assert [line.split(":")[0].strip() for line in err.splitlines()[-3:]] == ["error", "why", "fix"]
    assert "Traceback" not in err


def test_killed_in_the_middle_go_ends_too_and_the_next_run_goes_through(
    machine: Machine, held: Path, until: Until
) -> None:
    run = machine.start()
    until(machine.builds)
    run.kill()
    run.communicate()
    until(lambda: not alive(go_pid(machine)))
    assert machine.finished() == []
    assert machine.partials(), "the kill left something to clear"
    held.unlink()
    again = machine.start()
    out, err = again.communicate()
    assert again.returncode == 0, err
    assert machine.finished() == [Path(out.strip()).name]
    assert machine.partials() == []


def test_an_orphaned_build_is_waited_for_and_never_cleared_under_its_feet(
    machine: Machine, held: Path, until: Until
) -> None:
    machine.environ["FAKE_GO_SILENT"] = "1"
    run = machine.start()
    until(machine.builds)
    run.kill()
    run.communicate()
    assert alive(go_pid(machine))
    again = machine.start()
    assert again.stderr is not None
    assert "of an interrupted build" in again.stderr.readline()
    assert machine.partials(), "still the orphan's"
    held.unlink()
    _, err = again.communicate()
    assert again.returncode == 0, err
    assert len(machine.finished()) == 1
    assert machine.partials() == []


def test_of_two_at_once_one_builds_and_the_other_waits_and_says_so(machine: Machine, held: Path, until: Until) -> None:
    first = machine.start()
    until(machine.builds)
    second = machine.start()
    assert second.stderr is not None
    assert f"waiting for process {first.pid}," in second.stderr.readline()
    held.unlink()
    ends = [run.communicate() for run in (first, second)]
    assert [run.returncode for run in (first, second)] == [0, 0], ends
    assert ends[0][0] == ends[1][0]
    assert len(machine.builds()) == 2, "two programs, each built once"


def test_interrupted_by_hand_it_leaves_nothing(machine: Machine, held: Path, until: Until) -> None:
    run = machine.start()
    until(machine.builds)
    os.kill(run.pid, signal.SIGINT)
    out, err = run.communicate()
    assert (run.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert not alive(go_pid(machine))
    assert (machine.finished(), machine.partials()) == ([], [])

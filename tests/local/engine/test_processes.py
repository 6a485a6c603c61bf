"""A language host goes with its engine, however that ends, and never before. (N4)"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from local.engine.find import LANGUAGE_HOST
from local.engine.host import watch
from tests.checkouts.shell import Started, wait_for

from .conftest import Machine, alive

# Stands for the host: says its port, tells whoever asks on its input, and has a program as its child.
HOST = f"""#!{sys.executable}
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
print("4711", *sys.argv[1:], flush=True)
for line in sys.stdin:
    sys.exit(int(line))
"""
# Stands for the engine: starts every plugin as the leader of a process group, and ends its own way.
ENGINE = """
import subprocess, sys
host = subprocess.Popen([sys.argv[1], "--root", "a b"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                        process_group=0)
print(host.stdout.readline(), end="", flush=True)
if sys.argv[2:]:
    host.stdin.write(sys.argv[2] + "\\n")
    host.stdin.close()
    print("ended with", host.wait(), host.stdout.read(), flush=True)
else:
    host.wait()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / LANGUAGE_HOST).write_text(HOST)
    (tmp_path / LANGUAGE_HOST).chmod(0o755)
    watch(tmp_path)
    return tmp_path


def start(folder: Path, *arguments: str) -> Started:
    output = folder / "said"
    command = [sys.executable, "-c", ENGINE, str(folder / LANGUAGE_HOST), *arguments]
    with output.open("wb") as file:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, start_new_session=True)
    return Started(process, output)


def test_it_goes_with_all_its_children_when_the_engine_is_killed(folder: Path) -> None:
    engine = start(folder)
    engine.until(lambda: "4711 --root a b" in engine.said, "the host serves")
    assert len(engine.tree()) >= 3
    engine.kill()
    wait_for(lambda: not engine.tree(), "nothing of it is left")


@pytest.mark.skipif(sys.platform != "linux", reason="zombies are told by /proc")
def test_it_goes_also_before_anybody_has_asked_for_the_killed_engine_s_end(folder: Path) -> None:
    engine = start(folder)
    engine.until(lambda: "4711 --root a b" in engine.said, "the host serves")
    os.kill(engine.process.pid, signal.SIGKILL)
    wait_for(lambda: not engine.tree(), "only the zombie is left")
    engine.process.wait()


def test_a_program_goes_though_its_host_ended_before_the_watcher_looked(folder: Path) -> None:
    engine = start(folder)
    engine.until(lambda: "4711 --root a b" in engine.said, "the host serves")
    host = next(process for process in psutil.Process(engine.process.pid).children() if process.children())
    os.kill(engine.process.pid, signal.SIGSTOP)
    host.kill()
    engine.kill()
    wait_for(lambda: not engine.tree(), "nothing of it is left")


def test_it_ends_by_itself_with_its_own_code_and_leaves_no_watcher(folder: Path) -> None:
    engine = start(folder, "7")
    assert engine.process.wait() == 0
    assert "ended with 7" in engine.said
    watcher = (LANGUAGE_HOST[:15], "sh", "sleep")
    wait_for(lambda: not [process for process in engine.tree() if _is_named(process, *watcher)], "its watcher is gone")
    for process in engine.tree():
        process.kill()


def _is_named(process: psutil.Process, *names: str) -> bool:
    """False for one that has ended since it was listed."""
    try:
        return process.name() in names
    except psutil.NoSuchProcess:
        return False


# --- Killed at any moment, run twice at once: the same command goes through, and what it made is whole.


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
    assert "waiting for another process" in again.stderr.readline()
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
    assert "waiting for another process" in second.stderr.readline()
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

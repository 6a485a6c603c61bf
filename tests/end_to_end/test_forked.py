"""Programs that `tests/checkouts/fork_server.py` makes are as those that the engine's language host starts. # N2"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import psutil
import pytest

from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.skipif("sys.platform != 'linux'", reason="forks are Linux's")

TELLS = """
import json, os, sys
assert "components.program" in sys.modules
with open("told.json", "w") as file:
    json.dump([os.getcwd(), sys.argv[1:], dict(os.environ), sys.path[0]], file)
print("out"), print("err", file=sys.stderr)
sys.exit(7)
"""
KILLED = "import os; os.kill(os.getpid(), 15)"
ENDS = {
    "pass": (0, "", ""),
    "raise SystemExit('why')": (1, "", "why\n"),
    "import sys; sys.excepthook = lambda kind, *_: print(kind.__name__); 1 / 0": (1, "ZeroDivisionError\n", ""),
    "import atexit; atexit.register(print, 'at its end')": (0, "at its end\n", ""),
    "import threading; threading.Timer(0.1, print, ['its thread']).start()": (0, "its thread\n", ""),
}
SLEEPS = """
import os, pathlib, time
pathlib.Path("pid").write_text(str(os.getpid()))
time.sleep(600)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(forked: Mapping[str, str], tmp_path: Path) -> Start:
    """Starts a program as the language host does, in a folder of its own."""

    def started(program: str, **variables: str) -> subprocess.Popen[str]:
        script = tmp_path / "pulumi-language-python-exec"
        script.write_text(program)
        (tmp_path / "folder").mkdir(exist_ok=True)
        return subprocess.Popen(
            [forked["PULUMI_PYTHON_CMD"], str(script), "a word", ""],
            cwd=tmp_path / "folder",
            env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **forked, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return started


def test_it_has_the_words_the_folder_the_variables_and_the_streams_of_whoever_asks(
    start: Start, tmp_path: Path
) -> None:
    asked = start(TELLS, MINE="a\nb=c")
    assert asked.communicate() == ("out\n", "err\n") and asked.returncode == 7
    folder, words, variables, first = json.loads((tmp_path / "folder" / "told.json").read_text())
    assert (folder, words, first) == (str(tmp_path / "folder"), ["a word", ""], str(tmp_path))
    assert variables["MINE"] == "a\nb=c" and variables.keys() - os.environ.keys() >= {"MINE", "PULUMI_PYTHON_CMD"}


@pytest.mark.parametrize(("program", "end"), ENDS.items())
def test_it_ends_as_the_interpreter_does(start: Start, program: str, end: tuple[int, str, str]) -> None:
    asked = start(program)
    out, err = asked.communicate()
    assert (asked.returncode, out, err) == end


def test_how_it_ends_is_told_and_whose_asker_ends_is_ended(start: Start, tmp_path: Path) -> None:
    assert start(KILLED).wait() == -signal.SIGTERM
    asked, told = start(SLEEPS), tmp_path / "folder" / "pid"
    wait_for(lambda: told.exists() and told.read_text(), "it runs")
    pid = int(told.read_text())
    assert psutil.pid_exists(pid) and pid != asked.pid
    asked.kill()
    wait_for(lambda: not psutil.pid_exists(pid), "it has ended")


def test_code_of_a_checkout_s_own_has_a_process_of_its_own(start: Start, tmp_path: Path) -> None:
    (tmp_path / "folder" / "slipway").mkdir(parents=True)
    asked, told = start(SLEEPS), tmp_path / "folder" / "pid"
    wait_for(lambda: told.exists() and told.read_text(), "it runs")
    assert int(told.read_text()) == asked.pid
    asked.kill()
    asked.wait()

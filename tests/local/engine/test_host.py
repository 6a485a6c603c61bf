"""A language host goes with its engine, however that ends, and never before. (N4)"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from local.engine.find import LANGUAGE_HOST
from local.engine.host import watch
from tests.checkouts.shell import Started, wait_for

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


def test_it_ends_by_itself_with_its_own_code_and_leaves_no_watcher(folder: Path) -> None:
    engine = start(folder, "7")
    assert engine.process.wait() == 0
    assert "ended with 7" in engine.said
    watcher = (LANGUAGE_HOST[:15], "sh", "sleep")
    wait_for(lambda: not [one for one in engine.tree() if _is_named(one, *watcher)], "its watcher is gone")
    for one in engine.tree():
        one.kill()


def test_an_engine_that_lives_keeps_its_host(folder: Path) -> None:
    engine = start(folder)
    engine.until(lambda: "4711" in engine.said, "the host serves")
    (host,) = psutil.Process(engine.process.pid).children()
    # The watcher looks each second: a third look begins when the second sleep has ended.
    seen: set[int] = set()

    def looked() -> bool:
        seen.update(one.pid for one in host.children(recursive=True) if _is_named(one, "sleep"))
        return len(seen) > 2

    wait_for(looked, "it was looked after twice")
    assert host.is_running()
    engine.kill_tree()


def _is_named(process: psutil.Process, *names: str) -> bool:
    """False for one that has ended since it was listed."""
    try:
        return process.name() in names
    except psutil.NoSuchProcess:
        return False

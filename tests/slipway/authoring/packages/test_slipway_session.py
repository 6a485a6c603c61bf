"""A session on its machine, against the storage of the local cloud: what runs, once, and what is told of it. # N25"""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from slipway.authoring.packages import slipway_exchange as exchange
from slipway.authoring.packages.slipway_exchange import Exchange, Part, Request
from slipway.authoring.packages.slipway_results import CHIEF
from slipway.authoring.packages.slipway_storage import Storage
from tests.checkouts.shell import wait_for
from tests.local.conftest import ROOT

from .conftest import Between, Bucket

COUNTS = """
import os, pathlib, sys, time
with open(os.environ["COUNTED"], "a") as counted:
    print(*sys.argv[1:], file=counted)
print("begun", flush=True)
while pathlib.Path(os.environ["COUNTED"] + ".wait").exists():
    time.sleep(0.02)
"""
"""Writes its arguments down, outside of the folder, and waits where it is to."""


HEEDLESS = (
    'python -c "import signal, time; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN); '
    'print(flush=True); time.sleep(600)"'
)
SOON = """
import os, sys, sysconfig
from slipway.authoring.packages import slipway_session
if "PACKAGES" in os.environ:
    sysconfig.get_path = lambda name: os.environ["PACKAGES"]
slipway_session.STOPPED_S = 0.0
sys.exit(slipway_session.main(sys.argv[1:], os.environ))
"""


@dataclass
class Held:
    """A session's machine, and its owner. `out` has what each run wrote."""

    server: Between
    bucket: Bucket
    folder: Path
    files: dict[str, str] = field(default_factory=lambda: {"counts.py": COUNTS})
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    number: int = 0

    def __post_init__(self) -> None:
        self.at = f"gs://{self.bucket.name}/sessions/ada/{uuid.uuid4().hex}"
        self.exchange = Exchange(self.at, Storage(self.server.environ))

    @property
    def counted(self) -> list[str]:
        with suppress(FileNotFoundError):
            return (self.folder / "counted").read_text().splitlines()
        return []

    @property
    def waits(self) -> Path:
        """The file for which `counts.py` waits to go."""
        return self.folder / "counted.wait"

    def start(self, *flags: str, idle: str = "600", longest: str = "600", **more: str) -> subprocess.Popen[bytes]:
        """Start the session's job, on a new machine, which gives a run no second for its last words; `more`
        variables."""
        code = self.folder / f"machine-{len(self.started)}" / "code"
        code.mkdir(parents=True)
        own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COUNTED": str(self.folder / "counted")}
        words = ["-c", SOON, "--at", self.at, "--idle", idle, "--max", longest]
        process = subprocess.Popen(
            [sys.executable, *words, *flags],
            cwd=code,
            env={**own, **more, **self.server.environ},
            start_new_session=True,
        )
        self.started.append(process)
        return process

    def send(self, command: str, *, resume: bool = False, **changes: str | None) -> int:
        """Send a run, with changes of files, and return its number."""
        self.number += 1
        named = {name.replace("_", "."): text for name, text in changes.items()}
        self.files = {name: text for name, text in {**self.files, **named}.items() if text is not None}
        contents = {hashlib.sha256(text.encode()).hexdigest(): text.encode() for text in self.files.values()}
        files = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in self.files.items()}
        request = Request(uuid.uuid4().hex, "ada", command, files, resume=resume)
        new = {digest: content for digest, content in contents.items() if digest not in self.known}
        self.known |= {*contents}
        assert self.exchange.take(exchange.request_name(self.number), request.packed(new))
        return self.number

    def parts(self, number: int, replica: str = CHIEF) -> list[Part]:
        found: list[Part] = []
        while packed := self.exchange.read(exchange.part_name(number, replica, len(found) + 1)):
            found.append(Part.read(packed))
        return found

    def end(self, number: int, replica: str = CHIEF) -> tuple[int, str, str]:
        """Return the exit code of a run, what it wrote, and why it was lost, once it has ended."""
        wait_for(lambda: self.exchange.read(exchange.ended_name(number, replica)) is not None, "the run ends", 120)
        parts = self.parts(number, replica)
        assert [part.code is None for part in parts] == [True] * (len(parts) - 1) + [False], parts
        return parts[-1].code, "".join(text for part in parts for _, text in part.output), parts[-1].lost

    def begun(self, number: int) -> None:
        wait_for(lambda: any(part.output for part in self.parts(number)), "the run writes", 120)

    def run(self, command: str, **changes: str | None) -> tuple[int, str, str]:
        return self.end(self.send(command, resume=False, **changes))


@pytest.fixture
def held(server: Between, bucket: Bucket, tmp_path: Path) -> Iterator[Held]:
    made = Held(server, bucket, tmp_path)
    yield made
    made.waits.unlink(missing_ok=True)
    for process in made.started:
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGCONT)
            process.terminate()
        process.wait()


def test_a_run_finds_exactly_the_files_that_were_sent_whatever_runs_did_to_them(held: Held) -> None:
    held.start()
    spoils = "import pathlib\npathlib.Path('a.txt').write_text('spoilt')\npathlib.Path('own').touch()\nprint('x')"
    assert held.run("python spoils.py", a_txt="a", b_txt="b", spoils_py=spoils) == (0, "x\n", "")
    shows = "import pathlib\nprint(sorted(p.name for p in pathlib.Path().glob('*')), pathlib.Path('a.txt').read_text())"
    assert held.run("python shows.py", shows_py=shows, spoils_py=None, b_txt=None) == (
        0,
        "['a.txt', 'counts.py', 'own', 'shows.py'] a\n",
        "",
    )
    assert held.run("python shows.py", a_txt="b") == (0, "['a.txt', 'counts.py', 'own', 'shows.py'] b\n", "")
    code, written, _ = held.run("nobody-has-this", a_txt="b")
    assert code == 127 and "why: the image of this machine has no program nobody-has-this" in written, written
    assert held.run("python -c 'print(1'")[0] == 1, "a session outlives what can't start"


def test_all_that_is_written_comes_and_what_is_left_running_is_ended(held: Held) -> None:
    held.start()
    text = "import os, sys, subprocess\nos.write(1, b'\\xff\\xe4\\xbd')\nos.write(1, b'\\xa0')\n"
    text += "print(subprocess.Popen(['sleep', '600']).pid, file=sys.stderr)\nsys.exit(7)"
    code, _, _ = held.run("python writes.py", writes_py=text)
    output = [each for part in held.parts(1) for each in part.output]
    written = "".join(text for stream, text in output if stream == 1)
    assert code == 7 and written.encode(errors="surrogateescape") == b"\xff\xe4\xbd\xa0"
    left = int("".join(text for stream, text in output if stream == 2))
    wait_for(lambda: not psutil.pid_exists(left), "what it left is gone")
    assert held.run("python -c 'import os; os.kill(os.getpid(), 9)'")[0] == 137


def test_a_run_is_interrupted_and_then_killed(held: Held) -> None:
    held.start()
    held.waits.touch()
    number = held.send("python counts.py")
    held.begun(number)
    assert held.exchange.take(exchange.stop_name(number, 1), b"ada")
    code, written, lost = held.end(number)
    assert code in (1, 130) and "KeyboardInterrupt" in written and not lost
    number = held.send(HEEDLESS)
    held.begun(number)
    for count in (1, 2):
        assert held.exchange.take(exchange.stop_name(number, count), b"ada")
    assert held.end(number)[0] == 137


def test_files_and_folders_change_places(held: Held) -> None:
    held.start()
    makes = "import pathlib\npathlib.Path('b.txt').mkdir()\npathlib.Path('b.txt/own').touch()"
    assert held.run("python makes.py", makes_py=makes)[0] == 0
    held.files["a/b"] = "1"
    assert held.run("cat b.txt a/b", b_txt="2") == (0, "21", "")
    del held.files["a/b"]
    held.files["a"] = "3"
    assert held.run("cat a") == (0, "3", "")
    del held.files["a"]
    held.files["a/b/c"] = "4"
    assert held.run("cat a/b/c") == (0, "4", "")


def test_a_run_that_heeds_nothing_goes_with_its_session(held: Held) -> None:
    held.start()
    number = held.send(HEEDLESS)
    held.begun(number)
    assert held.exchange.take(exchange.stop_name(number, 1), b"ada")
    closing = Request("1", "ada", closed="as ada stopped it").packed({})
    assert held.exchange.take(exchange.request_name(number + 1), closing)
    assert held.end(number) == (137, "\n", "")
    assert held.started[0].wait(60) == 0


def test_a_run_goes_with_its_session_s_longest_time_and_is_told_so(held: Held) -> None:
    held.start(longest="3")
    number = held.send(HEEDLESS)
    assert held.end(number) == (137, "\n", "the session ends after 0 min, its longest time")
    assert held.started[0].wait(60) == 0


LEAVES = """
import os, pathlib, sys
place = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
print(place.name, *sorted(path.name for path in place.iterdir()), flush=True)
(place / sys.argv[1]).touch()
exec(pathlib.Path("counts.py").read_text()) if "waits" in sys.argv else None
"""
METRICS = """import os
open(os.environ["SLIPWAY_OUTPUT"] + "/metrics.json", "w").write('{"loss": 1}')
"""
GOES_ON = "slipway: goes on with what run {} has left of $SLIPWAY_OUTPUT\n"


def test_the_metrics_of_a_run_are_sent_before_its_end(held: Held) -> None:
    (held.folder / "output").mkdir()
    held.start(SLIPWAY_OUTPUT=str(held.folder / "output"))
    assert held.run("python metrics.py", metrics_py=METRICS)[0] == 0
    assert held.exchange.read(exchange.metrics_name(1, CHIEF)) == b'{"loss": 1}'
    assert held.run("python -c pass")[0] == 0 and held.exchange.read(exchange.metrics_name(2, CHIEF)) is None


def test_a_run_begins_with_an_empty_output_or_with_that_of_the_run_before(held: Held) -> None:
    (held.folder / "output").mkdir()
    held.start(SLIPWAY_OUTPUT=str(held.folder / "output"))
    assert held.run("python leaves.py a", leaves_py=LEAVES) == (0, "run-1\n", "")
    assert held.run("python leaves.py b") == (0, "run-2\n", "")
    assert held.end(held.send("python leaves.py c", resume=True)) == (0, f"{GOES_ON.format(2)}run-3 b\n", "")
    assert held.end(held.send("python leaves.py d", resume=True)) == (0, f"{GOES_ON.format(3)}run-4 b c\n", "")
    assert held.run("python leaves.py e") == (0, "run-5\n", "")


def test_a_command_that_was_lost_with_its_machine_goes_on_when_it_is_sent_again(held: Held) -> None:
    (held.folder / "output").mkdir()
    first = held.start(SLIPWAY_OUTPUT=str(held.folder / "output"))
    assert held.run("python leaves.py a", leaves_py=LEAVES)[0] == 0
    held.waits.touch()
    number = held.send("python leaves.py b waits")
    held.begun(number)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    held.waits.unlink()
    held.start(SLIPWAY_OUTPUT=str(held.folder / "output"))
    assert held.end(number)[2]
    assert held.run("python leaves.py a") == (0, "run-3\n", ""), "another command"
    assert held.run("python leaves.py b waits")[1].startswith(f"{GOES_ON.format(2)}run-4 b\n")
    assert held.run("python leaves.py b waits")[1].startswith("run-5\n"), "once"


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_whose_machine_goes_is_lost_and_told_and_the_next_start_goes_on(held: Held, kill: signal.Signals) -> None:
    first = held.start()
    assert held.run("python counts.py 1")[0] == 0
    held.waits.touch()
    number = held.send("python counts.py 2")
    held.begun(number)
    if kill is signal.SIGKILL:
        os.killpg(first.pid, kill)
    else:
        first.send_signal(kill)
    assert first.wait() in (-kill, 128 + kill)
    held.send("python counts.py 3")
    held.waits.unlink()
    held.start()
    code, written, lost = held.end(number)
    assert (code, written) == (143, "begun\n") and lost
    assert held.end(3)[:2] == (0, "begun\n")
    assert held.counted == ["1", "2", "3"]


def test_answers_that_are_lost_or_late_neither_double_a_run_nor_lose_one(held: Held) -> None:
    held.start()
    assert held.run("python counts.py 0")[0] == 0
    for number in range(1, 6):
        sent = held.send(f"python counts.py {number}")
        held.server.handler.faults += ["lost", 503, "silent", "lost", "half"]
        assert held.end(sent) == (0, "begun\n", "")
    assert held.counted == ["0", "1", "2", "3", "4", "5"]


def test_a_start_that_was_given_up_and_lives_ends_once_another_has_its_place(held: Held) -> None:
    """A machine that is out of reach for a while is replaced."""
    first = held.start()
    held.waits.touch()
    number = held.send("python counts.py 1")
    held.begun(number)
    first.send_signal(signal.SIGSTOP)
    held.start()
    assert held.end(number)[2]
    first.send_signal(signal.SIGCONT)
    other = held.send("python counts.py 2")
    held.waits.unlink()
    assert held.end(other)[0] == 0
    first.wait(60)
    assert held.counted == ["1", "2"] and held.started[1].poll() is None


def test_it_ends_by_itself_in_place_of_a_request_or_runs_that(held: Held) -> None:
    held.send("python counts.py 1")
    session = held.start(idle="1")
    assert held.end(1)[0] == 0
    assert session.wait(60) == 0
    closing, _ = Request.read(held.exchange.read(exchange.request_name(2)) or b"")
    assert closing.closed == "after 0 min without a run"
    (told,) = (held.folder / "machine-0").glob("ended")
    assert told.read_text() == "it ended after 0 min without a run"
    assert not held.exchange.take(exchange.request_name(2), b"too late")


def test_one_that_was_taken_back_before_its_start_never_runs(held: Held) -> None:
    number = held.send("python counts.py 1")
    assert held.exchange.take(exchange.stop_name(number, 1), b"ada")
    held.start()
    assert held.end(number) == (130, "", "")
    assert held.run("python counts.py 2")[0] == 0 and held.counted == ["2"]


def test_each_replica_runs_the_same_and_one_that_fails_ends_the_others(held: Held) -> None:
    names, machines = (CHIEF, "workerpool1-0"), {"workerpool0": ["a:2222"], "workerpool1": ["b:2222"]}
    for name in names:
        task = {"type": name.partition("-")[0], "index": 0}
        held.start(CLUSTER_SPEC=json.dumps({"cluster": machines, "task": task}), MASTER_PORT="3000")
    shows = "import os, sys\nprint(os.environ['MASTER_PORT'])\n"
    number = held.send("python shows.py", shows_py=shows)
    assert [held.end(number, name) for name in names] == [(0, "3001\n", "")] * 2
    fails = "import json, os, sys, time\n"
    fails += "if json.loads(os.environ['CLUSTER_SPEC'])['task']['type'] == 'workerpool1':\n    sys.exit(4)\n"
    number = held.send("python fails.py", fails_py=fails + "time.sleep(600)")
    assert held.end(number, names[1])[0] == 4 and held.end(number)[0] in (1, 130)
    assert [held.end(held.send("python shows.py"), CHIEF), held.end(3, names[1])] == [(0, "3003\n", "")] * 2


def test_a_warm_python_becomes_the_command(held: Held) -> None:
    held.start("--preload", "fractions,nobody_has_this")
    text = "import sys\nprint('fractions' in sys.modules, sys.argv, __name__, __file__)\n"
    text += "import helper\nraise ValueError(1)"
    code, written, _ = held.run("python warm.py 1 'a b'", warm_py=text, helper_py="print('helps')")
    assert code == 1 and "True ['warm.py', '1', 'a b'] __main__ warm.py\nhelps\n" in written
    assert "ValueError: 1" in written and "runpy" not in written and "slipway_warm" not in written
    assert held.run("python -m helper x") == (0, "helps\n", "")
    assert held.run("python helper.py", helper_py="import sys; sys.exit(3)") == (3, "", "")
    assert held.run("python helper.py", helper_py="import os; os.kill(os.getpid(), 15)")[0] == 143
    assert held.run("python helper.py", helper_py="import os; os.kill(os.getppid(), 9); print(2)")[0] == 137
    assert held.run("python helper.py", helper_py="print('again')") == (0, "again\n", "")
    held.waits.touch()
    number = held.send("python counts.py")
    held.begun(number)
    assert held.exchange.take(exchange.stop_name(number, 1), b"ada")
    code, written, _ = held.end(number)
    assert code == 130 and written.endswith("KeyboardInterrupt\n") and "counts.py" in written
    assert "runpy" not in written and "slipway_warm" not in written, written


def test_a_warm_python_keeps_no_module_that_has_changed(held: Held) -> None:
    packages = held.folder / "packages"
    (packages / "installed-1.dist-info").mkdir(parents=True)
    (packages / "installed.py").write_text("WORD = 'first'")
    held.start("--preload", "installed,helper", PACKAGES=str(packages), PYTHONPATH=f"{ROOT}:{packages}")
    kills, shows = "import os; os.kill(os.getppid(), 9)", "import installed, helper\nprint(installed.WORD, helper.WORD)"
    assert held.run("python kills.py", kills_py=kills, helper_py="WORD = 'old'")[0] == 137
    assert held.run("python shows.py", shows_py=shows)[1] == "first old\n"
    assert held.run("python shows.py", helper_py="WORD = 'new'")[1] == "first new\n"
    (packages / "installed-1.dist-info").rename(packages / "installed-2.dist-info")
    (packages / "installed.py").write_text("WORD = 'second'")
    assert held.run("python shows.py")[1] == "second new\n"


def test_a_run_that_ends_its_warm_python_at_once_has_started(held: Held) -> None:
    late = "import os, time\nfork = os.fork\ndef late():\n    child = fork()\n    time.sleep(0.5 if child else 0)\n"
    (held.folder / "late.py").write_text(f"{late}    return child\nos.fork = late")
    held.start("--preload", "late", PYTHONPATH=f"{ROOT}:{held.folder}")
    assert held.run("python kills.py", kills_py="import os; os.kill(os.getppid(), 9)")[0] == 137


@pytest.mark.journey
@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_when_each_run_has_run_once_or_is_told_to_be_lost(held: Held, seed: int) -> None:
    """Machines die between any two of the session's steps, and answers are lost, late and broken."""
    chance, lost = random.Random(seed), set[str]()
    held.start()
    for number in range(1, 13):
        sent = held.send(f"python counts.py {number}")
        held.server.handler.faults += chance.choices(["lost", 503, "silent", "half", None], k=chance.randrange(6))
        if chance.random() < 0.5:
            # Whatever it is doing by then: looking, marking the start, running, or telling the end.
            calls, after = held.server.handler.calls, chance.randrange(1, 9)
            wait_for(lambda of=calls + after: held.server.handler.calls >= of, "calls", 120)  # type: ignore[misc]
            os.killpg(held.started[-1].pid, signal.SIGKILL)
            held.started[-1].wait()
            held.start()
        if held.end(sent)[2]:
            lost.add(str(number))
    assert len(held.counted) == len({*held.counted}), "a run was doubled"
    assert {str(number) for number in range(1, 13)} - {*held.counted} <= lost, "a run was lost in silence"

"""Two jobs of one submission, of which one makes room and the other goes on: never both, whatever is killed. # N24

Against the storage of the local cloud, with the tokens its metadata server would give.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from slipway.authoring.packages import slipway_yield
from slipway.authoring.packages.slipway_command import Command
from slipway.authoring.packages.slipway_results import CHIEF
from slipway.authoring.packages.slipway_round import Asked
from slipway.authoring.packages.slipway_storage import RefusedError, Storage
from slipway.authoring.packages.slipway_yield import Room

from .conftest import Between
from .test_slipway_launcher import Replica, ran
from .test_slipway_launcher import replica as replica

HELPER = "workerpool1-0"
ASKED = Asked(by="ada", whom="tune (bob)", within=60.0, behind="next", needless=("bobs", "next"))


@pytest.fixture(autouse=True)
def _looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slipway_yield, "LOOK_S", 0.05)


class Jobs:
    """A job, `first`, and the one behind it, `next`, of one test."""

    def __init__(self, replica: Replica, name: str) -> None:
        self.replica, self.folder, self.bucket = replica, f"claims/{name}", replica.bucket

    def claim(self, request: str) -> str:
        return f"gs://{self.bucket.name}/{self.folder}/{request}"

    def put(self, name: str, content: bytes) -> None:
        self.bucket.put(f"{self.folder}/{name}", content)

    def ask(self, asked: Asked = ASKED) -> None:
        self.put("first/yield/1.asked", asked.packed())

    def room(self, who: str = CHIEF, replicas: int = 1, output: str = "", after: str = "") -> Room:
        storage = Storage(self.replica.environ)
        claim = self.claim("next" if after else "first")
        return Room(claim, output, who, replicas, storage, after)

    @property
    def objects(self) -> dict[str, bytes]:
        return self.bucket.contents(f"{self.folder}/")

    def start(self, request: str, job: str, after: str = "") -> tuple[int, bool]:
        """Return the exit code of a start, and whether it ran the code."""
        record = json.dumps({"after": after} if after else {})
        words = ["--claim", self.claim(request), "--module", "work", "--"]
        environ = {**self.replica.environ, "CLOUD_ML_JOB_ID": job, "SLIPWAY_YIELD": record}
        command = [sys.executable, "-m", "slipway_launcher", *words]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
        return done.returncode, ran(done)


@pytest.fixture
def jobs(replica: Replica, request: pytest.FixtureRequest) -> Jobs:
    return Jobs(replica, f"yield-{request.node.name}")


def running() -> Command:
    """Return a command that goes on until it gets a notice."""
    return Command([sys.executable, "-c", "import time; time.sleep(600)"], {}, lambda: None)


def test_the_one_behind_ends_where_the_first_has_not_decided(jobs: Jobs) -> None:
    jobs.put("first", b"11")
    jobs.ask()
    assert jobs.start("next", "12", "first/yield/1") == (0, False)
    assert jobs.objects["first/yield/1.end"] == b"kept" and jobs.objects["next"] == b"11"
    assert jobs.start("next", "12", "first/yield/1") == (0, False)  # And when it is started again.
    room = jobs.room()
    assert not room.made() and room.number == 2


def test_the_one_behind_does_not_go_on_for_a_job_that_has_not_begun(jobs: Jobs) -> None:
    """The other job waits still, as the service promises no order, or was cancelled in the console."""
    jobs.ask()
    with pytest.raises(RefusedError, match="has not begun"):
        jobs.room(after="first/yield/1").turn()
    assert jobs.start("next", "12", "first/yield/1") == (70, False)
    assert jobs.start("first", "11") == (0, True)


def test_the_first_never_starts_again_once_it_has_made_room_and_the_one_behind_does(jobs: Jobs) -> None:
    jobs.put("first", b"11")
    jobs.ask()
    jobs.put("first/yield/1.end", b"made")  # And then its machine was lost.
    assert jobs.start("first", "11") == (0, False)
    assert f"first/yield/1.left.{CHIEF}" in jobs.objects
    assert jobs.start("next", "12", "first/yield/1") == (0, True) and jobs.objects["next"] == b"12"
    assert jobs.start("next", "13", "first/yield/1") == (0, False)  # A copy of it.


def test_one_that_was_asked_while_it_waited_makes_room_before_its_code(jobs: Jobs) -> None:
    jobs.ask()
    assert jobs.start("first", "11") == (0, False)
    assert jobs.objects["first/yield/1.end"] == b"made" and f"first/yield/1.left.{CHIEF}" in jobs.objects
    assert jobs.start("next", "12", "first/yield/1") == (0, True)


@pytest.mark.parametrize("taken", ["bobs", "next"])
def test_one_that_was_asked_while_it_waited_starts_where_no_room_is_needed(jobs: Jobs, taken: str) -> None:
    jobs.ask()
    jobs.put(taken, b"cancelled")
    assert jobs.start("first", "11") == (0, True) and jobs.objects["first/yield/1.end"] == b"kept"


def test_a_helper_leaves_it_to_the_chief_whether_to_make_room(jobs: Jobs) -> None:
    jobs.ask()
    assert not jobs.room(HELPER, 2).made() and "first/yield/1.end" not in jobs.objects


def test_a_copy_of_the_first_does_not_say_that_the_first_has_left(jobs: Jobs) -> None:
    jobs.put("first", b"11")
    jobs.put("first/yield/1.end", b"made")
    assert jobs.start("first", "14") == (0, False)
    assert f"first/yield/1.left.{CHIEF}" not in jobs.objects


def test_the_one_behind_waits_until_the_first_has_kept_what_it_wrote(jobs: Jobs) -> None:
    jobs.put("first", b"11")
    jobs.put("first/yield/1.end", b"made")
    waits: list[float] = []

    def leave(seconds: float) -> None:
        waits.append(seconds)
        jobs.put(f"first/yield/1.left.{CHIEF}", b"x")

    assert jobs.room(after="first/yield/1").turn(leave) == "" and len(waits) == 1


def test_one_without_the_record_is_never_asked(jobs: Jobs) -> None:
    assert Room.asked_for(jobs.claim("first"), CHIEF, 1, {}) is None


@pytest.mark.parametrize("taken", ["bobs", "next"])
def test_it_goes_on_where_no_room_is_needed_any_more(jobs: Jobs, taken: str) -> None:
    """The other job has begun, or was cancelled; or the one behind was."""
    jobs.ask(ASKED._replace(within=0.0))
    jobs.put(taken, b"cancelled")
    room, command = jobs.room(), running()
    assert not room.decide(command) and not room.why and room.number == 2
    assert command.process.poll() is None and not room.left()
    command.end()
    assert jobs.objects["first/yield/1.end"] == b"kept"


@pytest.mark.parametrize(
    ("taken", "end"), [(["bobs"], b"made"), (["bobs", "carols"], b"kept"), (["bobs", "next"], b"kept")]
)
def test_it_makes_room_for_all_that_count_on_it(jobs: Jobs, taken: list[str], end: bytes) -> None:
    """Bob's job may have begun by the room that another one made for Carol's."""
    jobs.ask()
    jobs.put("first/yield/1.also.carols", b"")
    for claim in taken:
        jobs.put(claim, b"7")
    assert jobs.start("first", "11") == (0, end == b"kept") and jobs.objects["first/yield/1.end"] == end


def test_it_ends_after_its_next_checkpoint_and_says_when_it_has_left(jobs: Jobs) -> None:
    output = f"gs://{jobs.bucket.name}/{jobs.folder}-output"
    jobs.bucket.put(f"{jobs.folder}-output/checkpoint-1", b"1")
    jobs.ask()
    room, command = jobs.room(output=output), running()
    assert not any(room.decide(command) for _ in range(3))
    jobs.bucket.put(f"{jobs.folder}-output/metrics.json", b"{}")
    assert not any(room.decide(command) for _ in range(3))
    jobs.bucket.put(f"{jobs.folder}-output/checkpoint-2", b"2")
    assert not room.decide(command) and room.decide(command)  # Its files may come one after another.
    assert command.wait() and room.why == "made room for tune (bob), as ada asked" and room.left()
    assert jobs.objects["first/yield/1.end"] == b"made" and f"first/yield/1.left.{CHIEF}" in jobs.objects


def test_it_ends_without_one_when_the_time_is_over(jobs: Jobs) -> None:
    jobs.ask(ASKED._replace(within=0.0))
    room, command = jobs.room(), running()
    room.watch(command, threading.Event())
    assert command.wait() and room.left()


def test_of_a_command_that_has_ended_by_itself_nothing_is_decided(jobs: Jobs) -> None:
    jobs.ask(ASKED._replace(within=0.0))
    room, command = jobs.room(), running()
    command.end()
    command.wait()
    assert room.decide(command) and not room.left() and "first/yield/1.end" not in jobs.objects


def test_all_replicas_end_with_the_chief_and_it_leaves_last(jobs: Jobs) -> None:
    jobs.ask(ASKED._replace(within=0.0))
    chief, helper = jobs.room(replicas=2), jobs.room(HELPER, 2)
    first, second = running(), running()
    assert not helper.follow(second)
    assert chief.decide(first) and helper.follow(second)
    leaving = threading.Thread(target=chief.left)
    leaving.start()
    assert f"first/yield/1.left.{CHIEF}" not in jobs.objects
    assert helper.left()
    leaving.join()
    assert {f"first/yield/1.left.{CHIEF}", f"first/yield/1.left.{HELPER}"} <= {*jobs.objects}


def test_a_helper_that_fails_as_its_chief_ends_has_made_room_as_well(jobs: Jobs) -> None:
    jobs.put("first/yield/1.end", b"made")
    assert jobs.room(HELPER, 2).left()


def test_a_chief_whose_command_ends_before_it_knows_has_made_room_as_well(jobs: Jobs) -> None:
    """The answer to its decision was lost: the one behind goes on, so it is not tried again here."""
    jobs.ask()
    room, command = jobs.room(), running()
    assert not room.decide(command) and not room.left()
    jobs.put("first/yield/1.end", b"made")
    command.end()
    command.wait()
    assert room.left() and f"first/yield/1.left.{CHIEF}" in jobs.objects


def test_faults_of_storage_end_nothing(jobs: Jobs, server: Between) -> None:
    jobs.ask(ASKED._replace(within=0.0))
    server.handler.faults[:] = [403, 403]
    room, command, over = jobs.room(), running(), threading.Event()
    room.watch(command, over)
    assert room.why and command.wait()

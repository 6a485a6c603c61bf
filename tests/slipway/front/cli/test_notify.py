"""Whoever asked is told how a job goes, by the job itself and by who waits, each event once. # N30

With jobs of the local cloud, and a chat room that is a real HTTP server.
"""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.room import Room, a_room

from .stack import PROJECT, Stack
from .test_code import checked_out, opened

FAILS = "raise ValueError('the data is not there')"


@pytest.fixture
def room() -> Iterator[Room]:
    with a_room() as made:
        yield made


@pytest.fixture
def secret(stack: Stack, room: Room) -> str:
    """The name of a secret with the room's address, which the stack's trainer may read."""
    name = f"room-{stack.name}"
    home = f"/v1/projects/{PROJECT}/secrets"
    stack.cloud.rest("POST", f"{home}?secretId={name}", {"replication": {"automatic": {}}})
    data = base64.b64encode(room.url.encode()).decode()
    stack.cloud.rest("POST", f"{home}/{name}:addVersion", {"payload": {"data": data}})
    reader = {"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{stack.trainer}"]}
    stack.cloud.rest("POST", f"{home}/{name}:setIamPolicy", {"policy": {"bindings": [reader]}})
    return name


def events(room: Room) -> list[tuple[str, str]]:
    return [(body["event"], body["why"]) for body in room.bodies]


def nothing_has_the_address(stack: Stack, room: Room, *texts: str) -> None:
    assert "s3cr3t" not in "".join([*texts, json.dumps(stack.jobs())])
    kept = [file.read_text(errors="replace") for file in stack.folder.rglob("*") if file.is_file()]
    assert room.url not in "".join(kept)


@pytest.mark.journey
def test_the_job_tells_the_end_and_who_waits_for_it_does_not_say_it_again(
    stack: Stack, room: Room, secret: str
) -> None:
    package = checked_out(opened(stack))
    (package / "task.py").write_text("import sys\nsys.exit('no data' if '--say=bad' in sys.argv else 0)\n")
    code = ("submit", "hello", "--code", "./src", "--wait", "--notify", secret)
    done = stack.well(*code, "-p", "code=well", SLIPWAY_NOTIFY=room.url)
    (job,) = stack.jobs()
    facts = {"job": job["displayName"], "stack": stack.name, "template": "hello", "user": "ada", "event": "succeeded"}
    assert "\nnotify     asked for; its log says when nobody was told: " in stack.well("jobs", "show", facts["job"]).out
    assert [body | facts for body in room.bodies] == room.bodies and events(room) == [("succeeded", "")]

    stack.catalog["notify"] = f"projects/{PROJECT}/secrets/{secret}/versions/latest"
    stack.publish()
    failed = stack.run(*code[:-2], "-p", "code=bad")
    assert failed.code == 4 and events(room)[1:] == [("failed", "no data (main)")]
    assert f"slipway jobs show {stack.jobs()[0]['displayName']}" in room.texts[1]
    nothing_has_the_address(stack, room, done.out, done.err, failed.out, failed.err)

    (stack.folder / "grid.yaml").write_text("grid: {code: [a, b]}\n")
    stack.well("submit", "hello", "--code", "./src", "--sweep", "grid.yaml", "--wait")
    assert events(room)[2:] == [("ended", "2 of 2 runs succeeded")], "a sweep of a thousand would tell a thousand times"


@pytest.mark.journey
@pytest.mark.parametrize("retried", [True, False])
def test_a_job_that_aborts_for_good_tells_that_though_nobody_waits(
    stack: Stack, room: Room, secret: str, retried: bool
) -> None:
    package = checked_out(opened(stack))
    (package / "task.py").write_text("import os\nos.abort()\n")
    for offer in stack.catalog["templates"]["hello"]["offers"]:
        offer["request"]["jobSpec"]["scheduling"] = {"disableRetries": not retried}
    stack.publish()
    stack.well("submit", "hello", "--code", "./src", "--notify", secret)
    stack.all_end()
    crashes = [("crashed", "SIGABRT (main); Vertex AI starts it again")] * retried
    assert events(room) == [*crashes, ("failed", "SIGABRT (main)")]


@pytest.mark.journey
def test_a_sweep_tells_its_first_failure_and_its_end_though_nobody_waits(stack: Stack, room: Room, secret: str) -> None:
    package = checked_out(opened(stack))
    (package / "task.py").write_text("import sys\nsys.exit('no data' if 'bad' in sys.argv[-1] else 0)\n")
    (stack.folder / "grid.yaml").write_text("grid: {code: [well, bad, 'bad, too', good]}\n")
    words = ("submit", "hello", "--code", "./src", "--sweep", "grid.yaml", "--notify", secret)
    sent = stack.well(*words)
    stack.until(lambda: len(room.bodies) >= 2)
    stack.all_end()
    failed, ended = room.bodies
    job = next(job for job in stack.jobs() if job["displayName"] == failed["job"])
    sweep = job["labels"]["slipway-sweep"]
    facts = {"sweep": sweep, "run": job["labels"]["slipway-run"], "stack": stack.name, "user": "ada"}
    assert failed | facts == failed and (failed["event"], failed["why"]) == ("failed", "no data (main)")
    assert f", run {facts['run']} of sweep {sweep} of stack {stack.name} (ada) failed: no data" in failed["text"]
    assert "run" not in ended and ended["runs"] == "4"
    assert (ended["event"], ended["job"], ended["why"]) == ("ended", "", "2 of 4 runs succeeded, 2 failed")
    assert ended["text"].endswith(f"\nslipway jobs list --sweep {sweep}")

    stack.run(*words, "--wait", SLIPWAY_NOTIFY=room.url)
    assert len(room.bodies) == 2, "said once, by the runs or by who waits"
    stack.run(*words, "--retry-failed", "--wait", SLIPWAY_NOTIFY=room.url)
    assert [body["event"] for body in room.bodies[2:]] == ["ended"], "runs sent once more have another end"
    nothing_has_the_address(stack, room, sent.out, sent.err)


@pytest.mark.journey
def test_who_waits_for_a_sweep_without_a_launcher_tells_its_end(stack: Stack, room: Room) -> None:
    (stack.folder / "s.json").write_text(json.dumps({"grid": {"code": ["print(1)", FAILS, "print(2)"]}}))
    words = ("submit", "hello", "--sweep", "s.json", "--wait")
    first = stack.run(*words, SLIPWAY_NOTIFY=room.url)
    assert first.code == 4 and events(room) == [("ended", "2 of 3 runs succeeded, 1 failed")]
    ended = room.bodies[0]
    assert (ended["job"], ended["runs"]) == ("", "3") and ended["sweep"] == stack.jobs()[0]["labels"]["slipway-sweep"]
    stack.run(*words, SLIPWAY_NOTIFY=room.url)
    assert len(room.bodies) == 1
    stack.run(*words, SLIPWAY_NOTIFY=f"{room.url}#json")
    assert len(room.bodies) == 2, "another address is told as well"
    nothing_has_the_address(stack, room, first.out, first.err)


@pytest.mark.journey
def test_who_waits_tells_why_a_job_without_a_launcher_failed(stack: Stack, room: Room) -> None:
    done = stack.run("submit", "hello", "-p", f"code={FAILS}", "--wait", SLIPWAY_NOTIFY=room.url)
    assert done.code == 4
    name = stack.jobs()[0]["displayName"]
    assert events(room) == [("failed", "ValueError: the data is not there (main)")]
    assert "ValueError: the data is not there" in stack.well("jobs", "show", name).out
    again = stack.run("jobs", "wait", name, SLIPWAY_NOTIFY=room.url)
    assert again.code == 4 and len(room.bodies) == 1, "said once, whoever waits"
    stack.run("jobs", "wait", name, SLIPWAY_NOTIFY=f"{room.url}#slack")
    assert [*room.bodies[1]] == ["text"], "another address is told as well"
    nothing_has_the_address(stack, room, done.out, done.err, again.err)


@pytest.mark.journey
def test_a_room_that_can_not_be_told_ends_nothing(stack: Stack, room: Room) -> None:
    room.status = 410
    done = stack.well("submit", "hello", "--wait", SLIPWAY_NOTIFY=room.url)
    assert "nobody was told that it succeeded: HTTP 410" in done.err


def test_an_address_on_the_command_line_is_refused_and_not_repeated(stack: Stack) -> None:
    done = stack.run("submit", "hello", "--notify", "https://hooks.slack.com/services/T0/B0/s3cr3t")
    assert done.code == 2 and "export SLIPWAY_NOTIFY=https://…" in done.err and "s3cr3t" not in done.err
    done = stack.run("submit", "hello", "--wait", SLIPWAY_NOTIFY="http://chat.acme.example/s3cr3t")
    assert done.code == 2 and "SLIPWAY_NOTIFY is no https:// address" in done.err and "s3cr3t" not in done.err
    done = stack.run("submit", "hello", "--notify", "slack-ml")
    assert done.code == 2 and "a custom job of hello can't tell anybody how it goes" in done.err
    (stack.folder / "grid.yaml").write_text("grid: {code: [a, b]}\n")
    done = stack.run("submit", "hello", "--notify", "slack-ml", "--sweep", "grid.yaml")
    assert done.code == 2 and "a custom job of hello can't tell anybody how it goes" in done.err
    done = stack.run(
        "submit", "hello", "--sweep", "grid.yaml", "--wait", SLIPWAY_NOTIFY="http://chat.acme.example/s3cr3t"
    )
    assert done.code == 2 and "SLIPWAY_NOTIFY is no https:// address" in done.err and "s3cr3t" not in done.err
    assert stack.jobs() == []

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
    assert [body | facts for body in room.bodies] == room.bodies and events(room) == [("succeeded", "")]

    stack.catalog["notify"] = f"projects/{PROJECT}/secrets/{secret}/versions/latest"
    stack.publish()
    failed = stack.run(*code[:-2], "-p", "code=bad")
    assert failed.code == 4 and events(room)[1:] == [("failed", "no data (chief)")]
    assert f"slipway jobs show {stack.jobs()[0]['displayName']}" in room.texts[1]
    nothing_has_the_address(stack, room, done.out, done.err, failed.out, failed.err)

    (stack.folder / "grid.yaml").write_text("grid: {code: [a, b]}\n")
    stack.well("submit", "hello", "--code", "./src", "--sweep", "grid.yaml", "--wait")
    assert len(room.bodies) == 2, "a sweep of a thousand runs would tell a thousand times"


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
    assert done.code == 2 and "--notify is of one job" in done.err
    assert stack.jobs() == []

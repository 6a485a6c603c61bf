"""A running job that makes room for one that waits, and goes on behind it from its checkpoint. # N24"""

import re
from typing import Any
from urllib.parse import quote

import pytest

from slipway.using import urgent
from slipway.using.urgent import Holder, Room
from tests.builders.jobs import job
from tests.slipway.front.cli.stack import Stack
from tests.slipway.front.cli.test_code import checked_out, opened
from tests.slipway.front.cli.test_what_if import FILE

COUNTS = """
import os, pathlib, sys, time
folder = pathlib.Path(os.environ["SLIPWAY_OUTPUT"])
saved, total = folder / "checkpoint.txt", folder / "steps.txt"
done = int(saved.read_text()) if saved.exists() else 0
print(f"begins at {done}", flush=True)
until = int(sys.argv[1].partition("=")[2])
while done < until:
    time.sleep(0.2)
    done += 1
    with total.open("a") as steps:
        steps.write(f"{done}\\n")
    if done % 5 == 0:
        made = folder / "made"
        made.write_text(str(done))
        made.replace(saved)
print(f"ends at {done}", flush=True)
"""
"""Code that counts to the number that it is given, with a checkpoint each second."""


def counting(stack: Stack) -> None:
    """Let `hello` run a folder's code that goes on from checkpoints."""
    opened(stack)
    checked_out(stack)
    (stack.folder / "src" / "hello" / "task.py").write_text(COUNTS)
    stack.catalog["templates"]["hello"] |= {"checkpoints": True, "yields": True}
    stack.publish()


def begun(stack: Stack, steps: int, *words: str) -> str:
    """Return the name of a job that counts, and has saved."""
    name = str(stack.sends("hello", "--code", "./src", "-p", f"code={steps}", *words)["displayName"])
    stack.until(lambda: stack.read(f"jobs/{name}/checkpoint.txt") != b"")
    return name


def waiting(stack: Stack) -> str:
    """Return the name of a job that waits for the pool."""
    return str(stack.sends("hello", "--code", "./src", "-p", "code=2", "--capacity", "pool")["displayName"])


def of(stack: Stack, name: str) -> list[dict[str, Any]]:
    """Return the jobs of a name, oldest first."""
    return [job for job in reversed(stack.jobs()) if job["displayName"] == name]


def number(job: dict[str, Any]) -> str:
    return str(job["name"]).rpartition("/")[2]


@pytest.mark.journey
def test_a_job_makes_room_and_ends_as_if_undisturbed(small: Stack) -> None:
    counting(small)
    name, waits = begun(small, 120), waiting(small)
    done = small.well("jobs", "yield", name, "--to", waits, "--within", "60s")
    again = small.well("jobs", "yield", name, "--to", "ada", "--within", "60s")
    first, behind = of(small, name)
    assert done.out == again.out == f"{name} makes room for {waits} (ada), and goes on behind it as {number(behind)}\n"
    waited = small.run("jobs", "wait", name)
    assert waited.code == 0 and f"({number(first)}) made room, and goes on as {number(behind)}" in waited.err
    (other,) = of(small, waits)
    first, behind = of(small, name)
    assert first["state"] == behind["state"] == "JOB_STATE_SUCCEEDED"
    assert first["endTime"] <= other["startTime"] <= behind["startTime"]
    steps = [int(line) for line in small.read(f"jobs/{name}/steps.txt").split()]
    assert small.read(f"jobs/{name}/checkpoint.txt") == b"120" and sorted({*steps}) == [*range(1, 121)]
    listed = {job["name"]: job for job in small.well("jobs", "list", "-o", "json").json["jobs"]}
    assert listed[first["name"]]["goesOnAs"] == behind["name"] and "made room" in small.well("jobs", "list").out
    shown = small.well("jobs", "show", number(first)).out
    assert f"made for {waits} (ada), by ada" in shown
    assert small.run("jobs", "yield", number(first), "--to", waits).code == 4


@pytest.mark.journey
def test_a_kill_before_it_is_asked_leaves_it_as_it_was_and_the_same_command_goes_on(small: Stack) -> None:
    counting(small)
    name, waits = begun(small, 600), waiting(small)
    with (
        small.faults({"kind": "hold", "match": r"POST .*\.asked"}),
        small.started("jobs", "yield", name, "--to", waits),
    ):
        small.until(lambda: len(of(small, name)) == 2)
    assert len(of(small, name)) == 2
    small.well("jobs", "yield", name, "--to", waits, "--within", "1s")
    assert len(of(small, name)) == 2
    cancelled = small.run("jobs", "cancel", name)
    assert cancelled.code == 0 and f"all 2 jobs of {name} are cancelled" in cancelled.err
    small.all_end()
    assert {job["state"] for job in of(small, name)} <= {"JOB_STATE_CANCELLED", "JOB_STATE_SUCCEEDED"}
    assert of(small, name)[1]["state"] == "JOB_STATE_CANCELLED"


@pytest.mark.journey
def test_where_the_one_behind_was_ended_elsewhere_another_goes_on(small: Stack) -> None:
    counting(small)
    name, waits = begun(small, 80), waiting(small)
    with (
        small.faults({"kind": "hold", "match": r"POST .*\.asked"}),
        small.started("jobs", "yield", name, "--to", waits),
    ):
        small.until(lambda: len(of(small, name)) == 2)
    small.cloud.cancel(of(small, name)[1]["name"])
    small.until(lambda: "endTime" in of(small, name)[1])
    late = waiting(small)
    done = small.well("jobs", "yield", name, "--to", late, "--within", "1s")
    assert f"note: {waits} waits before {late}, and may get the room" in done.err
    _, ended, behind = of(small, name)
    assert ended["state"] == "JOB_STATE_CANCELLED" and f"goes on behind it as {number(behind)}\n" in done.out
    small.all_end()
    assert [job["state"] for job in of(small, name)] == [
        f"JOB_STATE_{x}" for x in ("SUCCEEDED", "CANCELLED", "SUCCEEDED")
    ]
    assert small.read(f"jobs/{name}/checkpoint.txt") == b"80" and small.well("jobs", "wait", name).code == 0


@pytest.mark.journey
def test_after_a_cancel_in_the_console_another_submission_goes_on_from_what_was_kept(small: Stack) -> None:
    counting(small)
    name, waits = begun(small, 80), waiting(small)
    small.well("jobs", "yield", name, "--to", waits, "--within", "1s")
    small.until(lambda: "endTime" in of(small, name)[0])
    small.cloud.cancel(of(small, name)[1]["name"])
    small.all_end()
    ended = small.run("jobs", "wait", name)
    assert ended.code == 8 and "docs/full-pool.md#when-the-job-behind-was-cancelled" in ended.err
    like = ("submit", "--like", name, "--request-id", "tune-2")
    place = small.well(*like, "--dry-run", "-o", "json").json["request"]["jobSpec"]["baseOutputDirectory"]
    other = place["outputUriPrefix"].rpartition("/")[2]
    objects = f"w-{small.name}/o"
    for kept in small.cloud.every(f"/storage/v1/b/{objects}?prefix=jobs/{name}/", "items"):
        source, target = (quote(text, safe="") for text in (kept["name"], kept["name"].replace(name, other)))
        small.cloud.rest("POST", f"/storage/v1/b/{objects}/{source}/rewriteTo/b/{objects}/{target}", {})
    small.well(*like, "--wait")
    assert small.read(f"jobs/{other}/checkpoint.txt") == b"80"
    assert "begins at 0" not in small.well("jobs", "logs", other).out


@pytest.mark.journey
def test_what_can_not_go_on_and_what_is_another_s_is_refused(small: Stack) -> None:
    counting(small)
    name, waits = begun(small, 600), waiting(small)
    theirs = small.run("jobs", "yield", name, "--to", waits, SLIPWAY_USER="bob")
    assert theirs.code == 5 and f"ask ada for slipway jobs yield {name} --to bob" in theirs.err
    agent = small.run("jobs", "yield", name, "--to", waits, SLIPWAY_AGENT="Claude Code")
    assert agent.code == 5 and "was not sent by agent claude-code" in agent.err and "a person" in agent.err
    nobody = small.run("jobs", "yield", name, "--to", "carol")
    assert nobody.code == 4 and f"there waits {waits} (ada)" in nobody.err
    itself = small.run("jobs", "yield", waits, "--to", name)
    assert itself.code == 4 and "holds no machines: it waits itself" in itself.err
    small.well("jobs", "cancel", waits)
    small.catalog["templates"]["hello"]["yields"] = None
    small.publish()
    small.well("jobs", "cancel", name)
    other = begun(small, 600)
    plain = small.run("jobs", "yield", other, "--to", "ada")
    assert plain.code == 2 and f"{other} can't go on in another job" in plain.err
    assert len(small.jobs()) == 3


@pytest.mark.journey
def test_an_urgent_job_starts_soon_on_a_full_pool_and_who_made_room_goes_on(small: Stack) -> None:
    counting(small)
    name = begun(small, 400)
    urgent = ("submit", "hello", "--code", "./src", "-p", "code=2", "--urgent")
    refused = small.run(*urgent, SLIPWAY_USER="bob")
    assert refused.code == 5 and "nobody may, and you are bob" in refused.err and len(small.jobs()) == 1
    small.catalog["urgent"] = ["user:bob@company.example"]
    small.publish()
    raced = small.run(*urgent, "--race", SLIPWAY_USER="bob")
    assert raced.code == 2 and "--urgent goes with no other capacity type" in raced.err
    agent = small.run(*urgent, SLIPWAY_USER="bob", SLIPWAY_AGENT="Claude Code")
    assert agent.code == 5 and "agent claude-code may not submit urgent jobs" in agent.err and len(small.jobs()) == 1
    told = small.run(*urgent, "--dry-run", SLIPWAY_USER="bob").err
    assert re.search(rf"urgent: {name} \(ada\), which loses at most \d+ s on 1 machine, would make room\n", told), told
    sent = ("--request-id", "soon", "-o", "json")
    with small.faults({"kind": "unavailable", "match": r"^GET .*/customJobs/\d+$"}):
        unasked = small.run(*urgent, *sent, SLIPWAY_USER="bob")
    assert unasked.code == 0 and "was sent, and not all make room for it" in unasked.err and len(of(small, name)) == 1
    job = small.run(*urgent, *sent, SLIPWAY_USER="bob").json["job"]["displayName"]
    again = small.run(*urgent, *sent, SLIPWAY_USER="bob")
    assert again.code == 0 and len(of(small, name)) == 2, again.err
    small.all_end()
    (soon,) = of(small, job)
    first, behind = of(small, name)
    assert {each["state"] for each in (soon, first, behind)} == {"JOB_STATE_SUCCEEDED"}
    assert first["endTime"] <= soon["startTime"] <= behind["startTime"]
    assert small.read(f"jobs/{name}/checkpoint.txt") == b"400"
    file = small.folder / f"Pulumi.{small.name}.yaml"
    file.write_text(FILE.format(1))
    replayed = small.well("what-if", str(file), "-o", "json").json
    assert replayed["jobs"] == replayed["calibration"]["jobs"] == 2, "who made room and went on is one"


@pytest.mark.journey
def test_a_second_urgent_job_starts_before_who_made_room_for_the_first(small: Stack) -> None:
    counting(small)
    small.catalog["urgent"] = ["user:bob@company.example", "user:carol@company.example"]
    small.publish()
    name = begun(small, 150)
    urgent = ("submit", "hello", "--code", "./src", "-p", "code=2", "--urgent", "-o", "json")
    soon = small.run(*urgent, SLIPWAY_USER="bob").json["job"]["displayName"]
    told = small.run(*urgent, SLIPWAY_USER="carol")
    assert (
        f"urgent: {name} (ada), which waits before it and loses nothing, makes room; 1 job waits before it" in told.err
    )
    shown = small.well("jobs", "show", name)
    assert f"this is {number(of(small, name)[0])}, until then" in shown.err
    assert small.well("jobs", "wait", name).code == 0
    (first,), (second,) = of(small, soon), of(small, told.json["job"]["displayName"])
    one, two, last = of(small, name)
    assert one["endTime"] <= first["startTime"] <= two["startTime"] <= second["startTime"] <= last["startTime"]
    steps = [int(line) for line in small.read(f"jobs/{name}/steps.txt").split()]
    assert sorted({*steps}) == [*range(1, 151)]


def test_several_that_are_needed_only_once_it_was_sent_are_asked_after_a_yes(
    small: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting(small)
    small.catalog["urgent"] = ["user:ada@company.example"]
    small.publish()
    several = Room((Holder(job("one"), {"workers": 1}, 5.0), Holder(job("two"), {"workers": 1}, 9.0)))
    rooms = iter([Room(), several])
    monkeypatch.setattr(urgent, "find_room", lambda *_: next(rooms))
    sent = small.run("submit", "hello", "--code", "./src", "-p", "code=2", "--urgent", "--request-id", "soon")
    assert sent.code == 0 and "several jobs would make room by now, and none is asked" in sent.err
    again = "slipway submit hello -p code=2 --code ./src --urgent --yes --request-id soon"
    assert f"  to ask them: {again}\n" in sent.err and len(small.jobs()) == 1


@pytest.mark.journey
def test_nothing_that_can_not_go_on_makes_room_for_an_urgent_job(small: Stack) -> None:
    counting(small)
    small.catalog["urgent"] = ["user:ada@company.example"]
    small.catalog["templates"]["hello"]["yields"] = None
    small.publish()
    name = begun(small, 600)
    urgent = ("submit", "hello", "--code", "./src", "-p", "code=2", "--urgent")
    told = small.run(*urgent, "--dry-run").err
    assert "urgent: it waits all the same, as no other jobs can make enough room" in told
    sent = small.run(*urgent)
    assert sent.code == 0 and len(of(small, name)) == 1

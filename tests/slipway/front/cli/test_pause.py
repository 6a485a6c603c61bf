"""A stack or a cluster that somebody has paused: people submit on, nothing is sent, and everybody is told. # N24"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import IO

import pytest

from .stack import SLEEP, SPOT_CPUS, Stack, held

WHY = ("--why", "disks are replaced")


def said(stream: IO[str] | None, enough: Callable[[str], bool]) -> str:
    """Read lines until one is enough."""
    for line in stream or ():
        if enough(line):
            return line
    raise AssertionError("it ended before")


@pytest.mark.journey
def test_people_submit_on_and_it_is_sent_once_somebody_resumes(small: Stack) -> None:
    running = held(small)
    waits = str(small.sends("hello", "--capacity", "pool")["displayName"])
    asked = small.run("pause", "cpu", *WHY)
    assert asked.code == 5 and "slipway pause cpu --why 'disks are replaced' --yes" in asked.err
    done = small.well("pause", "cpu", *WHY, "--yes")
    assert done.out.startswith("cluster cpu is paused by Ada since 20") and "UTC: disks are replaced\n" in done.out
    assert small.well("pause", "cpu", "--why", "else", "--yes", SLIPWAY_USER="bob").out == done.out, "one pause"
    paused = done.out.strip()
    assert f"held: {paused}" in small.well("submit", "hello", "--capacity", "pool", "--dry-run").err
    assert f"{paused}; what was sent before starts all the same" in small.well("jobs", "show", waits).out
    assert f"{paused}\n  fix: slipway resume cpu" in small.well("pools").err
    found = small.run("doctor", "-o", "json").json["findings"]
    assert [finding["sentence"] for finding in found if finding["id"] == "paused"] == [paused]
    assert small.well("pools", "-o", "json").json["pauses"][0]["why"] == "disks are replaced"
    words = ("submit", "hello", "--capacity", "pool", "-p", f"code={SLEEP}")
    with small.started(*words, SLIPWAY_USER="bob") as process:
        assert paused in said(process.stderr, lambda line: "held" in line)
        small.well("jobs", "cancel", running)
        small.until(lambda: all("endTime" in job for job in small.jobs()))
        assert len(small.jobs()) == 2, "what the service had goes on, and nothing more came"
        refused = small.run("resume", "cpu", SLIPWAY_USER="bob")
        assert refused.code == 5 and paused in refused.err and "slipway resume cpu --yes" in refused.err
        assert small.well("resume", "cpu").out == "resumed: what waits in commands is sent within a minute\n"
        assert process.wait() == 0
    assert len(small.jobs()) == 3 and small.well("resume", "cpu").out.startswith("resumed already: ")
    assert small.run("resume", "cpu", SLIPWAY_USER="bob").code == small.run("resume").code == 4


@pytest.mark.journey
def test_a_paused_stack_holds_a_sweep_and_machines_of_their_own(stack: Stack) -> None:
    (stack.folder / "s.csv").write_text("code\nprint(1)\nprint(2)\n")
    stack.well("pause", "--yes")
    for words in (("hello", "--capacity", "spot", "--yes"), ("hello", "--sweep", "s.csv")):
        with stack.settings(quota=SPOT_CPUS), stack.started("submit", *words) as process:
            line = said(process.stderr, lambda line: "held" in line)
            assert f"stack {stack.name} is paused by Ada" in line and not stack.jobs()
    with stack.started("submit", "hello", "--sweep", "s.csv") as process:
        said(process.stderr, lambda line: "held" in line)
        stack.well("resume")
        assert process.wait() == 0
    assert len(stack.jobs()) == 2


@pytest.mark.journey
def test_a_plan_for_a_deadline_is_made_when_the_pause_is_over(stack: Stack) -> None:
    stack.well("pause", "--yes")
    ends = datetime.now(UTC) + timedelta(hours=2)
    words = ("submit", "hello", "--by", f"{ends:%Y-%m-%dT%H:%M:%SZ}", "--max-run", "5m")
    planned = stack.run(*words, "--dry-run")
    assert planned.code == 5 and "pool: waits, and nothing tells how long" in planned.err
    with stack.started(*words) as process:
        assert f"stack {stack.name} is paused by Ada" in said(process.stderr, lambda line: "held" in line)
        stack.well("resume")
        assert ": pool" in said(process.stderr, lambda line: line.startswith("by "))
        assert process.wait() == 0
    assert len(stack.jobs()) == 1


@pytest.mark.journey
def test_teams_share_a_full_pool(stack: Stack) -> None:
    groups = {team: {"submitters": [f"group:{team}@acme.example"]} for team in ("vision", "language")}
    submitters = {"trainer": [member for team in groups.values() for member in team["submitters"]]}
    stack.catalog |= {"teams": groups, "submitters": submitters, "shares": {"cpu": {"vision": 1, "language": 2}}}
    stack.publish()
    first, second, third = (held(stack, 1, "--team", "vision") for _ in range(3))
    pool = ("--capacity", "pool", "-p", f"code={SLEEP}")
    waits = str(stack.sends("hello", *pool, "--team", "language")["displayName"])
    why = (
        f"team vision has 3 machines of cpu, with a share of 1; this needs 1, and {waits} (ada of team language) waits"
    )
    assert f"pool cpu: held: {why}" in stack.well("submit", "hello", *pool, "--team", "vision", "--dry-run").err
    with stack.started("submit", "hello", *pool, "--team", "vision") as process:
        assert f"held: {why}" in said(process.stderr, lambda line: "held" in line)
    stack.sends("hello", *pool, "--team", "language")
    (stack.folder / "s.csv").write_text("code\nprint(1)\nprint(2)\n")
    with stack.started("submit", "hello", "--sweep", "s.csv", "--team", "vision") as process:
        line = said(process.stderr, lambda line: "0 of 2 submitted" in line)
        assert why.partition(",")[0] in line and "(ada of team language) wait; Ctrl-C loses nothing" in line
        stack.well("jobs", "cancel", first, second, third)
        assert process.wait() == 0
    teams = [job["labels"]["slipway-team"] for job in stack.jobs() if "slipway-sweep" in job["labels"]]
    assert teams == ["vision", "vision"]


def test_an_agent_neither_pauses_nor_resumes(stack: Stack) -> None:
    agent = {"SLIPWAY_AGENT": "Claude Code"}
    refused = stack.run("pause", "--yes", **agent)
    assert refused.code == 5 and "have a person do it, without SLIPWAY_AGENT" in refused.err
    stack.well("pause", "--yes")
    assert stack.run("resume", "--yes", **agent).code == 5 and stack.read("pauses/1.resumed") == b""
    other = stack.run("pause", "zebra", "--yes")
    assert other.code == 2 and "  fix: slipway pools\n" in other.err
    unknown = stack.run("pause", "cqu", "--yes")
    assert unknown.code == 2 and "there is no cluster 'cqu'" in unknown.err and "did you mean `cpu`?" in unknown.err


def test_what_jobs_write_beside_pauses_disturbs_nobody_and_who_may_not_look_is_told(stack: Stack) -> None:
    for name in ("pauses/%C2%B2", "pauses/1.resumed", "pauses/cpu/1"):
        stack.write(name, b"no JSON")
    done = stack.well("pause", "--yes")
    assert done.out.startswith(f"stack {stack.name} is paused by Ada")
    assert "cluster cpu is paused by somebody" in stack.well("resume", "--yes").out
    stack.may_read_work(False)
    refused = stack.run("resume", "cpu")
    assert refused.code == 3 and "ask for roles/storage.objectViewer" in refused.err

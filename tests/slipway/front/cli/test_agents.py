"""An agent that types in a person's place: what costs or ends others' jobs is not answered by its yes, but within the
allowance of a reviewed file. # N3 # N7 # N25"""

from collections.abc import Iterator
from typing import Any

import pytest

from .stack import SPOT_CPUS, Stack, held

AGENT = {"SLIPWAY_AGENT": "Claude Code"}
SPOT = ("submit", "hello", "--capacity", "spot")


@pytest.fixture
def spot(stack: Stack) -> Iterator[Stack]:
    with stack.settings(quota=SPOT_CPUS):
        yield stack


def allow(stack: Stack, **agents: Any) -> None:
    stack.catalog["agents"] = agents
    stack.publish()


def test_no_yes_of_an_agent_counts_without_an_allowance(spot: Stack) -> None:
    assert spot.well(*SPOT, "--dry-run", **AGENT).err.count("stack s") == 1, "a dry run tells what would be asked"
    for words in ((), ("--yes",)):
        refused = spot.run(*SPOT, *words, **AGENT)
        assert refused.code == 5 and "agent Claude Code may not answer for hello by spot" in refused.err
        assert "lets no agent spend anything (slipway:agents)" in refused.err
    sweep = spot.folder / "s.csv"
    sweep.write_text("code\nprint(1)\n")
    assert spot.run(*SPOT, "--sweep", "s.csv", "--yes", **AGENT).code == 5 and spot.jobs() == []
    job = spot.run("submit", "hello", "--output", "json", **AGENT).json["job"]
    assert job["labels"]["slipway-agent"] == "claude-code", "a pool is paid for anyway"
    assert "slipway-agent" not in spot.sends("hello")["labels"]


def test_its_yes_counts_within_the_day_s_allowance(spot: Stack) -> None:
    """Each job counts until its time limit, as nobody knows when it ends."""
    allow(spot, perDay=2.0, machines=["n1-standard-8"])
    wrong = spot.run(*SPOT, "--yes", "--max-run", "2h", **AGENT)
    assert wrong.code == 5 and "it takes n1-standard-4; agents may take n1-standard-8" in wrong.err
    allow(spot, perDay=0.02)
    week = spot.run(*SPOT, "--yes", **AGENT)
    assert week.code == 5 and "until its time limit; $0.02 a day are allowed" in week.err
    allow(spot, perDay=1.0)
    assert spot.run(*SPOT, "--max-run", "5h", **AGENT).code == 5, "it still has to say yes"
    held(spot)
    sent = [spot.run(*SPOT, "--yes", "--max-run", "5h", **AGENT) for _ in range(2)]
    codes = [done.code for done in sent]
    assert codes[0] == 0 and codes[-1] == 5, [done.err for done in sent]
    assert "agents' jobs of 24 hours take $0." in sent[-1].err
    assert spot.run(*SPOT, "--yes").code == 0, "a person is no agent"


def test_an_agent_cancels_what_it_has_sent_alone(spot: Stack) -> None:
    held(spot)
    on_pool = ("hello", "--capacity", "pool")
    mine, its = spot.sends(*on_pool)["displayName"], spot.sends(*on_pool, **AGENT)["displayName"]
    refused = spot.run("jobs", "cancel", mine, "--yes", **AGENT)
    assert refused.code == 5 and "not sent by agent claude-code" in refused.err
    other = spot.run("jobs", "cancel", its, "--yes", SLIPWAY_AGENT="codex")
    assert other.code == 5 and "not sent by agent codex" in other.err
    assert spot.run("jobs", "cancel", its, **AGENT).code == 0
    assert spot.run("jobs", "cancel", mine).code == 0


def test_usage_is_told_by_agent(spot: Stack) -> None:
    spot.well("submit", "hello", "--wait", **AGENT)
    rows = {row["name"]: row["jobs"] for row in spot.well("usage", "--by", "agent", "--output", "json").json["rows"]}
    assert rows["claude-code"] == 1

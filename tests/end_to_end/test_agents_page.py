"""AGENTS.md of `slipway init`, followed by a script alone: it submits, reads why its code fails, mends it, compares.
# D8 # N25"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import pytest

from tests.docs.console import commands
from tests.end_to_end.test_first_stack import ASKS, Shell
from tests.end_to_end.test_first_stack import shell as shell

pytestmark = pytest.mark.journey
FLAGS = "--project acme-ml-dev --submitter group:ml@acme.example --team @acme/ml --yes"


@dataclass
class Agent:
    """A script that types the page's lines, by its headings, in one shell."""

    shell: Shell
    page: Mapping[str, list[str]]
    words: dict[str, str] = field(default_factory=dict)

    def does(self, heading: str, code: int = 0) -> list[str]:
        """Return the stdout of each line below a heading; the last line ends with `code`."""
        said = []
        for line in self.page[heading]:
            typed = line
            for word, value in self.words.items():
                typed = typed.replace(word, value)
            if typed.startswith("eval "):
                self.sets(typed)
                continue
            done = self.shell.type_(f"{{ {typed}; }} 2>err.txt")
            last = line == self.page[heading][-1]
            assert done.code == (code if last else 0), f"{typed}:\n{done.out}{self.read('err.txt')}"
            said.append(done.out)
        return said

    def sets(self, line: str) -> None:
        """Type a line whose variables the shell has from then on."""
        told = self.shell.well(f"{{ {line}; }} >err.txt 2>&1; env -0")
        self.shell = replace(self.shell, environ=dict(pair.split("=", 1) for pair in told.split("\0") if pair))

    def read(self, name: str) -> str:
        return (self.shell.folder / name).read_text("utf-8")

    def edits(self, before: str, after: str) -> None:
        file = self.shell.folder / "jobs" / "hello" / "task.py"
        text = file.read_text("utf-8")
        assert before in text
        file.write_text(text.replace(before, after), "utf-8")


def by_heading(page: Path) -> dict[str, list[str]]:
    """The commands of a page below each of its headings."""
    _, *parts = page.read_text("utf-8").split("\n## ")
    found = {}
    for part in parts:
        heading, _, text = part.partition("\n")
        lines = [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
        found[heading] = lines
    assert [*chain(*found.values())] == [typed.command for typed in commands(page)]
    return found


@pytest.fixture
def agent(shell: Shell) -> Iterator[Agent]:
    shell.well(f"{ASKS} {FLAGS}")
    made = replace(shell, folder=shell.folder / "acme-training")
    made.well("git init --quiet && git add --all && git commit --quiet --message first")
    begun = Agent(made, by_heading(made.folder / "AGENTS.md"))
    begun.sets("export SLIPWAY_AGENT=robot SLIPWAY_USER=ada")
    yield begun


@pytest.mark.long
def test_a_script_follows_the_page_alone(agent: Agent) -> None:
    refused = agent.shell.type_("make up STACK=dev ARGS=--yes")
    assert refused.code == 2 and "error: agent robot does not deploy stack dev" in refused.out, refused.out
    agent.does("A cloud on this laptop, without an account")
    agent.edits("print(f", "print(1 / 0, f")
    agent.does("Mend it")
    agent.words |= {"TRY": "first"}
    job = json.loads(agent.does("Submit, and wait", code=4)[-1])["job"]
    assert job["labels"]["slipway-agent"] == "robot"
    agent.words |= {"JOB": job["displayName"]}
    shown, log = agent.does("Read why it failed")
    assert "ZeroDivisionError" in str(json.loads(shown)["job"]["failure"]) and "ZeroDivisionError" in log
    agent.edits("print(1 / 0, f", "print(f")
    agent.does("Mend it")
    agent.words |= {"TRY": "second", "OTHER": job["displayName"]}
    mended = json.loads(agent.does("Submit, and wait")[-1])["job"]
    agent.words |= {"JOB": mended["displayName"]}
    compared, listed, usage = agent.does("Compare")
    names = {each["displayName"] for each in json.loads(listed)["jobs"]}
    assert "who" in compared and {job["displayName"], mended["displayName"]} <= names
    assert {row["name"]: row["jobs"] for row in json.loads(usage)["rows"]}["robot"] == 2

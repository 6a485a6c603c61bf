"""The workflows' scripts that tell people, with stand-ins for GitHub's command and API, which keeps issues. # N10"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from slipway.base import codec
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.findings.kinds import to_document as findings
from slipway.operating.notices.notice import DRIFT, STOCK_OUT, Notice, Notices, line
from tests.ci import tools
from tests.ci.conftest import Workflow
from tests.ci.github import GitHub, served

BOT = "github-actions[bot]"
OUT_OF_STOCK = KINDS[STOCK_OUT].of(
    Subject("cluster", "h100"), "no machines", id="h100-3e29a36", how="it ended in ERROR"
)
OUT = Notice(STOCK_OUT, "prod", "h100", "a1", "prod: cluster h100 can't be made", (line("there are no machines"),))
BY_HAND = Notice(DRIFT, "dev", "stack", "b2", "dev: somebody changed by hand what is deployed", (line("a bucket"),))
LOOKED = frozenset({(STOCK_OUT, "prod"), (DRIFT, "dev")})

GH = """
import json, os, shutil, sys
import jq
words, query = sys.argv[1:], "."
if words[:2] == ["run", "download"]:
    run, *options = words[2:]
    assert options[0::2] == ["--repo", "--name", "--dir"] and options[1] == "acme/ml"
    shutil.copytree(f"artifacts/{run}/{options[3]}", options[5], dirs_exist_ok=True)
    sys.exit()
assert words.pop(0) == "api"
while words:
    word = words.pop(0)
    if word == "--jq": query = words.pop(0)
    elif word.startswith("repos/acme/ml/"): path = word.removeprefix("repos/acme/ml/").partition("?")[0]
for found in jq.compile(query).input_text(json.dumps(json.load(open(os.environ["ANSWERS"]))[path])):
    print(found if isinstance(found, str) else json.dumps(found))
"""


@dataclass
class Runner:
    """A runner with `gh` and `jq`, and the repository's issues at GitHub. `wrote`: what the last step did to them."""

    folder: Path
    github: GitHub
    wrote: list[str] = field(default_factory=list)

    def run(self, step: dict[str, Any], **variables: str) -> subprocess.CompletedProcess[str]:
        environ = {
            "PATH": tools.put(self.folder, gh=GH, jq=tools.JQ),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "RUNNER_TEMP": str(self.folder),
            "ANSWERS": str(self.folder / "answers"),
            **self.github.variables(merged=True),
            **variables,
        }
        self.github.written.clear()
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], cwd=self.folder, env=environ, capture_output=True, text=True
        )
        self.wrote = list(self.github.written)
        return done

    @property
    def issues(self) -> list[dict[str, Any]]:
        return self.github.issues


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with served() as github:
        yield Runner(tmp_path, github)


def told(runner: Runner, workflows: dict[str, Workflow], *notices: Notice) -> subprocess.CompletedProcess[str]:
    (step,) = workflows["actions/tell"].steps()
    folder = runner.folder / "told"
    folder.mkdir(exist_ok=True)
    (folder / "notices-prod.json").write_text(
        json.dumps({"kind": "notices", **codec.document(Notices(notices, LOOKED))})
    )
    done = runner.run(step, FOLDER=str(folder), GH_TOKEN="t")
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_each_thing_has_one_issue_from_its_beginning_to_its_end(runner: Runner, workflows: dict[str, Workflow]) -> None:
    # Somebody's issue that looks like one of ours is left alone, and so is a pull request.
    mallory = {"number": 1, "state": "open", "user": {"login": "mallory"}, "body": "<!-- slipway-notice {} -->"}
    pull = {"number": 2, "state": "open", "user": {"login": BOT}, "body": "deps", "pull_request": {"url": "…"}}
    runner.github.issues = [mallory, pull]
    done = told(runner, workflows, OUT, BY_HAND)
    assert runner.wrote == ["POST issues"] * 2
    assert "opens an issue: prod: cluster h100" in done.stdout
    assert "the issues say all of it already" in told(runner, workflows, OUT, BY_HAND).stderr and runner.wrote == []
    told(runner, workflows, BY_HAND)
    assert runner.wrote == ["POST issues/3/comments", "PATCH issues/3"]
    assert [one["state"] for one in runner.issues] == ["open", "open", "closed", "open"]
    told(runner, workflows, OUT, BY_HAND)
    assert [one["state"] for one in runner.issues] == ["open"] * 4, "it came back: no second issue"
    assert runner.issues[:2] == [mallory, pull]


def test_without_notices_nothing_is_touched(runner: Runner, workflows: dict[str, Workflow]) -> None:
    (step,) = workflows["actions/tell"].steps()
    done = runner.run(step, FOLDER="nowhere", GH_TOKEN="t")
    assert done.returncode == 0 and "nothing was looked at" in done.stdout


@pytest.mark.parametrize(
    ("found", "name", "looked"),
    [([OUT_OF_STOCK], "machines-short-prod", 1), ([], "machines-prod", 1), (None, "machines-prod", 0)],
    ids=["no machines", "all clusters run", "it did not come that far"],
)
def test_a_scheduled_deployment_hands_on_whether_there_were_machines(
    runner: Runner, workflows: dict[str, Workflow], found: list[Finding] | None, name: str, looked: int
) -> None:  # N2
    (step,) = [one for one in workflows["schedule-stack"].steps() if one.get("name") == "Machines"]
    if found is not None:
        (runner.folder / "up.json").write_text(json.dumps(findings("prod", [STOCK_OUT], found)))
    done = runner.run(step, FOUND="up.json", STACK="prod")
    assert done.returncode == 0, done.stderr
    assert (runner.folder / "output").read_text() == f"name={name}\n"
    told = json.loads((runner.folder / "machines-prod.json").read_text())
    assert (len(told["notices"]), len(told["lookedAt"])) == (len(found or ()), looked)


STOPPED_AT = "prod: the scheduled deployment stopped"


@pytest.mark.parametrize(
    ("prod", "short", "open_"),
    [("failure", True, []), ("failure", False, [STOPPED_AT]), ("cancelled", False, []), ("success", False, [])],
    ids=["no machines: an issue of its own tells that", "anything else", "nobody knows", "well"],
)
def test_what_stops_a_deployment_but_machines_has_an_issue_until_one_goes_well(
    runner: Runner, workflows: dict[str, Workflow], prod: str, short: bool, open_: list[str]
) -> None:  # N10
    def ended(conclusion: str) -> list[str]:
        runs = [Run(5, dev="success", prod=conclusion, machines={"short-prod": OUT} if short else {})]
        return looked_at(runner, workflows, *runs)

    assert [title for title in ended(prod) if title != OUT.title] == open_
    assert [title for title in ended(prod) if title != OUT.title] == open_ and runner.wrote == [], "not touched again"
    if open_:
        assert ended("cancelled") == open_ and ended("success") == [] and ended("success") == []
        assert runner.wrote == [], "it is over, and stays closed"


@dataclass
class Run:
    """A run of the schedule, which began at that hour: what became of each stack's job in it, and what those handed on.
    `late`: prod's ended two days later."""

    hour: int
    dev: str
    prod: str
    machines: Mapping[str, Notice | None]
    late: bool = False

    @property
    def jobs(self) -> list[dict[str, Any]]:
        def job(stack: str, conclusion: str, day: int) -> dict[str, Any]:
            steps = [{"name": "Announced", "conclusion": "success"}, {"name": "Up", "conclusion": conclusion}]
            at = None if conclusion == "running" else f"2026-11-{day}T{self.hour:02}:21:09Z"
            of_run = {"run_id": self.hour, "html_url": f"https://run/{self.hour}", "completed_at": at}
            return {
                "name": f"up ({stack}) / up",
                "conclusion": None if at is None else conclusion,
                "steps": steps,
            } | of_run

        return [job("dev", self.dev, 21), job("prod", self.prod, 23 if self.late else 21)]

    def hand_on(self, folder: Path) -> list[str]:
        for name, notice in self.machines.items():
            stack = name.removeprefix("short-")
            told = Notices((notice,) if notice else (), frozenset({(STOCK_OUT, stack)}))
            at = folder / "artifacts" / str(self.hour) / f"machines-{name}"
            at.mkdir(parents=True, exist_ok=True)
            (at / f"machines-{stack}.json").write_text(json.dumps({"kind": "notices", **codec.document(told)}))
        return [f"machines-{name}" for name in self.machines]


def looked_at(runner: Runner, workflows: dict[str, Workflow], *runs: Run) -> list[str]:
    """Titles of the issues that are open once the first of the runs has ended, as the others stand then."""
    (step,) = [one for one in workflows["notices"].jobs()["tell"]["steps"] if one.get("name") == "Stopped"]
    assert "github.event_name == 'workflow_run'" in step["if"]
    (tell,) = workflows["actions/tell"].steps()
    listed = "actions/workflows/77/runs"
    answers: dict[str, Any] = {listed: {"workflow_runs": [{"id": one.hour} for one in reversed(runs)]}}
    for one in runs:
        answers[f"actions/runs/{one.hour}/jobs"] = {"jobs": one.jobs}
        names = [{"name": name, "expired": False} for name in (*one.hand_on(runner.folder), "notices-dev")]
        answers[f"actions/runs/{one.hour}/artifacts"] = {"artifacts": names}
    (runner.folder / "answers").write_text(json.dumps(answers))
    shutil.rmtree(runner.folder / "told", ignore_errors=True)
    done = runner.run(step, RUN=str(runs[0].hour), SINCE="2026-11-21T05:17:02Z", SCHEDULE="77", GH_TOKEN="t")
    assert done.returncode == 0, done.stdout + done.stderr
    done = runner.run(tell, FOLDER="told", GH_TOKEN="t")
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(one["title"] for one in runner.issues if one["state"] == "open")


@pytest.mark.parametrize(
    ("then", "since", "open_"),
    [
        ("failure", "success", []),
        ("success", "failure", ["dev: the scheduled deployment stopped"]),
        ("failure", "cancelled", ["dev: the scheduled deployment stopped"]),
        ("failure", "running", ["dev: the scheduled deployment stopped"]),
    ],
)
def test_a_run_that_waited_for_days_tells_only_what_no_later_one_knows_better(
    runner: Runner, workflows: dict[str, Workflow], then: str, since: str, open_: list[str]
) -> None:  # N10
    """Its job for prod stood behind a merge that nobody approved; the others were done at once."""
    late = Run(5, dev=then, prod="success", machines={"dev": None, "prod": None}, late=True)
    later = [Run(6, dev="cancelled", prod="cancelled", machines={}), Run(7, dev=since, prod="running", machines={})]
    assert looked_at(runner, workflows, late, *later) == open_


def test_machines_that_a_later_run_could_have_or_not_are_told_by_that_one(
    runner: Runner, workflows: dict[str, Workflow]
) -> None:  # N2 # N10
    out = replace(OUT, stack="dev", title="dev: cluster h100 can't be made")
    short = Run(5, dev="failure", prod="success", machines={"short-dev": out, "prod": None}, late=True)
    well = Run(6, dev="success", prod="running", machines={"dev": None})
    assert looked_at(runner, workflows, short) == [out.title]
    assert looked_at(runner, workflows, short, well) == [] == looked_at(runner, workflows, short, well)
    again = replace(well, dev="failure", machines={"short-dev": out})
    assert looked_at(runner, workflows, replace(short, dev="success", machines={"dev": None}), again) == [out.title]

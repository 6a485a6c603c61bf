"""The workflows' scripts around the gate, a stand-in for GitHub's command: whose word counts, what stops. # N14"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from slipway.review.consequence import Consequence, Grade, Section
from slipway.review.rendering.comment import Place, comment
from slipway.review.rendering.document import write
from slipway.review.review import Review
from tests.ci.conftest import ROOT, Workflow

HEAD, OLDER, TREE = "a" * 40, "b" * 40, "c" * 40
GONE = Consequence(Section.CLUSTERS, "cluster-deleted", "cluster h100", Grade.BLOCKING, "`h100` goes")
BAD, GOOD = Review("prod", (GONE,)), Review("prod")

# `gh` answers each path from a file, through the same language as the real one.
GH = """
import json, os, sys
import jq
words, query, method, fields = sys.argv[1:], None, "GET", []
while words:
    word = words.pop(0)
    if word == "--jq": query = words.pop(0)
    elif word == "--method": method = words.pop(0)
    elif word == "-F": fields.append(words.pop(0))
    elif word.startswith("repos/"): path = word
answers = json.load(open(os.environ["ANSWERS"]))
with open(os.environ["ASKED"], "a") as asked:
    asked.write(f"{method} {path} {' '.join(fields)}\\n")
body = json.dumps(answers.get(path.split("repos/acme/ml/")[1], []))
for found in jq.compile(query or ".").input_text(body):
    print(found if isinstance(found, str) else json.dumps(found))
"""
JQ = """
import json, sys
import jq
_, slurp, arg, name, value, query = sys.argv
print(json.dumps(jq.compile(query, args={name: value}).input(json.loads("[" + ",".join(sys.stdin) + "]")).first()))
"""


@dataclass
class GitHub:
    """A runner with `gh`; `answers` by path."""

    folder: Path
    answers: dict[str, Any] = field(default_factory=dict)

    def run(self, step: dict[str, Any], **variables: str) -> subprocess.CompletedProcess[str]:
        for name, code in (("gh", GH), ("jq", JQ)):
            (self.folder / name).write_text(f"#!{sys.executable}{code}")
            (self.folder / name).chmod(0o755)
        (self.folder / "answers").write_text(json.dumps(self.answers))
        bins = [str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"]]
        environ = {
            "PATH": os.pathsep.join(bins),
            "PYTHONPATH": str(ROOT),
            "GITHUB_REPOSITORY": "acme/ml",
            "RUNNER_TEMP": str(self.folder),
            "ANSWERS": str(self.folder / "answers"),
            "ASKED": str(self.folder / "asked"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_ACTOR": "ada",
            "GITHUB_SHA": HEAD,
            **variables,
        }
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=self.folder, env=environ, capture_output=True, text=True
        )

    @property
    def asked(self) -> str:
        return (self.folder / "asked").read_text()


def said(body: str, login: str = "github-actions[bot]") -> dict[str, Any]:
    return {"id": 7, "body": body, "user": {"login": login}}


def word(state: str, commit: str = HEAD, user: int = 1, who: str = "MEMBER") -> dict[str, Any]:
    return {"state": state, "commit_id": commit, "user": {"id": user}, "author_association": who}


@pytest.fixture
def github(tmp_path: Path) -> GitHub:
    return GitHub(tmp_path)


@pytest.fixture
def gate(workflows: dict[str, Workflow]) -> dict[str, Any]:
    (step,) = workflows["actions/gate"].steps()
    return step


def named(workflows: dict[str, Workflow], workflow: str, name: str) -> dict[str, Any]:
    (step,) = [one for one in workflows[workflow].steps() if one.get("name") == name]
    return step


@pytest.mark.parametrize(
    ("words", "opens"),
    [
        ([word("APPROVED")], True),
        ([], False),
        ([word("COMMENTED")], False),
        ([word("APPROVED", OLDER)], False),
        ([word("APPROVED"), word("DISMISSED")], False),
        ([word("APPROVED"), word("CHANGES_REQUESTED")], False),
        ([word("CHANGES_REQUESTED"), word("APPROVED")], True),
        ([word("CHANGES_REQUESTED"), word("APPROVED", user=2)], True),
        ([word("APPROVED", who="NONE")], False),
        ([word("APPROVED", who="FIRST_TIME_CONTRIBUTOR")], False),
        ([word("APPROVED", who="COLLABORATOR")], True),
    ],
    ids=[
        *("approved", "nobody", "a remark", "an older commit", "taken back", "changed mind", "convinced"),
        *("another one", "a stranger", "a newcomer", "a collaborator"),
    ],
)
def test_the_newest_word_of_each_reviewer_of_the_newest_commit_counts(
    github: GitHub, gate: dict[str, Any], words: list[dict[str, Any]], opens: bool
) -> None:
    github.answers = {"issues/3/comments": [said(comment([BAD]))], "pulls/3/reviews": words}
    done = github.run(gate, NUMBER="3", HEAD=HEAD, GH_TOKEN="t")
    assert (done.returncode == 0) is opens, done.stdout + done.stderr
    assert "cluster-deleted, cluster h100" in done.stderr
    assert ("needs an approval" in done.stdout) is not opens


def test_nothing_that_blocks_needs_nobody(github: GitHub, gate: dict[str, Any]) -> None:
    github.answers = {"issues/3/comments": [said(comment([GOOD]))]}
    assert github.run(gate, NUMBER="3", HEAD=HEAD, GH_TOKEN="t").returncode == 0
    github.answers = {"issues/3/comments": []}
    assert github.run(gate, NUMBER="3", HEAD=HEAD, GH_TOKEN="t").returncode == 0


def test_somebody_else_s_comment_is_no_review(github: GitHub, gate: dict[str, Any]) -> None:
    github.answers = {"issues/3/comments": [said(comment([GOOD]), "mallory"), said(comment([BAD]))]}
    assert github.run(gate, NUMBER="3", HEAD=HEAD, GH_TOKEN="t").returncode == 1


def test_the_comment_that_is_written_anew_counts(github: GitHub, gate: dict[str, Any]) -> None:
    github.answers = {"issues/3/comments": [said(comment([BAD])), said(comment([GOOD]))]}
    assert github.run(gate, NUMBER="3", HEAD=HEAD, GH_TOKEN="t").returncode == 1


def test_more_files_than_github_lists_are_not_reviewed(github: GitHub, workflows: dict[str, Workflow]) -> None:
    step = named(workflows, "preview", "Review")
    github.answers = {"pulls/3/files": [{"status": "modified", "filename": f"a/{n}"} for n in range(3000)]}
    done = github.run(step, NUMBER="3", STACK="dev", BASE=OLDER, GH_TOKEN="t")
    assert done.returncode == 1
    assert "too many files" in done.stdout


@pytest.fixture
def deploying(github: GitHub, workflows: dict[str, Workflow]) -> tuple[GitHub, dict[str, Any], str]:
    """A merged commit, what its deployment would do, and its tree."""
    git = ["git", "-c", "user.name=ci", "-c", "user.email=ci@slipway.example"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "merged"]):
        subprocess.run([*git, *words], cwd=github.folder, check=True)
    command = ["git", "rev-parse", "HEAD^{tree}"]
    tree = subprocess.run(command, cwd=github.folder, check=True, capture_output=True, text=True).stdout.strip()
    (github.folder / "events.json").write_text(json.dumps(write(BAD)))
    return github, named(workflows, "up-stack", "Approved"), tree


def deploy(
    deploying: tuple[GitHub, dict[str, Any], str], bodies: list[str] | None, insist: str = "false"
) -> subprocess.CompletedProcess[str]:
    github, step, _ = deploying
    numbers = [] if bodies is None else [{"number": 3}]
    comments = [said(body) for body in bodies or ()]
    github.answers = {f"commits/{HEAD}/pulls": numbers, "issues/3/comments": comments}
    return github.run(step, EVENTS="events.json", INSIST=insist, GH_TOKEN="t")


def test_what_was_approved_is_deployed(deploying: tuple[GitHub, dict[str, Any], str]) -> None:
    done = deploy(deploying, [comment([BAD], Place(deploying[2]))])
    assert done.returncode == 0, done.stderr
    assert "h100 goes" in (deploying[0].folder / "summary").read_text()


def test_what_has_become_worse_is_not(deploying: tuple[GitHub, dict[str, Any], str]) -> None:
    done = deploy(deploying, [comment([GOOD], Place(deploying[2]))])
    assert done.returncode == 5
    assert "nothing of it was approved" in done.stderr


def test_another_tree_than_the_approved_one_is_not(deploying: tuple[GitHub, dict[str, Any], str]) -> None:
    done = deploy(deploying, [comment([BAD], Place(TREE))])
    assert done.returncode == 2
    assert "is of another tree" in done.stderr


def test_a_push_that_nobody_reviewed_is_not(deploying: tuple[GitHub, dict[str, Any], str]) -> None:
    assert deploy(deploying, None).returncode == 5
    assert deploy(deploying, []).returncode == 5


def test_somebody_may_insist_and_that_is_recorded(deploying: tuple[GitHub, dict[str, Any], str]) -> None:
    done = deploy(deploying, None, insist="true")
    assert done.returncode == 0
    assert "ada insisted" in done.stdout


@pytest.mark.parametrize(
    ("reviews", "there", "asks"),
    [
        ([GOOD], [], None),
        ([GOOD], [said(comment([BAD]))], "PATCH repos/acme/ml/issues/comments/7 body=@comment.md"),
        ([BAD], [], "POST repos/acme/ml/issues/3/comments body=@comment.md"),
        ([BAD], [said(comment([BAD]))], "PATCH repos/acme/ml/issues/comments/7 body=@comment.md"),
        ([BAD], [said(comment([BAD]), "mallory")], "POST repos/acme/ml/issues/3/comments body=@comment.md"),
    ],
    ids=["nothing to say", "nothing any more", "the first", "written anew", "beside somebody's"],
)
def test_one_comment_and_none_where_nothing_changes(
    github: GitHub, workflows: dict[str, Workflow], reviews: list[Review], there: list[dict[str, Any]], asks: str | None
) -> None:
    for review in reviews:
        (github.folder / f"review-{review.stack}.json").write_text(json.dumps(write(review)))
    github.answers = {f"git/commits/{HEAD}": {"tree": {"sha": TREE}}, "issues/3/comments": there}
    step = named(workflows, "preview", "Comment")
    done = github.run(step, NUMBER="3", MERGE=HEAD, BASE=OLDER, GH_TOKEN="t")
    assert done.returncode == 0, done.stderr
    written = [line for line in github.asked.splitlines() if not line.startswith("GET")]
    assert written == ([asks] if asks else [])
    assert f"the tree `{TREE[:12]}`" in (github.folder / "comment.md").read_text()

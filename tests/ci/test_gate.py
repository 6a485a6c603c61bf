"""The workflows' scripts around the gate, with a stand-in for GitHub's API: whose word counts, what stops. # N14"""

import json
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.record import record_of
from slipway.reviewing.render.comment import Place, comment
from slipway.reviewing.review import Review as Told
from slipway.reviewing.review import write
from tests.checkouts.git import git
from tests.ci import tools
from tests.ci.conftest import STACKS, Workflow
from tests.ci.github import HEAD, LATER, OTHER, TREE, Artifact, Comment, GitHub, Review, served

GONE = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "goes", grade=Grade.BLOCKING)
BAD, GOOD = Told("prod", (GONE,)), Told("prod")
BASE = "b" * 40

# `gh` asks as the real one does, page by page, and picks answers through the same language.
GH = """
import json, os, re, sys, urllib.request
import jq
_, *words = sys.argv[1:]
query, method, paginate = ".", "GET", "--paginate" in words
while words:
    word = words.pop(0)
    if word == "--jq": query = words.pop(0)
    elif word == "--method": method = words.pop(0)
    elif word.startswith("repos/"): url = os.environ["GITHUB_API_URL"] + "/" + word
while url:
    headers = {"Authorization": "Bearer " + os.environ["GH_TOKEN"]}
    with urllib.request.urlopen(urllib.request.Request(url, method=method, headers=headers)) as answer:
        for found in jq.compile(query).input_text(answer.read().decode()):
            print(found if isinstance(found, str) else json.dumps(found))
        following = re.search('<([^>]+)>; rel="next"', answer.headers.get("Link", ""))
    url = following[1] if following and paginate else None
"""


@dataclass
class Runner:
    """A machine of GitHub's in a folder of its own."""

    folder: Path
    github: GitHub
    #: A review reads nothing of the cloud.
    offline: bool = False

    def run(self, step: dict[str, Any], *, merged: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
        programs = {"gh": GH, "python": REVIEWS_WITHOUT_CLOUD} if self.offline else {"gh": GH}
        environ = {
            "PATH": tools.put(self.folder, **programs),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_WORKSPACE": str(self.folder),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "SLIPWAY_RECORD": str(self.folder / "record"),
            **self.github.variables(merged=merged),
            **variables,
        }
        return tools.run(step, environ, self.folder)

    def reviewed(self, told: Told) -> None:
        """The artifacts that the job `review` left, of each stack."""
        for stack in STACKS:
            at = self.folder / "reviews" / f"review-{stack}" / f"review-{stack}.json"
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_text(json.dumps(write(told if stack == told.stack else Told(stack))))


def kept(told: Told, tree: str = TREE) -> tuple[list[Comment], list[Artifact]]:
    """What a run of the review leaves."""
    record = record_of([told], tree)
    return [Comment(comment([told], Place(tree)) + record.remark)], [Artifact(json.dumps(record.body))]


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    with served() as github:
        yield Runner(tmp_path, github)


class TestPullRequest:
    @pytest.fixture
    def gate(self, workflows: dict[str, Workflow]) -> dict[str, Any]:
        return workflows["preview"].step("Comment and gate")

    def ask(self, runner: Runner, gate: dict[str, Any], folder: str = ".") -> subprocess.CompletedProcess[str]:
        return runner.run(gate, STACKS=" ".join(STACKS), BASE=BASE, FOLDER=folder)

    @pytest.fixture
    def asked(self, runner: Runner, gate: dict[str, Any]) -> GitHub:
        """It was asked, and the comment stands."""
        runner.reviewed(BAD)
        shut = self.ask(runner, gate)
        assert shut.returncode == 5 and "needs an approval" in shut.stdout
        assert runner.github.written == ["added"]
        (written,) = runner.github.comments
        written.at = "2026-11-21T09:05:00Z"
        assert (runner.folder / "output").read_text() == f"record=slipway-review-{TREE}.json\n"
        return runner.github

    def test_an_approval_opens_it_and_the_comment_stays_as_it_is(
        self, runner: Runner, asked: GitHub, gate: dict[str, Any]
    ) -> None:
        """Whose word counts: tests/slipway/reviewing/forges/test_github.py."""
        asked.reviews = [Review()]
        done = self.ask(runner, gate)
        assert done.returncode == 0 and "needs an approval" not in done.stdout, done.stderr
        assert asked.written == ["added"], "a comment that says the same is not written again"

    def test_somebody_s_edit_of_the_comment_is_undone_and_what_was_approved_before_is_not(
        self, runner: Runner, asked: GitHub, gate: dict[str, Any]
    ) -> None:
        asked.reviews = [Review()]
        asked.comments[0] = Comment(comment([GOOD], Place(TREE, BASE)), at=LATER)
        done = self.ask(runner, gate)
        assert done.returncode == 5
        assert asked.written == ["added", "replaced"]
        assert "cluster `h100` | goes" in asked.comments[0].body
        asked.reviews = [Review(at="2026-11-21T09:41:00Z")]
        assert self.ask(runner, gate).returncode == 0

    def test_what_counts_is_what_was_reviewed_and_no_comment(self, runner: Runner, gate: dict[str, Any]) -> None:
        """Neither somebody's that looks like it, nor the lack of one that was deleted."""
        runner.reviewed(BAD)
        forged = comment([GOOD], Place(TREE, BASE))
        runner.github.comments = [Comment(forged, "mallory", "User"), Comment(forged, "github-actions", "User")]
        assert self.ask(runner, gate).returncode == 5
        assert runner.github.written == ["added"]

    def test_each_folder_of_a_repository_has_its_own_comment(self, runner: Runner, gate: dict[str, Any]) -> None:
        runner.reviewed(BAD)
        for folder in ("ml/training", "./ads/", "ml/training"):
            assert self.ask(runner, gate, folder).returncode == 5
        assert [comment.body.splitlines()[0] for comment in runner.github.comments] == [
            "<!-- slipway-review of ml/training -->",
            "<!-- slipway-review of ads -->",
        ]
        assert "prod in ml/training: " in runner.github.comments[0].body

    @pytest.mark.parametrize("failing", ["ask", "write"])
    def test_a_comment_that_can_t_be_written_is_in_the_summary(
        self, runner: Runner, gate: dict[str, Any], failing: str
    ) -> None:
        runner.reviewed(BAD)
        runner.github.failing = {"ask": [403], "write": [403, 200]}[failing]
        assert self.ask(runner, gate).returncode == 4
        assert "cluster `h100` | goes" in (runner.folder / "summary").read_text()

    def test_an_artifact_that_nobody_asked_for_is_no_review(self, runner: Runner, gate: dict[str, Any]) -> None:
        """The pull request's program runs before, in the same run, and may upload what it likes."""
        runner.reviewed(GOOD)
        forged = runner.folder / "reviews" / "review-x" / "review-prod.json"
        forged.parent.mkdir()
        forged.write_text(json.dumps(write(BAD)))
        assert self.ask(runner, gate).returncode == 0

    def test_a_warning_is_told_and_a_comment_with_nothing_to_say_any_more_is_replaced(
        self, runner: Runner, gate: dict[str, Any]
    ) -> None:
        for told in (GOOD, Told("prod", (replace(GONE, grade=Grade.WARNING),)), GOOD):
            runner.reviewed(told)
            done = self.ask(runner, gate)
            assert done.returncode == 0, done.stderr
        assert runner.github.written == ["added", "replaced"]
        assert f"the tree `{TREE[:12]}`" in (runner.folder / "summary").read_text()

    def test_what_a_program_says_is_no_command_to_the_runner(self, runner: Runner, gate: dict[str, Any]) -> None:
        """Which obeys `::add-mask::` at the beginning of a line, and `##[add-mask]` within one."""
        runner.reviewed(replace(BAD, quoted=("::add-mask::approval",)))
        lines = self.ask(runner, gate).stdout.splitlines()
        (stop,) = [line for line in lines if line.startswith("::stop-commands::")]
        end = f"::{stop.rpartition('::')[2]}::"
        assert lines.index(stop) < lines.index("::add-mask::approval") < lines.index(end) < len(lines) - 1
        assert "::stop-commands::" not in (runner.folder / "summary").read_text()

    @pytest.mark.parametrize(("file", "name"), [("preview.yaml", "reviewed"), ("theirs.yaml", "preview / reviewed")])
    def test_who_approves_has_it_asked_again(
        self, runner: Runner, workflows: dict[str, Workflow], file: str, name: str
    ) -> None:
        """Here, and in a repository whose job `preview` calls this one's."""
        again = workflows["gate"].step("Ask again")
        jobs = [{"id": 7, "name": "review (dev)", "status": "completed"}]
        reviewed = {"id": 8, "name": name, "status": "completed"}
        runner.github.rest = {
            f"/repos/acme/ml/actions/workflows/{file}/runs": [{"workflow_runs": [{"id": 99}, {"id": 98}]}],
            "/repos/acme/ml/actions/runs/99/jobs": [{"jobs": jobs}, {"jobs": [reviewed]}],
        }
        assert runner.run(again, HEAD=HEAD, PREVIEW=file).returncode == 0
        assert runner.github.written == ["/repos/acme/ml/actions/jobs/8/rerun"]
        reviewed["status"] = "in_progress"
        assert "asks by itself" in runner.run(again, HEAD=HEAD, PREVIEW=file).stdout
        assert len(runner.github.written) == 1


class TestFiles:
    """A pull request as GitHub lists it, and the project's folder."""

    def review(
        self, runner: Runner, workflows: dict[str, Workflow], folder: str, *files: dict[str, str]
    ) -> subprocess.CompletedProcess[str]:
        pages = [list(files[at : at + 30]) for at in range(0, len(files), 30)]
        runner.github.rest = {"/repos/acme/ml/pulls/3/files": pages}
        python = runner.folder / "python"
        python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >reviewed\n')
        python.chmod(0o755)
        return runner.run(workflows["preview"].step("Review"), NUMBER="3", STACK="dev", BASE=BASE, FOLDER=folder)

    @pytest.mark.parametrize(("folder", "at"), [(".", "."), ("./ml/training/", "ml/training")])
    def test_a_name_of_two_lines_is_one_file_and_the_review_is_told_where_the_project_lies(
        self, runner: Runner, workflows: dict[str, Workflow], folder: str, at: str
    ) -> None:
        (runner.folder / "head" / "ml" / "training").mkdir(parents=True)
        renamed = {"status": "renamed", "previous_filename": "a\tb", "filename": "docs/a\nD\ttemplates/x.py"}
        done = self.review(runner, workflows, folder, renamed, {"status": "removed", "filename": "c"})
        assert done.returncode == 0, done.stderr
        assert (runner.folder / "files").read_text() == "R\ta?b\tdocs/a?D?templates/x.py\nD\tc\n"
        told = dict(pairwise((runner.folder / "reviewed").read_text().splitlines()))
        assert told["--folder"] == at
        assert (runner.folder / told["--head"]).resolve() == (runner.folder / "head" / at).resolve()

    @pytest.mark.parametrize(("folder", "at"), [(".", ""), ("ml", "ml/")])
    @pytest.mark.parametrize("status", ["removed", "renamed", "modified"])
    def test_a_stack_whose_file_goes_is_reviewed_without_a_preview_of_the_change(
        self, runner: Runner, workflows: dict[str, Workflow], folder: str, at: str, status: str
    ) -> None:
        (runner.folder / "head" / folder).mkdir(parents=True)
        file = f"{at}stacks/Pulumi.dev.yaml"
        names = {"previous_filename": file, "filename": "x"} if status == "renamed" else {"filename": file}
        assert self.review(runner, workflows, folder, {"status": status, **names}).returncode == 0
        source = (runner.folder / "reviewed").read_text().splitlines()[4]
        assert source.endswith("/change/events-dev.jsonl" if status == "modified" else "/main.jsonl")
        (download,) = [
            step
            for step in workflows["preview"].jobs()["review"]["steps"]
            if "download-artifact@" in step.get("uses", "")
        ]
        assert download["continue-on-error"] is True

    def test_a_folder_that_became_a_link_is_not_reviewed(self, runner: Runner, workflows: dict[str, Workflow]) -> None:
        """The list of changed files does not name the files behind a link."""
        (runner.folder / "head" / "other").mkdir(parents=True)
        (runner.folder / "head" / "ml").symlink_to("other")
        done = self.review(runner, workflows, "ml", {"status": "modified", "filename": "ml"})
        assert done.returncode == 1 and "ml is no folder::" in done.stdout

    def test_more_files_than_github_lists_are_not_reviewed(
        self, runner: Runner, workflows: dict[str, Workflow]
    ) -> None:
        done = self.review(runner, workflows, ".", *({"status": "modified", "filename": f"a/{n}"} for n in range(3000)))
        assert done.returncode == 1 and "too many files" in done.stdout


class TestDeployment:
    """`up` asks GitHub itself: neither a comment nor a check is an approval, and a comment is not even read."""

    @pytest.fixture
    def step(self, runner: Runner, workflows: dict[str, Workflow]) -> dict[str, Any]:
        (runner.folder / "events.json").write_text(json.dumps(write(BAD)))
        runner.github.comments, runner.github.artifacts = kept(BAD)
        runner.github.reviews = [Review()]
        return workflows["up-stack"].step("Approved")

    def deploy(
        self, runner: Runner, step: dict[str, Any], insist: str = "false", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        given = {"EVENTS": "events.json", "INSIST": insist, "WHO": "ada", "FOLDER": ".", "REVIEWED_BY": "preview.yaml"}
        return runner.run(step, merged=True, **given, **variables)

    def test_what_was_approved_is_deployed_and_a_busy_moment_of_github_s_is_waited_out(
        self, runner: Runner, step: dict[str, Any]
    ) -> None:
        runner.github.failing = [502]
        done = self.deploy(runner, step)
        assert done.returncode == 0, done.stdout
        told = (runner.folder / "summary").read_text()
        assert "h100: goes" in told and f"approved by grace, of this tree ({TREE[:12]})" in told
        record = "record=https://github.com/acme/ml/actions/runs/4711\n"
        assert (runner.folder / "output").read_text() == record

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"reviews": []}, "nobody else with write access has approved #3"),
            ({"reviews": [Review(tree=OTHER)]}, "grace approved #3 as another tree"),
            ({"artifacts": kept(GOOD)[1], "comments": kept(GOOD)[0]}, "and the record of its review has less"),
            ({"artifacts": []}, "is gone, so it is unknown what grace approved"),
            ({"merged_as": ""}, "no pull request was merged"),
            ({"merged_as": OTHER}, "no pull request was merged"),
        ],
        ids=["the record alone", "another tree", "less", "no record", "pushed", "of another commit"],
    )
    def test_what_nobody_approved_is_not(
        self, runner: Runner, step: dict[str, Any], changes: dict[str, Any], why: str
    ) -> None:
        for name, value in changes.items():
            setattr(runner.github, name, value)
        done = self.deploy(runner, step)
        assert done.returncode == 5 and why in done.stdout
        assert not (runner.folder / "output").exists()
        again = "fix: run the review of #3 again, have #3 approved by somebody else" in done.stdout
        assert again is ("is gone" in why), "which keeps another"

    @pytest.mark.parametrize("trouble", ["Bad credentials", "Resource not accessible by integration"])
    def test_who_can_t_be_asked_has_approved_nothing(self, runner: Runner, step: dict[str, Any], trouble: str) -> None:
        runner.github.forbidden = trouble.startswith("Resource")
        done = self.deploy(runner, step, **({} if runner.github.forbidden else {"GH_TOKEN": "stale"}))
        assert done.returncode == 4
        assert trouble in done.stdout and "pull-requests: read" in done.stdout
        assert "h100: goes" in done.stdout, "what it would do is told all the same"

    def test_somebody_may_insist_and_the_record_of_that_lies_with_the_state(
        self, runner: Runner, workflows: dict[str, Workflow], step: dict[str, Any]
    ) -> None:
        runner.github.reviews = []
        done = self.deploy(runner, step, insist="true")
        assert done.returncode == 0
        assert "ada insisted" in done.stdout
        record = "record=ada insisted: https://github.com/acme/ml/actions/runs/4711\n"
        assert (runner.folder / "output").read_text() == record
        up = workflows["up-stack"].step("Up")
        assert up["env"]["RECORD"] == "${{ steps.approved.outputs.record }}" and '--message "$RECORD"' in up["run"]
        assert step["env"]["WHO"] == "${{ github.triggering_actor }}"


EVENTS = Path(__file__).parents[1] / "slipway" / "deploying" / "engine" / "recorded" / "workspace.jsonl"
REVIEWS_WITHOUT_CLOUD = f"""
import os, sys
os.execv({sys.executable!r}, [{sys.executable!r}, *sys.argv[1:], "--no-live"])
"""


def events_of(commit: str, deployed: str) -> str:
    """Return a preview of a commit, if another one is deployed."""
    events = [json.loads(line) for line in EVENTS.read_text().splitlines()]
    for event in events:
        for part in event.values():
            metadata = part.get("metadata", {}) if isinstance(part, dict) else {}
            declared = commit if metadata.get("op") == "update" else deployed
            for side, value in (("old", deployed), ("new", declared)):
                inputs = (metadata.get(side) or {}).get("inputs") or {}
                if "commit" in inputs:
                    inputs["commit"] = value[:7]
    return "\n".join(map(json.dumps, events))


class TestOlderRun:
    """A run of an earlier commit that is run again rolls nothing back, though its tree was approved."""

    @pytest.fixture
    def commits(self, runner: Runner) -> dict[str, str]:
        """Return commits of the folder by name: `old`, `new` after it, and `fork`, of the old one."""
        runner.offline = True
        git(runner.folder, "init", "--quiet", "--initial-branch", "main")
        found: dict[str, str] = {}
        for name, parent in (("old", ""), ("new", ""), ("fork", "old")):
            if parent:
                git(runner.folder, "checkout", "--quiet", "--detach", found[parent])
            git(runner.folder, "commit", "--quiet", "--allow-empty", "--message", name)
            found[name] = git(runner.folder, "rev-parse", "HEAD")
        git(runner.folder, "remote", "add", "origin", ".")
        return {**found, "gone": "0123456"}

    def deploy(
        self, runner: Runner, step: dict[str, Any], commit: str, deployed: str, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        (runner.folder / "events.jsonl").write_text(events_of(commit, deployed))
        given = {"EVENTS": "events.jsonl", "INSIST": "false", "WHO": "ada", "FOLDER": ".", "ROLLBACK": ""}
        given |= {"REVIEWED_BY": "preview.yaml", "GITHUB_ACTIONS": "true"}
        return runner.run(step, merged=True, **{**given, **variables})

    @pytest.mark.parametrize("insist", ["false", "true"])
    def test_an_earlier_commit_is_rejected_also_if_a_person_insisted_then(
        self, runner: Runner, workflows: dict[str, Workflow], commits: dict[str, str], insist: str
    ) -> None:
        runner.github.reviews = [Review()]
        step = workflows["up-stack"].step("Approved")
        done = self.deploy(runner, step, commits["old"], commits["new"], INSIST=insist)
        old, new = commits["old"][:7], commits["new"][:7]
        assert done.returncode == 10, done.stdout
        assert f"Commit {new} is deployed, and this run has the earlier commit {old}" in done.stdout
        fix = "fix: run the newest run of main again; to go back, merge a revert, or set the variable ROLLBACK"
        assert fix in done.stdout
        assert not (runner.folder / "output").exists()

    @pytest.mark.parametrize(("commit", "deployed"), [("new", "new"), ("new", "old")])
    def test_the_same_commit_and_a_later_one_are_deployed(
        self, runner: Runner, workflows: dict[str, Workflow], commits: dict[str, str], commit: str, deployed: str
    ) -> None:
        step = workflows["up-stack"].step("Approved")
        done = self.deploy(runner, step, commits[commit], commits[deployed], INSIST="true")
        assert done.returncode == 0 and "is deployed, " not in done.stdout, done.stdout

    def test_a_rollback_names_its_commit(
        self, runner: Runner, workflows: dict[str, Workflow], commits: dict[str, str]
    ) -> None:
        step = workflows["up-stack"].step("Approved")
        assert step["env"]["ROLLBACK"] == "${{ vars.ROLLBACK }}"
        for rollback, code in ((commits["fork"], 10), (commits["old"][:7], 0), (commits["old"], 0)):
            done = self.deploy(runner, step, commits["old"], commits["new"], INSIST="true", ROLLBACK=rollback)
            assert done.returncode == code, done.stdout

    @pytest.mark.parametrize(
        ("deployed", "why"), [("fork", "which is not in the history of"), ("gone", "which is not in this clone")]
    )
    def test_an_unrelated_commit_needs_an_approval(
        self, runner: Runner, workflows: dict[str, Workflow], commits: dict[str, str], deployed: str, why: str
    ) -> None:
        step = workflows["up-stack"].step("Approved")
        done = self.deploy(runner, step, commits["new"], commits[deployed])
        assert done.returncode == 5 and why in done.stdout
        done = self.deploy(runner, step, commits["new"], commits[deployed], INSIST="true")
        assert done.returncode == 0, "a person says so"

    def test_a_clone_has_the_whole_history(self, workflows: dict[str, Workflow]) -> None:
        assert workflows["up-stack"].using("actions/checkout")["fetch-depth"] == 0

    def test_gitlab_rejects_it_too(self, runner: Runner, commits: dict[str, str]) -> None:
        script = Path("slipway/front/starter/gitlab/slipway-up.yml").read_text()
        gate = script[script.index("      record=$CI_JOB_URL") : script.index("      # The record lies")]
        step = {"run": textwrap.dedent(gate), "shell": "bash"}
        given = {"temp": ".", "CI_DEFAULT_BRANCH": "main", "GITHUB_ACTIONS": "", "GITLAB_CI": "true"}
        given |= {"INSIST": "true"}
        done = self.deploy(runner, step, commits["old"], commits["new"], **given)
        assert done.returncode == 10, done.stdout + done.stderr
        assert "fix: run the newest pipeline of main again" in done.stderr
        assert "set the CI/CD variable ROLLBACK to" in done.stderr
        done = self.deploy(runner, step, commits["old"], commits["new"], ROLLBACK=commits["old"], **given)
        assert done.returncode == 0, done.stdout + done.stderr

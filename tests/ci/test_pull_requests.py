"""What the workflows do with a pull request: nothing of a fork's with an identity, and a judge of the base."""  # D5

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from tests.ci.conftest import EACH, LISTED, All

BASE = {"ref": "${{ github.event.pull_request.base.sha }}", "persist-credentials": False}


class TestPullRequest:
    def test_runs_on_pull_requests_as_themselves(self, workflows: All) -> None:
        # `pull_request_target` would run the pull request's code with the rights of the main branch.
        assert set(workflows["preview"].tree["on"]) == {"pull_request", "merge_group", "workflow_call"}

    def test_lint_and_tests_are_run(self, workflows: All) -> None:
        assert "make test" in [step.get("run") for step in workflows["preview"].jobs()["test"]["steps"]]

    def test_a_forks_code_never_holds_the_identity(self, workflows: All) -> None:
        job = workflows["preview"].jobs()["preview"]
        assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
        above = workflows["preview"].text.split("if: github.event.pull_request.head.repo")[0].splitlines()[-4:-1]
        assert any("fork" in line for line in above if line.strip().startswith("#")), "the reason stands beside it"

    def test_each_stack_is_previewed_and_none_hides_another(self, workflows: All) -> None:  # D6
        strategy = workflows["preview"].jobs()["preview"]["strategy"]
        assert strategy["matrix"] == EACH
        assert strategy["fail-fast"] is False

    @pytest.mark.parametrize("job", ["preview", "review", "reviewed"])
    def test_a_new_push_cancels_what_the_old_one_began(self, workflows: All, job: str) -> None:
        concurrency = workflows["preview"].jobs()[job]["concurrency"]
        assert concurrency["cancel-in-progress"] is True
        assert "github.event.pull_request.number" in concurrency["group"]
        assert ("matrix.stack" in concurrency["group"]) is (job != "reviewed")

    def test_stack_files_are_checked_before_the_engine_reads_them(self, workflows: All) -> None:
        assert workflows["preview"].jobs()["preview"]["needs"] == "check"
        assert any("slipway check" in step.get("run", "") for step in workflows["preview"].jobs()["check"]["steps"])
        names = [step["name"] for step in workflows["actions/stack"].steps()]
        assert names.index("Check") < names.index("Pulumi") < names.index("Google Cloud") < names.index("Stack")

    def test_it_changes_nothing(self, workflows: All) -> None:
        job = workflows["preview"].jobs()["preview"]
        commands = re.findall(r"pulumi (\w+)", "\n".join(step.get("run", "") for step in job["steps"]))
        assert commands == ["preview"]
        (setup,) = [step for step in job["steps"] if step.get("uses") == "$/.github/actions/stack"]
        assert "secrets-provider" not in setup["with"], "a preview makes no stack"
        assert "DEPLOY" not in str(job)


class TestReview:
    """What judges a pull request is the base branch's code, where nothing of the pull request runs. # N5 # N14"""

    @pytest.mark.parametrize("job", ["preview.review", "preview.reviewed"])
    def test_the_base_branch_judges(self, workflows: All, job: str) -> None:
        name, _, job_name = job.partition(".")
        steps = workflows[name].jobs()[job_name]["steps"]
        judge, *read = [step["with"] for step in steps if "actions/checkout@" in step.get("uses", "")]
        assert judge == BASE
        assert read == ([{"path": "head", "persist-credentials": False}] if job == "preview.review" else [])
        assert not [step for step in steps if "head/" in str(step)], "it is read and never run"

    @pytest.mark.parametrize("job", ["review", "reviewed"])
    def test_what_a_pull_request_packed_is_unpacked_beside_the_judge(self, workflows: All, job: str) -> None:
        """An artifact may have any file: a `slipway/__main__.py` in the checkout would judge its own change."""
        steps = workflows["preview"].jobs()[job]["steps"]
        (download,) = [step["with"] for step in steps if "download-artifact@" in step.get("uses", "")]
        assert download["path"].startswith("${{ runner.temp }}/")
        for step in steps:
            for command in re.findall(r"python .*", step.get("run", "")):
                assert command.startswith("python -I -m slipway "), "of what was installed, and of no folder"

    def test_each_stack_that_is_previewed_is_reviewed(self, workflows: All) -> None:
        jobs = workflows["preview"].jobs()
        assert jobs["review"]["strategy"] == jobs["preview"]["strategy"]
        assert jobs["review"]["needs"] == ["check", "preview"]

    def test_a_failed_preview_is_reviewed_too_and_a_fork_s_is_not(self, workflows: All) -> None:
        condition = workflows["preview"].jobs()["review"]["if"]
        assert condition.startswith("!cancelled() && ")
        assert "head.repo.full_name == github.repository" in condition
        steps = [step.get("uses", step.get("name")) for step in workflows["preview"].jobs()["preview"]["steps"]]
        assert steps.index("$/.github/actions/events") < steps.index("Preview"), "events of what fails"

    def test_no_artifact_has_the_configuration(self, workflows: All) -> None:
        (step,) = workflows["actions/events"].steps()
        assert "grep -v '\"preludeEvent\"'" in step["run"]

    def test_the_record_is_kept_whether_the_gate_is_shut_or_not_and_replaces_any_other(self, workflows: All) -> None:
        *_, gate, keep = workflows["preview"].jobs()["reviewed"]["steps"]
        assert gate["env"]["SLIPWAY_RECORD"] == keep["with"]["path"]
        assert "upload-artifact@" in keep["uses"] and keep["if"].startswith("!cancelled() && ")
        assert keep["with"]["name"] == "${{ steps.gate.outputs.record }}" and keep["with"]["overwrite"] is True

    @pytest.mark.parametrize(
        ("check", "review", "fork", "code"),
        [
            ("success", "success", "false", 0),
            ("success", "failure", "false", 1),
            ("success", "cancelled", "false", 1),
            ("success", "skipped", "false", 1),
            ("failure", "skipped", "false", 0),
            ("failure", "skipped", "true", 1),
            ("cancelled", "skipped", "false", 1),
        ],
    )
    def test_the_gate_is_never_skipped_and_shut_where_nobody_reviewed(
        self, workflows: All, check: str, review: str, fork: str, code: int
    ) -> None:
        """What the check refuses has a comment too."""
        job = workflows["preview"].jobs()["reviewed"]
        assert (job["if"], job["needs"]) == ("always()", ["check", "review"]), "a skipped check counts as passed"
        first = job["steps"][0]
        env = {"CHECK": check, "REVIEW": review, "FORK": fork, "QUEUED": "false"}
        done = subprocess.run(["bash", "-e", "-c", first["run"]], env=env, capture_output=True)
        assert (done.returncode, set(first["env"])) == (code, set(env))

    def test_the_comment_has_every_stack_s_review_and_what_the_check_refuses_and_no_addresses(
        self, workflows: All
    ) -> None:
        jobs = workflows["preview"].jobs()
        (upload,) = [one for one in jobs["check"]["steps"] if "upload-artifact" in one.get("uses", "")]
        assert upload["with"]["path"] == "${{ runner.temp }}/check.json" and "failure()" in upload["if"]
        (step,) = [one for one in jobs["reviewed"]["steps"] if one.get("name") == "Comment and gate"]
        assert "check.json" in step["run"] and "--redact" in step["run"]
        assert step["env"]["STACKS"] == f"${{{{ join(fromJSON(inputs.stacks || '{LISTED}'), ' ') }}}}"

    def test_one_job_decides_whether_it_is_approved(self, workflows: All) -> None:
        """Of a pull request; a deployment asks for itself."""
        gated = [
            f"{name}.{job_name}"
            for name, workflow in workflows.items()
            for job_name, job in workflow.jobs().items()
            if any(" --gate" in step.get("run", "") for step in job.get("steps", ()))
        ]
        assert gated == ["preview.reviewed", "up-stack.up"]

    def test_a_deployment_asks_anew_before_it_begins(self, workflows: All) -> None:
        names = [step.get("name", step.get("uses")) for step in workflows["up-stack"].steps()]
        assert names.index("$/.github/actions/events") < names.index("Approved") < names.index("Up")

    def test_insisting_is_asked_for_by_hand(self, workflows: All) -> None:
        asked = workflows["up"].tree["on"]["workflow_dispatch"]["inputs"]["insist"]
        assert (asked["type"], asked["default"]) == ("boolean", False)
        assert workflows["up"].jobs()["up"]["with"]["insist"] == "${{ inputs.insist == true }}"
        chain = [job for job in workflows["up-stacks"].jobs().values() if "uses" in job]
        assert {job["with"]["insist"] for job in chain} == {"${{ inputs.insist }}"}


class TestTheCheckToRequire:
    """`previewed`: one name whatever the stacks are called, which never reports success for what was not previewed."""

    @pytest.fixture
    def job(self, workflows: All) -> dict[str, Any]:
        return workflows["preview"].jobs()["previewed"]

    def test_it_reports_always_and_under_one_name(self, job: dict[str, Any]) -> None:
        assert job["if"] == "always()", "a skipped check counts as passed"
        assert job["needs"] == ["check", "preview"] and "strategy" not in job
        assert job.get("name", "previewed") == "previewed", "a check's name is its job's"
        assert job["permissions"] == {} and not [step for step in job["steps"] if "uses" in step]

    @pytest.mark.parametrize(
        ("fork", "check", "preview", "code"),
        [
            ("false", "success", "success", 0),
            ("false", "success", "failure", 1),
            ("false", "success", "cancelled", 1),
            ("false", "failure", "skipped", 1),
            ("false", "success", "skipped", 1),
            ("true", "success", "skipped", 1),
        ],
    )
    def test_it_is_green_when_every_stack_was_previewed(
        self, job: dict[str, Any], fork: str, check: str, preview: str, code: int
    ) -> None:
        (step,) = job["steps"]
        environ = {"FORK": fork, "CHECK": check, "PREVIEW": preview, "QUEUED": "false"}
        assert set(step["env"]) == set(environ)
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], env=environ, capture_output=True, text=True
        )
        assert done.returncode == code
        assert ("docs/ci.md" in done.stdout) == (fork == "true"), "a fork's change is told what to do"


class TestMergeQueue:
    """Each required check answers for a queued merge: lint, tests and stack files are asked; what was reviewed before
    is asked anew by `up`."""

    @pytest.mark.parametrize("job", ["reviewed", "previewed"])
    @pytest.mark.parametrize(("check", "code"), [("success", 0), ("failure", 1), ("cancelled", 1)])
    def test_it_passes_with_the_check(self, workflows: All, job: str, check: str, code: int) -> None:
        first, *others = workflows["preview"].jobs()[job]["steps"]
        environ = {"QUEUED": "true", "FORK": "true", "CHECK": check, "REVIEW": "skipped", "PREVIEW": "skipped"}
        done = subprocess.run(["bash", "-e", "-c", first["run"]], env=environ, capture_output=True)
        assert done.returncode == code
        assert first["env"]["QUEUED"] == "${{ github.event_name == 'merge_group' }}", "no sender can say so"
        then = ("github.event_name != 'merge_group'", "!cancelled() && steps.gate.outputs.record")
        assert all(step["if"] in then for step in others)

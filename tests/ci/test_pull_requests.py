"""What the workflows do with a pull request: nothing of a fork's with an identity, and a judge of the base."""  # D5

import re

import pytest

from tests.ci import tools
from tests.ci.conftest import EACH, All

BASE = {"ref": "${{ github.event.pull_request.base.sha }}", "persist-credentials": False}
OURS = "github.event.pull_request.head.repo.full_name == github.repository"


class TestPreview:
    def test_a_pull_request_runs_as_itself_and_a_fork_s_code_never_holds_the_identity(self, workflows: All) -> None:
        # `pull_request_target` would run the pull request's code with the rights of the main branch.
        assert set(workflows["preview"].tree["on"]) == {"pull_request", "merge_group", "workflow_call"}
        jobs = workflows["preview"].jobs()
        assert jobs["preview"]["if"] == OURS
        assert jobs["review"]["if"] == f"!cancelled() && {OURS}"

    def test_each_stack_is_checked_previewed_and_reviewed_and_none_hides_another(self, workflows: All) -> None:  # D6
        jobs = workflows["preview"].jobs()
        assert jobs["review"]["strategy"] == jobs["preview"]["strategy"] == {"fail-fast": False, "matrix": EACH}
        assert "needs" not in jobs["preview"] and jobs["review"]["needs"] == "preview", "whatever the check says"
        stacks = [step["with"] for job in jobs.values() for step in job["steps"] if "/stack" in step.get("uses", "")]
        assert {given["check"] for given in stacks} == {"false"}
        assert any("slipway check" in step.get("run", "") for step in jobs["check"]["steps"])
        names = [step["name"] for step in workflows["actions/stack"].steps()]
        assert names.index("Check") < names.index("Pulumi") < names.index("Google Cloud") < names.index("Stack")

    def test_it_changes_nothing(self, workflows: All) -> None:
        job = workflows["preview"].jobs()["preview"]
        commands = re.findall(r"pulumi (\w+)", "\n".join(step.get("run", "") for step in job["steps"]))
        assert commands == ["preview"] and "DEPLOY" not in str(job)
        assert "secrets-provider" not in str(job), "a preview makes no stack"


class TestReview:
    """What judges a pull request is the base branch's code, where nothing of the pull request runs. # N5 # N14"""

    @pytest.mark.parametrize("job", ["review", "reviewed"])
    def test_the_base_branch_judges_and_what_a_pull_request_packed_is_unpacked_beside_it(
        self, workflows: All, job: str
    ) -> None:
        """An artifact may have any file: a `slipway/__main__.py` in the checkout would judge its own change."""
        steps = workflows["preview"].jobs()[job]["steps"]
        judge, *read = [step["with"] for step in steps if "actions/checkout@" in step.get("uses", "")]
        assert judge == BASE
        assert read == ([{"path": "head", "persist-credentials": False}] if job == "review" else [])
        assert not [step for step in steps if "head/" in str(step)], "it is read and never run"
        (download,) = [step["with"] for step in steps if "download-artifact@" in step.get("uses", "")]
        assert download["path"].startswith("${{ runner.temp }}/")
        for step in steps:
            for command in re.findall(r"python .*", step.get("run", "")):
                assert command.startswith("python -I -m slipway "), "of what was installed, and of no folder"

    def test_a_failed_preview_is_reviewed_too_and_no_artifact_has_the_configuration(self, workflows: All) -> None:
        steps = [step.get("uses", step.get("name")) for step in workflows["preview"].jobs()["preview"]["steps"]]
        assert steps.index("$/.github/actions/events") < steps.index("Preview"), "events of what fails"
        assert "grep -v '\"preludeEvent\"'" in workflows["actions/events"].step("Events")["run"]

    def test_the_record_is_kept_whether_the_gate_is_shut_or_not_and_replaces_any_other(self, workflows: All) -> None:
        *_, gate, keep = workflows["preview"].jobs()["reviewed"]["steps"]
        assert gate["env"]["SLIPWAY_RECORD"] == keep["with"]["path"] and "--redact" in gate["run"]
        assert "upload-artifact@" in keep["uses"] and keep["if"].startswith("!cancelled() && ")
        assert keep["with"]["name"] == "${{ steps.gate.outputs.record }}" and keep["with"]["overwrite"] is True

    def test_a_deployment_asks_anew_before_it_begins_and_insisting_is_asked_for_by_hand(self, workflows: All) -> None:
        names = [step.get("name", step.get("uses")) for step in workflows["up-stack"].steps()]
        assert names.index("$/.github/actions/events") < names.index("Approved") < names.index("Up")
        asked = workflows["up"].tree["on"]["workflow_dispatch"]["inputs"]["insist"]
        assert (asked["type"], asked["default"]) == ("boolean", False)
        assert workflows["up"].jobs()["up"]["with"]["insist"] == "${{ inputs.insist == true }}"
        chain = [job for job in workflows["up-stacks"].jobs().values() if "uses" in job]
        assert {job["with"]["insist"] for job in chain} == {"${{ inputs.insist }}"}


class TestTheChecksToRequire:
    """`previewed` and `reviewed`: whatever the stacks are called, and no success for what was not."""

    @pytest.mark.parametrize(("name", "before"), [("previewed", "preview"), ("reviewed", "review")])
    @pytest.mark.parametrize(
        ("check", "result", "fork", "green"),
        [
            ("success", "success", "false", True),
            ("success", "failure", "false", False),
            ("success", "cancelled", "false", False),
            ("success", "skipped", "false", False),
            ("failure", "success", "false", "reviewed"),
            ("failure", "skipped", "true", False),
            ("cancelled", "skipped", "false", False),
            ("success", "skipped", "true", False),
        ],
    )
    def test_it_is_green_when_every_stack_was_and_what_the_check_refuses_has_a_comment_too(
        self, workflows: All, name: str, before: str, check: str, result: str, fork: str, green: bool | str
    ) -> None:
        job = workflows["preview"].jobs()[name]
        assert job["if"] == "always()", "a skipped check counts as passed"
        assert job["needs"] == ["check", before] and "strategy" not in job and "name" not in job
        environ = {"CHECK": check, before.upper(): result, "QUEUED": "false"}
        environ |= {"FORK": fork} if name == "previewed" else {}
        first = job["steps"][0]
        assert set(first["env"]) == set(environ)
        done = tools.run(first, environ)
        assert (done.returncode == 0) is (green in (True, name))
        assert name == "reviewed" or ("docs/ci.md" in done.stdout) == (fork == "true"), "a fork's is told what to do"

    @pytest.mark.parametrize("name", ["reviewed", "previewed"])
    @pytest.mark.parametrize(("check", "code"), [("success", 0), ("failure", 1), ("cancelled", 1)])
    def test_of_a_queued_merge_it_passes_with_the_check(self, workflows: All, name: str, check: str, code: int) -> None:
        """`up` asks anew for an approval of an earlier review."""
        first, *others = workflows["preview"].jobs()[name]["steps"]
        environ = {"QUEUED": "true", "FORK": "true", "CHECK": check, "REVIEW": "skipped", "PREVIEW": "skipped"}
        assert tools.run(first, environ).returncode == code
        assert first["env"]["QUEUED"] == "${{ github.event_name == 'merge_group' }}", "no sender can say so"
        then = ("github.event_name != 'merge_group'", "!cancelled() && steps.gate.outputs.record")
        assert all(step["if"] in then for step in others)

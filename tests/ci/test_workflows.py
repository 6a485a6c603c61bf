"""What the workflows promise: no keys, least rights, nothing of a fork's with an identity, one `up` at a time."""  # D5

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from local.engine.version import PINNED
from tests.ci.conftest import ROOT, Workflow

STACKS = ["dev", "staging", "prod"]
PINNED_ACTION = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")

# What a job may besides reading the code and asking for an identity.
READS, WRITES = {"pull-requests": "read"}, {"pull-requests": "write"}
MORE = {
    "preview.review": READS,
    "preview.reviewed": WRITES,
    "gate.again": {"actions": "write"},
    **{f"up.{stack}": READS for stack in STACKS},
    "up-stack.up": READS,
    "schedule.trouble": {"actions": "read", "issues": "write"},
    "notices.tell": {"actions": "read", "issues": "write"},
}
BASE = {"ref": "${{ github.event.pull_request.base.sha }}", "persist-credentials": False}

All = dict[str, Workflow]


def uses_of(workflow: Workflow) -> list[str]:
    reusable = [job["uses"] for job in workflow.jobs().values() if "uses" in job]
    return reusable + [step["uses"] for step in workflow.steps() if "uses" in step]


def id_token_jobs(workflows: All) -> set[str]:
    return {
        f"{name}.{job_name}"
        for name, workflow in workflows.items()
        for job_name, job in workflow.jobs().items()
        if job.get("permissions", {}).get("id-token")
    }


def test_every_stack_but_the_laptop_s_is_deployed() -> None:
    files = {path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml")}
    assert files == {"local", *STACKS}


class TestNothingIsTrustedByName:
    def test_actions_are_pinned_by_commit(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            for used in uses_of(workflow):
                assert used.startswith("./") or PINNED_ACTION.fullmatch(used), f"{name}: {used}"

    def test_each_pin_says_its_version_and_one_action_has_one_pin(self, workflows: All) -> None:
        pins: dict[str, set[str]] = {}
        for name, workflow in workflows.items():
            for line in workflow.text.splitlines():
                if re.search(r"uses: [^.]", line):
                    match = re.search(r"uses: (\S+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$", line)
                    assert match, f"{name}: {line.strip()}"
                    pins.setdefault(match[1], set()).add(match[2])
        assert all(len(pin) == 1 for pin in pins.values()), pins

    def test_local_actions_exist(self, workflows: All) -> None:
        for workflow in workflows.values():
            for used in uses_of(workflow):
                if used.startswith("./"):
                    assert (ROOT / used).is_file() or (ROOT / used / "action.yaml").is_file(), used

    def test_packages_are_installed_by_hash(self, workflows: All) -> None:
        for workflow in workflows.values():
            for step in workflow.steps():
                for line in step.get("run", "").splitlines():
                    if "pip install" in line:
                        assert "--require-hashes --only-binary :all:" in line, line

    def test_the_engine_is_the_one_the_tests_run(self, workflows: All) -> None:
        (step,) = [s for s in workflows["actions/stack"].steps() if s.get("uses", "").startswith("pulumi/actions@")]
        assert step["with"] == {"pulumi-version": str(PINNED)}, (
            "no command here: the workflows run the engine themselves"
        )


class TestLeastRights:
    def test_no_key_is_stored(self, workflows: All) -> None:  # D5
        for name, workflow in workflows.items():
            for word in ("secrets.", "secrets:", "secrets[", "credentials_json", "PULUMI_ACCESS_TOKEN", "PASSPHRASE"):
                assert word not in workflow.text, f"{name} speaks of {word}"

    def test_nothing_is_permitted_but_what_a_job_names(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            if not name.startswith("actions/"):
                assert workflow.tree["permissions"] == {}, name
                for job_name, job in workflow.jobs().items():
                    more = MORE.get(f"{name}.{job_name}", {})
                    allowed = {"contents": "read", "id-token": "write", **more}
                    assert job["permissions"].items() <= allowed.items(), job_name

    def test_who_can_write_to_a_pull_request_meets_no_cloud(self, workflows: All) -> None:
        writing = [job for job, more in MORE.items() if "write" in more.values()]
        assert not set(writing) & id_token_jobs(workflows)

    def test_a_token_of_an_identity_is_only_where_a_cloud_is_met(self, workflows: All) -> None:
        ups = {*(f"up.{stack}" for stack in STACKS), "up-stack.up", "schedule.up"}
        assert id_token_jobs(workflows) == {"preview.preview", "preview.review", "notices.look", *ups}

    def test_the_checkout_keeps_no_token(self, workflows: All) -> None:
        checkouts = [
            step
            for workflow in workflows.values()
            for step in workflow.steps()
            if "actions/checkout@" in step.get("uses", "")
        ]
        assert checkouts
        assert all(step["with"]["persist-credentials"] is False for step in checkouts)

    def test_no_expression_is_pasted_into_a_script(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            for step in workflow.steps():
                assert "${{" not in step.get("run", ""), f"{name}: {step.get('name')}"

    def test_every_job_ends(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            for job_name, job in workflow.jobs().items():
                assert "uses" in job or job["timeout-minutes"] <= 180, f"{name}.{job_name}"


class TestPullRequest:
    def test_runs_on_pull_requests_as_themselves(self, workflows: All) -> None:
        # `pull_request_target` would run the pull request's code with the rights of the main branch.
        assert workflows["preview"].tree["on"] == {"pull_request": None}

    def test_lint_and_tests_meet_no_cloud(self, workflows: All) -> None:
        job = workflows["preview"].jobs()["test"]
        assert "make test" in [step.get("run") for step in job["steps"]]
        assert job["permissions"] == {"contents": "read"}
        assert "env" not in job

    def test_a_forks_code_never_holds_the_identity(self, workflows: All) -> None:
        job = workflows["preview"].jobs()["preview"]
        assert job["if"] == "github.event.pull_request.head.repo.full_name == github.repository"
        above = workflows["preview"].text.split("if: github.event.pull_request.head.repo")[0].splitlines()[-4:-1]
        assert any("fork" in line for line in above if line.strip().startswith("#")), "the reason stands beside it"

    def test_each_stack_is_previewed_and_none_hides_another(self, workflows: All) -> None:  # D6
        strategy = workflows["preview"].jobs()["preview"]["strategy"]
        assert strategy["matrix"] == {"stack": STACKS}
        assert strategy["fail-fast"] is False

    def test_a_new_push_cancels_the_preview_of_the_old_one(self, workflows: All) -> None:
        concurrency = workflows["preview"].jobs()["preview"]["concurrency"]
        assert concurrency["cancel-in-progress"] is True
        assert "matrix.stack" in concurrency["group"]
        assert "github.event.pull_request.number" in concurrency["group"]

    def test_stack_files_are_checked_before_the_engine_reads_them(self, workflows: All) -> None:
        assert workflows["preview"].jobs()["preview"]["needs"] == "check"
        assert any("slipway check" in step.get("run", "") for step in workflows["preview"].jobs()["check"]["steps"])
        names = [step["name"] for step in workflows["actions/stack"].steps()]
        assert names.index("Check") < names.index("Pulumi") < names.index("Google Cloud") < names.index("Stack")

    def test_it_changes_nothing(self, workflows: All) -> None:
        job = workflows["preview"].jobs()["preview"]
        commands = re.findall(r"pulumi (\w+)", "\n".join(step.get("run", "") for step in job["steps"]))
        assert commands == ["preview"]
        (setup,) = [step for step in job["steps"] if step.get("uses") == "./.github/actions/stack"]
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

    def test_each_stack_that_is_previewed_is_reviewed(self, workflows: All) -> None:
        jobs = workflows["preview"].jobs()
        assert jobs["review"]["strategy"] == jobs["preview"]["strategy"]
        assert jobs["review"]["needs"] == ["check", "preview"]

    def test_a_failed_preview_is_reviewed_too_and_a_fork_s_is_not(self, workflows: All) -> None:
        condition = workflows["preview"].jobs()["review"]["if"]
        assert condition.startswith("!cancelled() && ")
        assert "head.repo.full_name == github.repository" in condition
        steps = [step.get("uses", step.get("name")) for step in workflows["preview"].jobs()["preview"]["steps"]]
        assert steps.index("./.github/actions/events") < steps.index("Preview"), "events of what fails"

    def test_no_artifact_has_the_configuration(self, workflows: All) -> None:
        (step,) = workflows["actions/events"].steps()
        assert "grep -v '\"preludeEvent\"'" in step["run"]

    def test_a_new_push_cancels_what_judges_the_old_one(self, workflows: All) -> None:
        for job in ("review", "reviewed"):
            assert workflows["preview"].jobs()[job]["concurrency"]["cancel-in-progress"] is True

    def test_addresses_are_hidden_in_the_comment(self, workflows: All) -> None:
        (step,) = [one for one in workflows["preview"].steps() if one.get("name") == "Comment"]
        assert "--redact" in step["run"]

    @pytest.mark.parametrize(("review", "code"), [("success", 0), ("failure", 1), ("cancelled", 1), ("skipped", 1)])
    def test_the_gate_is_never_skipped_and_shut_where_nobody_reviewed(
        self, workflows: All, review: str, code: int
    ) -> None:
        job = workflows["preview"].jobs()["reviewed"]
        assert (job["if"], job["needs"]) == ("always()", ["review"]), "a skipped check counts as passed"
        first = job["steps"][0]
        done = subprocess.run(["bash", "-e", "-c", first["run"]], env={"REVIEW": review}, capture_output=True)
        assert (done.returncode, set(first["env"])) == (code, {"REVIEW"})

    def test_one_job_decides_whether_it_is_approved(self, workflows: All) -> None:
        gated = [
            f"{name}.{job_name}"
            for name, workflow in workflows.items()
            for job_name, job in workflow.jobs().items()
            if "./.github/actions/gate" in [step.get("uses") for step in job.get("steps", ())]
        ]
        assert gated == ["preview.reviewed"]

    def test_a_deployment_asks_anew_before_it_begins(self, workflows: All) -> None:
        names = [step.get("name", step.get("uses")) for step in workflows["up-stack"].steps()]
        assert names.index("./.github/actions/events") < names.index("Approved") < names.index("Up")

    def test_insisting_is_asked_for_by_hand(self, workflows: All) -> None:
        asked = workflows["up"].tree["on"]["workflow_dispatch"]["inputs"]["insist"]
        assert (asked["type"], asked["default"]) == ("boolean", False)
        assert {job["with"]["insist"] for job in workflows["up"].jobs().values()} == {"${{ inputs.insist == true }}"}


class TestSchedule:  # B6
    def test_each_stack_s_own_turn_and_environment(self, workflows: All) -> None:
        job = workflows["schedule"].jobs()["up"]
        assert job["strategy"]["matrix"] == {"stack": STACKS}
        assert job["environment"] == "${{ matrix.stack }}-schedule"
        assert job["concurrency"] == {"group": "up-${{ matrix.stack }}", "cancel-in-progress": False}
        assert job["if"] == "github.ref == 'refs/heads/main'"

    def test_it_does_what_was_announced_and_says_when_it_can_t(self, workflows: All) -> None:
        names = [step.get("name", step.get("uses")) for step in workflows["schedule"].jobs()["up"]["steps"]]
        assert names.index("Announced") < names.index("Up")
        trouble = workflows["schedule"].jobs()["trouble"]
        assert (trouble["if"], trouble["needs"]) == ("failure()", "up")


class TestNotices:  # N10
    def test_after_each_scheduled_deployment_and_weekly(self, workflows: All) -> None:
        on = workflows["notices"].tree["on"]
        assert on["workflow_run"] == {"workflows": ["schedule"], "types": ["completed"]}
        assert [one["cron"].split()[-1] for one in on["schedule"]] == ["1"], "once a week"

    def test_main_alone_is_looked_at_by_the_one_that_reads(self, workflows: All) -> None:
        jobs = workflows["notices"].jobs()
        assert jobs["look"]["strategy"] == {"fail-fast": False, "matrix": {"stack": STACKS}}
        assert jobs["look"]["if"].startswith("github.ref == 'refs/heads/main' && ")
        assert "github.event.workflow_run.head_branch == 'main'" in jobs["look"]["if"]
        (setup,) = [step for step in jobs["look"]["steps"] if step.get("uses") == "./.github/actions/stack"]
        assert "secrets-provider" not in setup["with"] and "PREVIEW_SERVICE_ACCOUNT" in setup["with"]["service-account"]
        assert "pulumi up" not in str(jobs) and "environment" not in jobs["look"]

    def test_one_stack_that_can_t_be_looked_at_hides_no_other(self, workflows: All) -> None:
        tell = workflows["notices"].jobs()["tell"]
        assert tell["needs"] == "look" and tell["if"].startswith("!cancelled()")
        assert tell["concurrency"] == {"group": "notices", "cancel-in-progress": False}, "no two open the same issue"


class TestTheCheckToRequire:
    """`previewed`: one name whatever the stacks are called, which never reports success for what was not previewed."""

    @pytest.fixture
    def job(self, workflows: All) -> dict[str, Any]:
        return workflows["preview"].jobs()["previewed"]

    def test_it_reports_always_and_under_one_name(self, workflows: All, job: dict[str, Any]) -> None:
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
        environ = {"FORK": fork, "CHECK": check, "PREVIEW": preview}
        assert set(step["env"]) == set(environ)
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", step["run"]], env=environ, capture_output=True, text=True
        )
        assert done.returncode == code
        assert ("docs/ci.md" in done.stdout) == (fork == "true"), "a fork's change is told what to do"


class TestMerge:
    def test_runs_from_main_only(self, workflows: All) -> None:
        up = workflows["up"]
        assert up.tree["on"]["push"] == {"branches": ["main"]}
        assert set(up.tree["on"]) == {"push", "workflow_dispatch"}
        assert all(job["if"] == "github.ref == 'refs/heads/main'" for job in up.jobs().values())

    def test_one_stack_after_the_other(self, workflows: All) -> None:  # D6
        jobs = workflows["up"].jobs()
        assert list(jobs) == STACKS
        assert [job["with"]["stack"] for job in jobs.values()] == STACKS
        assert [job.get("needs") for job in jobs.values()] == [None, *STACKS[:-1]]

    def test_each_stack_stands_behind_its_environment(self, workflows: All) -> None:
        assert workflows["up-stack"].jobs()["up"]["environment"] == "${{ inputs.stack }}"
        assert set(workflows["up-stack"].tree["on"]) == {"workflow_call"}

    def test_one_at_a_time_and_never_cancelled(self, workflows: All) -> None:
        concurrency = workflows["up-stack"].jobs()["up"]["concurrency"]
        assert concurrency == {"group": "up-${{ inputs.stack }}", "cancel-in-progress": False}

    def test_state_and_secrets_come_from_variables(self, workflows: All) -> None:
        job = workflows["up-stack"].jobs()["up"]
        assert "vars.PULUMI_BACKEND_URL" in job["env"]["PULUMI_BACKEND_URL"]
        (setup,) = [step for step in job["steps"] if step.get("uses") == "./.github/actions/stack"]
        assert "vars.PULUMI_SECRETS_PROVIDER" in setup["with"]["secrets-provider"]
        assert setup["with"]["service-account"] == "${{ vars.DEPLOY_SERVICE_ACCOUNT }}"

    def test_the_lock_is_released_only_when_asked(self, workflows: All) -> None:
        (release,) = [s for s in workflows["up-stack"].steps() if "pulumi cancel" in s.get("run", "")]
        assert release["if"] == "inputs.release-lock"
        asked = workflows["up"].tree["on"]["workflow_dispatch"]["inputs"]["release-lock"]
        assert (asked["type"], asked["default"], asked["options"]) == ("choice", "none", ["none", *STACKS])
        for stack, job in workflows["up"].jobs().items():
            # Nothing is asked on a push: the input is empty then, and no stack is called that.
            assert job["with"]["release-lock"] == f"${{{{ inputs.release-lock == '{stack}' }}}}", "no other stack's"


class TestSetup:
    """The composite action's first step refuses a half set-up repository, in words, before anything is installed."""

    @pytest.fixture
    def settings(self, workflows: All) -> dict[str, Any]:
        return next(iter(workflows["actions/stack"].steps()))

    @pytest.fixture(autouse=True)
    def checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "stacks").mkdir()
        (tmp_path / "stacks" / "Pulumi.dev.yaml").touch()
        monkeypatch.chdir(tmp_path)

    def run(self, settings: dict[str, Any], **changes: str) -> subprocess.CompletedProcess[str]:
        good = {
            "STACK": "dev",
            "BACKEND_URL": "gs://acme-state",
            "PROVIDER": "projects/1/locations/global/workloadIdentityPools/github/providers/slipway",
            "SERVICE_ACCOUNT": "slipway-preview@acme-ml-dev.iam.gserviceaccount.com",
            "SECRETS_PROVIDER": "",
        }
        assert set(settings["env"]) == set(good)
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", settings["run"]],
            env={**good, **changes},
            capture_output=True,
            text=True,
        )

    def test_a_full_set_passes(self, settings: dict[str, Any]) -> None:
        assert (
            self.run(settings, SECRETS_PROVIDER="gcpkms://projects/a/locations/b/keyRings/c/cryptoKeys/d").returncode
            == 0
        )

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"STACK": "nowhere"}, "stacks/Pulumi.nowhere.yaml does not exist"),
            ({"PROVIDER": ""}, "WORKLOAD_IDENTITY_PROVIDER is empty"),
            ({"SERVICE_ACCOUNT": ""}, "service account for dev is empty"),
            ({"BACKEND_URL": ""}, "not gs://"),
            ({"BACKEND_URL": "file:///tmp"}, "not gs://"),
            ({"SECRETS_PROVIDER": "passphrase"}, "not gcpkms://"),
        ],
    )
    def test_what_is_missing_is_named(self, settings: dict[str, Any], changes: dict[str, str], words: str) -> None:
        done = self.run(settings, **changes)
        assert done.returncode == 1
        assert words in done.stdout
        assert "docs/ci.md" in done.stdout

    def test_everything_is_said_at_once(self, settings: dict[str, Any]) -> None:
        done = self.run(settings, PROVIDER="", SERVICE_ACCOUNT="", BACKEND_URL="")
        assert done.stdout.count("::error") == 3

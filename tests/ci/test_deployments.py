"""What the workflows deploy: from main alone, one `up` at a time, in seasons, and what is told afterwards."""  # D5

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.ci import tools
from tests.ci.conftest import EACH, LISTED, STACKS, All

FOLDER = "${{ inputs.folder && inputs.folder != '.' && format('-{0}', inputs.folder) || '' }}"
"""The end of a group's name: two projects of a repository take no turns with each other."""
IN_TURN = {"group": f"up-${{{{ inputs.stack }}}}{FOLDER}", "cancel-in-progress": False, "queue": "max"}
"""Of everything that deploys one stack: whoever waits is not cancelled by whoever comes next."""


class TestMerge:
    def test_runs_from_main_only(self, workflows: All) -> None:
        up = workflows["up"]
        assert up.tree["on"]["push"] == {"branches": ["main"]}
        assert set(up.tree["on"]) == {"push", "workflow_dispatch"}
        for job in workflows["up-stacks"].jobs().values():
            assert job["if"].startswith("github.ref == 'refs/heads/main' && ") or "uses" not in job

    def test_one_stack_after_the_other(self, workflows: All) -> None:  # D6
        assert workflows["up"].jobs()["up"]["with"]["stacks"] == LISTED
        jobs = {name: job for name, job in workflows["up-stacks"].jobs().items() if "uses" in job}
        # Each waits for the one before it; one that was skipped, rejected or cancelled ends the chain, as there is no
        # word on what it needs in its condition. A matrix would go on behind one that was cancelled.
        assert [job.get("needs") for job in jobs.values()] == [None, *list(jobs)[:-1]]
        assert [job["with"]["stack"] for job in jobs.values()] == [
            f"${{{{ fromJSON(inputs.stacks)[{n}] }}}}" for n in range(5)
        ]
        first, *others = [job["if"].removeprefix("github.ref == 'refs/heads/main' && ") for job in jobs.values()]
        assert first == "!fromJSON(inputs.stacks)[5]" and others == [
            f"fromJSON(inputs.stacks)[{n}]" for n in range(1, 5)
        ]

    def test_more_stacks_than_the_chain_has_are_refused_before_the_first(self, workflows: All) -> None:
        refusal = workflows["up-stacks"].jobs()["too-many"]
        assert refusal["if"] == "fromJSON(inputs.stacks)[5]"
        assert refusal["steps"][0]["run"].endswith("exit 1\n")

    def test_each_stack_stands_behind_its_environment(self, workflows: All) -> None:
        assert workflows["up-stack"].jobs()["up"]["environment"] == "${{ inputs.stack }}"
        assert set(workflows["up-stack"].tree["on"]) == {"workflow_call"}

    def test_one_at_a_time_and_never_cancelled_not_while_it_waits_either(self, workflows: All) -> None:  # N2
        assert workflows["up-stack"].jobs()["up"]["concurrency"] == IN_TURN
        for job in workflows["up-stacks"].jobs().values():
            # Of several merges that wait the newest deploys them all, and none waits for two schedules.
            if "uses" in job:
                group = f"merge-{job['with']['stack']}{FOLDER}"
                assert job["concurrency"] == {"group": group, "cancel-in-progress": False}

    def test_state_and_secrets_come_from_variables(self, workflows: All) -> None:
        job = workflows["up-stack"].jobs()["up"]
        assert "vars.PULUMI_BACKEND_URL" in job["env"]["PULUMI_BACKEND_URL"]
        (setup,) = [step for step in job["steps"] if step.get("uses") == "$/.github/actions/stack"]
        assert "vars.PULUMI_SECRETS_PROVIDER" in setup["with"]["secrets-provider"]
        assert setup["with"]["service-account"] == "${{ vars.DEPLOY_SERVICE_ACCOUNT }}"

    def test_the_lock_is_released_only_when_asked(self, workflows: All) -> None:
        (release,) = [s for s in workflows["up-stack"].steps() if "pulumi cancel" in s.get("run", "")]
        assert release["if"] == "inputs.release-lock"
        asked = workflows["up"].tree["on"]["workflow_dispatch"]["inputs"]["release-lock"]
        assert (asked["type"], asked["default"], asked["options"]) == ("choice", "none", ["none", *STACKS])
        # Nothing is asked on a push: the input is empty then, and no stack is called that.
        assert workflows["up"].jobs()["up"]["with"]["release-lock"] == "${{ inputs.release-lock }}"
        for job in workflows["up-stacks"].jobs().values():
            if "uses" in job:
                stack = job["with"]["stack"].removeprefix("${{ ")
                assert job["with"]["release-lock"] == f"${{{{ inputs.release-lock == {stack}", "no other stack's"


class TestSchedule:  # B6
    def test_each_stack_s_own_turn_and_environment(self, workflows: All) -> None:
        job = workflows["schedule"].jobs()["up"]
        assert job["strategy"] == {"fail-fast": False, "matrix": {"stack": STACKS}}
        assert job["if"] == "github.ref == 'refs/heads/main'"
        assert job["uses"] == "$/.github/workflows/schedule-stack.yaml"
        assert job["with"] == {"stack": "${{ matrix.stack }}"}
        assert workflows["schedule-stack"].jobs()["up"]["environment"] == "${{ inputs.stack }}-schedule"
        assert set(workflows["schedule-stack"].tree["on"]) == {"workflow_call"}

    def test_it_waits_for_a_merge_and_cancels_none(self, workflows: All) -> None:  # N2
        assert workflows["schedule-stack"].jobs()["up"]["concurrency"] == IN_TURN
        # A later one takes its place here, outside: a stack has one of them in its queue, however long an `up` takes.
        concurrency = workflows["schedule"].jobs()["up"]["concurrency"]
        assert concurrency == {"group": "schedule-${{ matrix.stack }}", "cancel-in-progress": False}

    def test_one_that_has_waited_does_not_take_a_later_merge_back(self, workflows: All) -> None:  # N2
        """What is deployed is looked up in the job that has had its turn; which commit that is: test_schedule.py."""
        assert list(workflows["schedule-stack"].jobs()) == ["up"]
        (checkout,) = [s for s in workflows["schedule-stack"].steps() if "actions/checkout@" in s.get("uses", "")]
        assert (checkout["with"]["ref"], checkout["with"]["fetch-depth"]) == ("main", 0)

    def test_it_does_what_was_announced_and_says_when_it_can_t(self, workflows: All) -> None:
        names = [step.get("name", step.get("uses")) for step in workflows["schedule-stack"].jobs()["up"]["steps"]]
        assert names.index("Announced") < names.index("Up")


class TestDoctor:  # N10
    def test_each_day_main_alone_is_looked_at_by_the_one_that_reads(self, workflows: All) -> None:
        assert [one["cron"].split()[2:] for one in workflows["doctor"].tree["on"]["schedule"]] == [["*"] * 3]
        jobs = workflows["doctor"].jobs()
        assert jobs["look"]["strategy"] == {"fail-fast": False, "matrix": EACH}
        assert jobs["look"]["if"] == "github.ref == 'refs/heads/main'"
        (setup,) = [step for step in jobs["look"]["steps"] if step.get("uses") == "$/.github/actions/stack"]
        assert "secrets-provider" not in setup["with"] and "PREVIEW_SERVICE_ACCOUNT" in setup["with"]["service-account"]
        assert "pulumi up" not in str(jobs) and "environment" not in jobs["look"]

    @pytest.mark.parametrize(("name", "asked"), [("Doctor", "doctor --stack prod --strict"), ("Drift", "drift e")])
    @pytest.mark.parametrize("ends", [0, 4])
    def test_a_job_with_findings_fails_and_its_summary_has_them(
        self, workflows: All, tmp_path: Path, name: str, asked: str, ends: int
    ) -> None:
        (step,) = [one for one in workflows["doctor"].jobs()["look"]["steps"] if one.get("name") == name]
        python = f"import sys; print(*sys.argv[4:]); sys.exit({ends})"
        environ = {"PATH": tools.put(tmp_path, python=python), "STACK": "prod", "EVENTS": "e"}
        environ |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
        done = subprocess.run(["bash", "-e", "-c", step["run"]], env=environ, capture_output=True, text=True)
        assert done.returncode == ends
        assert (tmp_path / "summary").read_text() == done.stdout == f"````text\n{asked}\n````\n"

    def test_drift_is_looked_for_though_the_doctor_found_something(self, workflows: All) -> None:
        steps = workflows["doctor"].jobs()["look"]["steps"]
        after = steps[[one.get("name") for one in steps].index("Doctor") + 1 :]
        assert len(after) == 2 and all(one["if"].startswith("!cancelled()") for one in after)


class TestConcurrency:
    def test_every_group_of_what_others_call_names_their_folder(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            if "folder" in workflow.tree.get("on", {}).get("workflow_call", {}).get("inputs", {}):
                groups = [job["concurrency"]["group"] for job in workflow.jobs().values() if "concurrency" in job]
                assert groups or name == "doctor", name
                assert all(one.endswith(FOLDER) for one in groups), name

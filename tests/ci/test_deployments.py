"""What the workflows deploy: from main alone, one `up` at a time, in seasons, and what is told afterwards."""  # D5

from pathlib import Path

import pytest

from tests.ci import tools
from tests.ci.conftest import EACH, LISTED, STACKS, All

FOLDER = "${{ inputs.folder && inputs.folder != '.' && format('-{0}', inputs.folder) || '' }}"
"""The end of a group's name: two projects of a repository take no turns with each other."""
IN_TURN = {"group": f"up-${{{{ inputs.stack }}}}{FOLDER}", "cancel-in-progress": False, "queue": "max"}
"""Of everything that deploys one stack: whoever waits is not cancelled by whoever comes next."""
ON_MAIN = "github.ref == 'refs/heads/main'"


def test_a_merge_into_main_deploys_one_stack_after_the_other(workflows: All) -> None:  # D6
    on = workflows["up"].tree["on"]
    assert on["push"] == {"branches": ["main"]} and set(on) == {"push", "workflow_dispatch"}
    assert workflows["up"].jobs()["up"]["with"]["stacks"] == LISTED
    refusal, *chain = workflows["up-stacks"].jobs().values()
    assert refusal["if"] == "fromJSON(inputs.stacks)[5]" and tools.run(refusal["steps"][0], {}).returncode == 1
    # Each waits for the one before it; one that was skipped, rejected or cancelled ends the chain, as there is no word
    # on what it needs in its condition. A matrix would go on behind one that was cancelled.
    names = list(workflows["up-stacks"].jobs())[1:]
    assert [job.get("needs") for job in chain] == [None, *names[:-1]]
    stacks = [f"fromJSON(inputs.stacks)[{n}]" for n in range(5)]
    assert [job["if"] for job in chain] == [
        f"{ON_MAIN} && {condition}" for condition in [f"!{refusal['if']}", *stacks[1:]]
    ]
    for stack, job in zip(stacks, chain, strict=True):
        assert job["with"]["stack"] == f"${{{{ {stack} }}}}"
        assert job["with"]["release-lock"] == f"${{{{ inputs.release-lock == {stack} }}}}", "no other stack's"
        # Of several merges that wait the newest deploys them all, and none waits for two schedules.
        assert job["concurrency"] == {"group": f"merge-${{{{ {stack} }}}}{FOLDER}", "cancel-in-progress": False}


def test_one_at_a_time_never_cancelled_and_behind_an_environment(workflows: All) -> None:  # N2
    insisting = "${{ inputs.insist && format('{0}-insist', inputs.stack) || inputs.stack }}"
    for name, environment in (("up-stack", insisting), ("schedule-stack", "${{ inputs.stack }}-schedule")):
        (job,) = workflows[name].jobs().values()
        assert set(workflows[name].tree["on"]) == {"workflow_call"}
        assert job["environment"] == environment and job["concurrency"] == IN_TURN


def test_the_lock_is_released_only_when_asked(workflows: All) -> None:
    assert workflows["up-stack"].step("Release the lock of a dead run")["if"] == "inputs.release-lock"
    asked = workflows["up"].tree["on"]["workflow_dispatch"]["inputs"]["release-lock"]
    assert (asked["type"], asked["default"], asked["options"]) == ("choice", "none", ["none", *STACKS])


class TestSchedule:  # B6
    def test_each_stack_s_own_turn_which_cancels_no_merge(self, workflows: All) -> None:  # N2
        job = workflows["schedule"].jobs()["up"]
        assert job["strategy"] == {"fail-fast": False, "matrix": {"stack": STACKS}} and job["if"] == ON_MAIN
        assert job["uses"] == "$/.github/workflows/schedule-stack.yaml"
        # A later one takes its place here, outside: a stack has one of them in its queue, however long an `up` takes.
        assert job["concurrency"] == {"group": "schedule-${{ matrix.stack }}", "cancel-in-progress": False}

    def test_one_that_has_waited_looks_up_what_is_deployed_and_does_what_was_announced(self, workflows: All) -> None:
        """The commit of a scheduled deployment is test_schedule.py's."""  # N2
        checkout = workflows["schedule-stack"].using("actions/checkout")
        assert (checkout["ref"], checkout["fetch-depth"]) == ("main", 0)
        names = [step.get("name") for step in workflows["schedule-stack"].steps()]
        assert names.index("Deployed commit") < names.index("Announced") < names.index("Up")


class TestDoctor:  # N10
    def test_each_day_main_alone_is_looked_at_by_the_one_that_reads(self, workflows: All) -> None:
        assert [entry["cron"].split()[2:] for entry in workflows["doctor"].tree["on"]["schedule"]] == [["*"] * 3]
        (look,) = workflows["doctor"].jobs().values()
        assert look["strategy"] == {"fail-fast": False, "matrix": EACH} and look["if"] == ON_MAIN
        given = workflows["doctor"].using("$/.github/actions/stack")
        assert "secrets-provider" not in given and "PREVIEW_SERVICE_ACCOUNT" in given["service-account"]
        assert "pulumi up" not in str(look) and "environment" not in look

    @pytest.mark.parametrize(
        ("name", "asked", "ends"), [("Doctor", "doctor --stack prod --strict", 4), ("Drift", "drift e", 0)]
    )
    def test_a_job_with_findings_fails_and_its_summary_has_them(
        self, workflows: All, tmp_path: Path, name: str, asked: str, ends: int
    ) -> None:
        python = f"import sys; print(*sys.argv[4:]); sys.exit({ends})"
        environ = {"PATH": tools.put(tmp_path, python=python), "STACK": "prod", "EVENTS": "e"}
        environ |= {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
        done = tools.run(workflows["doctor"].step(name), environ)
        assert done.returncode == ends
        assert (tmp_path / "summary").read_text() == done.stdout == f"````text\n{asked}\n````\n"

    def test_drift_is_looked_for_though_the_doctor_found_something(self, workflows: All) -> None:
        assert all(step["if"].startswith("!cancelled()") for step in list(workflows["doctor"].steps())[-2:])


def test_every_group_of_what_others_call_names_their_folder(workflows: All) -> None:
    for name, workflow in workflows.items():
        if "folder" in workflow.tree.get("on", {}).get("workflow_call", {}).get("inputs", {}):
            groups = [job["concurrency"]["group"] for job in workflow.jobs().values() if "concurrency" in job]
            assert (groups or name == "doctor") and all(group.endswith(FOLDER) for group in groups), name

"""What every workflow promises: no keys, least rights, nothing that is trusted by its name."""  # D5

import re

from local.engine.version import PINNED
from tests.ci.conftest import ROOT, STACKS, All

# What a job may besides reading the code and asking for an identity.
READS, WRITES = {"pull-requests": "read"}, {"pull-requests": "write"}
KEPT = {"actions": "read"}  # the record of a review
MORE = {
    "preview.review": READS,
    "preview.reviewed": WRITES,
    "gate.again": {"actions": "write"},
    "up.up": KEPT | READS,
    **{f"up-stacks.{word}": KEPT | READS for word in ("first", "second", "third", "fourth", "fifth")},
    "up-stack.up": KEPT | READS,
}


def id_token_jobs(workflows: All) -> set[str]:
    return {
        f"{name}.{job_name}"
        for name, workflow in workflows.items()
        for job_name, job in workflow.jobs().items()
        if job.get("permissions", {}).get("id-token")
    }


def test_every_stack_but_the_laptop_s_is_deployed(workflows: All) -> None:
    """And previewed, and looked after. A team deploys others from wherever it likes."""
    files = {path.name.split(".")[1] for path in (ROOT / "stacks").glob("Pulumi.*.yaml")}
    assert files & {"dev", "staging", "prod"} <= set(STACKS)
    texts = "\n".join(workflow.text for workflow in workflows.values())
    lists = re.findall(r'^ +stacks?: .*?\[("?[a-z].+?)\]', texts, re.MULTILINE)
    assert len(lists) >= 4
    assert all(re.findall(r"[\w-]+", text) == STACKS for text in lists)


class TestNothingIsTrustedByName:
    """Beside what zizmor says: test_team_workflows.py."""

    def test_each_pin_says_its_version_and_one_action_has_one_pin(self, workflows: All) -> None:
        pins: dict[str, set[str]] = {}
        for name, workflow in workflows.items():
            for line in workflow.text.splitlines():
                if re.search(r"uses: [^$]", line):
                    match = re.search(r"uses: (\S+)@([0-9a-f]{40} # v\d+\.\d+\.\d+)$", line)
                    assert match, f"{name}: {line.strip()}"
                    pins.setdefault(match[1], set()).add(match[2])
        assert all(len(pin) == 1 for pin in pins.values()), pins

    def test_local_actions_exist_and_the_checkout_keeps_no_token(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            for part in (*workflow.jobs().values(), *workflow.steps()):
                used = part.get("uses", "")
                path = ROOT / used.removeprefix("$/")
                assert not used.startswith("$/") or path.is_file() or (path / "action.yaml").is_file(), name
                assert "/checkout@" not in used or part["with"]["persist-credentials"] is False, name

    def test_packages_are_installed_by_hash_where_there_are_any(self, workflows: All) -> None:
        """In one place, which says so where there are none: tests/ci/test_team_workflows.py runs it."""
        installing = [
            name for name, workflow in workflows.items() for step in workflow.steps() if "pip install" in str(step)
        ]
        assert installing == ["actions/packages"]
        assert "--hash=" in (ROOT / "requirements.txt").read_text()

    def test_the_engine_is_the_one_the_tests_run(self, workflows: All) -> None:
        assert workflows["actions/stack"].using("pulumi/actions") == {"pulumi-version": str(PINNED)}, "no command"
        assert workflows["schedule-stack"].using("pulumi/actions") == {"pulumi-version": str(PINNED)}


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
        chain = {f"up-stacks.{name}" for name, job in workflows["up-stacks"].jobs().items() if "uses" in job}
        ups = {"up.up", *chain, "up-stack.up", "schedule.up", "schedule-stack.up"}
        assert id_token_jobs(workflows) == {"preview.preview", "preview.review", "doctor.look", *ups}

    def test_no_expression_is_pasted_into_a_script(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            for step in workflow.steps():
                assert "${{" not in step.get("run", ""), f"{name}: {step.get('name')}"

    def test_every_job_ends(self, workflows: All) -> None:
        for name, workflow in workflows.items():
            for job_name, job in workflow.jobs().items():
                assert "uses" in job or job["timeout-minutes"] <= 180, f"{name}.{job_name}"

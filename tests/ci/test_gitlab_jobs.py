"""The scripts of the jobs that `slipway init --ci gitlab` writes, with stand-ins for GitLab and the engine: a merge
request from the first push to the deployment, schedules, and what each job has before its script. Nothing here ran on a
GitLab. # D5 N5 N14"""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from slipway.google.catalog import document
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.review import Review as Told
from slipway.reviewing.review import write
from tests.ci import gitlab as stand_in
from tests.ci.gitlab import ADA, GRACE, LATER
from tests.ci.gitlab_jobs import jobs_of, preview
from tests.ci.gitlab_project import BAD, GONE, GOOD, SETTINGS, Project
from tests.ci.test_team_workflows import Checkout, checkout, environment  # noqa: F401 - fixtures

pytestmark = pytest.mark.journey

SEEN = "2026-11-21T10:00:00.000Z"


class TestMergeRequest:
    def test_from_the_first_push_to_the_deployment(self, project: Project) -> None:
        commit = project.change()
        ran = project.play(commit)
        assert project.ended() == {
            "test": "success",
            "check": "success",
            "preview: [prod]": "success",
            "review: [prod]": "success",
            "reviewed": "failed",
        }, "\n".join(process.stdout + process.stderr for process in ran.values())
        shut = ran["slipway-reviewed"]
        assert shut.returncode == 5 and "nobody else with write access has approved !3" in shut.stderr
        assert "retry this job when somebody has approved" in shut.stdout
        (note,) = project.gitlab.notes
        assert "cluster `h100` | goes" in note.body and "an approval of this merge request is of the tree" in note.body
        assert "preview --json gs://acme-state-prod" in project.runner.asked
        assert "--require-hashes" not in project.runner.asked, "these pins have none"

        project.gitlab.approved = {ADA: SEEN}
        assert project.again("slipway-reviewed", commit).returncode == 5, "their own"
        project.gitlab.approved = {GRACE: SEEN}
        assert project.again("slipway-reviewed", commit).returncode == 0
        assert len(project.gitlab.written) == 1, "a comment that says the same is not written again"

        merged, deployed = project.merge(), project.runner.engine / "prod" / "up"
        project.gitlab.approved = {}
        (up,) = project.play(merged, merged=True).values()
        assert up.returncode == 5 and "revert it and open one; or insist" in up.stderr and not deployed.exists()
        (up,) = project.play(merged, merged=True, CI_PIPELINE_SOURCE="web", INSIST="true").values()
        assert up.returncode == 0 and "ada insisted" in deployed.read_text()

        project.gitlab.approved = {GRACE: SEEN}
        (up,) = project.play(merged, merged=True).values()
        assert up.returncode == 0, up.stdout + up.stderr
        assert "approved by grace, of this tree" in up.stderr
        words = json.loads(deployed.read_text())
        assert words[words.index("--message") + 1] == project.gitlab.variables(merged, merged=True)["CI_JOB_URL"]

    def test_a_target_branch_that_moved_since_the_preview_needs_a_new_pipeline(self, project: Project) -> None:
        commit = project.change()
        project.play(commit)
        project.git("switch", "-q", "main")
        project.commit("since", "")
        done = project.again("slipway-review: [prod]", commit)
        assert done.returncode == 1 and "was not previewed: run a new pipeline" in done.stderr

    def test_what_can_t_be_merged_says_so(self, project: Project) -> None:
        commit = project.change("theirs")
        project.git("switch", "-q", "main")
        project.commit("CHANGE", "ours")
        ran = project.play(commit)
        assert all(
            "this can't be merged into main" in ran[f"slipway-{job}"].stderr for job in ("check", "preview: [prod]")
        )
        assert "slipway-reviewed" not in ran

    def test_mistakes_of_the_stack_file_are_the_comment_s_and_no_approval_helps(self, project: Project) -> None:
        project.change()
        file = project.folder / "stacks" / "Pulumi.prod.yaml"
        commit = project.pushed(
            project.commit(f"stacks/{file.name}", file.read_text().replace("n1-standard-4", "n1-4"))
        )
        project.gitlab.approved = {GRACE: LATER}
        (project.runner.engine / "prod" / "change").write_text("")  # as the engine does with what it can't read
        assert "n1-4" in self.refused(project, commit)
        refusal = KINDS["deployment-rejected"].of(Subject("deployment"), "is rejected")
        change = write(Told("prod", (GONE, refusal), undeployed=True))
        preview(project.runner.engine, "prod", change=change, main=GOOD)
        body = self.refused(project, commit)
        assert "cluster `h100` | goes" in body and "n1-4" not in body, (
            "what else would come; of the mistake the preview tells"
        )

    def refused(self, project: Project, commit: str) -> str:
        ran = project.play(commit)
        ended = {job: ended for job, ended in project.ended().items() if job not in ("test", "preview: [prod]")}
        assert ended == {"check": "failed", "review: [prod]": "success", "reviewed": "failed"}
        assert "no approval deploys" in ran["slipway-reviewed"].stderr
        return project.gitlab.notes[0].body

    def test_a_folder_s_comment_says_whose_it_is(self, project: Project) -> None:
        """It is found again, here and by the deployment, beside that of another folder."""
        (project.folder / "ml").mkdir()
        for name in project.git("ls-tree", "--name-only", "HEAD").splitlines():
            if not name.startswith(".gitlab"):
                project.git("mv", name, "ml")
        file = project.folder / ".gitlab-ci.yml"
        project.commit(file.name, file.read_text().replace('folder: "."', 'folder: "ml"'))
        project.git("switch", "-qc", "bigger")
        commit = project.pushed(project.commit("ml/CHANGE", ""))
        project.gitlab.notes = [stand_in.Note("<!-- slipway-review of ads -->\n### another's")]
        project.play(commit)
        project.gitlab.approved = {GRACE: SEEN}
        assert project.again("slipway-reviewed", commit).returncode == 0
        assert [note.body.splitlines()[0] for note in project.gitlab.notes][1:] == ["<!-- slipway-review of ml -->"]
        (up,) = project.play(project.merge(), merged=True).values()
        assert up.returncode == 0, up.stderr

    def test_a_fork_s_change_is_not_previewed_and_shuts_the_gate(self, project: Project) -> None:
        commit = project.change()
        jobs = project.jobs(commit, CI_MERGE_REQUEST_SOURCE_PROJECT_ID="21")
        assert set(jobs) == {"slipway-test", "slipway-check", "slipway-reviewed"}
        done = project.runner.run(jobs, jobs["slipway-reviewed"], commit)
        assert done.returncode == 1 and "a fork's change is not reviewed" in done.stderr
        assert project.gitlab.written == []

    def test_a_variable_that_is_not_set_is_named(self, project: Project) -> None:
        commit = project.change()
        jobs = project.jobs(commit)
        for missing in ("WORKLOAD_IDENTITY_PROVIDER", "PREVIEW_SERVICE_ACCOUNT_prod"):
            done = project.runner.run(jobs, jobs["slipway-preview: [prod]"], commit, **{missing: ""})
            assert done.returncode == 1 and f"{missing} is empty" in done.stderr


class TestWhatAProgramMayHandOver:
    """The merge request's own program runs before, in the same pipeline, and can hand over what it likes."""

    def test_a_forged_check_opens_nothing(self, project: Project) -> None:
        commit = project.change()
        project.play(commit)
        tree = project.git("rev-parse", "HEAD^{tree}")
        of_review = project.runner.folder / "jobs" / "slipway-review-prod-"
        (of_review / f"check-{tree}.json").write_text(json.dumps(GOOD))
        done = project.again("slipway-reviewed", commit)
        assert done.returncode == 5 and "cluster `h100` | goes" in project.gitlab.notes[0].body

    def test_nothing_of_it_lies_where_the_judge_s_code_does(self, project: Project) -> None:
        jobs = jobs_of(project.folder)
        for name in ("slipway-review", "slipway-reviewed"):
            assert jobs[name]["variables"]["GIT_STRATEGY"] == "none"
            (script,) = jobs[name]["script"]
            before, _, after = script.partition("judge\n")
            assert "python" not in before and "git" not in before
            assert all("-I -m slipway" in line for line in after.splitlines() if "python" in line)

    def test_the_configuration_is_in_no_artifact(self, project: Project) -> None:
        commit = project.change()
        jobs = project.jobs(commit)
        project.runner.run(jobs, jobs["slipway-preview: [prod]"], commit)
        (events,) = (project.runner.folder / "jobs" / "slipway-preview-prod-").glob("events-*")
        assert json.loads(events.read_text()) == BAD


class TestSchedule:
    """The deployment by itself, and the doctor. # B6 N10"""

    def published(self, project: Project, commit: str) -> None:
        whole = Catalog("prod", "acme", "us-central1", commit[:7], False, "w", "t", {}, (), {})
        (project.runner.engine / "catalog").write_text(document.write(whole))

    @pytest.fixture
    def deployed(self, project: Project) -> str:
        commit = project.commit("CHANGE", "deployed")
        self.published(project, commit)
        project.commit("since", "merged, and not deployed")
        preview(project.runner.engine, "prod", change=GOOD, main=GOOD)
        return commit

    def run(self, project: Project) -> subprocess.CompletedProcess[str]:
        commit = project.git("rev-parse", "main")
        ran = project.play(commit, merged=True, CI_PIPELINE_SOURCE="schedule", SLIPWAY="up")
        assert set(ran) == {"slipway-scheduled-up: [prod]"}
        return ran["slipway-scheduled-up: [prod]"]

    def test_the_deployed_commit_is_deployed_once_more(self, project: Project, deployed: str) -> None:
        up = self.run(project)
        assert up.returncode == 0, up.stdout + up.stderr
        at = project.runner.folder / "jobs" / "slipway-scheduled-up-prod-"
        head = subprocess.run(["git", "-C", at, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
        assert head.strip() == deployed, "and not what main has"
        (script,) = jobs_of(project.folder)["slipway-scheduled-up"]["script"]
        before, _, _ = script.partition("git checkout --quiet --detach")
        assert not re.search(r"python|make|packages|pip ", before), "nothing of main's runs before"

    def test_what_was_not_announced_or_is_no_commit_of_main_stops_it(self, project: Project, deployed: str) -> None:
        preview(project.runner.engine, "prod", change=BAD, main=GOOD)
        up = self.run(project)
        assert up.returncode == 5 and "Build → Pipelines → New pipeline" in up.stdout + up.stderr
        self.published(project, "f" * 7)
        assert "is no commit of main" in self.run(project).stderr

    def test_each_day_the_doctor_looks_and_nothing_is_deployed(self, project: Project, deployed: str) -> None:
        daily, other = (
            set(project.jobs(deployed, merged=True, CI_PIPELINE_SOURCE="schedule", SLIPWAY=word))
            for word in ("doctor", "")
        )
        assert daily == {"slipway-doctor: [prod]"} and other == set()
        (script,) = jobs_of(project.folder)["slipway-doctor"]["script"]
        assert "pulumi up" not in script and "PREVIEW_SERVICE_ACCOUNT" in script


@pytest.mark.parametrize(
    "pins", ["as they are", "", "--hash=sha256:" + "0" * 64], ids=["pinned", "none", "other bytes"]
)
def test_packages_are_installed_as_github_s_action_does(checkout: Checkout, template: Path, pins: str) -> None:  # noqa: F811
    other = f"slipway-vertex @ {checkout.wheel.as_uri()} {pins}\n" if pins else ""
    checkout.requires(checkout.pinned if pins == "as they are" else other)
    before = "\n".join(jobs_of(template)["slipway-check"]["before_script"])
    environ = {
        "PATH": f"{checkout.root.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    command = ["bash", "-c", f"{before}\npackages\npython -I -m slipway"]
    done = subprocess.run(command, cwd=checkout.folder, env=environ, capture_output=True, text=True)
    assert (done.returncode == 0) is (done.stdout == "the judge that was pinned\n") is (pins == "as they are")
    assert checkout.git("status", "--porcelain") == ""


def test_google_s_library_reads_what_a_job_acts_with(template: Path, tmp_path: Path) -> None:
    from google.auth.identity_pool import Credentials

    before = "\n".join(jobs_of(template)["slipway-check"]["before_script"])
    environ = {"PATH": os.environ["PATH"], "SLIPWAY_ID_TOKEN": "eyJ", "TMPDIR": str(tmp_path), **SETTINGS}
    script = f'{before}\ngoogle slipway-preview@acme.iam.gserviceaccount.com\ncat "$GOOGLE_APPLICATION_CREDENTIALS"'
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    credentials = Credentials.from_info(found)  # type: ignore[no-untyped-call]
    assert credentials.service_account_email == "slipway-preview@acme.iam.gserviceaccount.com"
    assert found["audience"] == f"//iam.googleapis.com/{SETTINGS['WORKLOAD_IDENTITY_PROVIDER']}"
    assert Path(found["credential_source"]["file"]).read_text() == "eyJ"

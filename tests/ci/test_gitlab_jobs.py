"""The pipelines that `slipway init --ci gitlab` writes: valid as GitLab publishes it, and their scripts, from a merge
request to the deployment, with stand-ins for GitLab and the engine. Nothing here ran on a GitLab. # D5 N14"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.catalog import document
from slipway.catalog.model import Catalog
from slipway.findings.finding import Subject
from slipway.findings.kinds import KINDS
from slipway.review.review import Review as Told
from slipway.review.review import write
from tests.checkouts.shell import slipway
from tests.ci import gitlab as stand_in
from tests.ci.conftest import All
from tests.ci.gitlab import ADA, GRACE, LATER, Version
from tests.ci.gitlab_jobs import Job, Runner, jobs_of, pipeline, preview
from tests.ci.test_team_workflows import Checkout, checkout  # noqa: F401 - a fixture

SEEN, PUSHED = "2026-11-21T10:00:00.000Z", "2026-11-21T09:00:00.000Z"
GONE = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "`h100` goes")
BAD, GOOD = write(Told("prod", (GONE,))), write(Told("prod"))
SETTINGS = {
    "WORKLOAD_IDENTITY_PROVIDER": "projects/1/locations/global/workloadIdentityPools/gitlab/providers/slipway",
    "PREVIEW_SERVICE_ACCOUNT_prod": "slipway-preview@acme-ml-prod.iam.gserviceaccount.com",
    "DEPLOY_SERVICE_ACCOUNT_prod": "slipway-deploy@acme-ml-prod.iam.gserviceaccount.com",
    "PREVIEW_SERVICE_ACCOUNT_dev": "slipway-preview@acme-ml-dev.iam.gserviceaccount.com",
    "DEPLOY_SERVICE_ACCOUNT_dev": "slipway-deploy@acme-ml-dev.iam.gserviceaccount.com",
    "PULUMI_BACKEND_URL": "gs://acme-state",
    "PULUMI_BACKEND_URL_prod": "gs://acme-state-prod",
}


@dataclass
class Project:
    """A project at GitLab, as a team has it in its own checkout."""

    folder: Path
    runner: Runner
    gitlab: stand_in.GitLab

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=ada", "-c", "user.email=ada@acme.example")
        done = subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, name: str, text: str) -> str:
        (self.folder / name).write_text(text)
        self.git("add", ".")
        self.git("commit", "-qm", name)
        self.git("push", "-q", "origin", "HEAD")
        return self.git("rev-parse", "HEAD")

    def change(self, text: str = "") -> str:
        """Push a merge request's first commit."""
        self.git("switch", "-qc", "bigger")
        return self.pushed(self.commit("CHANGE", text))

    def pushed(self, commit: str) -> str:
        self.gitlab.versions.append(Version(commit, PUSHED))
        return commit

    def merge(self) -> str:
        self.git("switch", "-q", "main")
        self.git("merge", "-q", "--no-ff", "--no-edit", "bigger")
        self.git("push", "-q", "origin", "HEAD")
        commit = self.git("rev-parse", "HEAD")
        self.gitlab.merged_as = {"merge_commit_sha": commit}
        return commit

    def jobs(self, commit: str, *, merged: bool = False, **more: str) -> dict[str, Job]:
        """Return a pipeline's, whose variables all its jobs have."""
        ours = {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "20", "CI_MERGE_REQUEST_PROJECT_ID": "20"}
        of_change = self.gitlab.variables(commit, merged=merged) | ({} if merged else ours)
        self.runner.variables = SETTINGS | of_change | more
        return pipeline(self.folder, self.runner.variables)

    def play(self, commit: str, *, merged: bool = False, **more: str) -> dict[str, subprocess.CompletedProcess[str]]:
        """Run a pipeline; its jobs by their names."""
        self.runner.statuses.clear()
        return self.runner.play(self.jobs(commit, merged=merged, **more), commit)

    def again(self, name: str, commit: str) -> subprocess.CompletedProcess[str]:
        """Retry a job of a merge request's pipeline."""
        jobs = self.jobs(commit)
        return self.runner.run(jobs, jobs[name], commit)

    def ended(self) -> dict[str, str]:
        return {name.removeprefix("slipway-"): status for name, status in self.runner.statuses.items()}


@pytest.fixture
def project(tmp_path: Path, template: Path) -> Iterator[Project]:
    origin, folder = tmp_path / "origin.git", tmp_path / "team"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", origin], check=True)
    subprocess.run(["git", "-C", origin, "config", "uploadpack.allowAnySHA1InWant", "true"], check=True)
    shutil.copytree(template, folder)
    with stand_in.served() as gitlab:
        made = Project(folder, Runner(tmp_path / "runner", origin, gitlab), gitlab)
        made.runner.folder.mkdir()
        made.git("init", "-q", "-b", "main")
        made.git("remote", "add", "origin", origin.as_uri())
        made.commit("first", "")
        preview(made.runner.engine, "prod", change=BAD, main=GOOD)
        yield made


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A team's repository of one stack, prod, whose tests need no environment."""
    folder = tmp_path_factory.mktemp("init") / "team"
    written(folder)
    (folder / "stacks" / "Pulumi.dev.yaml").rename(folder / "stacks" / "Pulumi.prod.yaml")
    (folder / "Makefile").write_text("test:\n\t@echo tested\n")
    file = folder / ".gitlab-ci.yml"
    file.write_text(file.read_text().replace('"dev"', '"prod"').replace("stack: dev", "stack: prod"))
    return folder


def written(folder: Path, *more: str) -> None:
    folder.parent.mkdir(exist_ok=True)
    asked = ("--project", "acme-ml-dev", "--submitter", "group:ml@acme.example", "--team", "@acme/ml", "--yes")
    done = slipway(("init", str(folder), *asked, "--ci", "gitlab", *more), {"PATH": os.environ["PATH"]}, folder.parent)
    assert done.code == 0, done.said


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
        }, "\n".join(one.stdout + one.stderr for one in ran.values())
        shut = ran["slipway-reviewed"]
        assert shut.returncode == 5 and "nobody else who may write has approved !3" in shut.stderr
        assert "retry this job when somebody has approved" in shut.stdout
        (note,) = project.gitlab.notes
        assert "`h100` goes" in note.body and "an approval of this merge request holds" in note.body
        assert "preview --json gs://acme-state-prod" in project.runner.asked
        assert "--require-hashes" not in project.runner.asked, "these pins have none"

        project.gitlab.approved = {ADA: SEEN}
        assert project.again("slipway-reviewed", commit).returncode == 5, "their own"
        project.gitlab.approved = {GRACE: SEEN}
        assert project.again("slipway-reviewed", commit).returncode == 0
        assert len(project.gitlab.written) == 1, "a comment that says the same is not written again"

        merged = project.merge()
        (up,) = project.play(merged, merged=True).values()
        assert up.returncode == 0, up.stdout + up.stderr
        assert "approved by grace, of this tree" in up.stderr
        words = json.loads((project.runner.engine / "prod" / "up").read_text())
        assert words[words.index("--message") + 1] == project.gitlab.variables(merged, merged=True)["CI_JOB_URL"]

    def test_what_nobody_approved_is_not_deployed_but_where_somebody_insists(self, project: Project) -> None:
        project.play(project.change())
        merged = project.merge()
        (up,) = project.play(merged, merged=True).values()
        assert up.returncode == 5 and "revert it and open one; or insist" in up.stderr
        assert not (project.runner.engine / "prod" / "up").exists()
        (up,) = project.play(merged, merged=True, CI_PIPELINE_SOURCE="web", INSIST="true").values()
        assert up.returncode == 0 and "ada insisted" in (project.runner.engine / "prod" / "up").read_text()

    def test_another_push_needs_another_approval(self, project: Project) -> None:
        first = project.change()
        project.play(first)
        project.gitlab.approved = {GRACE: SEEN}
        second = project.commit("more", "")
        project.gitlab.versions.append(Version(second, "2026-11-21T10:30:00.000Z"))
        ran = project.play(second)
        assert ran["slipway-reviewed"].returncode == 5
        assert "grace approved !3 as another tree" in ran["slipway-reviewed"].stderr

    def test_a_branch_that_is_behind_is_previewed_as_merged_and_approved_when_it_is_not(self, project: Project) -> None:
        commit = project.change()
        project.git("switch", "-q", "main")
        project.commit("since", "")
        project.gitlab.approved = {GRACE: SEEN}
        ran = project.play(commit)
        assert ran["slipway-review: [prod]"].returncode == 0, ran["slipway-review: [prod]"].stderr
        assert "bring the branch up to date" in ran["slipway-reviewed"].stderr

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
        assert "this can't be merged into main" in ran["slipway-check"].stderr
        assert "slipway-preview: [prod]" not in ran

    def test_mistakes_of_the_stack_file_are_the_comment_s_and_no_approval_helps(self, project: Project) -> None:
        project.change()
        file = project.folder / "stacks" / "Pulumi.prod.yaml"
        commit = project.pushed(
            project.commit(f"stacks/{file.name}", file.read_text().replace("n1-standard-4", "n1-4"))
        )
        project.gitlab.approved = {GRACE: LATER}
        ran = project.play(commit)
        assert project.ended() | {"test": ""} == {
            "test": "",
            "check": "failed",
            "review: [prod]": "success",
            "reviewed": "failed",
        }
        assert "no approval deploys" in ran["slipway-reviewed"].stderr
        assert "n1-4" in project.gitlab.notes[0].body

    def test_a_folder_s_comment_says_whose_it_is(self, project: Project) -> None:
        """It is found again, here and by the deployment, beside that of another folder."""
        for name in (".gitlab-ci.yml", ".gitlab"):
            (project.folder / name).rename(project.folder / f"{name}.moved")
        (project.folder / "ml").mkdir()
        for path in [one for one in project.folder.iterdir() if one.name not in (".git", "ml")]:
            moved = path.name.endswith(".moved")
            path.rename(
                project.folder / path.name.removesuffix(".moved") if moved else project.folder / "ml" / path.name
            )
        pipeline_file = project.folder / ".gitlab-ci.yml"
        pipeline_file.write_text(pipeline_file.read_text().replace('folder: "."', 'folder: "ml"'))
        project.commit("README", "in a folder")
        project.git("switch", "-qc", "bigger")
        commit = project.pushed(project.commit("ml/CHANGE", ""))
        project.gitlab.notes = [stand_in.Note("<!-- slipway-review of ads -->\n### another's")]
        project.play(commit)
        project.gitlab.approved = {GRACE: SEEN}
        assert project.again("slipway-reviewed", commit).returncode == 0
        assert [one.body.splitlines()[0] for one in project.gitlab.notes][1:] == ["<!-- slipway-review of ml -->"]
        (up,) = project.play(project.merge(), merged=True).values()
        assert up.returncode == 0, up.stderr

    def test_a_fork_s_change_is_not_previewed_and_shuts_the_gate(self, project: Project) -> None:
        commit = project.change()
        jobs = project.jobs(commit, CI_MERGE_REQUEST_SOURCE_PROJECT_ID="21")
        assert set(jobs) == {"slipway-test", "slipway-check", "slipway-reviewed"}
        done = project.runner.run(jobs, jobs["slipway-reviewed"], commit)
        assert done.returncode == 1 and "a fork's change is not reviewed" in done.stderr
        assert project.gitlab.written == []

    @pytest.mark.parametrize("missing", ["WORKLOAD_IDENTITY_PROVIDER", "PREVIEW_SERVICE_ACCOUNT_prod"])
    def test_a_variable_that_is_not_set_is_named(self, project: Project, missing: str) -> None:
        commit = project.change()
        jobs = project.jobs(commit)
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
        assert done.returncode == 5 and "`h100` goes" in project.gitlab.notes[0].body

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
    """# B6 N10"""

    @pytest.fixture
    def deployed(self, project: Project) -> str:
        commit = project.commit("CHANGE", "deployed")
        whole = Catalog("prod", "acme", "us-central1", commit[:7], False, "w", "t", {}, (), {})
        (project.runner.engine / "catalog").write_text(document.write(whole))
        project.commit("since", "merged, and not deployed")
        preview(project.runner.engine, "prod", change=GOOD, main=GOOD)
        return commit

    def run(self, project: Project, slipway: str = "up", **more: str) -> dict[str, subprocess.CompletedProcess[str]]:
        commit = project.git("rev-parse", "main")
        return project.play(commit, merged=True, CI_PIPELINE_SOURCE="schedule", SLIPWAY=slipway, **more)

    def test_the_deployed_commit_is_deployed_once_more_and_that_is_told(self, project: Project, deployed: str) -> None:
        ran = self.run(project)
        up = ran["slipway-scheduled-up: [prod]"]
        assert up.returncode == 0, up.stdout + up.stderr
        at = project.runner.folder / "jobs" / "slipway-scheduled-up-prod-"
        head = subprocess.run(["git", "-C", at, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
        assert head.strip() == deployed, "and not what main has"
        run = json.loads((at / "run-prod.jsonl").read_text())
        assert (run["conclusion"], run["steps"][0]["name"]) == ("success", "Up")
        assert set(ran) == {f"slipway-{one}" for one in ("scheduled-up: [prod]", "look: [prod]", "tell")}

    def test_what_was_not_announced_stops_it_and_has_an_issue_until_it_goes_well(
        self, project: Project, deployed: str
    ) -> None:
        preview(project.runner.engine, "prod", change=BAD, main=GOOD)
        ran = self.run(project)
        assert ran["slipway-scheduled-up: [prod]"].returncode == 5
        (issue,) = project.gitlab.issues
        assert issue["title"] == "prod: the scheduled deployment stopped"
        assert "Build → Pipelines → New pipeline" in issue["description"]
        preview(project.runner.engine, "prod", change=GOOD, main=GOOD)
        self.run(project)
        assert [one["state"] for one in project.gitlab.issues] == ["closed"]

    def test_a_deployment_that_fails_is_explained_and_told(self, project: Project, deployed: str) -> None:
        ran = self.run(project, UP="255")
        assert ran["slipway-scheduled-up: [prod]"].returncode == 255
        assert "stopped at Up" in project.gitlab.issues[0]["description"]

    def test_what_is_no_commit_of_main_stops_it(self, project: Project, deployed: str) -> None:
        whole = Catalog("prod", "acme", "us-central1", "f" * 7, False, "w", "t", {}, (), {})
        (project.runner.engine / "catalog").write_text(document.write(whole))
        ran = self.run(project)
        assert "is no commit of main" in ran["slipway-scheduled-up: [prod]"].stderr
        assert "stopped at Begun" in project.gitlab.issues[0]["description"]

    def test_nothing_of_main_s_runs_before_its_commit_is_known(self, project: Project) -> None:
        (script,) = jobs_of(project.folder)["slipway-scheduled-up"]["script"]
        before, _, _ = script.partition("git checkout --quiet --detach")
        assert not re.search(r"python|make|packages|pip ", before)

    def test_weekly_it_looks_for_drift_alone(self, project: Project, deployed: str) -> None:
        assert set(project.jobs(deployed, merged=True, CI_PIPELINE_SOURCE="schedule", SLIPWAY="drift")) == {
            "slipway-look: [prod]",
            "slipway-tell",
        }
        assert project.jobs(deployed, merged=True, CI_PIPELINE_SOURCE="schedule", SLIPWAY="") == {}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two") / "team"
    written(folder, "--prod", "acme-ml-prod")
    return folder


class TestPipelines:
    """What GitLab makes of the files of a team with two stacks."""

    def made(self, team: Path, **variables: str) -> dict[str, Job]:
        return pipeline(team, {"CI_DEFAULT_BRANCH": "main", **variables})

    def test_its_own_file_has_few_lines(self, team: Path) -> None:
        assert len((team / ".gitlab-ci.yml").read_text().splitlines()) <= 12

    def test_all_is_as_gitlab_s_schema_has_it(self, team: Path, tmp_path: Path) -> None:
        files = {"own": (team / ".gitlab-ci.yml").read_text(), "jobs": yaml.safe_dump(jobs_of(team))}
        for file in sorted((team / ".gitlab").glob("*.yml")):
            header, _ = yaml.safe_load_all(file.read_text())
            files[file.stem] = yaml.safe_dump(header)
        for name, text in files.items():
            (tmp_path / f"{name}.yml").write_text(text)
        done = validated(*tmp_path.glob("*.yml"))
        assert done.returncode == 0, done.stdout + done.stderr
        (tmp_path / "odd.yml").write_text(files["jobs"].replace("interruptible: true", "interruptible: perhaps", 1))
        assert validated(tmp_path / "odd.yml").returncode == 1

    def test_each_stack_follows_the_one_before_it_on_a_merge(self, team: Path) -> None:  # D6
        jobs = self.made(team, CI_PIPELINE_SOURCE="push", CI_COMMIT_BRANCH="main")
        assert {name: one.needs for name, one in jobs.items()} == {
            "slipway-up-dev": (),
            "slipway-up-prod": ("slipway-up-dev",),
        }
        assert [one.named("environment") for one in jobs.values()] == ["dev", "prod"]

    @pytest.mark.parametrize(
        "variables",
        [
            {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "mine"},
            {"CI_PIPELINE_SOURCE": "web", "CI_COMMIT_BRANCH": "mine"},
            {"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "mine", "SLIPWAY": "up"},
            {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_TAG": "v1"},
        ],
    )
    def test_no_other_branch_or_tag_deploys(self, team: Path, variables: dict[str, str]) -> None:
        assert self.made(team, **variables) == {}

    def test_what_deploys_one_stack_takes_turns_and_is_never_cancelled(self, team: Path) -> None:  # N2
        jobs = jobs_of(team)
        scheduled = self.made(team, CI_PIPELINE_SOURCE="schedule", CI_COMMIT_BRANCH="main", SLIPWAY="up")
        for stack in ("dev", "prod"):
            up = jobs[f"slipway-up-{stack}"]
            assert not up["interruptible"] and up["environment"] == {"name": stack}
            one = scheduled[f"slipway-scheduled-up: [{stack}]"]
            assert one.named("resource_group") == up["resource_group"] == f"slipway-{stack}"
            assert one.named("environment") == f"{stack}-schedule" and "interruptible" not in one.body

    def test_no_job_holds_a_key_and_the_one_that_comments_no_identity(self, team: Path) -> None:  # N5
        for name, job in jobs_of(team).items():
            of_cloud = re.search("preview|review$|-up|look|-stack", name) is not None
            assert ("id_tokens" in job) is of_cloud, name
        told = "".join(path.read_text() for path in (team / ".gitlab").glob("*.yml"))
        assert "GITLAB_TOKEN" not in told, "it is the environment's alone"

    def test_two_folders_of_a_repository_have_jobs_of_their_own(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        written(tmp_path / "a-b" / "c")
        ours = {name: one for name, one in jobs_of(tmp_path).items() if not name.startswith(".")}
        assert all(name.startswith("slipway-a--b-c-") for name in ours)
        assert {one["variables"]["FOLDER"] for one in ours.values()} == {"a-b/c"}


def validated(*files: Path) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = [str(tool), "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True)


class TestPackages:
    """As GitHub's action installs them: `tests/ci/test_team_workflows.py`."""

    @pytest.fixture
    def installing(self, checkout: Checkout, template: Path) -> Callable[[], subprocess.CompletedProcess[str]]:  # noqa: F811
        before = "\n".join(jobs_of(template)["slipway-check"]["before_script"])
        (checkout.root.parent / "bin" / "python3").symlink_to(sys.executable)

        def install() -> subprocess.CompletedProcess[str]:
            environ = {
                "PATH": f"{checkout.root.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "PIP_NO_INDEX": "1",
                "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            }
            script = f"{before}\npackages\npython -I -m slipway"
            command = ["bash", "-c", script]
            return subprocess.run(command, cwd=checkout.folder, env=environ, capture_output=True, text=True)

        return install

    def test_what_is_pinned_judges(
        self,
        checkout: Checkout,  # noqa: F811
        installing: Callable[[], subprocess.CompletedProcess[str]],
    ) -> None:
        checkout.requires(checkout.pinned)
        assert installing().stdout == "the judge that was pinned\n"
        assert checkout.git("status", "--porcelain") == ""

    @pytest.mark.parametrize("pins", ["", "--hash=sha256:" + "0" * 64])
    def test_other_bytes_or_none_are_refused(
        self,
        checkout: Checkout,  # noqa: F811
        installing: Callable[[], subprocess.CompletedProcess[str]],
        pins: str,
    ) -> None:
        checkout.requires(f"slipway-vertex @ {checkout.wheel.as_uri()} {pins}\n" if pins else "")
        done = installing()
        assert done.returncode != 0 and "the judge" not in done.stdout


def test_google_s_library_reads_what_a_job_acts_with(project: Project, tmp_path: Path) -> None:
    from google.auth.identity_pool import Credentials

    before = "\n".join(jobs_of(project.folder)["slipway-check"]["before_script"])
    environ = {"PATH": os.environ["PATH"], "SLIPWAY_ID_TOKEN": "eyJ", "TMPDIR": str(tmp_path), **SETTINGS}
    script = f'{before}\ngoogle slipway-preview@acme.iam.gserviceaccount.com\ncat "$GOOGLE_APPLICATION_CREDENTIALS"'
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    credentials = Credentials.from_info(found)  # type: ignore[no-untyped-call]
    assert credentials.service_account_email == "slipway-preview@acme.iam.gserviceaccount.com"
    assert found["audience"] == f"//iam.googleapis.com/{SETTINGS['WORKLOAD_IDENTITY_PROVIDER']}"
    assert Path(found["credential_source"]["file"]).read_text() == "eyJ"


def test_the_engine_is_the_one_that_github_s_workflows_have(project: Project, workflows: All) -> None:
    versions = {
        step["with"]["pulumi-version"]
        for one in workflows.values()
        for step in one.steps()
        if "pulumi-version" in step.get("with", {})
    }
    (version,) = versions
    assert jobs_of(project.folder)["slipway-check"]["image"]["name"] == f"pulumi/pulumi:{version}"

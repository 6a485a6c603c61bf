"""A team's project at GitLab, with the stand-ins that its pipelines run against."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from slipway.model.findings.finding import Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.review import Review as Told
from slipway.reviewing.review import write
from tests.checkouts.git import git
from tests.checkouts.shell import slipway
from tests.ci import gitlab as stand_in
from tests.ci.gitlab import Version
from tests.ci.gitlab_jobs import Job, Runner, pipeline, preview

PUSHED = "2026-11-21T09:00:00.000Z"
GONE = KINDS["cluster-deleted"].of(Subject("cluster", "h100"), "goes", grade=Grade.BLOCKING)
BAD, GOOD = write(Told("prod", (GONE,))), write(Told("prod"))
SETTINGS = {
    "WORKLOAD_IDENTITY_PROVIDER": "projects/1/locations/global/workloadIdentityPools/gitlab/providers/slipway",
    "PREVIEW_SERVICE_ACCOUNT_prod": "slipway-preview@acme-ml-prod.iam.gserviceaccount.com",
    "DEPLOY_SERVICE_ACCOUNT_prod": "slipway-deploy-prod@acme-ml-prod.iam.gserviceaccount.com",
    "PREVIEW_SERVICE_ACCOUNT_dev": "slipway-preview@acme-ml-dev.iam.gserviceaccount.com",
    "DEPLOY_SERVICE_ACCOUNT_dev": "slipway-deploy-dev@acme-ml-dev.iam.gserviceaccount.com",
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
        return git(self.folder, *words)

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
        """Return a pipeline's jobs, which all have its variables."""
        ours = {"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "20", "CI_MERGE_REQUEST_PROJECT_ID": "20"}
        of_change = self.gitlab.variables(commit, merged=merged) | ({} if merged else ours)
        self.runner.variables = SETTINGS | of_change | more
        return pipeline(self.folder, self.runner.variables)

    def play(self, commit: str, *, merged: bool = False, **more: str) -> dict[str, subprocess.CompletedProcess[str]]:
        """Run a pipeline; return its jobs by their names."""
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
    git(tmp_path, "init", "-q", "--bare", "-b", "main", origin.name)
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    shutil.copytree(template, folder)
    with stand_in.served() as gitlab:
        made = Project(folder, Runner(tmp_path / "runner", origin, gitlab), gitlab)
        made.runner.folder.mkdir()
        made.git("init", "-q", "-b", "main")
        made.git("remote", "add", "origin", origin.as_uri())
        made.commit("first", "")
        preview(made.runner.engine, "prod", change=BAD, main=GOOD)
        yield made


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a team's repository of one stack, prod, whose tests need no environment."""
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

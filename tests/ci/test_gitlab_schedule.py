"""GitLab's schedules: the deployment by itself, and the doctor, with stand-ins. # B6 N10"""

from __future__ import annotations

import re
import subprocess

import pytest

from slipway.google.catalog import document
from slipway.model.catalog.model import Catalog
from tests.ci.gitlab_jobs import jobs_of, preview
from tests.ci.gitlab_project import BAD, GOOD, Project


class TestSchedule:
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

    def test_the_deployed_commit_is_deployed_once_more(self, project: Project, deployed: str) -> None:
        ran = self.run(project)
        up = ran["slipway-scheduled-up: [prod]"]
        assert up.returncode == 0, up.stdout + up.stderr
        at = project.runner.folder / "jobs" / "slipway-scheduled-up-prod-"
        head = subprocess.run(["git", "-C", at, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
        assert head.strip() == deployed, "and not what main has"
        assert set(ran) == {"slipway-scheduled-up: [prod]"}

    def test_what_was_not_announced_stops_it_and_it_says_what_to_do(self, project: Project, deployed: str) -> None:
        preview(project.runner.engine, "prod", change=BAD, main=GOOD)
        up = self.run(project)["slipway-scheduled-up: [prod]"]
        assert up.returncode == 5 and "Build → Pipelines → New pipeline" in up.stdout + up.stderr

    def test_a_deployment_that_fails_is_explained(self, project: Project, deployed: str) -> None:
        assert self.run(project, UP="255")["slipway-scheduled-up: [prod]"].returncode == 255

    def test_what_is_no_commit_of_main_stops_it(self, project: Project, deployed: str) -> None:
        whole = Catalog("prod", "acme", "us-central1", "f" * 7, False, "w", "t", {}, (), {})
        (project.runner.engine / "catalog").write_text(document.write(whole))
        ran = self.run(project)
        assert "is no commit of main" in ran["slipway-scheduled-up: [prod]"].stderr

    def test_nothing_of_main_s_runs_before_its_commit_is_known(self, project: Project) -> None:
        (script,) = jobs_of(project.folder)["slipway-scheduled-up"]["script"]
        before, _, _ = script.partition("git checkout --quiet --detach")
        assert not re.search(r"python|make|packages|pip ", before)

    def test_each_day_the_doctor_looks_and_nothing_is_deployed(self, project: Project, deployed: str) -> None:
        daily, other = (
            set(project.jobs(deployed, merged=True, CI_PIPELINE_SOURCE="schedule", SLIPWAY=word))
            for word in ("doctor", "")
        )
        assert daily == {"slipway-doctor: [prod]"} and other == set()
        (script,) = jobs_of(project.folder)["slipway-doctor"]["script"]
        assert "pulumi up" not in script and "PREVIEW_SERVICE_ACCOUNT" in script

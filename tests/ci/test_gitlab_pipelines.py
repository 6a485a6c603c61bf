"""The files of a team with two stacks, as GitLab reads them: valid by the schema that it publishes. # D5"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from local.engine.version import PINNED
from tests.ci.gitlab_jobs import Job, jobs_of, pipeline
from tests.ci.gitlab_project import written


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("two") / "team"
    written(folder, "--prod", "acme-ml-prod")
    return folder


class TestPipelines:
    def made(self, team: Path, **variables: str) -> dict[str, Job]:
        return pipeline(team, {"CI_DEFAULT_BRANCH": "main", **variables})

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
        assert {name: job.needs for name, job in jobs.items()} == {
            "slipway-up-dev": (),
            "slipway-up-prod": ("slipway-up-dev",),
        }
        assert [job.named("environment") for job in jobs.values()] == ["dev", "prod"]

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
            job = scheduled[f"slipway-scheduled-up: [{stack}]"]
            assert job.named("resource_group") == up["resource_group"] == f"slipway-{stack}"
            assert job.named("environment") == f"{stack}-schedule" and "interruptible" not in job.body

    def test_no_job_holds_a_key_and_the_one_that_comments_no_identity(self, team: Path) -> None:  # N5
        for name, job in jobs_of(team).items():
            of_cloud = re.search("preview|review$|-up|doctor|-stack", name) is not None
            assert ("id_tokens" in job) is of_cloud, name
        told = "".join(path.read_text() for path in (team / ".gitlab").glob("*.yml"))
        assert "GITLAB_TOKEN" not in told, "it is the environment's alone"

    def test_two_folders_of_a_repository_have_jobs_of_their_own(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        written(tmp_path / "a-b" / "c")
        ours = {name: value for name, value in jobs_of(tmp_path).items() if not name.startswith(".")}
        assert all(name.startswith("slipway-a--b-c-") for name in ours)
        assert {job["variables"]["FOLDER"] for job in ours.values()} == {"a-b/c"}


def validated(*files: Path) -> subprocess.CompletedProcess[str]:
    tool = Path(sys.executable).with_name("check-jsonschema")
    command = [str(tool), "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_engine_is_the_one_the_tests_run(team: Path) -> None:
    assert jobs_of(team)["slipway-check"]["image"]["name"] == f"pulumi/pulumi:{PINNED}"

"""Workflows and owners that `slipway init` writes for the forge. # D8"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from .commands import FLAGS, GITHUB, run, well
from .releases import Release


def test_workflows_and_owners_lie_where_the_forge_reads_them(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB, "--prod", "acme-ml-prod")
    forge = folder / "training" / ".github"
    assert "* @acme/ml-platform\n" in (forge / "CODEOWNERS").read_text()
    for path in (forge / "workflows").glob("*.yaml"):
        assert path.name.startswith("slipway-")
        workflow = yaml.safe_load(path.read_text())
        for job in workflow["jobs"].values():
            assert job["uses"].startswith("acme/slipway/.github/workflows/") and job["uses"].endswith("@v0.1.0")
            if "folder" in job.get("with", {}):
                assert job["with"]["folder"] == "."
            if "stacks" in job.get("with", {}):
                assert json.loads(job["with"]["stacks"]) == ["dev", "prod"]


def test_in_a_repository_of_several_projects_the_forges_files_are_at_its_root(folder: Path) -> None:
    (folder / ".git").mkdir()
    done = [well(folder, "init", f"ml/our {name}", *FLAGS, *GITHUB) for name in ("one", "two")]
    assert "  .github/CODEOWNERS\n" in done[0].out and "left as they are: .github/CODEOWNERS" in done[1].err
    owners = folder / ".github" / "CODEOWNERS"
    assert "/ml/our\\ one/ @acme/ml-platform\n" in owners.read_text()
    assert "two" not in owners.read_text(), "somebody else's file"
    assert not (folder / "ml" / "our one" / ".github").exists()
    found = sorted(path.name for path in (folder / ".github" / "workflows").glob("*"))
    assert {name.split("-")[3] for name in found} == {"one", "two"}
    for path in (folder / ".github" / "workflows").glob("*-one-*"):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            assert job.get("with", {}).get("folder", "ml/our one") == "ml/our one"


def test_folders_of_one_name_have_workflows_and_projects_of_their_own(folder: Path) -> None:
    (folder / ".git").mkdir()
    for name in ("", "ads/training", "search/training"):
        well(folder, "init", name or ".", *FLAGS, *GITHUB)
    found = {path: yaml.safe_load(path.read_text()) for path in (folder / ".github" / "workflows").glob("*.yaml")}
    assert len({workflow["name"] for workflow in found.values()}) == len(found) == 15
    for path, workflow in found.items():
        named = next((name for name in ("ads", "search") if f"-{name}-training-" in path.name), None)
        for job in workflow["jobs"].values():
            assert job.get("with", {}).get("folder") in (None, f"{named}/training" if named else ".")
    groups = {
        workflow["jobs"]["up"]["concurrency"]["group"] for path, workflow in found.items() if "sched" in path.name
    }
    assert len(groups) == 3, "what waits in one folder doesn't take the place of another's"
    names = {yaml.safe_load(path.read_text())["name"] for path in folder.rglob("Pulumi.yaml")}
    assert names == {"work", "ads-training", "search-training"}


def test_the_lines_that_are_missing_in_owners_of_others_are_told(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".github").mkdir()
    (folder / ".github" / "CODEOWNERS").write_text("* @acme/everybody\n")
    done = well(folder, "init", "training", *FLAGS, *GITHUB)
    assert (folder / ".github" / "CODEOWNERS").read_text() == "* @acme/everybody\n"
    assert "/training/ @acme/ml-platform" in done.err


def test_an_upgrade_moves_the_workflows_where_it_is_told_to(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    newer.run_it(monkeypatch)
    well(folder, "init", "training", "--upgrade", "--yes", "--workflows", "acme/slipway@v0.2.0")
    for path in (folder / "training" / ".github" / "workflows").glob("*.yaml"):
        assert "@v0.2.0" in path.read_text() and "@v0.1.0" not in path.read_text()


class TestGitLab:
    GITLAB = ("--ci", "gitlab")

    def test_the_pipeline_includes_jobs_that_are_written_beside_it(self, folder: Path) -> None:
        well(folder, "init", "training", *FLAGS, *self.GITLAB, "--prod", "acme-ml-prod")
        at = folder / "training"
        assert not (at / ".github").exists() and "* @acme/ml-platform\n" in (at / ".gitlab" / "CODEOWNERS").read_text()
        included = yaml.safe_load((at / ".gitlab-ci.yml").read_text())["include"]
        assert all((at / one["local"].lstrip("/")).is_file() for one in included)
        assert [one["inputs"].get("stack") for one in included] == [None, "dev", "prod"]
        assert included[2]["inputs"]["after"] == ["slipway-up-dev"]

    def test_they_may_be_another_project_s_at_a_version(self, folder: Path) -> None:
        well(folder, "init", "training", *FLAGS, *self.GITLAB, "--workflows", "acme/slipway@v0.1.0")
        for one in yaml.safe_load((folder / "training" / ".gitlab-ci.yml").read_text())["include"]:
            assert (one["project"], one["ref"]) == ("acme/slipway", "v0.1.0")
            assert (Path(__file__).parents[5] / one["file"].lstrip("/")).is_file(), "where this repository has it"
        assert not list((folder / "training" / ".gitlab").glob("*.yml"))

    def test_of_a_pipeline_that_is_there_the_missing_lines_are_told(self, folder: Path) -> None:
        (folder / ".git").mkdir()
        (folder / ".gitlab-ci.yml").write_text("stages: [build]\n")
        done = well(folder, "init", "ml/training", *FLAGS, *self.GITLAB)
        assert (folder / ".gitlab-ci.yml").read_text() == "stages: [build]\n"
        assert "- local: /.gitlab/slipway-ml-training.yml" in done.err
        assert (folder / ".gitlab" / "slipway-ml-training-up.yml").is_file()

    def test_lines_that_it_has_are_not_told_again(self, folder: Path) -> None:
        """Two `include:` are one: the jobs of the first would be gone."""
        (folder / ".git").mkdir()
        for name in ("ml/one", "ml/two"):
            done = well(folder, "init", name, *FLAGS, *self.GITLAB)
        told = [line.split(":  ", 1) for line in done.err.splitlines() if line.startswith("  add to ")]
        added = [line for file, line in told if file.endswith(".gitlab-ci.yml")]
        pipeline = folder / ".gitlab-ci.yml"
        pipeline.write_text(pipeline.read_text() + "".join(f"{line}\n" for line in added))
        included = [one["local"] for one in yaml.safe_load(pipeline.read_text())["include"]]
        assert included == [f"/.gitlab/slipway-ml-{one}{up}.yml" for one in ("one", "two") for up in ("", "-up")]
        assert [line for file, line in told if file.endswith("CODEOWNERS")] == ["/ml/two/ @acme/ml-platform"]

    def test_an_upgrade_renews_them_with_edits_kept(
        self, folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        well(folder, "init", "training", *FLAGS, *self.GITLAB)
        at = folder / "training"
        own = (at / ".gitlab-ci.yml").read_text() + "stages: [test, publish]\n"
        (at / ".gitlab-ci.yml").write_text(own)
        jobs = newer.starter / "gitlab" / "slipway.yml"
        jobs.write_text(jobs.read_text().replace("timeout: 3 hours", "timeout: 4 hours"))
        newer.run_it(monkeypatch)
        well(folder, "init", "training", "--upgrade", "--yes")
        assert "timeout: 4 hours" in (at / ".gitlab" / "slipway.yml").read_text()
        assert (at / ".gitlab-ci.yml").read_text() == own

    def test_an_upgrade_moves_from_one_forge_to_the_other(self, folder: Path) -> None:
        well(folder, "init", "training", *FLAGS, *GITHUB)
        well(folder, "init", "training", "--upgrade", "--yes", *self.GITLAB)
        included = yaml.safe_load((folder / "training" / ".gitlab-ci.yml").read_text())["include"]
        assert included[0]["project"] == "acme/slipway"
        assert not list((folder / "training").glob(".github/**/*.yaml"))


def test_a_folder_that_workflows_can_not_name_is_refused(folder: Path) -> None:
    (folder / ".git").mkdir()
    refused = run(folder, "init", "it's $HOME", *FLAGS, *GITHUB)
    assert refused.code == 2 and "can't stand in CODEOWNERS and workflows" in refused.err

"""Workflows and owners that `slipway init` writes for the forge. # D8"""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from slipway.front.cli.terminal import starter_files

from .commands import FLAGS, GITHUB, run, tree, well
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
    ordered = sorted(path.name for path in (folder / ".github" / "workflows").glob("*"))
    assert {name.split("-")[3] for name in ordered} == {"one", "two"}
    for path in (folder / ".github" / "workflows").glob("*-one-*"):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            assert job.get("with", {}).get("folder", "ml/our one") == "ml/our one"


GITLAB = ("--ci", "gitlab")


def test_the_pipeline_includes_jobs_that_are_written_beside_it(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITLAB, "--prod", "acme-ml-prod")
    at = folder / "training"
    assert not (at / ".github").exists() and "* @acme/ml-platform\n" in (at / ".gitlab" / "CODEOWNERS").read_text()
    included = yaml.safe_load((at / ".gitlab-ci.yml").read_text())["include"]
    assert all((at / entry["local"].lstrip("/")).is_file() for entry in included)
    assert [entry["inputs"].get("stack") for entry in included] == [None, "dev", "prod"]
    assert included[2]["inputs"]["after"] == ["slipway-up-dev"]


def test_they_may_be_another_project_s_at_a_version(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITLAB, "--workflows", "acme/slipway@v0.1.0")
    for entry in yaml.safe_load((folder / "training" / ".gitlab-ci.yml").read_text())["include"]:
        assert (entry["project"], entry["ref"]) == ("acme/slipway", "v0.1.0")
        assert (Path(__file__).parents[5] / entry["file"].lstrip("/")).is_file(), "where this repository has it"
    assert not list((folder / "training" / ".gitlab").glob("*.yml"))


DIGEST = f"@sha256:{'1f' * 32}"


def images(made: Path) -> list[str | None]:
    return [entry["inputs"].get("image") for entry in yaml.safe_load((made / ".gitlab-ci.yml").read_text())["include"]]


def test_the_image_of_its_jobs_is_pinned_by_the_digest_that_is_given_and_a_tag_is_warned_of(  # D8
    folder: Path, installed: Release, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No release knows the digest of an image that somebody else publishes after it."""
    made, usual = folder / "training", starter_files.image()
    command = ("init", "training", *FLAGS, *GITLAB)
    told = well(folder, *command).err
    assert images(made) == [None, None] and f"whoever moves the tag of {usual} runs in your jobs" in told
    assert f"--upgrade --image {usual}@sha256:…, the Digest that `docker buildx imagetools inspect {usual}`" in told
    refused = run(folder, *command, "--upgrade", "--image", usual)
    assert refused.code == 2 and "is pinned by no digest" in refused.err and images(made) == [None, None]
    well(folder, *command, "--upgrade", "--image", f"{usual}{DIGEST}")
    assert images(made) == [f"{usual}{DIGEST}", None]
    # It stays, and a release that was tried with another engine says so.
    newer.edit("gitlab/slipway.yml", usual, "pulumi/pulumi:9.9.9")
    newer.run_it(monkeypatch)
    told = well(folder, "init", "training", "--upgrade", "--yes").err
    assert images(made) == [f"{usual}{DIGEST}", None] and "this release's is pulumi/pulumi:9.9.9" in told


def test_an_image_is_of_gitlab_s_jobs_alone(folder: Path) -> None:
    refused = run(folder, "init", "training", *FLAGS, *GITHUB, "--image", f"pulumi/pulumi{DIGEST}")
    assert (refused.code, tree(folder)) == (2, {}) and "--image is of GitLab's jobs" in refused.err


def test_lines_that_it_has_are_not_told_again(folder: Path) -> None:
    """Two `include:` are one: the jobs of the first would be gone."""
    (folder / ".git").mkdir()
    for name in ("ml/one", "ml/two"):
        done = well(folder, "init", name, *FLAGS, *GITLAB)
    told = [line.split(":  ", 1) for line in done.err.splitlines() if line.startswith("  add to ")]
    added = [line for file, line in told if file.endswith(".gitlab-ci.yml")]
    pipeline = folder / ".gitlab-ci.yml"
    pipeline.write_text(pipeline.read_text() + "".join(f"{line}\n" for line in added))
    included = [entry["local"] for entry in yaml.safe_load(pipeline.read_text())["include"]]
    assert included == [f"/.gitlab/slipway-ml-{word}{up}.yml" for word in ("one", "two") for up in ("", "-up")]
    assert [line for file, line in told if file.endswith("CODEOWNERS")] == ["/ml/two/ @acme/ml-platform"]


def test_an_upgrade_moves_from_one_forge_to_the_other(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    well(folder, "init", "training", "--upgrade", "--yes", *GITLAB)
    included = yaml.safe_load((folder / "training" / ".gitlab-ci.yml").read_text())["include"]
    assert included[0]["project"] == "acme/slipway"
    assert not list((folder / "training").glob(".github/**/*.yaml"))


def uses(made: Path) -> set[str]:
    jobs = [yaml.safe_load(path.read_text())["jobs"] for path in (made / ".github" / "workflows").glob("*")]
    return {job["uses"].split("@")[1] for named in jobs for job in named.values()}


def test_another_version_of_the_workflows_is_told_and_an_upgrade_moves_them(folder: Path) -> None:
    command = ("init", "training", *FLAGS, "--workflows")
    well(folder, *command, "acme/slipway@v0.1.0")
    before = tree(folder)
    again = well(folder, *command, "acme/slipway@v0.2.0")
    assert "left as they are: 5 files; the same command with --upgrade moves them" in again.err
    assert tree(folder) == before, "nor does the record say what was not done"
    (folder / "training" / ".github" / "workflows" / "slipway-up.yaml").unlink()
    well(folder, *command, "acme/slipway@v0.2.0")
    assert tree(folder) == before, "all are of one version"
    well(folder, *command, "acme/slipway@v0.2.0", "--upgrade")
    assert uses(folder / "training") == {"v0.2.0"}
    same = well(folder, *command, "acme/slipway@v0.2.0")
    assert "left as they are" not in same.err


@pytest.mark.parametrize("forge", [(), GITLAB])
def test_the_stacks_that_are_there_are_deployed(folder: Path, forge: tuple[str, ...]) -> None:
    well(folder, "init", "training", *FLAGS, *forge)
    made = folder / "training"
    for name in ("stage", "canary"):
        shutil.copy(made / "stacks" / "Pulumi.dev.yaml", made / "stacks" / f"Pulumi.{name}.yaml")
    more = well(folder, "init", "training", *FLAGS, *forge, *GITHUB, "--prod", "acme-ml-prod")
    if forge:
        assert "left as they are: 1 file; the same" in more.err
        well(folder, "init", "training", *FLAGS, *forge, *GITHUB, "--upgrade")
        included = yaml.safe_load((made / ".gitlab-ci.yml").read_text())["include"]
        told = [entry["inputs"]["stack"] for entry in included[1:]]
    else:
        up = yaml.safe_load((made / ".github" / "workflows" / "slipway-up.yaml").read_text())
        told = json.loads(up["jobs"]["up"]["with"]["stacks"])
    assert told == ["dev", "canary", "stage", "prod"]
    (made / "stacks" / "Pulumi.mine.yaml").touch()
    before = tree(folder)
    well(folder, "init", "training", "--upgrade", "--yes")
    assert tree(folder) == before, "an upgrade adds no stack that init did not take"


def test_another_forge_is_refused_beside_the_files_of_the_first(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    before = tree(folder)
    refused = run(folder, "init", "training", *GITLAB, "--yes")
    assert refused.code == 2 and "training/.github/CODEOWNERS" in refused.err
    assert "slipway init training --upgrade --ci gitlab moves there" in refused.err
    well(folder, "init", "training", "--upgrade", "--yes")
    assert tree(folder) == before, "nothing is half done"


def test_where_the_first_forge_s_files_are_gone_another_takes_their_place(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    shutil.rmtree(folder / "training" / ".github")
    well(folder, "init", "training", *GITLAB, "--yes")
    owners = folder / "training" / ".github" / "CODEOWNERS"
    owners.parent.mkdir()
    owners.write_text("* @others\n")
    well(folder, "init", "training", "--upgrade", "--yes")
    assert owners.read_text() == "* @others\n", "a new file of the forge before is somebody's own"
    assert (folder / "training" / ".gitlab-ci.yml").is_file()


def test_a_record_of_both_forges_loses_no_file(folder: Path) -> None:
    """An earlier slipway took the second forge beside the first one."""
    well(folder, "init", "training", *FLAGS, *GITHUB)
    record = folder / "training" / ".starter.json"
    record.write_text(record.read_text().replace('"values": {', '"values": {\n  "CI": "gitlab",'))
    before = tree(folder)
    refused = run(folder, "init", "training", "--upgrade", "--yes")
    assert refused.code == 2 and "--ci github stays" in refused.err and tree(folder) == before
    well(folder, "init", "training", "--upgrade", "--yes", "--ci", "github")
    assert (folder / "training" / ".github" / "workflows" / "slipway-up.yaml").is_file()


def test_a_folder_that_workflows_can_not_name_is_refused(folder: Path) -> None:
    (folder / ".git").mkdir()
    refused = run(folder, "init", "it's $HOME", *FLAGS, *GITHUB)
    assert refused.code == 2 and "can't stand in CODEOWNERS and workflows" in refused.err

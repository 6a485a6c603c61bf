"""Answers that `slipway init` needs: flags or a person; all else is refused, with nothing written. # D8"""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from tests.local.conftest import ROOT

from .commands import FLAGS, run, tree, well


def test_a_person_is_asked_and_asked_again_after_a_mistake(folder: Path) -> None:
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "slipway", "init", str(folder / "training")]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    environ.pop("GOOGLE_CLOUD_PROJECT", None)
    os.write(mine, b"Acme!\nacme-ml-dev\n\ngroup:ml@acme.example\n@acme/ml\n")
    done = subprocess.run(command, stdin=theirs, env=environ, capture_output=True, text=True, check=False)
    os.close(mine)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "is not a project id" in done.stderr and "Region [us-central1]" in done.stderr
    stack = yaml.safe_load((folder / "training" / "stacks" / "Pulumi.dev.yaml").read_text())["config"]
    assert (stack["gcp:project"], stack["gcp:region"]) == ("acme-ml-dev", "us-central1")


@pytest.mark.parametrize("flags", [(), ("--yes",)])
def test_where_nobody_can_be_asked_all_that_is_missing_is_told_at_once(
    folder: Path, flags: tuple[str, ...], snapshot: SnapshotAssertion
) -> None:
    refused = run(folder, "init", "training", *flags)
    assert (refused.code, tree(folder)) == (2, {})
    assert refused.err == snapshot(name="missing")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--project", "Acme_ML"), "is not a project id"),
        (("--project", 'acme"\ninjected: true'), "is not a project id"),
        (("--region", "us-centrl1"), "fix: us-central1"),
        (("--submitter", "ml@acme.example"), "is nobody who may submit"),
        (("--team", "@acme/ml platform"), "owns no code"),
        (("--prod", "x"), "is not a project id"),
        (("--prod", "acme-ml-dev"), "--prod acme-ml-dev is the project of dev"),
        (("--workflows", "acme/slipway"), "OWNER/REPO@REF"),
        (("--workflows", "acme/slipway@COMMIT"), "a tag or a commit"),
        (("--workflows", "acme/slipway@3f9c2e1"), "gh api repos/acme/slipway/commits/3f9c2e1 --jq .sha"),
    ],
)
def test_a_wrong_value_is_refused_and_nothing_written(folder: Path, flags: tuple[str, str], said: str) -> None:
    refused = run(folder, "init", "training", *FLAGS, *flags)
    assert (refused.code, tree(folder)) == (2, {})
    assert said in refused.err


@pytest.mark.parametrize(
    ("ref", "warned"), [("main", True), ("release/1.0", True), ("v1", True), ("v1.2.0", False), ("0a" * 20, False)]
)
def test_a_version_of_the_workflows_that_may_move_is_warned_of(folder: Path, ref: str, warned: bool) -> None:
    done = well(folder, "init", "training", *FLAGS, "--workflows", f"acme/slipway@{ref}")
    assert (f"who moves {ref} deploys in your repository" in done.err) == warned


def test_a_folder_of_somebody_else_is_refused_and_stays_as_it_is(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    refused = run(folder, "init", ".", *FLAGS)
    assert (refused.code, tree(folder)) == (2, {"notes.txt": b"mine"})
    assert "notes.txt" in refused.err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"slipway": "0.1.0", "values": {}, "files": {"../x": []}}'])
def test_a_record_that_is_broken_is_told_and_nothing_written(folder: Path, text: str) -> None:
    (folder / ".starter.json").write_text(text)
    refused = run(folder, "init", ".", *FLAGS)
    assert refused.code == 2 and ".starter.json" in refused.err and list(tree(folder)) == [".starter.json"]

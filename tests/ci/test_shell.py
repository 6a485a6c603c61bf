"""The tests are alone with their variables and folders, whatever the shell that starts them says. # N4"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OF_THE_RUN = {"VERTEX_LOCAL_STATE", "PULUMI_HOME", "CLOUDSDK_CONFIG", "XDG_STATE_HOME"}
HOSTILE = {
    "SLIPWAY_CATALOG": "gs://theirs/catalog.json",
    "VERTEX_LOCAL_PORT": "8470",
    "VERTEX_LOCAL_STATE": "/nowhere/state",
    "SLIPWAY_PURPOSE": "destroy",
    "PULUMI_BACKEND_URL": "s3://theirs",
    "PULUMI_HOME": "/nowhere/pulumi",
    "GOOGLE_CLOUD_PROJECT": "theirs",
    "GOOGLE_STORAGE_CUSTOM_ENDPOINT": "http://127.0.0.1:9/storage/v1/",
    "CLOUDSDK_CONFIG": "/nowhere/gcloud",
    "XDG_STATE_HOME": "/nowhere/state",
    "MAKEFLAGS": " -- STACK=prod",
    "GIT_DIR": "/nowhere/git",
}


def test_no_variable_leads_to_a_persons_clouds_stacks_or_folders(tmp_path_factory: pytest.TempPathFactory) -> None:
    theirs = ("SLIPWAY_", "VERTEX_LOCAL_", "PULUMI_", "GOOGLE_", "CLOUDSDK_", "MAKEFLAGS", "GIT_DIR", "XDG_STATE_HOME")
    found = {name: value for name, value in os.environ.items() if name.startswith(theirs)}
    for of_the_machine in ("SLIPWAY_CACHE", "VERTEX_LOCAL_CACHE"):
        found.pop(of_the_machine, None)
    assert found.pop("VERTEX_LOCAL_PORT") == "0", "a free one"
    assert found.keys() == OF_THE_RUN
    assert all(Path(value).is_relative_to(tmp_path_factory.getbasetemp()) for value in found.values())


def test_a_shell_of_somebody_with_clouds_of_their_own_makes_no_difference(tmp_path: Path) -> None:
    this = f"{Path(__file__)}::{test_no_variable_leads_to_a_persons_clouds_stacks_or_folders.__name__}"
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", this, f"--basetemp={tmp_path / 'base'}")
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **HOSTILE}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

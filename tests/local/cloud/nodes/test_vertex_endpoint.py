"""The Vertex AI SDK inside a job finds the local cloud without being told (W8)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.cloud.nodes.preparation import install_at_start

CLOUD = {"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": "http://127.0.0.1:8470/v1beta1/", "GOOGLE_CLOUD_PROJECT": "slipway-local"}
SHOW = "c = aiplatform.initializer.global_config; print(c.api_endpoint, c._api_transport, c.project, c.location)"


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """The site-packages of an environment that a job runs in."""
    folder = tmp_path / "lib" / "python3.11" / "site-packages"
    folder.mkdir(parents=True)
    install_at_start(tmp_path)
    return folder


def said(packages: Path, *codes: str, imports: str = "sys", **variables: str) -> list[str]:
    """What each code prints in a process of its own, forked from a Python with these site-packages after its import."""
    program = f"""
import os, site
site.addsitedir({str(packages)!r})
import {imports}
for code in {codes!r}:
    if not os.fork():
        exec(code)
        break
    os.wait()
"""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GOOGLE_", "CLOUD_ML_"))}
    command = [sys.executable, "-W", "ignore", "-c", program]
    done = subprocess.run(command, env={**kept, **variables}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_sdk_has_the_cloud_for_its_default_and_what_user_code_says_wins(packages: Path) -> None:
    init = "from google.cloud import aiplatform\naiplatform.init({})\n" + SHOW
    codes = init.format("location='europe-west4'"), init.format("project='mine', api_endpoint='localhost:1'")
    assert said(packages, *codes, imports="google.cloud.aiplatform", **CLOUD) == [
        "http://127.0.0.1:8470 rest slipway-local europe-west4",
        "localhost:1 rest mine us-central1",
    ]


def test_outside_a_job_nothing_changes(packages: Path) -> None:
    code = "print([type(finder).__name__ for finder in sys.meta_path].count('_Finder'))"
    assert said(packages, code) == ["0"]
    assert said(packages, code, **CLOUD) == ["1"]

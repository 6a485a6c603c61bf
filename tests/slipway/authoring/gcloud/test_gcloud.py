"""A job file that Slipway writes for gcloud, as gcloud itself sends it to a running local cloud."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from slipway.authoring.gcloud.job_file import command, job_file
from slipway.model.kinds import CUSTOM_JOB

if TYPE_CHECKING:
    from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")


def test_a_request_written_for_gcloud_is_the_request_that_gcloud_sends(  # N13
    cloud: LocalCloud, tmp_path: Path
) -> None:
    """With the command from the file's comment, as a person would copy it."""
    bucket = "written-for-gcloud"
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": bucket, "location": "us-central1"})
    container = {"imageUri": "scratch@sha256:" + "0" * 64, "args": ["0o17", "yes", "a: b", "# no", "it's"]}
    env = [{"name": "QUOTED", "value": 'say "so"'}]
    worker = {
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "containerSpec": {**container, "env": env},
    }
    spec = {
        "workerPoolSpecs": [worker],
        "scheduling": {"timeout": "600s", "strategy": "STANDARD"},
        "baseOutputDirectory": {"outputUriPrefix": f"gs://{bucket}/run"},
    }
    body = {"displayName": "digits-7k2p3f9a", "labels": {"slipway-template": "digits"}, "jobSpec": spec}
    text = job_file(body, CUSTOM_JOB, project="local-project", region="us-central1", about="a test")
    words = shlex.split(command(body, "local-project", "us-central1"))
    assert f"# {shlex.join(words)}" in text.splitlines()
    file = tmp_path / words[-1].removeprefix("--config=")
    file.write_text(text)
    environment = {
        **os.environ,
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM": f"{cloud.url}/",
        "CLOUDSDK_AUTH_ACCESS_TOKEN": cloud.token(),
        "CLOUDSDK_CONFIG": str(tmp_path / "config"),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
    }
    sent_by = ("gcloud", *words[1:-1], f"--config={file}")
    done = subprocess.run(sent_by, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    jobs = cloud.every("/v1/projects/local-project/locations/us-central1/customJobs", "customJobs")
    (sent,) = [job for job in jobs if job["displayName"] == body["displayName"]]
    assert sent["labels"] == body["labels"]
    for key, value in spec.items():
        assert sent["jobSpec"][key] == value

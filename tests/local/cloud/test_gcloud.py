"""gcloud, as it is, against a running local cloud: addresses from the environment, a token from a file. (N17)"""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from slipway.authoring.gcloud.job_file import command, job_file
from slipway.model.kinds import CUSTOM_JOB
from tests.local.cloud.calling import CLUSTERS
from tests.local.cloud.vertex.bodies import cluster_body
from tests.local.conftest import LocalCloud

pytestmark = pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")
BUCKET = "of-gcloud"
RESUMABLE = 9 * 1024**2
"""Bytes of a file that gcloud does not send in one request."""


@pytest.fixture
def environment(cloud: LocalCloud, tmp_path: Path) -> dict[str, str]:
    token = tmp_path / "token"
    token.write_text(cloud.token())
    overrides = {"AIPLATFORM": "/", "STORAGE": "/storage/v1/", "LOGGING": "/"}
    return {
        **cloud.base_env(),
        **{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}": cloud.url + path for api, path in overrides.items()},
        "CLOUDSDK_CONFIG": str(tmp_path / "config"),
        "CLOUDSDK_CORE_DISABLE_PROMPTS": "1",
        "CLOUDSDK_CORE_PROJECT": "local-project",
        "CLOUDSDK_AI_REGION": "us-central1",
        "CLOUDSDK_AUTH_ACCESS_TOKEN_FILE": str(token),
    }


def begun(environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["gcloud", *words], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def said(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out


def test_ai_storage_and_logging(cloud: LocalCloud, environment: dict[str, str], tmp_path: Path) -> None:
    """Most of a second of each command is gcloud's own start, so those that need not wait for another do not."""
    cloud.rest("POST", f"{CLUSTERS}?persistentResourceId=of-gcloud", cluster_body())
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": BUCKET})
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "back").mkdir()
    for name, content in (("small", b"a line\n"), ("large", os.urandom(RESUMABLE))):
        (folder / name).write_bytes(content)
    clusters = begun(environment, "ai", "persistent-resources", "list", "--format=value(name.basename())")
    written = begun(environment, "logging", "write", "of-gcloud", "a line of gcloud's", "--severity=ERROR")
    copied = begun(environment, "storage", "cp", "-r", str(folder), f"gs://{BUCKET}/")
    assert "of-gcloud" in said(clusters).split()
    said(written)
    said(copied)
    read = begun(environment, "logging", "read", 'logName:"of-gcloud" severity>=ERROR', "--format=value(textPayload)")
    back = begun(environment, "storage", "cp", "-r", f"gs://{BUCKET}/folder", str(tmp_path / "back"))
    assert said(read) == "a line of gcloud's\n"
    said(back)
    for name in ("small", "large"):
        found = next((tmp_path / "back").rglob(name))
        assert found.read_bytes() == (folder / name).read_bytes()
    said(begun(environment, "storage", "rm", "-r", f"gs://{BUCKET}"))
    assert BUCKET not in [bucket["name"] for bucket in cloud.every("/storage/v1/b?project=local-project", "items")]


def test_a_request_written_for_gcloud_is_the_request_that_gcloud_sends(  # N13
    cloud: LocalCloud, environment: dict[str, str], tmp_path: Path
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
    said(begun(environment, *words[1:-1], f"--config={file}"))
    jobs = cloud.every("/v1/projects/local-project/locations/us-central1/customJobs", "customJobs")
    (sent,) = [job for job in jobs if job["displayName"] == body["displayName"]]
    assert sent["labels"] == body["labels"]
    for key, value in spec.items():
        assert sent["jobSpec"][key] == value

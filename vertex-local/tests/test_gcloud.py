"""gcloud, as it is, against a running local cloud: addresses from the environment, a token from a file. (N17)"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from vertex_local.testing.bodies import cluster_body
from vertex_local.testing.calling import CLUSTERS
from vertex_local.testing.local_cloud import LocalCloud

pytestmark = pytest.mark.skipif(not shutil.which("gcloud"), reason="gcloud is not installed")
BUCKET = "of-gcloud"
RESUMABLE = 9 * 1024**2
"""Bytes of a file that gcloud does not send in one request."""


@pytest.fixture
def environment(cloud: LocalCloud, tmp_path: Path) -> dict[str, str]:
    token = tmp_path / "token"
    token.write_text(cloud.token())
    overrides = {"AIPLATFORM": "/", "STORAGE": "/storage/v1/", "LOGGING": "/", "SECRETMANAGER": "/"}
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
        file = next((tmp_path / "back").rglob(name))
        assert file.read_bytes() == (folder / name).read_bytes()
    said(begun(environment, "storage", "rm", "-r", f"gs://{BUCKET}"))
    assert BUCKET not in [bucket["name"] for bucket in cloud.every("/storage/v1/b?project=local-project", "items")]


def test_what_is_not_served_is_told_at_once_and_in_words(cloud: LocalCloud, environment: dict[str, str]) -> None:
    """gcloud repeats a 501 for half a minute, and then speaks of the network."""
    created = begun(environment, "secrets", "create", "of-gcloud", "--replication-policy=automatic")
    refused = begun(environment, "secrets", "create", "short", "--replication-policy=automatic", "--ttl=3600s")
    said(created)
    _, words = refused.communicate()
    assert "The local cloud does not implement 'ttl' of secretmanager.Secret" in words and "network" not in words
    with cloud.session() as session:
        asked = {"replication": {"automatic": {}}, "ttl": "3600s"}
        answer = session.post(f"{cloud.url}/v1/projects/local-project/secrets?secretId=short", json=asked)
    assert (answer.status_code, answer.json()["error"]["status"]) == (501, "UNIMPLEMENTED"), "to anybody else"

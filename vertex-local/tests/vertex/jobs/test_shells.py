"""Interactive shells of running jobs (N29)."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from vertex_local.nodes import mounts
from vertex_local.testing.bodies import job_body, worker
from vertex_local.testing.calling import JOBS
from vertex_local.testing.local_cloud import WAIT_S, LocalCloud

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="a replica's view is entered on Linux alone")
PROJECT = "/v3/projects/local-project"
SLEEPS = {"imageUri": "python:3.10", "command": ["python", "-c", "import time; time.sleep(600)"], "env": [
    {"name": "EPOCHS", "value": "three"}
]}  # fmt: skip


@pytest.fixture
def job(cloud: LocalCloud) -> Iterator[str]:
    body = job_body(worker(containerSpec=SLEEPS), spec={"enableWebAccess": True})
    name = str(cloud.rest("POST", JOBS, body)["name"])
    cloud.until(name, "JOB_STATE_RUNNING")
    yield name
    cloud.cancel(name)


@contextmanager
def looks(cloud: LocalCloud, role: str) -> Iterator[None]:
    """Let a role see jobs, and not cancel them."""
    policy = cloud.rest("POST", f"{PROJECT}:getIamPolicy", {})
    binding = {
        "role": "roles/aiplatform.viewer",
        "members": [f"serviceAccount:{role}@local-project.iam.gserviceaccount.com"],
    }
    cloud.rest("POST", f"{PROJECT}:setIamPolicy", {"policy": {**policy, "bindings": [*policy["bindings"], binding]}})
    yield
    now = cloud.rest("POST", f"{PROJECT}:getIamPolicy", {})
    cloud.rest("POST", f"{PROJECT}:setIamPolicy", {"policy": {**policy, "etag": now["etag"]}})


def opened(cloud: LocalCloud, job: str, role: str = "owner") -> str:
    (replica, link), *others = cloud.rest("GET", f"/v1/{job}", role=role)["webAccessUris"].items()
    assert replica == "workerpool0-0" and not others
    return str(link)


def entered(link: str) -> str:
    """Return the page, once the code has started."""
    end = time.monotonic() + WAIT_S
    while (said := requests.get(f"{link}/output", timeout=30)).status_code == 501:
        assert time.monotonic() < end, said.text
        time.sleep(0.1)
    answer = requests.get(link, timeout=30)
    assert answer.headers["content-type"].startswith("text/html"), answer.text
    return answer.text


def said(link: str, line: str, wanted: str) -> str:
    """Type a line, and return the newest output that fits a pattern, once there is some."""
    assert requests.post(link, data=f"{line}\n", timeout=30).status_code == 200
    end = time.monotonic() + WAIT_S
    while not (found := re.findall(wanted, text := requests.get(f"{link}/output?after=0", timeout=30).text)):
        assert time.monotonic() < end, text
        time.sleep(0.1)
    return str(found[-1])


def pid_of(link: str) -> str:
    return said(link, "echo pid=$$'.'", r"pid=(\d+)\.")


def test_a_shell_has_the_environment_and_the_folder_of_the_code(cloud: LocalCloud, job: str) -> None:
    link = opened(cloud, job)
    assert f"workerpool0-0 of {job.rpartition('/')[2]}" in entered(link)
    said(link, "echo $EPOCHS-$((6*7))-$CLOUD_ML_JOB_ID", f"three-42-{job.rpartition('/')[2]}")
    said(link, 'test "$PWD" = "$HOME" && echo at-${EPOCHS}', "at-three")
    if mounts.possible(buckets=True):
        said(link, "stat --file-system --format %T /gcs", "fuse")


def test_a_shell_that_was_left_is_followed_by_a_new_one(cloud: LocalCloud, job: str) -> None:
    link = opened(cloud, job)
    entered(link)
    first = pid_of(link)
    requests.post(link, data="exit\n", timeout=30)
    end = time.monotonic() + WAIT_S
    while Path(f"/proc/{first}").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    assert pid_of(link) != first


def test_a_shell_is_opened_by_whoever_may_act_as_the_job_s_account_alone(cloud: LocalCloud, job: str) -> None:
    with looks(cloud, "previewer"):
        assert requests.get(opened(cloud, job, "previewer"), timeout=30).status_code == 401
    owner, path = cloud.token(), f"{cloud.url}/interactive_shell/{job}/workerpool0-0"
    assert requests.get(path, headers={"Authorization": f"Bearer {owner}"}, timeout=30).status_code == 403
    assert requests.get(opened(cloud, job) + "7", timeout=30).status_code == 404


def test_a_shell_ends_with_its_job(cloud: LocalCloud) -> None:
    name = str(cloud.rest("POST", JOBS, job_body(worker(containerSpec=SLEEPS), spec={"enableWebAccess": True}))["name"])
    cloud.until(name, "JOB_STATE_RUNNING")
    link = opened(cloud, name)
    entered(link)
    pid = pid_of(link)
    cloud.cancel(name)
    cloud.until(name, "JOB_STATE_CANCELLED")
    end = time.monotonic() + WAIT_S
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    assert requests.get(link, timeout=30).status_code in (401, 404)


def test_no_other_job_has_a_shell(cloud: LocalCloud) -> None:
    name = str(cloud.rest("POST", JOBS, job_body(worker(containerSpec=SLEEPS)))["name"])
    running = cloud.until(name, "JOB_STATE_RUNNING")
    assert "webAccessUris" not in running
    cloud.cancel(name)

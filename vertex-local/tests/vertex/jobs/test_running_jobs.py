"""Jobs that run, on a cloud that is killed, stopped and started again (B4, N4, N15)."""

import itertools
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.conftest import ROOT
from vertex_local import world as services
from vertex_local.clock import ManualClock
from vertex_local.nodes import mounts
from vertex_local.settings import Settings
from vertex_local.testing.bodies import autoscaled, cluster_body, job_body, worker
from vertex_local.testing.calling import CLUSTERS, JOBS, REGION, START
from vertex_local.testing.local_cloud import WAIT_S, LocalCloud
from vertex_local.vertex.jobs import table as jobs


def submit(cloud: LocalCloud, *workers: dict[str, Any], **changes: Any) -> str:
    return str(cloud.rest("POST", JOBS, job_body(*workers, **changes))["name"])


def task(code: str, replicas: int = 1, **changes: Any) -> dict[str, Any]:
    spec = {"imageUri": "python:3.10", "command": ["python", "-c", code]} | changes
    return worker(replicas=replicas, containerSpec=spec)


@pytest.fixture(scope="session")
def pool(cloud: LocalCloud) -> str:
    cloud.rest("POST", f"{CLUSTERS}?persistentResourceId=running", cluster_body(autoscaled(1, 4)))
    return "running"


def test_the_chief_s_success_ends_the_others_and_the_job(cloud: LocalCloud, pool: str) -> None:
    chief = """
import json, os, socket
spec = json.loads(os.environ["CLUSTER_SPEC"])
own, _, port = spec["cluster"]["workerpool0"][0].partition(":")
server = socket.create_server((own, int(port)))
for _ in spec["cluster"]["workerpool1"]:
    print("greeted by", server.accept()[0].recv(100).decode())
"""
    other = """
import json, os, socket, time
address, _, port = json.loads(os.environ["CLUSTER_SPEC"])["cluster"]["workerpool0"][0].partition(":")
while True:
    try:
        socket.create_connection((address, int(port))).sendall(os.environ["RANK"].encode())
        break
    except OSError:
        time.sleep(0.1)
time.sleep(600)
"""
    name = submit(cloud, task(chief), task(other, 2), cluster=pool)
    job = cloud.until(name, "JOB_STATE_SUCCEEDED")
    assert job["startTime"] < job["endTime"]
    assert sorted(cloud.lines(name)) == ["greeted by 1", "greeted by 2"]
    used = cloud.rest("GET", f"{CLUSTERS}/{pool}")["resourcePools"][0].get("usedReplicaCount")
    assert used is None, "its machines are free again"


def test_the_job_s_token_may_what_its_account_may_and_ends_with_it(cloud: LocalCloud, pool: str) -> None:
    name = submit(cloud, task("import os; print(os.environ['GOOGLE_OAUTH_ACCESS_TOKEN'])"), cluster=pool)
    cloud.until(name, "JOB_STATE_SUCCEEDED")
    token = cloud.lines(name)[0]
    answer = requests.get(f"{cloud.url}{JOBS}", headers={"Authorization": f"Bearer {token}"}, timeout=30)
    assert answer.status_code == 401


def test_the_first_run_pulls_the_image_and_the_next_finds_it(cloud: LocalCloud) -> None:
    cloud.rest("POST", f"{CLUSTERS}?persistentResourceId=images", cluster_body())
    said = []
    for _ in range(2):
        name = submit(cloud, task("pass"), cluster="images")
        cloud.until(name, "JOB_STATE_SUCCEEDED")
        said.append(" ".join(cloud.lines(name, "service")))
    assert ["Pulling image python:3.10" in text for text in said] == [True, False]
    assert "of images: 1 image." in cloud.command("images", "clear", "images").stdout
    name = submit(cloud, task("pass"), cluster="images")
    cloud.until(name, "JOB_STATE_SUCCEEDED")
    assert "Pulling image python:3.10" in cloud.lines(name, "service")[0]


@pytest.mark.skipif(not mounts.possible(), reason="this machine has no user namespaces")
def test_jobs_that_mount_the_same_path_of_a_server_share_its_files(cloud: LocalCloud, pool: str) -> None:
    mount = {"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}
    for code in ("open('/mnt/nfs/data/greeting', 'w').write('hello')", "print(open('/mnt/nfs/data/greeting').read())"):
        name = submit(cloud, task(code) | {"nfsMounts": [mount]}, cluster=pool)
        cloud.until(name, "JOB_STATE_SUCCEEDED")
    assert cloud.lines(name) == ["hello"]


def test_a_job_leaves_its_logs_and_nothing_else(cloud: LocalCloud) -> None:
    name = submit(cloud, task("open('scratch', 'w').write('x')"))
    cloud.until(name, "JOB_STATE_SUCCEEDED")
    folder = cloud.state / "jobs" / name.rpartition("/")[2]
    end = time.monotonic() + WAIT_S
    while {"environment", "spec.json"} & {name for *_, folders, files in os.walk(folder) for name in folders + files}:
        assert time.monotonic() < end
        time.sleep(0.1)
    assert not any(folder.rglob("scratch"))
    assert any(folder.rglob("log.jsonl"))


def test_a_cloud_that_is_killed_takes_up_its_jobs_again(own_cloud: LocalCloud, tmp_path: Path) -> None:
    own_cloud.fast()
    go = tmp_path / "go"
    code = f"""
import os, sys, time
print("attempt", flush=True)
while not os.path.exists({str(go)!r}):
    time.sleep(0.05)
print("went on")
"""
    name = submit(own_cloud, task(code), task("import time; time.sleep(600)"))
    own_cloud.until(name, "JOB_STATE_RUNNING")
    own_cloud.kill()
    go.touch()
    own_cloud.up()
    own_cloud.until(name, "JOB_STATE_SUCCEEDED")
    assert own_cloud.lines(name) == ["attempt", "went on"], "each line once, one attempt"


def test_a_cloud_that_is_stopped_gives_its_jobs_another_attempt(own_cloud: LocalCloud) -> None:
    own_cloud.fast()
    code = "import os, time; print(os.environ['CLOUD_ML_JOB_ID'], flush=True); time.sleep(600)"
    name = submit(own_cloud, task(code))
    once = submit(own_cloud, task(code), spec={"scheduling": {"disableRetries": True}})
    for job in (name, once):
        own_cloud.until(job, "JOB_STATE_RUNNING")
    assert "job process" in own_cloud.command("down").stdout
    own_cloud.up()
    assert "Internal error" in own_cloud.until(once, "JOB_STATE_FAILED")["error"]["message"]
    end = time.monotonic() + WAIT_S
    while len(own_cloud.lines(name)) < 2:
        assert time.monotonic() < end
        time.sleep(0.1)
    own_cloud.rest("POST", f"/v1/{name}:cancel", {})
    own_cloud.until(name, "JOB_STATE_CANCELLED")


def test_ten_thousand_jobs_are_listed_page_by_page_at_the_same_cost(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine, not in time."""
    world = services.open_world(tmp_path / "state", clock=ManualClock(START), chosen=Settings())
    jobs.open_table(world.store)
    body = {"displayName": "d", "state": "JOB_STATE_SUCCEEDED", "createTime": "t", "jobSpec": {}, "labels": {}}
    with world.store.transaction():
        for number in range(1, 10_001):
            jobs.put(world.store, number, REGION, {**body, "name": f"n{number}"}, None)
    counted = [0]
    world.store.execute("SELECT 1").connection.set_progress_handler(lambda: counted.append(counted.pop() + 1), 100)
    costs, seen, after = [], 0, 2**62
    while after > 1:
        counted[0] = 0
        listed = list(itertools.islice(jobs.newest(world.store, REGION, after), 1000))
        after = listed[-1][0]
        costs.append(counted[0])
        seen += len(listed)
    assert (seen, len(costs)) == (10_000, 10)
    assert max(costs) <= 1.5 * min(costs)
    world.store.close()


def test_the_server_does_not_load_whole_client_libraries() -> None:
    """They take seconds, and the cloud is to answer within one. Loaded later they are the real ones."""
    code = """
import sys
from vertex_local.server.main import load_services
assert {module.__name__ for module in load_services()} >= {"vertex_local.vertex.routes", "vertex_local.quotas.routes"}
from vertex_local.vertex.messages import MESSAGES
MESSAGES.parse("v1", "CustomJob", {"displayName": "x"})
MESSAGES.parse("v1beta1", "PersistentResource", {"displayName": "x"})
loaded = [name for name in sys.modules if name.startswith("google.cloud.aiplatform") and ".services" in name]
assert not loaded, loaded
from vertex_local.quotas.records import MESSAGES
MESSAGES.parse("v1", "QuotaPreference", {"quotaId": "x"})
light = sys.modules["google.cloud.cloudquotas_v1.types.resources"]
from google.cloud import cloudquotas_v1
assert cloudquotas_v1.QuotaPreference is light.QuotaPreference
assert cloudquotas_v1.CloudQuotasClient
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

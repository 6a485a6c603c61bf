"""Buckets below /gcs in jobs that run: through the kernel, by whatever a job runs, however it ends. (N4, N17)"""

import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.vertex.jobs.test_running_jobs import submit, task
from vertex_local.nodes import mounts
from vertex_local.testing.local_cloud import ENDED, WAIT_S, LocalCloud

pytestmark = pytest.mark.skipif(not mounts.possible(buckets=True), reason="this machine can't mount buckets")
HALF = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: None)
file = open(sys.argv[1], "w")
file.write("half")
file.flush()
print("half", flush=True)
while True:
    time.sleep(0.1)
"""


@pytest.fixture
def bucket(cloud: LocalCloud) -> str:
    return made(cloud)


def made(cloud: LocalCloud) -> str:
    name = f"jobs-{uuid.uuid4().hex[:12]}"
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": name, "location": "us-central1"})
    return name


def put(cloud: LocalCloud, bucket: str, name: str, content: str) -> None:
    path = f"/upload/storage/v1/b/{bucket}/o?uploadType=media&name={name}"
    cloud.call("POST", path, data=content.encode(), content_type="text/plain").raise_for_status()


def content(cloud: LocalCloud, bucket: str, name: str) -> str:
    answer = cloud.call("GET", f"/storage/v1/b/{bucket}/o/{name}?alt=media")
    return answer.text if answer.ok else ""


def soon(true: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)


def test_a_job_reads_and_writes_buckets_as_folders(cloud: LocalCloud, bucket: str) -> None:
    put(cloud, bucket, "in/data.csv", "1,2\n")
    shell = f"""
set -e
cd /gcs/{bucket}
cat in/data.csv
mkdir -p out/deep; echo one > out/deep/log; echo two >> out/deep/log
mv out/deep/log "out/a b ü"
ln -s "a b ü" out/link; cat out/link
cp -r in copy; rm -r copy
find . | sort
python - <<END
import mmap, subprocess
with open("map", "w+b") as file:
    file.truncate(9000)
    mapped = mmap.mmap(file.fileno(), 9000)
mapped[8000:8005] = b"later"  # past the file's close, and never synchronised
for attempt in (lambda: subprocess.run(["/gcs/{bucket}/in/data.csv"]), lambda: open("/gcs/{bucket}-not/x")):
    try:
        attempt()
    except OSError as error:
        print(type(error).__name__)
END
"""
    name = submit(cloud, task("", command=["sh", "-c", shell]))
    assert cloud.until(name, *ENDED)["state"] == "JOB_STATE_SUCCEEDED", cloud.lines(name)
    first, *found, third, fourth = cloud.lines(name)
    assert [first, *found[:2], third, fourth] == ["1,2", "one", "two", "PermissionError", "FileNotFoundError"]
    assert found[2:] == [".", "./in", "./in/data.csv", "./out", "./out/a b ü", "./out/deep", "./out/link"]
    assert content(cloud, bucket, "out%2Fa b ü") == "one\ntwo\n"
    assert content(cloud, bucket, "map")[8000:8005] == "later"
    assert not Path("/gcs", bucket).exists()


def test_reads_and_writes_are_the_account_s(cloud: LocalCloud, bucket: str) -> None:
    put(cloud, bucket, "in", "1")
    cloud.rest("POST", "/v1/projects/local-project/serviceAccounts", {"accountId": bucket[:30]})
    email = f"{bucket[:30]}@local-project.iam.gserviceaccount.com"
    policy = cloud.rest("GET", f"/storage/v1/b/{bucket}/iam")
    viewer = {"role": "roles/storage.objectViewer", "members": [f"serviceAccount:{email}"]}
    cloud.rest("PUT", f"/storage/v1/b/{bucket}/iam", {**policy, "bindings": [*policy.get("bindings", ()), viewer]})
    code = f"""
print(open("/gcs/{bucket}/in").read())
with open("/gcs/{bucket}/out", "w") as file:
    file.write("1")
"""
    name = submit(cloud, task(code), spec={"serviceAccount": email})
    cloud.until(name, "JOB_STATE_FAILED")
    said = cloud.lines(name)
    # In any order: the machine reads the two streams side by side.
    assert "1" in said and "PermissionError: [Errno 13] Permission denied" in said
    told = [line for line in cloud.lines(name, "service") if "/gcs/" in line]
    assert len(told) == 1 and told[0].startswith(f"/gcs/{bucket}/out can't be written by {email}: HTTP 403")


@pytest.mark.parametrize("end", ["cancelled", "its machine killed"])
def test_half_a_file_is_not_kept_of_a_job_that_is_ended(cloud: LocalCloud, bucket: str, end: str) -> None:
    put(cloud, bucket, "checkpoint", "whole")
    path = f"/gcs/{bucket}/checkpoint"
    half = task("", command=["python", "-c", HALF, path])
    name = submit(cloud, half, spec={"scheduling": {"disableRetries": True}})
    soon(lambda: "half" in cloud.lines(name))
    if end == "cancelled":
        cloud.cancel(name)
    else:
        assert cloud.command("kill", name.rpartition("/")[2], "workerpool0-0").returncode == 0
    cloud.until(name, *ENDED)
    assert content(cloud, bucket, "checkpoint") == "whole"


def test_a_cloud_that_is_killed_while_a_file_is_closed_gets_it_when_it_is_back(
    own_cloud: LocalCloud, tmp_path: Path
) -> None:  # N2
    own_cloud.fast()
    bucket, go = made(own_cloud), tmp_path / "go"
    code = f"""
import os, time
file = open("/gcs/{bucket}/large", "wb")
file.write(b"x" * (40 << 20))
print("written", flush=True)
while not os.path.exists({str(go)!r}):
    time.sleep(0.05)
file.close()
print(os.path.getsize("/gcs/{bucket}/large"))
"""
    name = submit(own_cloud, task(code))
    soon(lambda: "written" in own_cloud.lines(name))
    own_cloud.kill()
    go.touch()
    own_cloud.up()
    assert own_cloud.until(name, *ENDED)["state"] == "JOB_STATE_SUCCEEDED", own_cloud.lines(name)
    assert own_cloud.lines(name) == ["written", str(40 << 20)]

"""The other side of a comparison, a plain program and a script of the SDK, declares and sends the same."""

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.bare import program
from bench.errors import BenchError
from bench.sdk import script
from tests.loopback import Handler, served

pytestmark = pytest.mark.journey

MARK = "4dabf18193072939515e22adb298388d"
URN = "urn:pulumi:local::slipway::slipway:Workspace$"


def resource(kind: str, name: str, inputs: dict[str, Any], *dependencies: str) -> dict[str, Any]:
    return {"urn": f"{URN}{kind}::{name}", "type": kind, "inputs": inputs, "dependencies": list(dependencies)}


BUCKET = resource(
    "gcp:storage/bucket:Bucket", "catalog", {"__defaults": [], "uniformBucketLevelAccess": True, "location": "US"}
)
OBJECT = resource(
    "gcp:storage/bucketObject:BucketObject",
    "package",
    {"bucket": "b", "source": {MARK: "c44067f5952c0a294b673a41bacd8c17", "path": "a.tar.gz", "hash": "…"}},
    BUCKET["urn"],
    URN + "slipway:Workspace::workspace",
)
CLUSTER = resource(
    "gcp:vertex/aiPersistentResource:AiPersistentResource",
    "cpu-1a2b3c4",
    {
        "labels": {"slipway-stack": "local"},
        "resourcePools": [{"machineSpec": {"machineType": "n1-standard-8"}, "replicaCount": 1}],
        "displayName": {MARK: "1b47061264138c4ac30d75fd1eb44270", "plaintext": '"cpu"'},
    },
)


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": list(resources)}}


def test_declares_each_resource_with_its_inputs_and_its_order(tmp_path: Path) -> None:
    stack = {"urn": "urn:pulumi:local::slipway::pulumi:pulumi:Stack::slipway-local", "type": "pulumi:pulumi:Stack"}
    component = {"urn": URN + "slipway:Workspace::workspace", "type": "slipway:index:Workspace", "inputs": {}}
    text = program(state(stack, component, BUCKET, OBJECT, CLUSTER), tmp_path)
    bucket, package, cluster = text.splitlines()[3:]
    assert bucket == "r0 = gcp.storage.Bucket('catalog', uniform_bucket_level_access=True, location='US')"
    assert package == (
        f"r1 = gcp.storage.BucketObject('package', bucket='b', source=pulumi.FileAsset('{tmp_path}/a.tar.gz'), "
        "opts=pulumi.ResourceOptions(depends_on=[r0]))"
    )
    assert cluster == (
        "r2 = gcp.vertex.AiPersistentResource('cpu-1a2b3c4', labels={'slipway-stack': 'local'}, resource_pools="
        "[{'machine_spec': {'machine_type': 'n1-standard-8'}, 'replica_count': 1}], display_name='cpu')"
    )
    assert "slipway" not in text.replace("slipway-stack", "")
    compile(text, "bare", "exec")


POOL = {
    "machineSpec": {"machineType": "n1-standard-8"},
    "replicaCount": 2,
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    "pythonPackageSpec": {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
        "packageUris": ["gs://b/p.tar.gz"],
        "pythonModule": "slipway_launcher",
        "args": ["--trees", "200"],
    },
}
REQUEST: dict[str, Any] = {
    "displayName": "dask-digits-abc",
    "labels": {"slipway-template": "dask-digits"},
    "jobSpec": {
        "workerPoolSpecs": [POOL],
        "baseOutputDirectory": {"outputUriPrefix": "gs://work/jobs/dask-digits-abc"},
        "persistentResourceId": "cpu-1a2b3c4",
        "serviceAccount": "trainer@p.iam.gserviceaccount.com",
        "scheduling": {"timeout": "3600s"},
    },
}


def test_what_it_can_not_write_or_would_leave_out_is_named(tmp_path: Path) -> None:
    secret = {"name": {MARK: "1b47061264138c4ac30d75fd1eb44270", "ciphertext": "v1"}}
    for deployed, why in (
        (state(), "no gcp resources"),
        (state(resource("gcp:storage/bucket:Bucket", "b", secret)), "ciphertext"),
    ):
        with pytest.raises(BenchError, match=why):
            program(deployed, tmp_path)
    request = copy.deepcopy(REQUEST)
    request["jobSpec"]["enableWebAccess"] = True
    with pytest.raises(BenchError, match="enableWebAccess"):
        script(request, "p", "us-central1")


def test_it_sends_the_same_job(tmp_path: Path) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    class Vertex(Handler):
        def do_POST(self) -> None:
            sent.append((self.path, json.loads(self.body())))
            self.answer(200, json.dumps({"name": "projects/1/locations/us-central1/customJobs/4711"}).encode())

    file = tmp_path / "submit.py"
    file.write_text(script(REQUEST, "p", "us-central1"))
    with served(Vertex) as url:
        told = {"GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": f"{url}/v1beta1/", "GOOGLE_OAUTH_ACCESS_TOKEN": "token"}
        done = subprocess.run([sys.executable, str(file)], env={**os.environ, **told}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "projects/1/locations/us-central1/customJobs/4711"
    ((path, body),) = sent
    assert path.split("?")[0].endswith("/projects/p/locations/us-central1/customJobs")
    expected = copy.deepcopy(REQUEST)
    # The protocol's JSON writes 64-bit numbers as text.
    expected["jobSpec"]["workerPoolSpecs"][0]["replicaCount"] = "2"
    assert body == expected

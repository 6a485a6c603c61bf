"""The SDK script that submissions are measured against sends the very same job."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from bench.errors import BenchError
from bench.sdk import script

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


def test_a_field_it_would_leave_out_is_named() -> None:
    request = copy.deepcopy(REQUEST)
    request["jobSpec"]["enableWebAccess"] = True
    with pytest.raises(BenchError, match="enableWebAccess"):
        script(request, "p", "us-central1")


def test_it_sends_the_same_job(tmp_path: Path) -> None:
    sent: list[tuple[str, dict[str, Any]]] = []

    class Vertex(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent.append((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            answer = json.dumps({"name": "projects/1/locations/us-central1/customJobs/4711"}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Vertex)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    file = tmp_path / "submit.py"
    file.write_text(script(REQUEST, "p", "us-central1"))
    environ = {
        **os.environ,
        "GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT": f"http://127.0.0.1:{server.server_port}/v1beta1/",
        "GOOGLE_OAUTH_ACCESS_TOKEN": "token",
    }
    done = subprocess.run([sys.executable, str(file)], env=environ, capture_output=True, text=True)
    server.shutdown()
    server.server_close()
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "projects/1/locations/us-central1/customJobs/4711"
    ((path, body),) = sent
    assert path.split("?")[0].endswith("/projects/p/locations/us-central1/customJobs")
    expected = copy.deepcopy(REQUEST)
    # The protocol's JSON writes 64-bit numbers as text.
    expected["jobSpec"]["workerPoolSpecs"][0]["replicaCount"] = "2"
    assert body == expected

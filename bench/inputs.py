"""Inputs that the launcher copies to a replica's disk, where they are read, against the same files that are read one
after the other through the mount of their bucket. The mount is the local cloud's, and not Cloud Storage FUSE.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Mapping
from typing import Any

from bench.errors import BenchError
from bench.ground import CHECKOUT, Cloud, Ground, Tell
from bench.result import Result
from bench.submit import Submitter

FILES, BYTES = 400, 100_000
LATENCY_S = 0.03
"""Time that is added to each answer of Cloud Storage: an assumption, not a measurement."""
_BUCKET, _ENDS_S = "bench-inputs", 300
_JOBS = "/v1/projects/local-project/locations/us-central1/customJobs"
_PROGRAM = f"""
import json, os, pathlib, sys, tempfile, time
sys.path.insert(0, {str(CHECKOUT)!r})
from slipway.authoring.packages import slipway_inputs

def read(folder):
    began = time.monotonic()
    assert sum(len(path.read_bytes()) for path in sorted(pathlib.Path(folder).iterdir())) == {FILES * BYTES}
    return time.monotonic() - began

mounted = read("/gcs/{_BUCKET}/files")
began = time.monotonic()
environ = {{**os.environ, "SLIPWAY_INPUT_DATA": "gs://{_BUCKET}/files"}}
copied = slipway_inputs.copied(pathlib.Path(tempfile.mkdtemp(dir=".")), environ)
taken = time.monotonic() - began
print(json.dumps({{"mounted": mounted, "copied": taken + read(copied["SLIPWAY_INPUT_DATA"])}}))
"""


def copied(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds for all files, with `LATENCY_S` added to each answer of Cloud Storage. Raises BenchError where
    the machine has no mounts, as the cloud then refuses the job."""
    submitter = Submitter(ground)
    cloud, body = submitter.cloud, job_that_measures(submitter.request, _PROGRAM)
    new_bucket(cloud, _BUCKET, "roles/storage.objectViewer", body["jobSpec"]["serviceAccount"])
    _upload(cloud)
    ours, theirs = [], []
    for _ in range(min(runs, 3)):
        taken = measured(cloud, body, _BUCKET, LATENCY_S)
        ours.append(taken["copied"])
        theirs.append(taken["mounted"])
        tell(f"{FILES} files of {BYTES // 1000} kB: copied and read in {ours[-1]:.2f} s, mounted {theirs[-1]:.2f} s")
    return [Result("inputs-vs-mount", statistics.median(ours), statistics.median(theirs), 4.0, speedup=True)]


def job_that_measures(request: Mapping[str, Any], program: str) -> dict[str, Any]:
    """Return a job that runs a Python program on the first machine of a template's job."""
    spec = request["jobSpec"]
    first = {key: spec["workerPoolSpecs"][0][key] for key in ("machineSpec", "diskSpec", "replicaCount")}
    container = {"imageUri": "python:3.11", "command": ["python", "-c", program]}
    own = {key: spec[key] for key in ("persistentResourceId", "serviceAccount")}
    return {"displayName": "measure", "jobSpec": {**own, "workerPoolSpecs": [{**first, "containerSpec": container}]}}


def new_bucket(cloud: Cloud, bucket: str, role: str, account: str) -> None:
    """Create a bucket on which the account has the role."""
    cloud.call("POST", "/storage/v1/b?project=local-project", {"name": bucket, "location": "US-CENTRAL1"})
    binding = {"role": role, "members": [f"serviceAccount:{account}"]}
    policy = cloud.call("GET", f"/storage/v1/b/{bucket}/iam")
    cloud.call("PUT", f"/storage/v1/b/{bucket}/iam", {**policy, "bindings": [*policy.get("bindings", []), binding]})


def _upload(cloud: Cloud) -> None:
    """Create the files, each a JSON text of `BYTES`."""
    for number in range(FILES):
        path = f"/upload/storage/v1/b/{_BUCKET}/o?uploadType=media&name=files%2F{number:05}.json"
        cloud.call("POST", path, "1" * (BYTES - 2))


def measured(cloud: Cloud, body: Mapping[str, Any], bucket: str, latency: float) -> dict[str, float]:
    """Run the job while each answer about the bucket takes `latency` seconds more. Return the measurements, a JSON
    object in the last line of its log. Raises BenchError."""
    slow = {"kind": "delay", "match": f"/b/{bucket}/o", "seconds": latency}
    cloud.call("POST", "/vertex-local/faults", {"faults": [slow]})
    try:
        job, until = cloud.call("POST", _JOBS, body)["name"], time.monotonic() + _ENDS_S
        while "endTime" not in (now := cloud.call("GET", f"/v1/{job}")):
            if time.monotonic() > until:
                raise BenchError(f"{job} did not end within {_ENDS_S} s")
            time.sleep(0.2)
    finally:
        cloud.call("DELETE", "/vertex-local/faults")
    wanted = f'resource.labels.job_id="{job.rpartition("/")[2]}"'
    entries = cloud.call("POST", "/v2/entries:list", {"resourceNames": ["projects/local-project"], "filter": wanted})
    lines = [str(entry.get("textPayload", "")) for entry in entries.get("entries", [])]
    if now["state"] != "JOB_STATE_SUCCEEDED" or not lines[-1].startswith("{"):
        raise BenchError(f"the job did not measure: {now['state']}\n" + "\n".join(lines[-5:]))
    return dict(json.loads(lines[-1]))

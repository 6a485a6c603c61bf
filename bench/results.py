"""Small results that the launcher keeps when the code has ended, against the same files that are sent one by one."""

from __future__ import annotations

import statistics

from bench.ground import CHECKOUT, Ground, Tell
from bench.inputs import job_that_measures, measured, new_bucket
from bench.result import Result, absolute
from bench.submit import Submitter

FILES, BYTES = 1500, 500
ONE_BY_ONE = 150
"""The number of files that are sent one by one. The time for all is in proportion."""
LATENCY_S = 0.05
"""Time that is added to each answer of Cloud Storage: an assumption, not a measurement."""
LIMIT_S = 10.0
_BUCKET = "bench-results"
_PROGRAM = f"""
import io, json, os, pathlib, sys, tempfile, time
sys.path.insert(0, {str(CHECKOUT)!r})
from slipway.authoring.packages.slipway_results import CHIEF, Results
from slipway.authoring.packages.slipway_storage import Body, Storage

def body(name):
    return Body(name, {{}}, io.BytesIO(bytes({BYTES})), {BYTES}, lambda: None)

storage = Storage(os.environ)
output = "gs://{_BUCKET}/" + os.environ["CLOUD_ML_JOB_ID"]
results = Results(pathlib.Path(tempfile.mkdtemp(dir=".")), output, CHIEF, storage)
for number in range({FILES}):
    (results.folder / f"{{number}}.txt").write_bytes(bytes({BYTES}))
began = time.monotonic()
results.keep(ended=True)
kept = time.monotonic() - began
began = time.monotonic()
for number in range({ONE_BY_ONE}):
    storage.keep(f"gs://{_BUCKET}/single/{{number}}.txt", body, time.sleep)
single = (time.monotonic() - began) * {FILES} / {ONE_BY_ONE}
print(json.dumps({{"kept": kept, "single": single}}))
"""


def kept(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the seconds for all files, with `LATENCY_S` added to each answer of Cloud Storage. Raises BenchError."""
    submitter = Submitter(ground)
    body = job_that_measures(submitter.request, _PROGRAM)
    new_bucket(submitter.cloud, _BUCKET, "roles/storage.objectUser", body["jobSpec"]["serviceAccount"])
    ours, theirs = [], []
    for _ in range(min(runs, 3)):
        taken = measured(submitter.cloud, body, _BUCKET, LATENCY_S)
        ours.append(taken["kept"])
        theirs.append(taken["single"])
        tell(f"{FILES} files of {BYTES} bytes: kept in {ours[-1]:.1f} s, one by one {theirs[-1]:.1f} s")
    seconds = statistics.median(ours)
    return [
        Result("results-vs-single", seconds, statistics.median(theirs), 8.0, speedup=True),
        absolute("results-small", seconds, LIMIT_S),
    ]

"""The job of the shipped `dask-digits` without its training, which tests/templates and the demo's test do."""

from pathlib import Path

_SCHEDULER = """
import json, os, time
from pathlib import Path

async def serve(me, options):
    fits = options.candidates * options.folds
    print(f"scheduler: {me.workers} of {me.workers} workers, {me.workers} threads", flush=True)
    time.sleep(600 if options.candidates == 100 else 0)
    print(f"search: {fits}/{fits} fits, best so far 0.9700 depth=8", flush=True)
    print("accuracy 0.9778 on 450 held-out digits", flush=True)
    metrics = {"accuracy": 0.9778 - options.seed / 1000, "trees": options.trees, "seed": options.seed, "seconds": 1.5}
    Path(os.environ["SLIPWAY_OUTPUT"], "metrics.json").write_text(json.dumps(metrics))
"""
_WORKER = """
async def serve(me):
    print(f"worker {me.index}: joined", flush=True)
"""


def spare_training(checkout: Path) -> None:
    """Let the job of a checkout of one's own print and write what the real one does; with 100 candidates it holds its
    machines until it is cancelled."""
    code = checkout / "jobs" / "dask_digits"
    (code / "scheduler.py").write_text(_SCHEDULER)
    (code / "worker.py").write_text(_WORKER)
    (code / "requirements.txt").unlink()

"""A small checkout whose template waits for its word: a job that runs for as long as a test needs, and no longer."""

from __future__ import annotations

from pathlib import Path

from . import nap

GO = "go"
"""The object in a job's output that lets it end."""
TEMPLATE = '''
"""wait: a job of one machine that waits for its word."""

from slipway.template import Disk, JobTemplate, Package, WorkerPool

TEMPLATE = JobTemplate(
    name="wait",
    summary="waits until it is told to go",
    code=Package(
        folder="jobs/wait",
        module="wait.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="waiter",
            machine="n1-standard-4",
            disk=Disk("pd-ssd", 100),
            args=("--output=${slipway.output}",),
        ),
    ),
    capacity_types=("pool", "spot"),
    timeout_s=3600,
)
'''
TASK = f"""
import argparse, time

from google.cloud import storage

parser = argparse.ArgumentParser()
parser.add_argument("--output")
bucket, _, folder = parser.parse_args().output.removeprefix("gs://").partition("/")
objects = storage.Client().bucket(bucket)
print("waits", flush=True)
while not objects.blob(folder.rstrip("/") + "/{GO}").exists():
    time.sleep(0.2)
print("went", flush=True)
"""


def lay_out(folder: Path) -> None:
    """Write the files of the checkout: the unchanged program, and the template `wait`."""
    nap.lay_out(folder, "wait", TEMPLATE, TASK)

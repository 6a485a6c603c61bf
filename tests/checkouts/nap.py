"""A small checkout: the unchanged program, and a template whose job says a word and sleeps."""

import shutil
from pathlib import Path

from tests.local.conftest import ROOT

NAP = '''
"""nap: a job of one machine that says a word and sleeps."""

from slipway.template import Disk, JobTemplate, Package, Parameter, WorkerPool

TEMPLATE = JobTemplate(
    name="nap",
    summary="says a word and sleeps",
    code=Package(
        folder="jobs/nap",
        module="nap.task",
        image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
    ),
    worker_pools=(
        WorkerPool(
            role="sleeper",
            machine="n1-standard-4",
            disk=Disk("pd-ssd", 100),
            args=("--seconds=${seconds}", "--say=${say}", "--end=${end}", "--output=${slipway.output}"),
        ),
    ),
    parameters=(
        Parameter("say", str, help="the word"),
        Parameter("seconds", float, default=0.0, min=0, max=600, help="how long it sleeps"),
        Parameter("end", str, default="well", choices=("well", "badly"), help="how it ends"),
    ),
    capacity_types=("pool", "spot"),
    code_flag=True,
)
'''
NAP_TASK = """
import argparse, sys, time

parser = argparse.ArgumentParser()
for flag in ("--seconds", "--say", "--end", "--output"):
    parser.add_argument(flag)
flags = parser.parse_args()
print(f"the word is {flags.say}", flush=True)
time.sleep(float(flags.seconds))
print("slept well", flush=True)
sys.exit(flags.end == "badly")
"""


def lay_out(folder: Path, name: str = "nap", template: str = NAP, task: str = NAP_TASK) -> None:
    """Write the files of a small checkout: the unchanged program, and one template with its job's code."""
    (folder / "stacks").mkdir(parents=True)
    (folder / "templates").mkdir()
    (folder / "jobs" / name).mkdir(parents=True)
    for kept in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / kept, folder)
    (folder / "templates" / f"{name}.py").write_text(template)
    (folder / "jobs" / name / "__init__.py").touch()
    (folder / "jobs" / name / "task.py").write_text(task)

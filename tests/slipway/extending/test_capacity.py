"""A capacity type is one row."""

from pathlib import Path

from .conftest import Edit, told

CALENDAR = """    CapacityType(
        "calendar",
        strategy="LOW_COST",
        draws="preemptible",
        price="spot",
        waits_by_itself=True,
        when="a week of GPUs that must begin on a day",
        billing="as Spot",
        instead="waits for its day",
    ),
)

CAPACITY_TYPES:"""

PLAIN = CALENDAR.replace('"LOW_COST"', "None").replace("waits_by_itself=True", "waits_by_itself=False")


def test_a_capacity_type_is_one_row(tmp_path: Path, edited: Edit) -> None:
    edited("slipway/capacity.py", lambda text: text.replace(")\n\nCAPACITY_TYPES:", CALENDAR))
    found = told(
        tmp_path,
        """
import json
from slipway.capacity import CAPACITY_TYPES
from slipway.cloud.jobs import VertexJob
from slipway.machines.spec import MachineSpec
from slipway.prices import hourly
from slipway.rules.table import check
from slipway.stack.structure import _NOT_THERE_YET
from slipway.submission.parameters import waits
from slipway.template import JobTemplate, Package, WorkerPool
from slipway.template.compile import request
from slipway.template.jobspec import CompileContext
from slipway.template.proof import StackResources, prove

code = Package("jobs/digits", "digits.task", "us-docker.pkg.dev/vertex-ai/training/image:latest")
digits = JobTemplate("digits", "digits", code, (WorkerPool("chief", "n1-standard-4"),), capacity_types=("calendar",))
context = CompileContext("dev", "us-central1", "3f9c2e1", "c", "w", "t@p.iam.gserviceaccount.com", {}, project="p")
body = request(digits, "calendar", context, {code: "gs://c/code.tar.gz"})
wrong = {**body, "jobSpec": {**body["jobSpec"], "scheduling": {"strategy": "SPOT"}}}
job = VertexJob.read({"name": "j/1", "state": "JOB_STATE_PENDING", "jobSpec": body["jobSpec"]})
spec = MachineSpec("n1-standard-4")
print(json.dumps({
    "scheduling": body["jobSpec"]["scheduling"],
    "offers": [placement.label for placement in prove(digits, StackResources((), region="us-central1"))],
    "read back": [job.capacity_type, job.preemptible],
    "as Spot": hourly(spec, "us-central1", "calendar") == hourly(spec, "us-central1", "spot"),
    "breaches": [one.rule.id for one in check("custom-job", "calendar", wrong)],
    "endless": waits({"calendar": "0"}),
    "in a stack file": _NOT_THERE_YET["calendar"][1],
}))
""",
    )
    assert found["scheduling"]["strategy"] == "LOW_COST" and found["scheduling"]["maxWaitDuration"] == "86400s"
    assert found["offers"] == ["calendar"]
    assert found["read back"] == ["calendar", True]
    assert found["as Spot"]
    assert "strategy-of-its-type" in found["breaches"]
    assert found["endless"] == {"calendar": 0}
    assert found["in a stack file"].startswith("leave it out; calendar ")


def test_a_capacity_type_without_a_strategy_is_one_row(tmp_path: Path, edited: Edit) -> None:
    edited("slipway/capacity.py", lambda text: text.replace(")\n\nCAPACITY_TYPES:", PLAIN))
    program = """
import json
from datetime import UTC, datetime
from slipway.cloud.jobs import VertexJob
from slipway.jobs.cost import job_cost
from slipway.prices import hourly
from slipway.template import JobTemplate, Package, WorkerPool
from slipway.template.compile import request
from slipway.template.jobspec import CompileContext

code = Package("jobs/digits", "digits.task", "us-docker.pkg.dev/vertex-ai/training/image:latest")
digits = JobTemplate("digits", "digits", code, (WorkerPool("chief", "n1-standard-4"),), capacity_types=("calendar",))
context = CompileContext("dev", "us-central1", "3f9c2e1", "c", "w", "t@p.iam.gserviceaccount.com", {}, project="p")
body = request(digits, "calendar", context, {code: "gs://c/code.tar.gz"})
job = VertexJob.read({**body, "name": "j/1", "state": "JOB_STATE_PENDING"})
money = job_cost(job, "us-central1", datetime.now(UTC))
spot = hourly(job.worker_pools[0].machine, "us-central1", "spot")
print(json.dumps([body["jobSpec"]["scheduling"], money.capacity_type, job.preemptible, money.per_hour == spot]))
"""
    scheduling, capacity_type, preemptible, as_spot = told(tmp_path, program)
    assert "strategy" not in scheduling
    assert (capacity_type, preemptible, as_spot) == ("calendar", True, True)

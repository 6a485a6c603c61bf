"""A capacity type, a machine family, a kind of job and a team's rule are a row or a file each."""

import json
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

PINNED = """    Rule(
        "executor-pinned",
        "The executor image is pinned by digest.",
        "ours",
        lambda subject: (
            f"{worker.name}: the executor image is not pinned by digest"
            for worker in subject.workers
            if "@sha256:" not in str(worker.code.get("executorImageUri", "@sha256:"))
        ),
    ),
    Rule("package","""


def test_a_capacity_type_and_a_rule_of_a_team_are_one_row_each(tmp_path: Path, edited: Edit) -> None:
    edited("slipway/model/capacity.py", lambda text: text.replace(")\n\nCAPACITY_TYPES:", CALENDAR))
    edited("slipway/model/rules/code.py", lambda text: text.replace('    Rule("package",', PINNED))
    outcome = told(
        tmp_path,
        """
import json
from dataclasses import replace
from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.model.prices import hourly
from slipway.model.rules.table import check
from slipway.authoring.stack.structure import _NOT_THERE_YET
from slipway.using.submission.parameters import waits
from slipway.template import JobTemplate, Package, WorkerPool
from slipway.authoring.template.compile import request
from slipway.authoring.template.jobspec import CompileContext
from slipway.authoring.template.proof import StackResources, prove

code = Package("jobs/digits", "digits.task", "us-docker.pkg.dev/vertex-ai/training/image@sha256:" + "0" * 64)
digits = JobTemplate("digits", "digits", code, (WorkerPool("chief", "n1-standard-4"),), capacity_types=("calendar",))
context = CompileContext("dev", "us-central1", "3f9c2e1", "c", "w", "t@p.iam.gserviceaccount.com", {}, project="p")
body = request(digits, "calendar", context, {code: "gs://c/code.tar.gz"})
wrong = {**body, "jobSpec": {**body["jobSpec"], "scheduling": {"strategy": "SPOT"}}}
job = VertexJob.read({"name": "j/1", "state": "JOB_STATE_PENDING", "jobSpec": body["jobSpec"]})
spec = MachineSpec("n1-standard-4")
loose = replace(code, image="us-docker.pkg.dev/vertex-ai/training/image:latest")
try:
    request(replace(digits, code=loose), "calendar", context, {loose: "gs://c/code.tar.gz"})
except ConfigError as error:
    refused = error.why
print(json.dumps({
    "scheduling": body["jobSpec"]["scheduling"],
    "offers": [placement.label for placement in prove(digits, StackResources((), region="us-central1"))],
    "read back": [job.capacity_type, job.preemptible],
    "as Spot": hourly(spec, "us-central1", "calendar") == hourly(spec, "us-central1", "spot"),
    "breaches": [one.rule.id for one in check("custom-job", "calendar", wrong)],
    "endless": waits({"calendar": "0"}),
    "in a stack file": _NOT_THERE_YET["calendar"][1],
    "refused": refused,
}))
""",
    )
    assert outcome["scheduling"]["strategy"] == "LOW_COST" and outcome["scheduling"]["maxWaitDuration"] == "86400s"
    assert outcome["offers"] == ["calendar"]
    assert outcome["read back"] == ["calendar", True] and outcome["as Spot"]
    assert "strategy-of-its-type" in outcome["breaches"]
    assert outcome["endless"] == {"calendar": 0}
    assert outcome["in a stack file"].startswith("leave it out; calendar ")
    assert outcome["refused"].startswith("worker pool 0: ") and outcome["refused"].endswith(" [executor-pinned]")


B300 = {
    "model": "B300",
    "quota": "nvidia_b300_gpus",
    "quotaId": "B300GPUs",
    "label": "B300 GPUs",
    "documented": False,
    "flexStart": True,
    "regions": ["us-central1"],
    "machines": {
        "a5-highgpu-8g": {
            "vcpus": 224,
            "memoryGb": 3968,
            "family": "a5",
            "disks": ["hyperdisk-balanced"],
            "defaultDisk": "hyperdisk-balanced",
            "acceleratorCount": 8,
        }
    },
}


def test_a_machine_family_with_a_new_accelerator_is_one_row(tmp_path: Path, edited: Edit) -> None:
    def with_b300(text: str) -> str:
        table = json.loads(text)
        table["accelerators"]["NVIDIA_B300"] = B300
        return json.dumps(table)

    edited("slipway/model/machines/table.json", with_b300)
    outcome = told(
        tmp_path,
        """
import json
from journey.prices import tables
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.model.machines.table import machine, regions_with
from slipway.model.prices import hourly
from slipway.google.quota.metrics import label, needs_of, quota_id
from slipway.model.rules.table import TABLE, check
from slipway.authoring.stack.structure import schema

of = machine("a5-highgpu-8g")
spec = MachineSpec(of.type, of.accelerator, of.accelerator_count)
body = {"jobSpec": {"workerPoolSpecs": [spec.request() | {"replicaCount": "1"}],
                    "scheduling": {"strategy": "FLEX_START", "maxWaitDuration": "60s"}}}
csv = ["machine,region,on_demand,spot,local_ssd_gb", "a5-highgpu-8g,us-central1,80,40,"]
made = tables(csv, ["disk,region,month"], "a list, 2026-11-20")
defined = schema()["$defs"]
print(json.dumps({
    "accelerator": [of.accelerator, of.accelerator_count, regions_with(of.accelerator)],
    "draws": [[need.metric, need.amount, need.documented, label(need.metric), quota_id(need.metric)]
              for need in needs_of([MachineGroup(spec, 2)])],
    "preemptible": [need.metric for need in needs_of([MachineGroup(spec, 2)], preemptible=True)],
    "flex-start": [str(one) for one in check("custom-job", "flex-start", body, region="us-central1")
                   if one.rule.id.startswith("flex")],
    "rule": next(rule.text for rule in TABLE if rule.id == "flex-machines"),
    "elsewhere": [str(one) for one in check("custom-job", "flex-start", body, region="europe-west4")
                  if one.rule.id == "gpu-region"],
    "unknown price": hourly(spec, "us-central1").unknown,
    "book": "a5-highgpu-8g,80" in made["on-demand.csv"],
    "machine": "a5-highgpu-8g" in defined["PoolEntry"]["properties"]["machine"]["enum"],
    "type": "NVIDIA_B300" in defined["AcceleratorEntry"]["properties"]["type"]["enum"],
}))
""",
    )
    prefix = "custom_model_training_"
    assert outcome["accelerator"] == ["NVIDIA_B300", 8, ["us-central1"]]
    assert outcome["draws"][0] == [
        f"{prefix}nvidia_b300_gpus",
        16,
        False,
        "B300 GPUs",
        "CustomModelTrainingB300GPUsPerProjectPerRegion",
    ]
    assert outcome["draws"][1][:4] == [f"{prefix}a5_cpus", 448, False, "A5 vCPUs"]
    assert outcome["preemptible"][:2] == [f"{prefix}preemptible_nvidia_b300_gpus", f"{prefix}preemptible_cpus"]
    assert outcome["flex-start"] == [] and outcome["rule"].endswith("H200, B200 or B300.")
    assert outcome["elsewhere"] != [] and "regions that have it: us-central1" in outcome["elsewhere"][0]
    assert outcome["unknown price"], "nothing is guessed before the book is made anew"
    assert outcome["book"] and outcome["machine"] and outcome["type"]


BATCH = """\"\"\"A batch job.\"\"\"
from slipway.model.kinds.kind import JobKind

class BatchJobKind(JobKind):
    name, words = "batch-job", "batch job"
    collection, message, module, spec = "batchJobs", "CustomJob", "custom_job", "jobSpec"
    runs_itself, cancel_method = True, "stop"

    def body(self, spec, study, model, pipeline):
        return {self.spec: spec}

    def state(self, body):
        return "JOB_STATE_" + body["phase"]

    def filter(self, filter):
        return filter.replace("state=", "phase=")

BATCH_JOB = BatchJobKind()
"""


def test_a_kind_of_job_is_one_file_and_its_name_in_the_table(tmp_path: Path, edited: Edit) -> None:
    (tmp_path / "slipway" / "model" / "kinds" / "batch_job.py").write_text(BATCH)
    taken = "from slipway.model.kinds.batch_job import BATCH_JOB\nfrom slipway.model.kinds.kind"
    edited("slipway/model/kinds/__init__.py", lambda text: text.replace("from slipway.model.kinds.kind", taken))
    edited(
        "slipway/model/kinds/__init__.py",
        lambda text: text.replace("PIPELINE, PIPELINE_JOB)", "PIPELINE, PIPELINE_JOB, BATCH_JOB)"),
    )
    outcome = told(
        tmp_path,
        """
import json
from slipway.front.cli.submit import command
from slipway.google.endpoints import Endpoints
from slipway.google.failures import ROLES
from slipway.google.vertex import Vertex
from slipway.using.jobs.finding import find_jobs
from slipway.model.kinds import KINDS, kind_of
from slipway.template import Image, JobTemplate, WorkerPool
from slipway.authoring.template.compile import request
from slipway.authoring.template.jobspec import CompileContext

NAME = "projects/p/locations/r/batchJobs/7"

class Session:
    asked = []
    def get(self, url, call):
        return {"name": NAME, "phase": "RUNNING"}
    def post(self, url, call, body, params=None, **_):
        self.asked.append([url.rpartition("/")[2], call.permission])
        return {"name": NAME, "phase": "QUEUED"}
    def pages(self, url, call, key, params):
        self.asked.append([key, params.get("filter")])
        return iter(())

vertex = Vertex(Session(), Endpoints(), "p", "r")
digest = "python@sha256:" + "0" * 64
asked = JobTemplate("nap", "sleeps", Image(digest), (WorkerPool("main", "n1-standard-4"),), kinds=("batch-job",))
context = CompileContext("dev", "us-central1", "", "c", "w", "t@p.iam", {})
body = request(asked, "on-demand", context, {})
made = vertex.create(KINDS["batch-job"], body)
list(vertex.jobs_of_every_kind('state="JOB_STATE_RUNNING"'))
vertex.cancel(NAME)
(option,) = [one for one in command.params if one.name == "kind"]
print(json.dumps({
    "kind": kind_of(NAME).name, "body": sorted(body), "made": made.state, "read": find_jobs(vertex, NAME)[0].state,
    "asked": Session.asked, "choices": list(option.type.choices), "role": ROLES["aiplatform.batchJobs."],
}))
""",
    )
    assert outcome["kind"] == "batch-job" and outcome["body"] == ["displayName", "jobSpec", "labels"]
    assert outcome["made"] == "JOB_STATE_QUEUED" and outcome["read"] == "JOB_STATE_RUNNING"
    assert ["batchJobs", "aiplatform.batchJobs.create"] in outcome["asked"]
    assert ["batchJobs", 'phase="JOB_STATE_RUNNING"'] in outcome["asked"]
    assert ["7:stop", "aiplatform.batchJobs.cancel"] in outcome["asked"]
    assert "batch-job" in outcome["choices"] and outcome["role"] == "roles/aiplatform.user"

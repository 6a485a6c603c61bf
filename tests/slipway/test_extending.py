"""What comes up again and again is one row, or one file: a machine with a new accelerator, a capacity type, a kind of
job, a rule, a field of a pool.

Each test takes a copy of the product, adds the row as somebody would, and looks at what follows from it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

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
    Rule("package-uris","""


@pytest.fixture
def edited(tmp_path: Path) -> Callable[[str, Callable[[str], str]], None]:
    shutil.copytree(ROOT / "slipway", tmp_path / "slipway", ignore=shutil.ignore_patterns("__pycache__"))

    def edit(file: str, change: Callable[[str], str]) -> None:
        path = tmp_path / "slipway" / file
        before = path.read_text("utf-8")
        path.write_text(change(before), "utf-8")
        assert path.read_text("utf-8") != before, f"nothing changed in {file}"

    return edit


def told(folder: Path, program: str) -> Any:
    """What the copy prints, as JSON."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_a_machine_family_with_a_new_accelerator_is_one_row(
    tmp_path: Path, edited: Callable[[str, Callable[[str], str]], None]
) -> None:
    def with_b300(text: str) -> str:
        table = json.loads(text)
        table["accelerators"]["NVIDIA_B300"] = B300
        return json.dumps(table)

    edited("machines/table.json", with_b300)
    found = told(
        tmp_path,
        """
import json
from slipway.machines.price_tables import tables
from slipway.machines.spec import MachineGroup, MachineSpec
from slipway.machines.table import machine, regions_with
from slipway.prices import hourly
from slipway.quota.metrics import label, needs_of, quota_id
from slipway.rules.table import TABLE, check
from slipway.stack.structure import schema

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
    "rule": next(rule.text for rule in TABLE if rule.id == "flex-accelerator"),
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
    assert found["accelerator"] == ["NVIDIA_B300", 8, ["us-central1"]]
    assert found["draws"][0] == [
        f"{prefix}nvidia_b300_gpus",
        16,
        False,
        "B300 GPUs",
        "CustomModelTrainingB300GPUsPerProjectPerRegion",
    ]
    assert found["draws"][1][:4] == [f"{prefix}a5_cpus", 448, False, "A5 vCPUs"]
    assert found["preemptible"][:2] == [f"{prefix}preemptible_nvidia_b300_gpus", f"{prefix}preemptible_cpus"]
    assert found["flex-start"] == [] and found["rule"].endswith("H200, B200 or B300.")
    assert found["elsewhere"] != [] and "available in: us-central1" in found["elsewhere"][0]
    assert found["unknown price"], "nothing is guessed before the book is made anew"
    assert found["book"] and found["machine"] and found["type"]


BATCH = """\"\"\"A batch job.\"\"\"
from slipway.kinds.kind import JobKind

class BatchJobKind(JobKind):
    name, words = "batch-job", "batch job"
    collection, message, module, spec = "batchJobs", "CustomJob", "custom_job", "jobSpec"
    runs_itself, cancel_method = True, "stop"

    def body(self, spec, study, model):
        return {self.spec: spec}

    def state(self, body):
        return "JOB_STATE_" + body["phase"]

    def filter(self, filter):
        return filter.replace("state=", "phase=")

BATCH_JOB = BatchJobKind()
"""


def test_a_kind_of_job_is_one_file_and_its_name_in_the_table(
    tmp_path: Path, edited: Callable[[str, Callable[[str], str]], None]
) -> None:
    (tmp_path / "slipway" / "kinds" / "batch_job.py").write_text(BATCH)
    taken = "from slipway.kinds.batch_job import BATCH_JOB\nfrom slipway.kinds.custom_job"
    edited("kinds/__init__.py", lambda text: text.replace("from slipway.kinds.custom_job", taken))
    edited("kinds/__init__.py", lambda text: text.replace("TUNING_JOB, PIPELINE)", "TUNING_JOB, PIPELINE, BATCH_JOB)"))
    found = told(
        tmp_path,
        """
import json
from slipway.cli.submit import command
from slipway.cloud.endpoints import Endpoints
from slipway.cloud.failures import ROLES
from slipway.cloud.vertex import Vertex
from slipway.jobs.finding import find_jobs
from slipway.kinds import KINDS, kind_of
from slipway.template import Image, JobTemplate, WorkerPool
from slipway.template.compile import request
from slipway.template.jobspec import CompileContext

NAME = "projects/p/locations/r/batchJobs/7"

class Session:
    asked = []
    def get(self, url, call):
        return {"name": NAME, "phase": "RUNNING"}
    def post(self, url, call, body, **_):
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
    assert found["kind"] == "batch-job" and found["body"] == ["displayName", "jobSpec", "labels"]
    assert found["made"] == "JOB_STATE_QUEUED" and found["read"] == "JOB_STATE_RUNNING"
    assert ["batchJobs", "aiplatform.batchJobs.create"] in found["asked"]
    assert ["batchJobs", 'phase="JOB_STATE_RUNNING"'] in found["asked"]
    assert ["7:stop", "aiplatform.batchJobs.cancel"] in found["asked"]
    assert "batch-job" in found["choices"] and found["role"] == "roles/aiplatform.user"


def test_a_capacity_type_is_one_row(tmp_path: Path, edited: Callable[[str, Callable[[str], str]], None]) -> None:
    edited("capacity.py", lambda text: text.replace(")\n\nCAPACITY_TYPES:", CALENDAR))
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
from slipway.template.proof import prove

code = Package("jobs/digits", "digits.task", "us-docker.pkg.dev/vertex-ai/training/image:latest")
digits = JobTemplate("digits", "digits", code, (WorkerPool("chief", "n1-standard-4"),), capacity_types=("calendar",))
context = CompileContext("dev", "us-central1", "3f9c2e1", "c", "w", "t@p.iam.gserviceaccount.com", {}, project="p")
body = request(digits, "calendar", context, {code: "gs://c/code.tar.gz"})
wrong = {**body, "jobSpec": {**body["jobSpec"], "scheduling": {"strategy": "SPOT"}}}
job = VertexJob.read({"name": "j/1", "state": "JOB_STATE_PENDING", "jobSpec": body["jobSpec"]})
spec = MachineSpec("n1-standard-4")
print(json.dumps({
    "scheduling": body["jobSpec"]["scheduling"],
    "offers": [placement.label for placement in prove(digits, (), region="us-central1")],
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
    assert found["in a stack file"] == "leave it out; calendar is a capacity type of job templates"


def test_a_capacity_type_without_a_strategy_is_one_row(
    tmp_path: Path, edited: Callable[[str, Callable[[str], str]], None]
) -> None:
    edited("capacity.py", lambda text: text.replace(")\n\nCAPACITY_TYPES:", PLAIN))
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


def test_a_rule_of_a_team_is_one_row(tmp_path: Path, edited: Callable[[str, Callable[[str], str]], None]) -> None:
    edited("rules/code.py", lambda text: text.replace('    Rule("package-uris",', PINNED))
    program = """
import json
from slipway.errors import ConfigError
from slipway.rules.table import TABLE
from slipway.template import JobTemplate, Package, WorkerPool
from slipway.template.compile import request
from slipway.template.jobspec import CompileContext

context = CompileContext("dev", "us-central1", "3f9c2e1", "c", "w", "t@p.iam.gserviceaccount.com", {}, project="p")

def said(image):
    code = Package("jobs/digits", "digits.task", f"us-docker.pkg.dev/vertex-ai/training/image{image}")
    digits = JobTemplate("digits", "", code, (WorkerPool("chief", "n1-standard-4"),), capacity_types=("spot",))
    try:
        request(digits, "spot", context, {code: "gs://c/code.tar.gz"})
    except ConfigError as error:
        return error.why
    return ""

print(json.dumps([said(":latest"), said("@sha256:" + "0" * 64), [rule.id for rule in TABLE]]))
"""
    refused, accepted, rules = told(tmp_path, program)
    assert refused == "worker pool 0: the executor image is not pinned by digest [executor-pinned]"
    assert accepted == "" and "executor-pinned" in rules


STACK_FILE = """config:
  gcp:project: acme-ml
  gcp:addPulumiAttributionLabel: "false"
  gcp:region: us-central1
  slipway:persistentResources:
    h100:
      pools:
        workers: {machine: a3-highgpu-8g, replicas: 1MORE}
"""


def put_before(place: str, row: str, text: str) -> str:
    return text.replace(place, f"{row}{place}", 1)


# By file: what is put before the first place that begins so.
WITH_PARTITION = {
    "cluster_fields.py": {
        '    Field("replicas", size': '    Field("gpuPartition", lambda pool: pool.machine.partition or ""),\n',
    },
    "machines/spec.py": {
        "\n    def __post_init__": "    partition: str | None = None\n",
        "            disk=Disk(str(": '            partition=machine.get("gpuPartitionSize"),\n',
        "        return {\n": '        machine |= {"gpuPartitionSize": self.partition} if self.partition else {}\n',
    },
    "stack/entries.py": {"    replicas: Replicas": "    gpu_partition: str | None = None\n"},
    "stack/stack.py": {"),\n        min=low": ", entry.gpu_partition"},
}


def test_a_field_of_a_pool_is_its_row_for_all_who_compare(
    tmp_path: Path, edited: Callable[[str, Callable[[str], str]], None]
) -> None:
    """Beside it, the key and the service's form: four files of the product."""
    for file, rows in WITH_PARTITION.items():
        for place, row in rows.items():
            edited(file, partial(put_before, place, row))
    (tmp_path / "stack.yaml").write_text(STACK_FILE)
    found = told(
        tmp_path,
        """
import json
from dataclasses import replace
from pathlib import Path
from slipway import codec
from slipway.catalog import model
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import Adoption, CurrentCluster
from slipway.doctor.drift import of_clusters
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.generations.adoption import differences
from slipway.generations.current_generation import unlike
from slipway.generations.published_clusters import departures, published
from slipway.review.clusters.alternatives import alike
from slipway.review.clusters.succession import edits
from slipway.stack.stack import parse
from slipway.stack.yaml_file import from_text

def current(more):
    (spec,) = parse(from_text(Path("stack.yaml").read_text().replace("MORE", more), "stack.yaml")).clusters
    digest = fingerprint_of("prod", "acme-ml", "us-central1", spec)
    return CurrentCluster(spec, cluster_id("h100", digest), digest, import_=True)

def lives(one, id):
    return PersistentResource.read({"name": id, "state": "RUNNING", **one.request("prod")})

plain, split = current(""), current(", gpuPartition: 1g.10gb")
otherwise = lives(replace(split, spec=plain.spec), split.id)
old, new = (published(one, "us-central1") for one in (plain, split))
whole = model.Catalog("prod", "acme-ml", "us-central1", "", False, "w", "t", {"h100": new}, (), {})
read = codec.read(model.Catalog, json.loads(json.dumps(codec.write(whole))))
print(json.dumps({
    "ids": [plain.id, split.id],
    "review": [str(one) for one in edits(old, new)],
    "engine": [one.key for one in departures(new, otherwise.spec, "prod")],
    "drift": [[one.field, one.sentence] for one in of_clusters(read, (otherwise,))],
    "adoption": list(differences(replace(plain.spec, adopted=Adoption("team-a")), lives(split, "team-a"))),
    "by hand": unlike(split, otherwise),
    "alternatives": [alike(((one.pools, ""),), ((new.pools, ""),)) for one in (old, read.clusters["h100"])],
}))
""",
    )
    key = "pools.workers.gpuPartition"
    plain, split = found["ids"]
    assert plain != split
    assert found["review"] == [f"`{key}` none → `1g.10gb`"]
    assert found["engine"] == [key]
    assert found["drift"] == [[key, f"{key} is none, and was deployed with 1g.10gb"]]
    (adoption,) = found["adoption"]
    assert f"h100.{key}: the file says none, and team-a has 1g.10gb; write `gpuPartition: 1g.10gb`" in adoption
    assert f"it has none as {key}, and the stack file asks for 1g.10gb" in found["by hand"]
    assert found["alternatives"] == [False, True]

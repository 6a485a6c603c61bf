"""A kind of job is one file, a rule one row."""

from pathlib import Path

from .conftest import Edit, told

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


def test_a_kind_of_job_is_one_file_and_its_name_in_the_table(tmp_path: Path, edited: Edit) -> None:
    (tmp_path / "slipway" / "kinds" / "batch_job.py").write_text(BATCH)
    taken = "from slipway.kinds.batch_job import BATCH_JOB\nfrom slipway.kinds.kind"
    edited("slipway/kinds/__init__.py", lambda text: text.replace("from slipway.kinds.kind", taken))
    edited(
        "slipway/kinds/__init__.py",
        lambda text: text.replace("TUNING_JOB, PIPELINE)", "TUNING_JOB, PIPELINE, BATCH_JOB)"),
    )
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


def test_a_rule_of_a_team_is_one_row(tmp_path: Path, edited: Edit) -> None:
    edited("slipway/rules/code.py", lambda text: text.replace('    Rule("package-uris",', PINNED))
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
    assert refused.startswith("worker pool 0: ") and refused.endswith(" [executor-pinned]")
    assert accepted == "" and "executor-pinned" in rules

"""`slipway.kfp.submit_op`: a task of somebody's own pipeline submits a template once, waits, and hands on what the job
made. (N28)"""

import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from kfp import compiler, dsl
from vertex_local.nodes import mounts

from slipway.kfp import submit_op
from slipway.model.identity import Identity
from tests.checkouts.checkout import PROJECT, PULUMI_PROJECT, STACK, VERTEX, Checkout
from tests.checkouts.nap import NAP_TASK
from tests.checkouts.shell import wait_for
from tests.local.conftest import ROOT

pytestmark = [
    pytest.mark.journey,
    pytest.mark.deployed,
    pytest.mark.skipif(not mounts.possible(buckets=True), reason="tasks write below /gcs"),
]

BUCKET = "pipes"
ACCOUNT = f"pipelines@{PROJECT}.iam.gserviceaccount.com"
JOBS = VERTEX.replace("/v1/", "/v1beta1/") + "/pipelineJobs"
TRAINER = f"{Identity(PULUMI_PROJECT, STACK).account('trainer')}@{PROJECT}.iam.gserviceaccount.com"
CHAINED = '''
"""chained: a pipeline with a task that submits nap."""

from slipway.template import JobTemplate

TEMPLATE = JobTemplate(
    name="chained",
    summary="submits nap",
    kinds=("pipeline",),
    pipeline="pipelines/chained.yaml",
    capacity_types=("on-demand",),
)
'''
MEASURED = """
import os, pathlib
pathlib.Path(os.environ["SLIPWAY_OUTPUT"], "metrics.json").write_text('{"rested": 0.5}')
"""


@dsl.container_component
def choose(word: dsl.OutputPath(str)) -> dsl.ContainerSpec:  # type: ignore[valid-type]
    script = 'mkdir -p "$(dirname "$0")"; printf "a nap" > "$0"'
    return dsl.ContainerSpec(image="python:3.12-slim", command=["sh", "-c", script, word])


@dsl.container_component
def report(
    job: str, output: str, folder: dsl.Input[dsl.Artifact], metrics: dsl.Input[dsl.Metrics]
) -> dsl.ContainerSpec:
    words = [job, output, folder.uri, metrics.metadata["rested"]]
    return dsl.ContainerSpec(image="python:3.12-slim", command=["echo", "made", *words])


@pytest.fixture
def stack(checkout: Checkout) -> Checkout:
    """A stack whose submitters have an account of pipelines among them, and a bucket of that account's."""
    rest = checkout.cloud.rest
    rest("POST", f"/v1/projects/{PROJECT}/serviceAccounts", {"accountId": "pipelines"})
    rest("POST", f"/storage/v1/b?project={PROJECT}", {"name": BUCKET, "location": "us-central1"})
    owns = {"role": "roles/storage.objectAdmin", "members": [f"serviceAccount:{ACCOUNT}"]}
    rest("PUT", f"/storage/v1/b/{BUCKET}/iam", {"bindings": [owns]})
    (checkout.folder / "jobs" / "nap" / "task.py").write_text(NAP_TASK.replace("sys.exit(", f"{MEASURED}\nsys.exit("))
    checkout.write(
        workspace={"submitters": ["group:ml-engineers@company.example", f"serviceAccount:{ACCOUNT}"], "code": True}
    )
    checkout.up()
    return checkout


def own(stack: Checkout, **arguments: Any) -> dsl.PipelineTask:
    """A task that finds this checkout's Slipway in its image, and is tried twice."""
    task = submit_op("nap", base_image="python:3.12-slim", catalog=stack.catalog, **arguments)
    task.set_env_variable("PYTHONPATH", f"{ROOT}:{sysconfig.get_path('purelib')}")
    return task.set_retry(1)


def run(stack: Checkout, pipeline: Any, name: str, **values: Any) -> str:
    """Compile and start a pipeline; return the path of its job."""
    file = stack.folder / f"{name}.yaml"
    compiler.Compiler().compile(pipeline, str(file))
    body = {
        "displayName": name,
        "pipelineSpec": yaml.safe_load(file.read_text()),
        "runtimeConfig": {"gcsOutputDirectory": f"gs://{BUCKET}/root", "parameterValues": values},
        "serviceAccount": ACCOUNT,
    }
    return "/v1beta1/" + str(stack.cloud.rest("POST", f"{JOBS}?pipelineJobId={name}", body)["name"])


def task_job(stack: Checkout, path: str, task: str) -> str:
    """The name of the custom job that a task runs as now, empty before it has one."""
    details = stack.cloud.rest("GET", path)["jobDetail"]["taskDetails"]
    found = {item["taskName"]: item.get("executorDetail", {}).get("containerDetail", {}) for item in details}
    return str(found[task].get("mainJob", ""))


def said(stack: Checkout, path: str, task: str = "nap") -> str:
    name = task_job(stack, path, task)
    return "\n".join(stack.cloud.lines(name)) if name else ""


def ended(stack: Checkout, path: str) -> str:
    """Wait for a pipeline's end and return its state."""
    state = stack.cloud.seen(path.removeprefix("/v1beta1/"), lambda body: "endTime" in body)["state"]
    return str(state).removeprefix("PIPELINE_STATE_")


def test_a_task_submits_a_template_and_hands_on_what_its_job_made(stack: Checkout, wheel: Path) -> None:
    upload = f"{stack.cloud.url}/upload/storage/v1/b/{BUCKET}/o?uploadType=media&name={wheel.name}"
    stack.cloud.session().post(upload, data=wheel.read_bytes()).raise_for_status()

    @dsl.pipeline(name="nightly")
    def nightly(seconds: float) -> None:
        word = choose().outputs["word"]
        packages = [f"/gcs/{BUCKET}/{wheel.name}"]
        napped = submit_op(
            "nap", catalog=stack.catalog, packages_to_install=packages, say=word, seconds=seconds, note="a try"
        )
        report(**napped.outputs)

    path = run(stack, nightly, "nightly-20261126190000", seconds=1)
    assert ended(stack, path) == "SUCCEEDED", said(stack, path)
    (job,) = stack.jobs()
    name, folder = job["displayName"], job["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"]
    assert f"made {name} {folder} {folder} 0.5" in said(stack, path, "report")
    labels = {"slipway-user": "nightly", "pipeline-run": "nightly-20261126190000"}
    assert labels.items() <= job["labels"].items()
    shown = stack.slipway("jobs", "show", name, "--output", "json").json["job"]
    assert shown["parameters"] == {"say": "a nap", "seconds": 1.0, "end": "well"} and shown["note"] == "a try"


def test_whatever_happens_to_a_task_there_is_one_job(stack: Checkout, faults: Callable[..., None]) -> None:
    @dsl.pipeline(name="tries")
    def tries(say: str, seconds: float = 0.0, end: str = "well") -> None:
        own(stack, say=say, seconds=seconds, end=end)

    # It is killed when the job is made and the answer is lost. # N4, N7
    lagging = {"kind": "lagging-list", "match": "GET .*/customJobs", "seconds": 60}
    faults({"kind": "lost-answer", "match": "POST .*/customJobs$", "times": 1}, lagging)
    path = run(stack, tries, "killed", say="once")
    wait_for(lambda: "looking whether the job was made" in said(stack, path), "the answer is lost")
    stack.cloud.rest("POST", "/vertex-local/kill", {"job": task_job(stack, path, "nap"), "replica": "workerpool0-0"})
    faults()
    assert ended(stack, path) == "SUCCEEDED", said(stack, path)
    assert "submitted before" in said(stack, path)
    (job,) = stack.jobs()
    assert job["state"] == "JOB_STATE_SUCCEEDED"

    # A job that fails is not run again by a task that is, and its reason is told. # N9
    path = run(stack, tries, "failing", say="badly", end="badly")
    assert ended(stack, path) == "FAILED"
    assert f"error: job {named(stack, 'failing')['displayName']} failed" in said(stack, path)
    assert "exit" in said(stack, path)

    # A cancelled pipeline cancels the job, a task that is only stopped does not.
    path = run(stack, tries, "cancelled", say="long", seconds=600)
    wait_for(lambda: "job nap-" in said(stack, path), "it is submitted")
    stack.cloud.rest("POST", f"{path}:cancel", {})
    assert ended(stack, path) == "CANCELLED"
    wait_for(lambda: named(stack, "cancelled")["state"] == "JOB_STATE_CANCELLED", "the job is cancelled as well")
    # Though no list shows the job: the task was told its name.
    faults(lagging)
    path = run(stack, tries, "unlisted", say="long", seconds=600)
    wait_for(lambda: "job nap-" in said(stack, path), "it is submitted")
    stack.cloud.rest("POST", f"{path}:cancel", {})
    assert ended(stack, path) == "CANCELLED" and "is cancelled, as its pipeline is" in said(stack, path)
    faults()
    wait_for(lambda: named(stack, "unlisted")["state"] == "JOB_STATE_CANCELLED", "that job is cancelled as well")
    path = run(stack, tries, "stopped", say="long", seconds=600)
    wait_for(lambda: "job nap-" in said(stack, path), "it is submitted")
    stack.cloud.cancel(task_job(stack, path, "nap"))
    assert ended(stack, path) != "SUCCEEDED" and "the job goes on" in said(stack, path)
    assert not named(stack, "stopped")["state"].endswith("CANCELLED")


def test_one_compiled_file_submits_to_the_stack_that_runs_it(
    stack: Checkout, monkeypatch: pytest.MonkeyPatch, wheel: Path
) -> None:
    """Its trainer submits, by a wheel in the work bucket; what that stack does not take fails in the run, in words."""
    work = Identity(PULUMI_PROJECT, STACK).buckets(PROJECT)[1]
    upload = f"{stack.cloud.url}/upload/storage/v1/b/{work}/o?uploadType=media&name=wheels/{wheel.name}"
    stack.cloud.session("submitter").post(upload, data=wheel.read_bytes()).raise_for_status()

    def lay_out(**arguments: str) -> None:
        @dsl.pipeline(name="chained")
        def chained() -> None:
            submit_op("nap", packages_to_install=[f"/gcs/{work}/wheels/{wheel.name}"], **arguments)

        (stack.folder / "pipelines").mkdir(exist_ok=True)
        compiler.Compiler().compile(chained, str(stack.folder / "pipelines" / "chained.yaml"))

    monkeypatch.setenv("SLIPWAY_CATALOG", "gs://of-who-compiles")
    (stack.folder / "templates" / "chained.py").write_text(CHAINED)
    stack.write(templates=["nap", "chained"])
    lay_out(sey="a nap")
    stack.up()
    path = submitted(stack)
    assert ended(stack, path) == "FAILED"
    assert "unknown parameter sey; did you mean say?" in " ".join(said(stack, path).split())

    lay_out(say="a nap")
    stack.up()
    path = submitted(stack)
    assert ended(stack, path) == "FAILED"
    why = " ".join(said(stack, path).split())
    assert "the account that the pipeline runs as to slipway:workspace.submitters of the job's stack" in why, why

    submitters = ["group:ml-engineers@company.example", f"serviceAccount:{TRAINER}"]
    stack.write(templates=["nap", "chained"], workspace={"submitters": submitters})
    stack.up()
    path = submitted(stack)
    assert ended(stack, path) == "SUCCEEDED", said(stack, path)
    (sent,) = [job["displayName"] for job in stack.jobs() if job["labels"]["slipway-template"] == "nap"]
    listed = stack.slipway(
        "jobs", "list", "--label", f"pipeline-run={path.rpartition('/')[2]}", "--output", "json"
    ).json
    assert [row["displayName"] for row in listed["jobs"]] == [sent]


def submitted(stack: Checkout) -> str:
    """Submit `chained`; return the path of its job."""
    done = stack.slipway("submit", "chained", "--yes", "--output", "json")
    assert done.code == 0, done.said
    return "/v1beta1/" + str(done.json["job"]["name"])


def named(stack: Checkout, run: str) -> Any:
    """The one job of a pipeline's run."""
    (job,) = [job for job in stack.jobs() if job["labels"]["pipeline-run"] == run]
    return job

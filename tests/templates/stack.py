"""A deployed stack with the shipped templates: the commands that run one, and their results."""

from __future__ import annotations

import base64
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from slipway.using.jobs.metrics import parse_metrics
from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.checkouts.shell import Done, wait_for
from tests.docs.console import Typed, commands, missing
from tests.local.conftest import ROOT, LocalCloud

OWN = "mine"
_OWN = f"""
from slipway.template import Disk, JobTemplate, Metric, ModelUpload, Package, Search, Study, WorkerPool

TEMPLATE = JobTemplate(
    name="{OWN}",
    summary="a template of one's own, whose code knows nothing of it",
    code=Package("jobs/{OWN}", "{OWN}.train", "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest"),
    kinds=("custom-job", "hyperparameter-tuning-job", "training-pipeline"),
    worker_pools=(WorkerPool("trainer", "n1-standard-4", Disk("pd-ssd", 100)),),
    study=Study((Metric("score"),), (Search("x", "double", min=0, max=1),), max_trials=2, parallel_trials=2),
    model=ModelUpload("digits", "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest"),
    capacity_types=("spot", "pool"),
    code_flag=True,
)
"""
GREET = "greet"
_GREET = f"""
from slipway.template import JobTemplate, Parameter

TEMPLATE = JobTemplate(
    name="{GREET}",
    summary="a Kubeflow pipeline that greets somebody",
    kinds=("pipeline",),
    pipeline="pipelines/{GREET}.yaml",
    parameters=(Parameter("times", int, min=1, max=9),),
    capacity_types=("pool", "on-demand"),
)
"""
_TEXT = {"parameterType": "STRING"}
_SAY = 'mkdir -p "$(dirname "$2")"; printf "%s" "$0, $1" > "$2"; echo "$0, $1"'


def _said(word: str, name: dict[str, Any]) -> dict[str, Any]:
    inputs = {"word": {"runtimeValue": {"constant": word}}, "name": name}
    after = [name["taskOutputParameter"]["producerTask"]] if "taskOutputParameter" in name else []
    task: dict[str, Any] = {"componentRef": {"name": "greet"}, "inputs": {"parameters": inputs}}
    return task | {"dependentTasks": after, "taskInfo": {"name": word}}


PIPELINE: dict[str, Any] = {
    "schemaVersion": "2.1.0",
    "pipelineInfo": {"name": GREET},
    "components": {
        "greet": {
            "executorLabel": "greet",
            "inputDefinitions": {"parameters": {"word": _TEXT, "name": _TEXT}},
            "outputDefinitions": {"parameters": {"text": _TEXT}},
        }
    },
    "deploymentSpec": {
        "executors": {
            "greet": {
                "container": {
                    "image": "python:3.11",
                    "command": ["sh", "-c", _SAY],
                    "args": [
                        "{{$.inputs.parameters['word']}}",
                        "{{$.inputs.parameters['name']}}",
                        "{{$.outputs.parameters['text'].output_file}}",
                    ],
                }
            }
        }
    },
    "root": {
        "inputDefinitions": {
            "parameters": {
                "who": _TEXT | {"defaultValue": "ada"},
                "times": {"parameterType": "NUMBER_INTEGER", "defaultValue": 1.0},
            }
        },
        "dag": {
            "tasks": {
                "hello": _said("hello", {"componentInputParameter": "who"}),
                "bye": _said("bye", {"taskOutputParameter": {"producerTask": "hello", "outputParameterKey": "text"}}),
            }
        },
    },
}
"""A pipeline as kfp 2 compiles it: the second of two tasks takes what the first has written."""
ENDED = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED", "PARTIALLY_SUCCEEDED")


@dataclass(frozen=True)
class Job:
    """A job as in `slipway … --output json`. `lines` are those of its replicas and the service so far."""

    stack: Stack
    document: Any

    @property
    def name(self) -> str:
        """The resource name."""
        return str(self.document["name"])

    @property
    def display_name(self) -> str:
        return str(self.document["displayName"])

    @property
    def state(self) -> str:
        """The service's present state, without the prefix: SUCCEEDED."""
        return str(self.stack.cloud.rest("GET", f"/v1/{self.name}")["state"]).partition("_STATE_")[2]

    @property
    def lines(self) -> list[str]:
        """Every line, each after its writer: `trainer: …`, `workers-1: …`, `service: …`; the oldest first."""
        done = self.stack.checkout.slipway("jobs", "logs", self.display_name, "--output", "json")
        assert done.code == 0, done.said
        entries = [json.loads(line) for line in done.out.splitlines()]
        return [f"{entry['role'] or entry['task']}: {entry['text']}" for entry in entries]

    def said(self, words: str) -> None:
        """Wait until a line of a custom job, or of a pipeline's, has these words; fail when the job ends without."""

        def heard() -> bool:
            ended, body = self.state in ENDED, self.stack.cloud.rest("GET", f"/v1/{self.name}")
            number = body.get("trainingTaskMetadata", {}).get("backingCustomJob", self.name).rpartition("/")[2]
            lines = f'resource.labels.job_id="{number}" AND "{words}"'
            query = {"resourceNames": [f"projects/{PROJECT}"], "filter": lines}
            found = "entries" in self.stack.cloud.rest("POST", "/v2/entries:list", query)
            assert found or not ended, f"it ended without {words!r}:\n" + "\n".join(self.lines)
            return found

        wait_for(heard, f"a line with {words!r}")

    def held(self, left: int = 0) -> None:
        """Wait until a call of it is held (`Stack.hold_write`) and `left` more will be; fail when it ends without."""

        def waits() -> bool:
            (fault,) = self.stack.cloud.rest("GET", "/vertex-local/faults")["faults"]
            ended = self.state in ENDED
            assert fault["times"] == left or not ended, "it ended and was not held:\n" + "\n".join(self.lines)
            return bool(fault["times"] == left)

        wait_for(waits, "a call of the job is held")

    def kill(self, replica: str) -> None:
        """Kill a replica (workerpool1-0) with SIGKILL, as when its machine dies."""
        self.stack.cloud.rest("POST", "/vertex-local/kill", {"job": self.name, "replica": replica})

    def finished(self, code: int = 0) -> Job:
        """Return the job at its end, as in `slipway jobs wait` and `jobs show`. Fails for another end."""
        done = self.stack.checkout.slipway("jobs", "wait", self.display_name, "--output", "json")
        assert done.code == code, done.said + "\n".join(self.lines)
        return self.stack.show(self.display_name)

    def output(self, name: str) -> bytes:
        """Return a file of the job's output folder."""
        return self.stack.content(f"{self.document['output']}/{name}")

    def unshown(self, command: str, job: str = "") -> list[str]:
        """Return lines that a page shows below `slipway jobs COMMAND` of the template, and that are not printed. `job`
        is the end of a name there, where the page shows several."""
        start = f"slipway jobs {command} {self.document['template']}-{job}"
        (typed,) = [action for action in told() if action.command.startswith(start)]
        return missing(typed.shown, self.stack.slipway("jobs", command, self.display_name).out)

    @property
    def metrics(self) -> Any:
        """The document metrics.json, which `slipway jobs list --metric` reads."""
        content = self.output("metrics.json")
        assert parse_metrics(content), content
        return json.loads(content)


@dataclass(frozen=True)
class Stack:
    """A deployed stack. All jobs are submitted as the submitter."""

    checkout: Checkout

    @property
    def cloud(self) -> LocalCloud:
        return self.checkout.cloud

    def submit(self, template: str, *flags: str, **parameters: object) -> Job:
        """Run `slipway submit TEMPLATE -p NAME=VALUE … FLAGS`; return the accepted job, which may be under way."""
        given = [word for name, value in parameters.items() for word in ("-p", f"{name}={value}")]
        done = self.checkout.slipway("submit", template, *given, *flags, "--output", "json")
        assert done.code == 0, done.said
        return Job(self, done.json["job"])

    def run(self, template: str, *flags: str, code: int = 0, **parameters: object) -> Job:
        """Do the same, and wait for its end, whose exit code is to be `code` (4: failed)."""
        return self.submit(template, *flags, **parameters).finished(code)

    def show(self, job: str) -> Job:
        done = self.slipway("jobs", "show", job, "--output", "json")
        assert done.code == 0, done.said
        return Job(self, done.json["job"])

    def slipway(self, *arguments: str) -> Done:
        return self.checkout.slipway(*arguments)

    def content(self, uri: str) -> bytes:
        """Return an object, gs://BUCKET/NAME, read as the owner."""
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        url = f"{self.cloud.url}/storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media"
        answer = self.cloud.session().get(url, timeout=30)
        answer.raise_for_status()
        return bytes(answer.content)

    def hold_write(self, number: int, times: int = 1) -> None:
        """From now on hold the `number`-th file that a job writes to a bucket, and release the files held before.

        So a test meets a training at a step of its own, however fast that is. Each `number`-th is held, `times` in all.
        """
        nth = {"kind": "hold", "match": "POST /upload/.*uploadType=multipart", "every": number, "times": times}
        self.cloud.rest("POST", "/vertex-local/faults", {"faults": [nth]})

    def release(self) -> None:
        """Hold nothing any more."""
        self.cloud.rest("DELETE", "/vertex-local/faults")

    def scenario(self, **tables: Any) -> None:
        """Put a scenario in force (vertex-local/docs/guide.md); the fixture ends it with the test."""
        self.cloud.rest("POST", "/vertex-local/scenario", tables)

    def secret(self, name: str, value: str) -> str:
        """Return a secret with a value, which the stack's jobs may read: projects/…/secrets/NAME/versions/1."""
        secrets = f"/v1/projects/{PROJECT}/secrets"
        self.cloud.rest("POST", f"{secrets}?secretId={name}", {"replication": {"automatic": {}}})
        payload = {"payload": {"data": base64.b64encode(value.encode()).decode()}}
        version = self.cloud.rest("POST", f"{secrets}/{name}:addVersion", payload)
        reader = {"role": "roles/secretmanager.secretAccessor", "members": [f"serviceAccount:{self.trainer}"]}
        self.cloud.rest("POST", f"{secrets}/{name}:setIamPolicy", {"policy": {"bindings": [reader]}})
        return str(version["name"])

    def cancel_all(self) -> None:
        """Cancel unfinished jobs of any kind."""
        for kind in ("pipelineJobs", "trainingPipelines", "hyperparameterTuningJobs", "customJobs"):
            for job in self.cloud.every(f"{VERTEX}/{kind}", kind):
                if job["state"].partition("_STATE_")[2] not in ENDED:
                    self.cloud.cancel(job["name"])

    @property
    def python(self) -> Path:
        """The interpreter of the scikit-learn image. There is one once a job has run in it."""
        return next(self.cloud.state.glob("pools/*/images/sklearn-*/bin/python"))

    @property
    def trainer(self) -> str:
        """The account that the stack's jobs run as."""
        return self.checkout.trainer


def told() -> list[Typed]:
    """Return the commands that the pages of templates tell a reader to type, and their shown output."""
    return [command for page in ("templates", "gemma2-lora") for command in commands(ROOT / "docs" / f"{page}.md")]


def files(folder: Path) -> None:
    """Copy the program, with the templates and jobs as shipped, and one template of one's own."""
    (folder / "stacks").mkdir(parents=True)
    for name in ("Pulumi.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder)
    for name in ("templates", "jobs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "templates" / f"{OWN}.py").write_text(_OWN)
    (folder / "templates" / f"{GREET}.py").write_text(_GREET)
    (folder / "pipelines").mkdir()
    (folder / "pipelines" / f"{GREET}.yaml").write_text(json.dumps(PIPELINE))
    (folder / "jobs" / OWN).mkdir()
    for name in ("__init__", "train"):
        (folder / "jobs" / OWN / f"{name}.py").touch()

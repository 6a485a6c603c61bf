"""A stack on a real local cloud, made by REST as `pulumi up` would make it, and `slipway` run as people run it."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.checkouts.shell import Done, slipway
from tests.local.conftest import ROOT, LocalCloud

UNSET = "\0"
"""The value of a variable that a run must lack."""
PROJECT, REGION, ADA = "slipway-local", "us-central1", "user:ada@slipway.example"
JOBS = f"/v1/projects/{PROJECT}/locations/{REGION}/customJobs"
CLUSTERS = f"/v1/projects/{PROJECT}/locations/{REGION}/persistentResources"
SHAPE = {"machineSpec": {"machineType": "n1-standard-4"}, "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}}
QUOTAS = {
    "custom_model_training_cpus": "CustomModelTrainingCPUsPerProjectPerRegion",
    "custom_model_training_pd_ssd": "CustomModelTrainingPdSsdPerProjectPerRegion",
}
SUBMITTER_ROLES = ("roles/aiplatform.user", "roles/cloudquotas.viewer", "roles/logging.viewer")


@dataclass
class Stack:
    """A cluster `cpu` of up to three machines, two buckets, a trainer, and a catalog of small container jobs."""

    cloud: LocalCloud
    folder: Path
    name: str = field(default_factory=lambda: f"s{uuid.uuid4().hex[:8]}")
    catalog: dict[str, Any] = field(default_factory=dict)
    cluster_region: str = REGION

    @property
    def clusters(self) -> str:
        return CLUSTERS.replace(REGION, self.cluster_region)

    @property
    def cluster(self) -> str:
        return f"cpu-{self.name}"

    @property
    def address(self) -> str:
        return f"gs://c-{self.name}"

    @property
    def _work_elsewhere(self) -> dict[str, str]:
        """The regions of work buckets beside the stack's own, by their names."""
        region = self.cluster_region
        return {f"w-{self.name}-{region}": region} if region != REGION else {}

    @property
    def trainer(self) -> str:
        return f"t-{self.name}@{PROJECT}.iam.gserviceaccount.com"

    def make(self) -> None:
        buckets = {f"c-{self.name}": REGION, f"w-{self.name}": REGION, **self._work_elsewhere}
        for bucket, region in buckets.items():
            made = {"name": bucket, "location": region.upper()}
            self.cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", made)
        self.cloud.rest("POST", f"/v1/projects/{PROJECT}/serviceAccounts", {"accountId": f"t-{self.name}"})
        for role in SUBMITTER_ROLES:
            self.grant(role)
        self._bind(f"/v1/projects/{PROJECT}/serviceAccounts/{self.trainer}", "roles/iam.serviceAccountUser", "POST")
        self._bucket_roles(f"c-{self.name}", {"roles/storage.objectViewer": [ADA, f"serviceAccount:{self.trainer}"]})
        self._bucket_roles(
            f"w-{self.name}",
            {
                "roles/storage.objectUser": [f"serviceAccount:{self.trainer}"],
                "roles/storage.objectCreator": [ADA],
                "roles/storage.objectViewer": [ADA],
            },
        )
        for bucket in self._work_elsewhere:
            roles = {
                "roles/storage.objectUser": [f"serviceAccount:{self.trainer}"],
                "roles/storage.objectViewer": [ADA],
            }
            self._bucket_roles(bucket, roles)
        self.make_cluster()
        self.catalog = self._catalog()
        self.publish()

    def deploy(self, commit: str, *, dirty: bool) -> None:
        """Publish the catalog as a deployment from that commit does."""
        self.catalog.update(commit=commit, dirty=dirty)
        for template in self.catalog["templates"].values():
            for offer in template["offers"]:
                mark = "true" if dirty else "false"
                offer["request"]["labels"].update({"slipway-commit": commit, "slipway-commit-dirty": mark})
        self.publish()

    def make_cluster(self, replicas: int = 1, most: int = 3, cluster: str = "", of: str = "") -> None:
        pool = {
            **SHAPE,
            "id": "workers",
            "replicaCount": str(replicas),
            "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": str(most)},
        }
        body = {
            "labels": {"slipway-stack": of} if of else {},
            "resourcePools": [pool],
            "resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}},
        }
        self.cloud.rest("POST", f"{self.clusters}?persistentResourceId={cluster or self.cluster}", body)
        self.until(lambda: self.state_of_cluster(cluster) in ("RUNNING", "ERROR"))

    def state_of_cluster(self, cluster: str = "") -> str:
        return str(self.cloud.rest("GET", f"{self.clusters}/{cluster or self.cluster}")["state"])

    def delete_cluster(self) -> None:
        self.cloud.rest("DELETE", f"{CLUSTERS}/{self.cluster}")

        def gone() -> bool:
            listed = self.cloud.every(CLUSTERS, "persistentResources")
            return all(one["name"].rsplit("/", 1)[-1] != self.cluster for one in listed)

        self.until(gone)

    def grant(self, role: str, granted: bool = True, who: str = ADA) -> None:
        """Give somebody, or take from them, a role on the project."""
        path = f"/v1/projects/{PROJECT}"
        policy = self.cloud.rest("POST", f"{path}:getIamPolicy", {})
        bindings = {one["role"]: set(one["members"]) for one in policy.get("bindings", [])}
        members = bindings.setdefault(role, set())
        members.add(who) if granted else members.discard(who)
        policy["bindings"] = [{"role": key, "members": sorted(who)} for key, who in bindings.items() if who]
        self.cloud.rest("POST", f"{path}:setIamPolicy", {"policy": policy})

    def may_read_catalog(self, granted: bool) -> None:
        path = f"/storage/v1/b/c-{self.name}/iam"
        policy = self.cloud.rest("GET", path)
        for binding in policy["bindings"]:
            if binding["role"] == "roles/storage.objectViewer":
                binding["members"] = [who for who in binding["members"] if who != ADA] + ([ADA] if granted else [])
        self.cloud.rest("PUT", path, policy)

    def act_as_trainer(self, granted: bool) -> None:
        members = [ADA] if granted else []
        self._bind(
            f"/v1/projects/{PROJECT}/serviceAccounts/{self.trainer}", "roles/iam.serviceAccountUser", "POST", members
        )

    def _bind(self, resource: str, role: str, method: str, members: list[str] | None = None) -> None:
        members = [ADA] if members is None else members
        policy = {"bindings": [{"role": role, "members": members}] if members else []}
        self.cloud.rest(method, f"{resource}:setIamPolicy", {"policy": policy})

    def _bucket_roles(self, bucket: str, roles: dict[str, list[str]]) -> None:
        policy = self.cloud.rest("GET", f"/storage/v1/b/{bucket}/iam")
        policy["bindings"] = policy.get("bindings", []) + [
            {"role": role, "members": who} for role, who in roles.items()
        ]
        self.cloud.rest("PUT", f"/storage/v1/b/{bucket}/iam", policy)

    def bind_bucket(self, bucket: str, role: str, member: str) -> None:
        self._bucket_roles(bucket, {role: [member]})

    def publish(self, content: bytes | None = None) -> None:
        """Put the catalog, or other content, into its bucket."""
        self.put("catalog.json", json.dumps(self.catalog).encode() if content is None else content)

    def put(self, name: str, content: bytes) -> None:
        """Put an object into the catalog's bucket."""
        path = f"/upload/storage/v1/b/c-{self.name}/o?uploadType=media&name={quote(name, safe='')}"
        self.cloud.call("POST", path, content_type="application/json", data=content).raise_for_status()

    def _request(self, capacity_type: str, roles: int) -> dict[str, Any]:
        specs = [
            {
                **SHAPE,
                "replicaCount": 1 if index == 0 else "${workers}",
                "containerSpec": {"imageUri": "python:3.11", "command": ["python", "-uc"], "args": ["${code}"]},
            }
            for index in range(roles)
        ]
        place = (
            {"persistentResourceId": self.cluster} if capacity_type == "pool" else {"scheduling": {"strategy": "SPOT"}}
        )
        return {
            "displayName": "${slipway.job}",
            "labels": {
                "slipway-template": "hello" if roles == 1 else "crew",
                "slipway-request": "${slipway.request}",
                "slipway-stack": self.name,
                "slipway-commit": "3f9c2e1",
                "slipway-capacity-type": capacity_type,
            },
            "jobSpec": {
                "workerPoolSpecs": specs,
                "serviceAccount": self.trainer,
                "baseOutputDirectory": {"outputUriPrefix": "${slipway.output}"},
                **place,
            },
        }

    def _template(self, roles: tuple[str, ...]) -> dict[str, Any]:
        pool = {
            "capacityType": "pool",
            "cluster": "cpu",
            "available": True,
            "why": "",
            "pools": ["workers"] * len(roles),
            "replicas": [1, "${workers}"][: len(roles)],
            "pricePerHour": "0.4906",
            "request": self._request("pool", len(roles)),
        }
        spot = {
            "capacityType": "spot",
            "available": True,
            "why": "",
            "pricePerHour": None,
            "request": self._request("spot", len(roles)),
        }
        code = {"name": "code", "type": "str", "default": "print('hello')", "choices": [], "help": "Python to run"}
        workers = {
            "name": "workers",
            "type": "int",
            "default": 1,
            "min": 1,
            "max": 50,
            "choices": [],
            "help": "machines",
        }
        return {
            "summary": "Runs a line of Python",
            "kind": "custom-job",
            "roles": list(roles),
            "package": "",
            "parameters": [code, workers][: len(roles)],
            "offers": [pool, spot],
        }

    def _catalog(self) -> dict[str, Any]:
        pool = {
            "machine": "n1-standard-4",
            "accelerator": None,
            "acceleratorCount": 0,
            "disk": {"type": "pd-ssd", "sizeGb": 100},
            "min": 1,
            "max": 3,
            "autoscaled": True,
            "pricePerHour": "0.2453",
        }
        elsewhere = {"region": self.cluster_region} if self.cluster_region != REGION else {}
        return {
            "schema": 2,
            "stack": self.name,
            "project": PROJECT,
            "region": REGION,
            "commit": "3f9c2e1",
            "dirty": False,
            "storage": {
                "catalog": f"c-{self.name}",
                "work": f"w-{self.name}",
                "workElsewhere": {region: name for name, region in self._work_elsewhere.items()},
            },
            "trainer": self.trainer,
            "clusters": {"cpu": {"id": self.cluster, "pools": {"workers": pool}, **elsewhere}},
            "otherRegions": [*elsewhere.values()],
            "quotas": QUOTAS,
            "retiring": [],
            "templates": {"hello": self._template(("main",)), "crew": self._template(("scheduler", "workers"))},
        }

    def env(self, role: str = "submitter", **variables: str) -> dict[str, str]:
        base = {"SLIPWAY_CATALOG": self.address, "SLIPWAY_USER": "Ada", "PYTHONPATH": str(ROOT)}
        base["SLIPWAY_CONFIG"] = str(self.folder / "config")
        return {**self.cloud.env(role), **base, **variables}

    def run(self, *arguments: str, role: str = "submitter", **variables: str) -> Done:
        """Run `slipway …` in a folder of the test's own, in this process."""
        environ = {key: value for key, value in self.env(role, **variables).items() if value != UNSET}
        return slipway(arguments, environ, self.folder)

    def asked(self, *arguments: str, answer: str) -> Done:
        """Run the same at a terminal, where somebody types an answer."""
        ours, theirs = pty.openpty()
        os.write(ours, f"{answer}\n".encode())
        done = subprocess.run(
            [sys.executable, "-m", "slipway", *arguments],
            cwd=self.folder,
            env=self.env(),
            stdin=theirs,
            capture_output=True,
            text=True,
            check=False,
        )
        os.close(theirs)
        os.close(ours)
        return Done(done.returncode, done.stdout, done.stderr)

    @contextlib.contextmanager
    def started(self, *arguments: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
        """Run the same beside the test."""
        with subprocess.Popen(
            [sys.executable, "-m", "slipway", *arguments],
            cwd=self.folder,
            env=self.env(**variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    def plain(self, text: str) -> str:
        """Return a text as a recorded page has it: without the names and numbers of one run."""
        text = re.sub(r"\b(hello|crew)-[a-z2-7]{8}\b", r"\1-JOB", text.replace(self.name, "STACK"))
        return re.sub(r"\b\d{12,}\b", "NUMBER", text)

    def journal(self, request_id: str) -> Path:
        """Return the file where a request is recorded."""
        return self.folder / ".slipway" / "requests" / PROJECT / self.name / f"{request_id}.json"

    def write(self, name: str, content: bytes) -> None:
        """Put an object into the bucket `work`."""
        path = f"/upload/storage/v1/b/w-{self.name}/o?uploadType=media&name={name}"
        self.cloud.call("POST", path, data=content).raise_for_status()

    def read(self, name: str) -> bytes:
        """Return an object of the bucket `work`, empty when it does not exist."""
        answer = self.cloud.call("GET", f"/storage/v1/b/w-{self.name}/o/{quote(name, safe='')}?alt=media")
        return answer.content if answer.status_code == 200 else b""

    def jobs(self) -> list[dict[str, Any]]:
        """Return this stack's jobs as the service has them, newest first, those of its own region before others."""
        paths = dict.fromkeys(JOBS.replace(REGION, region) for region in (REGION, self.cluster_region))
        listed = (self.cloud.rest("GET", f'{path}?filter=labels.slipway-stack="{self.name}"') for path in paths)
        return [job for one in listed for job in one.get("customJobs", [])]

    def until(self, holds: Callable[[], bool], seconds: float = 600) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, "it did not come about in time"
            time.sleep(0.1)

    @contextlib.contextmanager
    def faults(self, *faults: dict[str, Any]) -> Iterator[None]:
        self.cloud.rest("POST", "/slipway/faults", {"faults": list(faults)})
        try:
            yield
        finally:
            self.cloud.rest("DELETE", "/slipway/faults")

    @contextlib.contextmanager
    def settings(self, **values: Any) -> Iterator[None]:
        """Hold other settings of the cloud; `quota` is a mapping of limits by metric."""
        before = self.cloud.rest("GET", "/slipway/settings")
        self.cloud.rest("POST", "/slipway/settings", values)
        try:
            yield
        finally:
            self.cloud.rest("POST", "/slipway/settings", {name: before[name] for name in values})

    def end(self) -> None:
        """Cancel its jobs, give its cluster's machines back and take Ada's roles: the cloud goes on for other tests."""
        self.cancel_all()
        self.cloud.call("DELETE", f"{self.clusters}/{self.cluster}")
        for role in SUBMITTER_ROLES:
            self.grant(role, False)

    def cancel_all(self) -> None:
        for job in self.jobs():
            if job["state"] in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING", "JOB_STATE_RUNNING"):
                self.cloud.cancel(job["name"])


SLEEP = "import time; print('begun'); time.sleep(600)"
"""A job that runs until it is cancelled."""


def held(stack: Stack, machines: int = 3) -> str:
    """Return the name of a running job that holds so many machines of the pool."""
    words = ["submit", "crew", "-p", f"code={SLEEP}", "-p", f"workers={machines - 1}"]
    if machines == 1:
        words = ["submit", "hello", "-p", f"code={SLEEP}"]
    done = stack.run(*words, "--output", "json")
    assert done.code == 0, done.err
    name = str(done.json["job"]["displayName"])
    stack.until(lambda: any(job["displayName"] == name and job["state"] == "JOB_STATE_RUNNING" for job in stack.jobs()))
    return name


def counts(line: str) -> tuple[int, ...]:
    """Return the numbers of `sweep NAME: 3 submitted now, 0 before, of 3`."""
    return tuple(map(int, re.findall(r"\d+", line.rpartition(": ")[2])))

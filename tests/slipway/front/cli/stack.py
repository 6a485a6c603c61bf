"""A stack on a real local cloud, made by REST as `pulumi up` would make it, and `slipway` run as people run it."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.checkouts.shell import Done, slipway, wait_for
from tests.local.conftest import ROOT, LocalCloud

from .catalogs import POOL, QUOTAS, SCHEDULING, templates
from .catalogs import REGION as REGION
from .catalogs import SHAPE as SHAPE

UNSET = "\0"
"""The value of a variable that a run must lack."""
PROJECT, ADA = "local-project", "user:ada@company.example"
JOBS = f"/v1/projects/{PROJECT}/locations/{REGION}/customJobs"
CLUSTERS = f"/v1/projects/{PROJECT}/locations/{REGION}/persistentResources"
SUBMITTER_ROLES = ("roles/aiplatform.user", "roles/cloudquotas.viewer", "roles/logging.viewer")


@dataclass
class Stack:
    """A cluster `cpu` of up to `most` machines, two buckets, a trainer, and a catalog of small container jobs."""

    cloud: LocalCloud
    folder: Path
    name: str = field(default_factory=lambda: f"s{uuid.uuid4().hex[:8]}")
    catalog: dict[str, Any] = field(default_factory=dict)
    cluster_region: str = REGION
    project: str = PROJECT
    most: int = 3

    @property
    def clusters(self) -> str:
        return f"{self._home(self.cluster_region)}/persistentResources"

    def _home(self, region: str = REGION) -> str:
        return f"/v1/projects/{self.project}/locations/{region}"

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
        return f"t-{self.name}@{self.project}.iam.gserviceaccount.com"

    def make(self) -> None:
        if self.project != PROJECT:
            self.cloud.rest("POST", "/vertex-local/projects", {"project": self.project})
        buckets = {f"c-{self.name}": REGION, f"w-{self.name}": REGION, **self._work_elsewhere}
        for bucket, region in buckets.items():
            made = {"name": bucket, "location": region.upper()}
            self.cloud.rest("POST", f"/storage/v1/b?project={self.project}", made)
        self.cloud.rest("POST", f"/v1/projects/{self.project}/serviceAccounts", {"accountId": f"t-{self.name}"})
        self._grant_all(SUBMITTER_ROLES, True)
        self.act_as_trainer(True)
        self._bucket_roles(f"c-{self.name}", {"roles/storage.objectViewer": [ADA, f"serviceAccount:{self.trainer}"]})
        there = {"roles/storage.objectUser": [f"serviceAccount:{self.trainer}"], "roles/storage.objectViewer": [ADA]}
        self._bucket_roles(f"w-{self.name}", {**there, "roles/storage.objectCreator": [ADA]})
        for bucket in self._work_elsewhere:
            self._bucket_roles(bucket, there)
        self.make_cluster()
        self.catalog = self.new_catalog()
        self.publish()

    def new_catalog(self) -> dict[str, Any]:
        elsewhere = {"region": self.cluster_region} if self.cluster_region != REGION else {}
        pool = {**POOL, "max": self.most, "autoscaled": self.most > 1}
        work_elsewhere = {region: name for name, region in self._work_elsewhere.items()}
        return {
            "schema": 2,
            "stack": self.name,
            "project": self.project,
            "region": REGION,
            "commit": "3f9c2e1",
            "dirty": False,
            "retiring": [],
            "quotas": QUOTAS,
            "trainer": self.trainer,
            "storage": {"catalog": f"c-{self.name}", "work": f"w-{self.name}", "workElsewhere": work_elsewhere},
            "clusters": {"cpu": {"id": self.cluster, "pools": {"workers": pool}, **elsewhere}},
            "otherRegions": [*elsewhere.values()],
            "templates": templates(self.name, self.cluster, self.trainer),
        }

    def deploy(self, commit: str, *, dirty: bool) -> None:
        """Publish the catalog as a deployment from that commit does."""
        self.catalog.update(commit=commit, dirty=dirty)
        for template in self.catalog["templates"].values():
            for offer in template["offers"]:
                mark = "true" if dirty else "false"
                offer["request"]["labels"].update({"slipway-commit": commit, "slipway-commit-dirty": mark})
        self.publish()

    def make_cluster(self, cluster: str = "", of: str = "") -> None:
        grows = {"autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": str(self.most)}}
        pool = {**SHAPE, "id": "workers", "replicaCount": "1", **(grows if self.most > 1 else {})}
        name, _, digest = cluster.rpartition("-")
        body = {
            "labels": {"slipway-stack": of, "slipway-name": name, "slipway-hash": digest} if of else {},
            "resourcePools": [pool],
            "resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}},
        }
        self.cloud.rest("POST", f"{self.clusters}?persistentResourceId={cluster or self.cluster}", body)
        self.until(lambda: self.state_of_cluster(cluster) in ("RUNNING", "ERROR"))

    def state_of_cluster(self, cluster: str = "") -> str:
        return str(self.cloud.rest("GET", f"{self.clusters}/{cluster or self.cluster}")["state"])

    def delete_cluster(self) -> None:
        self.cloud.rest("DELETE", f"{self.clusters}/{self.cluster}")

        def gone() -> bool:
            listed = self.cloud.every(self.clusters, "persistentResources")
            return all(entry["name"].rsplit("/", 1)[-1] != self.cluster for entry in listed)

        self.until(gone)

    def grant(self, role: str, granted: bool = True, who: str = ADA) -> None:
        """Give somebody, or take from them, a role on the project."""
        self._grant_all((role,), granted, who)

    def _grant_all(self, roles: tuple[str, ...], granted: bool, who: str = ADA) -> None:
        path = f"/v1/projects/{self.project}"
        policy = self.cloud.rest("POST", f"{path}:getIamPolicy", {})
        bindings = {binding["role"]: set(binding["members"]) for binding in policy.get("bindings", [])}
        for role in roles:
            members = bindings.setdefault(role, set())
            members.add(who) if granted else members.discard(who)
        policy["bindings"] = [{"role": key, "members": sorted(who)} for key, who in bindings.items() if who]
        self.cloud.rest("POST", f"{path}:setIamPolicy", {"policy": policy})

    @contextlib.contextmanager
    def without(self, role: str) -> Iterator[None]:
        """Take one of her roles on the project from Ada for a while."""
        self.grant(role, False)
        try:
            yield
        finally:
            self.grant(role)

    @contextlib.contextmanager
    def granted(self, role: str) -> Iterator[None]:
        """Give Ada a role on the project for a while."""
        self.grant(role)
        try:
            yield
        finally:
            self.grant(role, False)

    def may_read_catalog(self, granted: bool) -> None:
        self._may_read("c", granted)

    def may_read_work(self, granted: bool) -> None:
        self._may_read("w", granted)

    def _may_read(self, bucket: str, granted: bool) -> None:
        path = f"/storage/v1/b/{bucket}-{self.name}/iam"
        policy = self.cloud.rest("GET", path)
        for binding in policy["bindings"]:
            if binding["role"] == "roles/storage.objectViewer":
                binding["members"] = [who for who in binding["members"] if who != ADA] + ([ADA] if granted else [])
        self.cloud.rest("PUT", path, policy)

    def act_as_trainer(self, granted: bool) -> None:
        bindings = [{"role": "roles/iam.serviceAccountUser", "members": [ADA]}] if granted else []
        account = f"/v1/projects/{self.project}/serviceAccounts/{self.trainer}"
        self.cloud.rest("POST", f"{account}:setIamPolicy", {"policy": {"bindings": bindings}})

    def _bucket_roles(self, bucket: str, roles: dict[str, list[str]]) -> None:
        policy = self.cloud.rest("GET", f"/storage/v1/b/{bucket}/iam")
        policy["bindings"] = policy.get("bindings", []) + [
            {"role": role, "members": who} for role, who in roles.items()
        ]
        self.cloud.rest("PUT", f"/storage/v1/b/{bucket}/iam", policy)

    def publish(self, content: bytes | None = None) -> None:
        """Put the catalog, or other content, into its bucket."""
        self.put("catalog.json", json.dumps(self.catalog).encode() if content is None else content)

    def put(self, name: str, content: bytes, bucket: str = "c") -> None:
        """Put an object into the catalog's bucket, or into the work bucket `w`."""
        path = f"/upload/storage/v1/b/{bucket}-{self.name}/o?uploadType=media&name={quote(name, safe='')}"
        self.cloud.call("POST", path, content_type="application/json", data=content).raise_for_status()

    def offer(self, template: str = "hello", place: int = 0) -> dict[str, Any]:
        """Return an offer of a template: of both the pool is the first, and Spot the second."""
        found: dict[str, Any] = self.catalog["templates"][template]["offers"][place]
        return found

    def spec(self, template: str = "hello", place: int = 0) -> dict[str, Any]:
        """Return the specification of the job that an offer sends."""
        found: dict[str, Any] = self.offer(template, place)["request"]["jobSpec"]
        return found

    def beside_pools(self, template: str, *types: str, machine: dict[str, Any] | None = None) -> None:
        """Let a template have these offers of machines of its own alone, of another shape where that is given."""
        spot, offers = self.offer(template, 1), []
        for type_ in types:
            offer = deepcopy(spot) | {"capacityType": type_}
            offer["request"]["labels"]["slipway-capacity-type"] = type_
            offer["request"]["jobSpec"]["scheduling"] = SCHEDULING[type_]
            for worker in offer["request"]["jobSpec"]["workerPoolSpecs"]:
                worker |= {"machineSpec": machine} if machine else {}
            offers.append(offer)
        self.catalog["templates"][template]["offers"] = offers

    def env(self, role: str = "submitter", **variables: str) -> dict[str, str]:
        base = {"SLIPWAY_CATALOG": self.address, "SLIPWAY_USER": "Ada", "PYTHONPATH": str(ROOT)}
        base["SLIPWAY_CONFIG"] = str(self.folder / "config")
        return {**self.cloud.env(role, self.project), **base, **variables}

    def run(self, *arguments: str, role: str = "submitter", **variables: str) -> Done:
        """Run `slipway …` in a folder of the test's own, in this process."""
        environ = {key: value for key, value in self.env(role, **variables).items() if value != UNSET}
        return slipway(arguments, environ, self.folder)

    def well(self, *arguments: str, **variables: str) -> Done:
        """Run what must succeed."""
        done = self.run(*arguments, **variables)
        assert done.code == 0, done.err
        return done

    def sends(self, *words: str, **variables: str) -> Any:
        """Return the job of a submission, as its document has it; with `--wait` that of one that has ended, however."""
        return self.run("submit", *words, "--output", "json", **variables).json["job"]

    def ended(self, *words: str, **variables: str) -> str:
        """Return the name of a job that was submitted and has ended."""
        return str(self.sends(*words, "--wait", **variables)["displayName"])

    def shown(self, job: str) -> Any:
        return self.well("jobs", "show", job, "--output", "json").json["job"]

    def asked(self, *arguments: str, answer: str, until: str = "") -> Done:
        """Run the same at a terminal, where somebody types an answer, and Ctrl-C when a line has the text `until`."""
        ours, theirs = pty.openpty()
        os.write(ours, f"{answer}\n".encode())
        command, environ = [sys.executable, "-m", "slipway", *arguments], self.env()
        with (
            tempfile.TemporaryFile("w+") as out,
            subprocess.Popen(
                command, cwd=self.folder, env=environ, stdin=theirs, stdout=out, stderr=subprocess.PIPE, text=True
            ) as process,
        ):
            assert process.stderr
            said = ""
            for line in process.stderr:
                said += line
                if until and until in line:
                    process.send_signal(signal.SIGINT)
            process.wait()
            out.seek(0)
            done = Done(process.returncode, out.read(), said)
        os.close(theirs)
        os.close(ours)
        return done

    def watched(self, *arguments: str, enough: Callable[[str], object], **variables: str) -> Done:
        """Run it on a terminal of its own, where both streams are drawn, and press Ctrl-C once that is enough."""
        ours, theirs = pty.openpty()
        environ = {key: value for key, value in self.env(TERM="xterm", **variables).items() if key != "NO_COLOR"}
        command, drawn, pressed = [sys.executable, "-m", "slipway", *arguments], b"", False
        with subprocess.Popen(
            command, cwd=self.folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            with contextlib.suppress(OSError):  # Linux says so when the other end is closed.
                while chunk := os.read(ours, 65536):
                    drawn += chunk
                    if not pressed and enough(drawn.decode(errors="ignore")):
                        process.send_signal(signal.SIGINT)
                        pressed = True
        os.close(ours)
        return Done(process.returncode, drawn.decode(), "")

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

    def journal(self, request_id: str) -> Path:
        """Return the file where a request is recorded."""
        return self.folder / ".slipway" / "requests" / self.project / self.name / f"{request_id}.json"

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
        paths = dict.fromkeys(f"{self._home(region)}/customJobs" for region in (REGION, self.cluster_region))
        listed = (self.cloud.rest("GET", f'{path}?filter=labels.slipway-stack="{self.name}"') for path in paths)
        return [job for page in listed for job in page.get("customJobs", [])]

    def until(self, holds: Callable[[], bool], seconds: float = 600) -> None:
        wait_for(holds, "what the test waits for", seconds)

    def all_end(self) -> None:
        self.until(lambda: all("endTime" in job for job in self.jobs()))

    @contextlib.contextmanager
    def faults(self, *faults: dict[str, Any]) -> Iterator[None]:
        self.cloud.rest("POST", "/vertex-local/faults", {"faults": list(faults)})
        try:
            yield
        finally:
            self.cloud.rest("DELETE", "/vertex-local/faults")

    @contextlib.contextmanager
    def settings(self, **values: Any) -> Iterator[None]:
        """Hold other settings of the cloud; `quota` is a mapping of limits by metric."""
        before = self.cloud.rest("GET", "/vertex-local/settings")
        self.cloud.rest("POST", "/vertex-local/settings", values)
        try:
            yield
        finally:
            self.cloud.rest("POST", "/vertex-local/settings", {name: before[name] for name in values})

    @contextlib.contextmanager
    def scenario(self, **parts: Any) -> Iterator[None]:
        """Hold what the cloud has of machines, and what it does to jobs."""
        self.cloud.rest("POST", "/vertex-local/scenario", parts)
        try:
            yield
        finally:
            self.cloud.rest("DELETE", "/vertex-local/scenario")

    def end(self) -> None:
        """End its jobs, give its cluster's machines back and take Ada's roles: the cloud goes on for other tests.

        A job that is still being cancelled draws quota, which the next test reads.
        """
        self.cancel_all()
        self.all_end()
        self.cloud.call("DELETE", f"{self.clusters}/{self.cluster}")
        self._grant_all(SUBMITTER_ROLES, False)

    def cancel_all(self) -> None:
        for job in self.jobs():
            if job["state"] in ("JOB_STATE_QUEUED", "JOB_STATE_PENDING", "JOB_STATE_RUNNING"):
                self.cloud.cancel(job["name"])


SLEEP = "import time; print('begun'); time.sleep(600)"
"""A job that runs until it is cancelled."""
SPOT_CPUS = {"custom_model_training_preemptible_cpus": 64}


def held(stack: Stack, machines: int = 0, *flags: str) -> str:
    """Return the name of a running job that holds so many machines of the pool, or all of them."""
    machines = machines or stack.most
    words = ["submit", "crew", "-p", f"code={SLEEP}", "-p", f"workers={machines - 1}"]
    if machines == 1:
        words = ["submit", "hello", "-p", f"code={SLEEP}"]
    name = str(stack.well(*words, *flags, "--output", "json").json["job"]["displayName"])
    stack.until(lambda: any(job["displayName"] == name and job["state"] == "JOB_STATE_RUNNING" for job in stack.jobs()))
    return name


def counts(line: str) -> tuple[int, ...]:
    """Return the numbers of `sweep NAME: 3 submitted now, 0 before, of 3`."""
    return tuple(map(int, re.findall(r"\d+", line.rpartition(": ")[2])))

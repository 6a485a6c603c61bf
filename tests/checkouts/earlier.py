"""The cloud as an earlier release left it: recorded by `record_earlier.py`, restored to today's local cloud."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from .checkout import PROJECT, VERTEX, Checkout
from .shell import wait_for

DEPLOYED = sorted((Path(__file__).parents[1] / "end_to_end" / "deployed").glob("*.json"))
_BUCKET = (
    "name",
    "location",
    "storageClass",
    "labels",
    "iamConfiguration",
    "versioning",
    "lifecycle",
    "softDeletePolicy",
)
_CLUSTER = ("displayName", "resourcePools", "labels", "resourceRuntimeSpec", "network", "encryptionSpec")
_JOB = ("displayName", "jobSpec", "labels", "encryptionSpec")


@dataclass(frozen=True)
class Earlier:
    """A deployed stack with a job on its retiring cluster and one on the current. `recorded` is the file's content."""

    recorded: Mapping[str, Any]

    @property
    def stack(self) -> str:
        urn = str(self.recorded["state"]["deployment"]["resources"][0]["urn"])
        return urn.split(":")[2]

    def restore(self, checkout: Checkout) -> list[str]:
        """Restore the cloud and the engine's state; return the jobs' names, once they run."""
        file = yaml.safe_load(checkout.file.read_text())
        checkout.file.write_text(yaml.safe_dump({**file, "config": self.recorded["config"]}, sort_keys=False))
        cloud = checkout.cloud
        for one in self.recorded["accounts"]:
            account = {key: one[key] for key in ("displayName", "description") if key in one}
            body = {"accountId": one["email"].partition("@")[0], "serviceAccount": account}
            made = cloud.rest("POST", f"/v1/projects/{PROJECT}/serviceAccounts", body)
            cloud.rest("POST", f"/v1/{made['name']}:setIamPolicy", {"policy": _bindings(one["policy"])})
        for one in self.recorded["buckets"]:
            self._bucket(checkout, one)
        policy = cloud.rest("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
        policy["bindings"] += [{"role": role, "members": [member]} for role, member in self.recorded["grants"]]
        cloud.rest("POST", f"/v1/projects/{PROJECT}:setIamPolicy", {"policy": policy})
        for one in self.recorded["clusters"]:
            at = f"{VERTEX}/persistentResources?persistentResourceId={one['name'].rsplit('/', 1)[-1]}"
            cloud.rest("POST", at, _only(one, _CLUSTER))
        wait_for(lambda: {*checkout.clusters().values()} == {"RUNNING"}, "the clusters run")
        made = [cloud.rest("POST", f"{VERTEX}/customJobs", _only(one, _JOB)) for one in self.recorded["jobs"]]
        jobs = [str(one["name"]) for one in made]
        wait_for(lambda: {*map(checkout.job_state, jobs)} == {"JOB_STATE_RUNNING"}, "the jobs run")
        self._state(checkout)
        return jobs

    def _bucket(self, checkout: Checkout, bucket: Mapping[str, Any]) -> None:
        cloud, name = checkout.cloud, bucket["name"]
        cloud.rest("POST", f"/storage/v1/b?project={PROJECT}", _only(bucket, _BUCKET))
        cloud.rest("PUT", f"/storage/v1/b/{name}/iam", _bindings(bucket["policy"]))
        for one in bucket["objects"]:
            told, content = one["contentType"], one["content"]
            data = json.dumps(content).encode() if told == "application/json" else base64.b64decode(content)
            at = f"/upload/storage/v1/b/{name}/o?uploadType=media&name={one['name']}"
            cloud.call("POST", at, content_type=told, data=data).raise_for_status()

    def _state(self, checkout: Checkout) -> None:
        file = checkout.state / "earlier.json"
        file.write_text(json.dumps(self.recorded["state"]))
        command = ("pulumi", "stack", "import", "--file", str(file), "--stack", checkout.stack, "--non-interactive")
        done = checkout.run(*command, role="deployer")
        assert done.code == 0, done.said


def read(file: Path) -> Earlier:
    return Earlier(json.loads(file.read_text()))


def _only(body: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the keys of a resource that somebody may set."""
    return {name: body[name] for name in names if name in body}


def _bindings(policy: Mapping[str, Any]) -> dict[str, Any]:
    return {"bindings": policy.get("bindings", [])}

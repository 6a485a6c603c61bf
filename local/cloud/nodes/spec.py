"""The specification of one replica, as its runner reads it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from local.cloud.nodes import files
from local.cloud.nodes.mounts import Mount

SPEC, CLAIM, STARTED, EXIT, STOP, KILL, LOCK, LOG = (
    "spec.json",
    "claim.json",
    "started.json",
    "exit.json",
    "stop",
    "kill",
    "runner.lock",
    "log.jsonl",
)


@dataclass(frozen=True)
class Identity:
    """Who the replica is to the cloud: what its metadata server tells. `token` is the job's own."""

    email: str
    project_id: str
    project_number: str
    region: str
    instance_id: str
    machine_type: str
    token: str = field(repr=False)


@dataclass(frozen=True)
class ReplicaSpec:
    """One replica. `image_folder` caches images, `environment_folder` is shared by the replicas of one attempt.
    `keeps_packages`: they are left in the image folder, which is a pool's, for the trials that come after this one.
    `shares_images`: an image is built once for this machine, whatever its recipe says.

    A package task has `packages` (gs:// URIs) and `module`; a container task has `command` and `args` alone.
    `variables` is what the service sets, `user_variables` what the job sets.
    """

    name: str
    url: str
    host: str
    identity: Identity
    image: str
    image_folder: str
    environment_folder: str
    packages: tuple[str, ...]
    module: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    variables: Mapping[str, str]
    user_variables: Mapping[str, str]
    threads: int
    grace_s: float
    mounts: tuple[Mount, ...] = ()
    keeps_packages: bool = False
    shares_images: bool = False


def write(folder: Path, spec: ReplicaSpec) -> None:
    files.write_json(folder / SPEC, asdict(spec))


def read(path: Path) -> ReplicaSpec:
    content: dict[str, Any] = files.read_json(path) or {}
    lists = {name: tuple(content[name]) for name in ("packages", "command", "args")}
    mounts = tuple(Mount(**mount) for mount in content["mounts"])
    return ReplicaSpec(**{**content, **lists, "identity": Identity(**content["identity"]), "mounts": mounts})

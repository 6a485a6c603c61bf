"""A replica: its specification, as its runner reads it, and its status, as seen from outside."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from .. import files
from .mounts import Mount

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
_TEMPORARY = "temporary"
Phase = Literal["starting", "running", "exited", "unready", "lost", "stopped", "killed"]


class UnreadyError(Exception):
    """User code can't be started; the text says why."""


@dataclass(frozen=True)
class Identity:
    """The identity of the replica towards the cloud, as its metadata server tells it. `token` is the job's own."""

    email: str
    project_id: str
    project_number: str
    region: str
    instance_id: str
    machine_type: str
    token: str = field(repr=False)


@dataclass(frozen=True)
class ReplicaSpec:
    """The specification of a replica. `image_folder` caches images, `environment_folder` is shared by the replicas of
    one attempt. `keeps_packages`: they are left in the image folder, which is a pool's, for the trials that come after
    this one. `shares_images`: an image is built once for this machine, whatever its recipe says, and a job's packages
    are kept. `own_view`: it has mounts of its own, as `mounts` and `buckets` need; these are all to be seen below /gcs,
    where nothing can be written otherwise. With fewer than `least_free_bytes` on a disk that it writes to
    it does not start.

    A package task has `packages` (gs:// URIs) and `module`; a container task has `command` and `args` alone.
    `variables` are set by the service, `user_variables` by the job.
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
    own_view: bool = False
    mounts: tuple[Mount, ...] = ()
    buckets: bool = False
    keeps_packages: bool = False
    shares_images: bool = False
    least_free_bytes: int = 0


@dataclass(frozen=True)
class Status:
    """The status of a replica; `starting` is before user code.

    `exited` has the code of user code (128 + N for signal N), `unready` the reason why user code never started; a
    `lost` replica's machine went away, a `stopped` one was asked to end, a `killed` one was ended without a word.
    `began` is the start of user code, `over` its end, as far as they are known: timestamps of the machine's clock.
    """

    phase: Phase
    code: int = 0
    message: str = ""
    began: str | None = field(default=None, compare=False)
    over: str | None = field(default=None, compare=False)

    @property
    def ended(self) -> bool:
        return self.phase not in ("starting", "running")


def temporary(folder: Path) -> Path:
    """Return the folder for temporary files of a replica. It is a link into the replica's own folder, since paths of
    sockets are short, while a file is moved without a copy on one disk alone. It is known without a record, so that
    whoever ends the replica can remove it."""
    root = os.environ.get("TMPDIR") or tempfile.gettempdir()
    return Path(root) / f"vertex-{hashlib.sha256(bytes(folder.absolute())).hexdigest()[:12]}"


def make_temporary(folder: Path) -> None:
    remove_temporary(folder)
    (folder / _TEMPORARY).mkdir(mode=0o700)
    temporary(folder).symlink_to((folder / _TEMPORARY).absolute())


def remove_temporary(folder: Path) -> None:
    temporary(folder).unlink(missing_ok=True)
    shutil.rmtree(folder / _TEMPORARY, ignore_errors=True)


def write(folder: Path, spec: ReplicaSpec) -> None:
    files.write_json(folder / SPEC, asdict(spec))


def read(path: Path) -> ReplicaSpec:
    content: dict[str, Any] = files.read_json(path) or {}
    lists = {name: tuple(content[name]) for name in ("packages", "command", "args")}
    mounts = tuple(Mount(**mount) for mount in content["mounts"])
    return ReplicaSpec(**{**content, **lists, "identity": Identity(**content["identity"]), "mounts": mounts})

"""A replica: its specification, as its runner reads it, and its status, as seen from outside."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from .. import files, records
from .mounts import Mount

SPEC, CLAIM, STARTED, EXIT, STOP, KILL, LOCK, LOG, GPUS = (
    "spec.json",
    "claim.json",
    "started.json",
    "exit.json",
    "stop",
    "kill",
    "runner.lock",
    "log.jsonl",
    "gpus.csv",
)
_TEMPORARY = "temporary"
Phase = Literal["starting", "running", "exited", "unready", "lost", "stopped", "killed"]


class UnreadyError(Exception):
    """User code can't be started; the text says why."""


@dataclass(frozen=True)
class Identity:
    """The identity of the replica towards the cloud, as its metadata server tells it."""

    email: str
    project_id: str
    project_number: str
    region: str
    instance_id: str
    machine_type: str
    #: The job's own.
    token: str = field(repr=False)


@dataclass(frozen=True)
class ReplicaSpec:
    """The specification of a replica. A package task has `packages` and `module`, a container task `command` and `args`
    alone."""

    name: str
    url: str
    host: str
    identity: Identity
    image: str
    #: A cache of images.
    image_folder: str
    #: Shared by the replicas of one attempt.
    environment_folder: str
    #: gs:// URIs.
    packages: tuple[str, ...]
    module: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    #: Set by the service.
    variables: Mapping[str, str]
    #: Set by the job.
    user_variables: Mapping[str, str]
    threads: int
    grace_s: float
    #: The accelerators of its machine, whose use `nvidia-smi` shows.
    accelerators: int = 0
    #: It has mounts of its own, as the next two fields need.
    own_view: bool = False
    mounts: tuple[Mount, ...] = ()
    #: All are to be seen below /gcs, where nothing can be written otherwise.
    buckets: bool = False
    #: They are left in the image folder, which is a pool's, for the trials that come after this one.
    keeps_packages: bool = False
    #: An image is built once for this machine, whatever its recipe says, and a job's packages are kept.
    shares_images: bool = False
    #: With fewer on a disk that it writes to it does not start.
    least_free_bytes: int = 0


@dataclass(frozen=True)
class Status:
    """The status of a replica; `starting` is before user code. A `lost` replica's machine went away, a `stopped` one
    was asked to end, a `killed` one was ended without a word."""

    phase: Phase
    #: Of user code that `exited`: 128 + N for signal N.
    code: int = 0
    #: Why user code never started, where it is `unready`.
    message: str = ""
    #: The start of user code as far as it is known, a timestamp of the machine's clock; as is its end.
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
    return records.read(ReplicaSpec, files.read_json(path) or {})

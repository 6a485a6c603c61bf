"""File systems of a job's network: folders that its replicas see under /mnt/nfs/, by a mount namespace of their own."""

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "--propagation", "private")
# A new /mnt with everything that the machine has there (on some, people's own disks), and the mounts, which go with the
# last process that sees them.
_SCRIPT = """
set -e
new=$(mktemp -d)
mount -t tmpfs -o size=1m,mode=755 tmpfs "$new"
for old in /mnt/*/; do
  if [ -d "$old" ]; then mkdir "$new/$(basename "$old")"; mount --rbind "$old" "$new/$(basename "$old")"; fi
done
while [ "$1" != -- ]; do
  mkdir -p "$new/nfs/$2"
  mount --rbind "$1" "$new/nfs/$2"
  shift 2
done
shift
mount --rbind "$new" /mnt
umount -l "$new"
rmdir "$new"
exec "$@"
"""


@dataclass(frozen=True)
class Mount:
    """A mount. `source` is a folder of this machine that stands for a server's path; replicas see it at
    /mnt/nfs/`point`."""

    source: str
    point: str


def source(state_folder: Path, server: str, path: str) -> Path:
    """Return the folder that stands for an NFS server's path. It outlives jobs, and all jobs that name it share it."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", "//", "..")]
    return state_folder.joinpath("nfs", server.replace("/", "_").lstrip(".") or "_", *parts)


def mounted(command: Sequence[str], mounts: Sequence[Mount]) -> list[str]:
    """Return the command, run where the mounts are seen; their sources are made. The process stays the same one."""
    if not mounts:
        return list(command)
    for mount in mounts:
        Path(mount.source).mkdir(parents=True, exist_ok=True)
    pairs = [word for mount in mounts for word in (mount.source, mount.point)]
    return [*_NAMESPACE, "sh", "-c", _SCRIPT, "mount", *pairs, "--", *command]


@cache
def possible() -> bool:
    """Return whether this machine lets a process have mounts of its own: Linux with user namespaces."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            tried = subprocess.run(mounted(("true",), (Mount(folder, "tried"),)), capture_output=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return False
    return tried.returncode == 0

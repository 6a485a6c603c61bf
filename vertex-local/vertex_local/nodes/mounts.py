"""A replica's own view of this machine's files: its network's file systems at /mnt/nfs, all buckets at /gcs."""

import contextlib
import ctypes
import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from ..program import IMPORTED_FROM, module_command

BUCKETS = "gcs"
"""The folder of the root that has all buckets."""
_NFS = "mnt"
_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_BIND, _RECURSIVE, _PRIVATE, _PLAIN = 0x1000, 0x4000, 1 << 18, 0x2 | 0x4
_DETACH = 2


@dataclass(frozen=True)
class Mount:
    """A mount."""

    #: A folder that stands for a server's path.
    source: str
    #: A name below /mnt/nfs.
    point: str


def source(state_folder: Path, server: str, path: str) -> Path:
    """Return the folder that stands for an NFS server's path. It outlives jobs, and all jobs that name it share it."""
    parts = [part for part in PurePosixPath(path).parts if part not in ("/", "//", "..")]
    return state_folder.joinpath("nfs", server.replace("/", "_").lstrip(".") or "_", *parts)


def enter(mounts: Sequence[Mount] = (), *, buckets: bool = False) -> int | None:
    """Give this process, and all that it starts, a view of its own, for good. It has one thread. Sources are made.

    Return the device by which the file system at /gcs is to be served; without `buckets` None, and nothing can be
    written at /gcs. Raises OSError where this machine does not allow it; the process is of no use then.
    """
    for mount in mounts:
        Path(mount.source).mkdir(parents=True, exist_ok=True)
    here = Path.cwd()
    _unshare()
    _mount("none", "/", "", _RECURSIVE | _PRIVATE)
    # A new root in memory, which has all that the old one has, and what is put in its place or beside it.
    _mount("tmpfs", "/tmp", "tmpfs", _PLAIN)
    os.chdir("/tmp")
    old, new = Path("/old"), Path("/new")
    for folder in (old, new):
        Path(folder.name).mkdir(mode=0o755)
    _pivot(old.name)
    os.chdir("/")
    _mount(str(new), str(new), "", _BIND)
    _show(old, new, {BUCKETS, *([_NFS] if mounts else [])})
    if mounts:
        (new / _NFS).mkdir()
        _show(old / _NFS, new / _NFS, {"nfs"})
    for mount in mounts:
        point = new / _NFS / "nfs" / mount.point
        point.mkdir(parents=True, exist_ok=True)
        _mount(f"{old}{mount.source}", str(point), "", _BIND | _RECURSIVE)
    device = None
    if buckets:
        device = _device(old, new)
    else:
        (new / BUCKETS).touch()  # What is no folder can have no file.
    os.chdir(new)
    _pivot(".")
    _call("umount2", b".", _DETACH)
    os.chdir(here)
    return device


@cache
def possible(*, buckets: bool = False) -> bool:
    """Return whether a process may have mounts of its own: Linux, user namespaces, /dev/fuse for `buckets`."""
    command = [*module_command(sys.executable, "nodes.mounts"), *(["buckets"] if buckets else [])]
    try:
        return subprocess.run(command, cwd=IMPORTED_FROM, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _device(old: Path, new: Path) -> int:
    # It is opened by the user namespace that mounts it, or the mount is refused.
    device = os.open(old / "dev" / "fuse", os.O_RDWR | os.O_CLOEXEC)
    (new / BUCKETS).mkdir(mode=0o755)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    _mount(BUCKETS, str(new / BUCKETS), "fuse", _PLAIN, options)
    return device


def _unshare() -> None:
    """Leave the mounts of the others: as root, or in a user namespace in which all stay who they are."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        with contextlib.suppress(OSError):
            return _call("unshare", _NEW_MOUNTS)
    _call("unshare", _NEW_MOUNTS | _NEW_USERS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path("/proc/self", name).write_text(text, encoding="ascii")
    return None


def _show(old: Path, new: Path, but: Collection[str]) -> None:
    """Show what is in a folder in another one. What can't be shown, as nobody may look at it, is not there."""
    for entry in os.scandir(old):
        place = new / entry.name
        if entry.name in but:
            continue
        with contextlib.suppress(OSError):
            if entry.is_symlink():
                place.symlink_to(Path(entry.path).readlink())
                continue
            if entry.is_dir():
                place.mkdir()
            else:
                place.touch()
            _mount(entry.path, str(place), "", _BIND | _RECURSIVE)


def _mount(what: str, where: str, kind: str, flags: int, options: str = "") -> None:
    _call("mount", os.fsencode(what), os.fsencode(where), kind.encode(), ctypes.c_ulong(flags), options.encode())


def _pivot(old: str) -> None:
    """Make the working folder the root, and show the old root in it."""
    _call("pivot_root", b".", old.encode())


def _call(name: str, *arguments: object) -> None:
    try:
        function = getattr(ctypes.CDLL(None, use_errno=True), name)
    except AttributeError as error:
        raise OSError(f"this system has no {name}") from error
    if function(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    enter(buckets=sys.argv[1:] == ["buckets"])

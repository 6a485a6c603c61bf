"""Inside a job: where no buckets can be mounted, nothing is opened or made below /gcs.

It would be a file of this machine's own, which nobody looks for there. So this module looks as the interpreter starts
whether buckets are mounted, and has each such attempt fail otherwise. It runs in the job's interpreter, whatever that
is: the standard library only.
"""

import errno
import os
import sys
from typing import Any

WHY = (
    "the local cloud can mount no buckets on this machine: that takes Linux, /dev/fuse, and mounts that a process has "
    "for itself (user namespaces, or root with CAP_SYS_ADMIN)"
)
_ATTEMPTS = ("open", "os.mkdir", "os.listdir", "os.scandir")


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _ATTEMPTS and isinstance(arguments[0], str | bytes | os.PathLike):
        path = os.fsdecode(arguments[0])
        if path == "/gcs" or path.startswith("/gcs/"):
            raise OSError(errno.ENOTSUP, WHY, path)


if os.environ.get("CLOUD_ML_JOB_ID") and not os.path.ismount("/gcs"):
    sys.addaudithook(_refuse)

"""Objects that a command names by their path under /gcs, where the service mounts all buckets.

Here nothing is mounted there. What a command names is fetched before it starts, and named where it then is: so the
SDK's local scripts run, which are packages that a shell installs from /gcs. An object that is not there yet is one that
the command is to write, and can't.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from .spec import ReplicaSpec, UnreadyError

_PATH = re.compile(r"""/gcs/([a-z0-9][a-z0-9._-]+)/([^\s'"`;|&<>()$*?]+)""")


def fetched(words: Sequence[str], spec: ReplicaSpec, work: Path, say: Callable[..., None]) -> list[str]:
    """The words of a command, with the places of objects that were fetched for their paths under /gcs.

    A place is named from the working folder on, whose own path may hold what a shell takes apart.
    """
    return [_PATH.sub(lambda path: _fetched(path, spec, work, say), word) for word in words]


def _fetched(path: re.Match[str], spec: ReplicaSpec, work: Path, say: Callable[..., None]) -> str:
    # An HTTP client takes long to import, and few commands name such a path.
    from .downloads import download

    bucket, name = path[1], path[2]
    place = Path("gcs", bucket, name)
    (work / place).parent.mkdir(parents=True, exist_ok=True)
    try:
        download(spec, f"gs://{bucket}/{name}", (work / place).parent, say)
    except UnreadyError as error:
        say(f"Nothing is at {path[0]}: /gcs is not mounted in the local cloud. {error}", "WARNING")
        return path[0]
    return str(place)

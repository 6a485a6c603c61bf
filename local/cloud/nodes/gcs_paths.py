"""Objects that a command names by their path under /gcs, where the service mounts all buckets.

Nothing is mounted here. An object in a command is downloaded before the start, and the command gets the path of the
download instead. So the SDK's local scripts run, which are packages that a shell installs from /gcs. An object that
does not exist yet would be the command's output, which it can't write there.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from .spec import ReplicaSpec, UnreadyError

_PATH = re.compile(r"""/gcs/([a-z0-9][a-z0-9._-]+)/([^\s'"`;|&<>()$*?]+)""")


def fetched(words: Sequence[str], spec: ReplicaSpec, work: Path, say: Callable[..., None]) -> list[str]:
    """Return the words of a command, with downloads in place of objects' paths under /gcs.

    A download is named by its path from the working folder, whose own path may hold characters that a shell takes
    apart.
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

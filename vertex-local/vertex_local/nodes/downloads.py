"""A job's packages, read from Cloud Storage with the job's own token."""

import http.client
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

from .spec import ReplicaSpec, UnreadyError

_CHUNK = 1 << 20
# A killed cloud is started again by somebody who notices; its jobs live on meanwhile.
PATIENCE_S, EVERY_S = 300.0, 0.5
# Errors of a connection, not of the replica's own disk.
_OF_THE_WAY = (urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException)


def download(
    spec: ReplicaSpec, uri: str, folder: Path, say: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
) -> Path:
    """Return the file of a package, `gs://BUCKET/NAME`, asked for until something answers. Raises UnreadyError."""
    say(f"Downloading {uri}")
    target = folder / uri.rpartition("/")[2]
    folder.mkdir(exist_ok=True)
    bucket, _, name = uri.removeprefix("gs://").partition("/")
    url = f"{spec.url}/download/storage/v1/b/{bucket}/o/{urllib.parse.quote(name, safe='')}?alt=media"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {spec.identity.token}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for left in range(int(PATIENCE_S / EVERY_S), -1, -1):
        try:
            with opener.open(request, timeout=60) as answer, target.open("wb") as file:
                shutil.copyfileobj(answer, file, _CHUNK)
                if answer.length:  # the bytes still missing: the interpreter takes a cut connection for an end
                    raise http.client.IncompleteRead(b"", answer.length)
            break
        except urllib.error.HTTPError as error:
            said = error.read(2000).decode(errors="replace")
            raise UnreadyError(f"{uri} can't be read by {spec.identity.email}: HTTP {error.code} {said}") from error
        except (OSError, http.client.HTTPException) as error:
            if not (left and isinstance(error, _OF_THE_WAY)):
                raise UnreadyError(f"{uri} can't be read: {error}") from error
            sleep(EVERY_S)
    return target

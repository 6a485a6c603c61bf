"""Copies the inputs of a job to the machine's disk, before its code starts.

An input is a variable SLIPWAY_INPUT_NAME that comes as `gs://BUCKET/PREFIX`, or as `hf://ORG/MODEL` of the hub. The
code finds there the folder with the copy, which is complete: the copy is made beside it, with sizes compared, and the
folder gets its name at the end.
"""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path
from typing import Callable, Mapping  # noqa: UP035 (Python 3.8)

from slipway.authoring.packages.slipway_http import NO_ROOM, StorageError, account
from slipway.authoring.packages.slipway_hub import SCHEME, Hub
from slipway.authoring.packages.slipway_results import say
from slipway.authoring.packages.slipway_storage import RefusedError, ReplacedError, Storage, split

INPUT = "SLIPWAY_INPUT_"
SOURCES = ("gs://", SCHEME)
TOLD_EVERY_S = 5.0
REFUSED = "the inputs of this job can't be copied, so it does not start"
UNITS = ("bytes", "kB", "MB", "GB", "TB")
DISK = "give the job's machines a larger disk, or name fewer files"
READER = (
    "gcloud storage buckets add-iam-policy-binding gs://{} --role=roles/storage.objectViewer "
    "--member=serviceAccount:{}, then submit again"
)
TOKEN = (
    "see that it is there, accept the licence on its page, and give the job a token that may read it: "
    "--secret HF_TOKEN=SECRET"
)
AGAIN = "correct the address, or what is there, and submit again"
LATER = "submit again once nothing replaces or deletes what is there"


class Progress:
    """Tells the log every few seconds how much of the inputs is there; from any thread."""

    def __init__(self, total: int, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self.total, self.came, self.tell, self.clock = total, 0, tell, clock
        self.began = self.told = clock()
        self.lock = threading.Lock()

    def add(self, count: int) -> None:
        with self.lock:
            self.came, now = self.came + count, self.clock()
            if now - self.told >= TOLD_EVERY_S or self.came == self.total:
                self.told, rate = now, self.came / max(now - self.began, 0.001)
                self.tell(f"inputs: {size(self.came)} of {size(self.total)} copied, {size(rate)} a second")


def size(count: float) -> str:
    """Return `3.4 MB`."""
    unit = 0
    while count >= 999.5 and unit < len(UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.{int(unit and count < 9.95)}f} {UNITS[unit]}"


def copied(place: Path, environ: Mapping[str, str], tell: Callable[[str], None] = say) -> dict[str, str]:
    """Return the folder of each input in `place`, by its variable, once all are there. Raises RefusedError."""
    addresses = {name: uri for name, uri in environ.items() if name.startswith(INPUT) and uri.startswith(SOURCES)}
    storage, hub, found, sizes, uri = Storage(environ), Hub(environ), {}, {}, ""
    part, whole = place / "inputs.part", place / "inputs"
    try:
        for name, uri in addresses.items():
            found[name] = (hub if uri.startswith(SCHEME) else storage).found(uri)
            sizes[name] = sum(int(entry["size"]) for entry in found[name].values())
            if not found[name]:
                raise RefusedError(REFUSED, f"nothing is at {uri}", AGAIN)
        total, free = sum(sizes.values()), shutil.disk_usage(place).free
        if total > free:
            raise RefusedError(REFUSED, f"the inputs take {size(total)}, and the disk has {size(free)} left", DISK)
        progress = Progress(total, tell)
        for name, uri in addresses.items():
            count = f"{len(found[name])} object{'s' * (len(found[name]) != 1)}"
            tell(f"copies {uri} to ${name}: {count}, {size(sizes[name])}")
            source = hub if uri.startswith(SCHEME) else storage
            source.bring(found[name], part / name[len(INPUT) :].lower(), progress.add)
        if addresses:
            part.rename(whole)
    except (OSError, StorageError) as error:
        raise RefusedError(REFUSED, f"{uri}: {error}", fix(error, uri, environ)) from error
    return {name: str(whole / name[len(INPUT) :].lower()) for name in addresses}


def fix(error: OSError | StorageError, uri: str, environ: Mapping[str, str]) -> str:
    """Return what to do about a copy that failed."""
    if isinstance(error, OSError):
        return DISK if error.errno in NO_ROOM else "submit again"
    if isinstance(error, ReplacedError):
        return LATER
    if error.code in (401, 403) and uri.startswith(SCHEME):
        return TOKEN
    if error.code in (401, 403):
        return READER.format(split(uri)[0], account("email", environ))
    return AGAIN

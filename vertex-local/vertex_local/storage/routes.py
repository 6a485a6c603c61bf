"""Routes of Cloud Storage."""

import contextlib
import threading

from ..wire import Route
from ..world import World
from .batch import Batch
from .bucket_policies import BucketPolicy
from .buckets import Buckets
from .guard import Guard
from .object_downloads import Downloads
from .object_listing import Listing
from .object_uploads import Uploads, sweep_uploads
from .objects import Objects
from .records import BUCKETS, Records

API = "storage.googleapis.com"


def routes(world: World) -> list[Route]:
    records, guard = Records(world), Guard(world)
    objects = Objects(records, guard)
    found = [
        *Buckets(world, records, guard).routes(),
        *BucketPolicy(world, records, guard).routes(),
        *objects.routes(),
        *Downloads(records, objects).routes(),
        *Listing(world, records, guard).routes(),
        *Uploads(records, objects, guard).routes(),
    ]
    return [*found, *Batch(found).routes()]


def summary(world: World) -> dict[str, int]:
    return {"buckets": world.store.count(BUCKETS.kind)}


class _Sweep:
    """A sweep that removes, once after the start, contents that a kill left without a name, and uploads that nobody has
    gone on with for a week."""

    def __init__(self, world: World) -> None:
        self._records, self._before = Records(world), world.clock.now().timestamp()
        self._thread = threading.Thread(target=self._run, name="storage-sweep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            self._records.blobs.sweep(self._records.blob_names(), self._before)
            sweep_uploads(self._records, self._before)


def loop(world: World) -> _Sweep:
    return _Sweep(world)

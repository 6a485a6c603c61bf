"""Routes of Cloud Storage."""

import contextlib
import threading

from ..wire import Route
from ..world import World
from .batch import Batch
from .bucket_policies import BucketPolicy
from .buckets import Buckets
from .guard import Guard, refuse_tags
from .object_downloads import Downloads
from .object_listing import Listing
from .object_uploads import Uploads, sweep_uploads
from .objects import Objects
from .records import BUCKETS, Records

API = "storage.googleapis.com"


def routes(world: World) -> list[Route]:
    records, guard = Records(world), Guard(world)
    objects, buckets = Objects(records, guard), Buckets(world, records, guard)
    downloads = Downloads(records, objects)
    reading = (buckets.get, downloads.get, downloads.content)
    listed = [
        *buckets.routes(),
        *BucketPolicy(world, records, guard).routes(),
        *objects.routes(),
        *downloads.routes(),
        *Listing(world, records, guard).routes(),
        *Uploads(records, objects, guard).routes(),
    ]
    listed = [route if route.handler in reading else refuse_tags(route) for route in listed]
    return [*listed, *Batch(listed).routes()]


def summary(world: World) -> dict[str, int]:
    return {"buckets": world.store.count(BUCKETS.kind)}


class _Sweep(threading.Thread):
    """A sweep, once after the start, of contents that a kill left without a name and of old uploads."""

    def __init__(self, world: World) -> None:
        super().__init__(name="storage-sweep", daemon=True)
        self._records, self._before = Records(world), world.clock.now().timestamp()

    def stop(self) -> None:
        self.join()

    def run(self) -> None:
        with contextlib.suppress(OSError):
            self._records.blobs.sweep(self._records.blob_names(), self._before)
            sweep_uploads(self._records, self._before)


def loops(world: World) -> list[_Sweep]:
    return [_Sweep(world)]

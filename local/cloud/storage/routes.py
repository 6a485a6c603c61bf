"""What the server takes of Cloud Storage."""

import contextlib
import threading

from local.cloud.storage.batch import Batch
from local.cloud.storage.bucket_policies import BucketPolicy
from local.cloud.storage.buckets import Buckets
from local.cloud.storage.guard import Guard
from local.cloud.storage.object_downloads import Downloads
from local.cloud.storage.object_listing import Listing
from local.cloud.storage.object_parts import Parts
from local.cloud.storage.object_uploads import Uploads
from local.cloud.storage.objects import Objects
from local.cloud.storage.records import BUCKET, Records
from local.cloud.wire import Route
from local.cloud.world import World

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
    return [*found, *Batch(found).routes(), *Parts(records, objects, guard).routes()]


def summary(world: World) -> dict[str, int]:
    return {"buckets": world.store.count(BUCKET)}


class _Sweep:
    """Removes, once after the start, contents that a kill left without a name."""

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


def loop(world: World) -> _Sweep:
    return _Sweep(world)

"""Buckets and objects as documents in the store, and as resources in an answer."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import Any
from urllib.parse import quote

from ..clock import timestamp
from ..repository import Repository
from ..store import Store
from ..wire import Call
from ..world import World
from . import errors
from .blobs import Blobs

_GENERATION_DIGITS = 20
_SELF = "https://www.googleapis.com/storage/v1/b"


@dataclass(frozen=True)
class Version:
    """A generation of an object: its metadata without links, and the name of its blob."""

    resource: dict[str, Any]
    blob: str

    @property
    def generation(self) -> int:
        return int(self.resource["generation"])

    @property
    def metageneration(self) -> int:
        return int(self.resource["metageneration"])

    @property
    def name(self) -> str:
        """The name by which a current version is kept."""
        return f"{self.resource['bucket']}/{self.resource['name']}"


BUCKETS = Repository(kind="bucket", record=dict, key=itemgetter("name"))
OBJECTS = Repository(kind="object", record=Version, key=attrgetter("name"))
_NONCURRENT = Repository(
    kind="object-noncurrent", record=Version, key=lambda version: _noncurrent(version.name, version.generation)
)


class Records:
    """The records of Storage. Callers hold a transaction where they read and then write."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store: Store = world.store
        self.blobs = Blobs(world.state_folder / "objects")

    def bucket(self, name: str) -> dict[str, Any]:
        """Return a bucket. Raises 404 notFound."""
        kept = BUCKETS.get(self.store, name)
        if kept is None:
            raise errors.error(404, "notFound", "The specified bucket does not exist.")
        return kept

    def current(self, bucket: str, name: str) -> Version | None:
        return OBJECTS.get(self.store, f"{bucket}/{name}")

    def version(self, bucket: str, name: str, generation: int) -> Version | None:
        """Return a generation of an object, current or not; 0 means the current one."""
        current = self.current(bucket, name)
        if not generation or (current and current.generation == generation):
            return current
        return _NONCURRENT.get(self.store, _noncurrent(f"{bucket}/{name}", generation))

    def next_generation(self, current: Version | None) -> int:
        """Return the next generation: microseconds since the epoch, and more than the current one."""
        now = int(self.world.clock.now().timestamp() * 1_000_000)
        return max(now, current.generation + 1 if current else 0)

    def put_again(self, version: Version) -> None:
        """Keep a version's changed metadata, current or not."""
        self._home(version).put(self.store, version)

    def retire(self, version: Version, versioned: bool) -> str | None:
        """Take the current version away. Return its blob, to be deleted after the commit, unless it is kept."""
        OBJECTS.remove(self.store, version.name)
        if not versioned:
            return version.blob
        _NONCURRENT.put(self.store, Version({**version.resource, "timeDeleted": self.world.now()}, version.blob))
        return None

    def remove(self, version: Version) -> str:
        """Remove one version for good and return its blob's name, to be deleted after the commit."""
        home = self._home(version)
        home.remove(self.store, home.key(version))
        return version.blob

    def noncurrent(self, bucket: str) -> list[Version]:
        return _NONCURRENT.every(self.store, f"{bucket}/")

    def is_empty(self, bucket: str) -> bool:
        return not any(self.store.count(kind.kind, f"{bucket}/") for kind in (OBJECTS, _NONCURRENT))

    def blob_names(self) -> set[str]:
        """Return all blobs that a version names."""
        return {version.blob for kind in (OBJECTS, _NONCURRENT) for version in kind.every(self.store)}

    def _home(self, version: Version) -> Repository[Version]:
        current = OBJECTS.get(self.store, version.name)
        return OBJECTS if current and current.generation == version.generation else _NONCURRENT


def is_versioned(bucket: Mapping[str, Any]) -> bool:
    return bool(bucket.get("versioning", {}).get("enabled"))


def is_uniform(bucket: Mapping[str, Any]) -> bool:
    """Return whether policies alone decide the access to a bucket's objects."""
    return bool(bucket.get("iamConfiguration", {}).get("uniformBucketLevelAccess", {}).get("enabled"))


def is_private(bucket: Mapping[str, Any]) -> bool:
    """Return whether a bucket's public access is prevented."""
    return bool(bucket.get("iamConfiguration", {}).get("publicAccessPrevention") == "enforced")


def etag(*numbers: int) -> str:
    """Return an etag as Storage makes it: a protocol buffer of the generation and metageneration in base64."""
    packed = b"".join(bytes([(at << 3)]) + _varint(number) for at, number in enumerate(numbers, 1))
    return base64.b64encode(packed).decode()


def show_bucket(bucket: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored bucket with the fields that follow from it."""
    name = bucket["name"]
    return {
        "kind": "storage#bucket",
        "selfLink": f"{_SELF}/{name}",
        "id": name,
        **bucket,
        "etag": etag(int(bucket["metageneration"])),
    }


def show_object(resource: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """Return the stored object with the fields that depend on the request. The media link, which clients follow, leads
    here, and carries the token's prefix when the request did."""
    bucket, name, generation = resource["bucket"], resource["name"], resource["generation"]
    quoted = quote(name, safe="")
    return {
        "kind": "storage#object",
        "id": f"{bucket}/{name}/{generation}",
        "selfLink": f"{_SELF}/{bucket}/o/{quoted}",
        "mediaLink": f"{call.base_url}/download/storage/v1/b/{bucket}/o/{quoted}?generation={generation}&alt=media",
        **resource,
        "etag": etag(int(generation), int(resource["metageneration"])),
    }


def merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a resource after a patch: objects are merged, null removes, anything else replaces."""
    result = dict(old)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            before = result.get(name)
            result[name] = merged(before if isinstance(before, dict) else {}, value)
        else:
            result[name] = value
    return result


def moment(when: datetime) -> str:
    """Return a time as Storage writes it, to the millisecond."""
    return timestamp(when)[:-4] + "Z"


def _noncurrent(name: str, generation: int) -> str:
    return f"{name}\n{generation:0{_GENERATION_DIGITS}d}"


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)

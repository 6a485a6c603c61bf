"""Buckets and objects as documents in the store, and as resources in an answer."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from ..clock import timestamp
from ..store import Store
from ..wire import Call
from ..world import World
from . import errors
from .blobs import Blobs

BUCKET, OBJECT, NONCURRENT = "bucket", "object", "object-noncurrent"
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


class Records:
    """The documents of Storage. Callers hold a transaction where they read and then write."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store: Store = world.store
        self.blobs = Blobs(world.state_folder / "objects")

    def bucket(self, name: str) -> dict[str, Any]:
        """Return a bucket. Raises 404 notFound."""
        found = self.store.get(BUCKET, name)
        if found is None:
            raise errors.no_bucket()
        return found

    def current(self, bucket: str, name: str) -> Version | None:
        return _version(self.store.get(OBJECT, f"{bucket}/{name}"))

    def version(self, bucket: str, name: str, generation: int) -> Version | None:
        """Return a generation of an object, current or not; 0 means the current one."""
        current = self.current(bucket, name)
        if not generation or (current and current.generation == generation):
            return current
        return _version(self.store.get(NONCURRENT, _noncurrent_key(bucket, name, generation)))

    def next_generation(self, current: Version | None) -> int:
        """Return the next generation: microseconds since the epoch, and more than the current one."""
        now = int(self.world.clock.now().timestamp() * 1_000_000)
        return max(now, current.generation + 1 if current else 0)

    def put(self, bucket: str, name: str, version: Version) -> None:
        """Make this the current version."""
        self.store.put(OBJECT, f"{bucket}/{name}", {"resource": version.resource, "blob": version.blob})

    def put_again(self, bucket: str, name: str, version: Version) -> None:
        """Keep a version's changed metadata, current or not."""
        current = self.current(bucket, name)
        if current and current.generation == version.generation:
            self.put(bucket, name, version)
        else:
            key = _noncurrent_key(bucket, name, version.generation)
            self.store.put(NONCURRENT, key, {"resource": version.resource, "blob": version.blob})

    def retire(self, bucket: str, name: str, version: Version, versioned: bool) -> str | None:
        """Take the current version away: a versioned bucket keeps it as noncurrent, else its blob's name is returned,
        to be deleted after the commit."""
        self.store.delete(OBJECT, f"{bucket}/{name}")
        if not versioned:
            return version.blob
        resource = {**version.resource, "timeDeleted": self.world.now()}
        key = _noncurrent_key(bucket, name, version.generation)
        self.store.put(NONCURRENT, key, {"resource": resource, "blob": version.blob})
        return None

    def remove(self, bucket: str, name: str, version: Version) -> str:
        """Remove one version for good and return its blob's name, to be deleted after the commit."""
        current = self.current(bucket, name)
        if current and current.generation == version.generation:
            self.store.delete(OBJECT, f"{bucket}/{name}")
        else:
            self.store.delete(NONCURRENT, _noncurrent_key(bucket, name, version.generation))
        return version.blob

    def noncurrent(self, bucket: str, prefix: str) -> list[Version]:
        return [
            Version(body["resource"], body["blob"]) for _, body in self.store.list(NONCURRENT, f"{bucket}/{prefix}")
        ]

    def is_empty(self, bucket: str) -> bool:
        return not any(self.store.count(kind, f"{bucket}/") for kind in (OBJECT, NONCURRENT))

    def blob_names(self) -> set[str]:
        """Return all blobs that a document names."""
        return {body["blob"] for kind in (OBJECT, NONCURRENT) for _, body in self.store.list(kind)}


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


def _version(found: dict[str, Any] | None) -> Version | None:
    return None if found is None else Version(found["resource"], found["blob"])


def _noncurrent_key(bucket: str, name: str, generation: int) -> str:
    return f"{bucket}/{name}\n{generation:0{_GENERATION_DIGITS}d}"


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)

"""Cloud Storage: list, read and write objects, and read a bucket."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted, unfit
from slipway.google.answers import Json, http_date, json_object, parse_timestamp, shaped
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call, Conflict
from slipway.google.session import Session

_UNPACKED = {"Accept-Encoding": "identity"}
"""The header against compression: the service unpacks objects that are stored compressed."""


@dataclass(frozen=True)
class Location:
    """An address, `gs://bucket/name`; an empty name is the bucket itself."""

    bucket: str
    name: str = ""

    @classmethod
    def parse(cls, uri: str) -> Location:
        """Parse a URI. Raises ConfigError for anything but `gs://bucket[/name]`."""
        bucket, _, name = uri.removeprefix("gs://").partition("/")
        if not uri.startswith("gs://") or not bucket or unfit(uri):
            raise ConfigError(
                f"{quoted(uri)} is not a Cloud Storage address",
                why=f"it {unfit(uri) or 'does not begin with gs://BUCKET'}",
                fix="gs://BUCKET/NAME",
            )
        return cls(bucket, name)

    def __str__(self) -> str:
        return f"gs://{self.bucket}/{self.name}" if self.name else f"gs://{self.bucket}"


def md5(content: bytes) -> str:
    """Return the MD5 digest of contents, as the service writes it."""
    return base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()


@dataclass(frozen=True)
class StoredObject:
    """An object as a list has it."""

    at: Location
    size: int
    #: Changes with the contents.
    generation: str
    #: Of the contents, in hexadecimal digits; empty for an object composed of parts.
    md5: str
    updated: datetime | None
    #: The object is stored compressed, and read so.
    packed: bool = False
    #: The time of the contents.
    created: datetime | None = None
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    @classmethod
    def read(cls, bucket: str, body: Json) -> StoredObject:
        return cls(
            at=Location(bucket, body["name"]),
            size=int(body["size"]),
            generation=str(body["generation"]),
            md5=base64.b64decode(body.get("md5Hash", "")).hex(),
            updated=parse_timestamp(body.get("updated")),
            packed=bool(body.get("contentEncoding")),
            created=parse_timestamp(body.get("timeCreated")),
            metadata=dict(body.get("metadata", {})),
        )


class Storage:
    def __init__(self, session: Session, endpoints: Endpoints) -> None:
        self._session = session
        self._base = f"{endpoints.of('storage')}b"
        self._upload = f"{endpoints.storage_upload}b"

    def _object(self, at: Location) -> str:
        return f"{self._base}/{quote(at.bucket, safe='')}/o/{quote(at.name, safe='')}"

    def read(self, at: Location, *, doing: str = "", generation: str = "") -> bytes:
        """Return the whole object, or a `generation` of it. Raises NotFound when bucket or object does not exist."""
        call = Call(doing or f"read {at}", "storage.objects.get", f"gs://{at.bucket}")
        params = {"alt": "media", **({"generation": generation} if generation else {})}
        return self._session.download(self._object(at), call, params).data

    def beginning(self, at: Location, most: int) -> bytes:
        """Return the first `most` bytes of an object. Raises NotFound, and NoAnswer when they break off."""
        call = Call(f"read {at}", "storage.objects.get", f"gs://{at.bucket}")
        content = bytearray()
        with closing(self._session.stream(self._object(at), call, {"alt": "media"}, _UNPACKED)) as parts:
            for part in parts:
                content += part
                if len(content) >= most:
                    break
        return bytes(content[:most])

    def objects(self, under: Location, *, versions: bool = False) -> Iterator[StoredObject]:
        """Yield the objects whose names begin with that of `under`, in the order of their names; with `versions` each
        generation that the bucket still has, the oldest first. Pages are read on demand."""
        call = Call(f"list {under}", "storage.objects.list", f"gs://{under.bucket}")
        url = f"{self._base}/{quote(under.bucket, safe='')}/o"
        params = {"prefix": under.name}
        if versions:
            params["versions"] = "true"
        for body in self._session.pages(url, call, "items", params):
            yield shaped(call, lambda entry: StoredObject.read(under.bucket, entry), body)

    def chunks(self, stored: StoredObject, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes of an object from `start` on, as they are stored. Raises NotFound when its contents have
        changed meanwhile, NoAnswer when they break off."""
        call = Call(f"read {stored.at}", "storage.objects.get", f"gs://{stored.at.bucket}")
        headers = {"Accept-Encoding": "gzip" if stored.packed else "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        params = {"alt": "media", "generation": stored.generation}
        return self._session.stream(self._object(stored.at), call, params, headers)

    def age(self, at: Location) -> timedelta | None:
        """Return the age of the object's contents, by the service's own clock; None when the answer does not tell."""
        call = Call(f"look at {at}", "storage.objects.get", f"gs://{at.bucket}")
        answer = self._session.download(self._object(at), call)
        made = shaped(call, lambda body: parse_timestamp(body.get("timeCreated")), json_object(answer, call))
        time = http_date(answer.headers.get("Date", ""))
        return time - made if time and made else None

    def create(
        self, at: Location, content: bytes, media: str = "application/octet-stream", *, again: bool = False
    ) -> bool:
        """Write the object unless it exists; False when it does. Sent once; with `again`, which makes no difference to
        whoever reads the content then, until there is an answer."""
        return self._put_over(0, at, content, media, again=again)

    def replace(self, stored: StoredObject, content: bytes, media: str) -> bool:
        """Write other contents; False when they have changed meanwhile, or the object is gone. Sent once."""
        return self._put_over(int(stored.generation), stored.at, content, media)

    def write(self, at: Location, content: bytes, media: str) -> None:
        """Write the object, over an existing one, with retries while the service is busy: each writes the same."""
        self._put(at, content, media, {}, again=True)

    def _put_over(self, generation: int, at: Location, content: bytes, media: str, *, again: bool = False) -> bool:
        try:
            self._put(at, content, media, {"ifGenerationMatch": generation}, again=again)
        except Conflict:
            return False
        return True

    def _put(self, at: Location, content: bytes, media: str, unless: Mapping[str, int], *, again: bool) -> None:
        call = Call(f"write {at}", "storage.objects.create", f"gs://{at.bucket}")
        params: dict[str, str | int] = {"uploadType": "media", "name": at.name, **unless}
        url = f"{self._upload}/{quote(at.bucket, safe='')}/o"
        self._session.post(url, call, content, params, media=media, idempotent=again)

    def buckets(self, project: str) -> Iterator[Json]:
        """Yield the service's descriptions of a project's buckets; pages are read on demand."""
        call = Call(f"list buckets of {project}", "storage.buckets.list", f"project {project}")
        return self._session.pages(self._base, call, "items", {"project": project})

    def bucket(self, name: str) -> dict[str, Any]:
        """Return the service's description of a bucket. Raises NotFound."""
        call = Call(f"look at bucket gs://{name}", "storage.buckets.get", f"gs://{name}")
        return dict(self._session.get(f"{self._base}/{quote(name, safe='')}", call))

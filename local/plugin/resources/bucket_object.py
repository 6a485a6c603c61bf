"""The resource type `storage.BucketObject`: an object with its bytes."""

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ..checking import Failure
from ..cloud import Cloud
from ..comparing import changed
from ..kind import Found, ImportIdError, Kind, guarded
from ..schema import AutoName, Field, Schema, boolean, deletion_policy, many, mapping, output, record, text
from ..settings import Settings
from ..transport import Body, CloudError, GoogleError
from ..values import COMPUTED, UNKNOWN, Asset, Properties, is_empty, is_later
from ..wire import from_api, to_api
from .object_media import content_type, is_elided, md5, media

_TOKEN = "gcp:storage/bucketObject:BucketObject"
_SERVICE = "storage"
_QUIET = {"prettyPrint": "false"}

_METADATA: Mapping[str, Field] = {
    "cacheControl": text(replace=True),
    "contentDisposition": text(replace=True),
    "contentEncoding": text(replace=True),
    "contentLanguage": text(replace=True),
    "contentType": text(computed=True, replace=True),
    "eventBasedHold": boolean(),
    "kmsKeyName": text(computed=True, replace=True, same=lambda a, b: _key(a) == _key(b)),
    "metadata": mapping(replace=True),
    "retention": record({"mode": text(required=True), "retainUntilTime": text(required=True)}),
    "storageClass": text(computed=True, replace=True),
    "temporaryHold": boolean(),
}
_READ: Mapping[str, Field] = {
    "crc32c": output(),
    "generation": output("integer"),
    "md5hash": output(api="md5Hash"),
    "mediaLink": output(),
    "outputName": output(api="name"),
    "selfLink": output(),
}
_DIFFERENT = "different hash"
"""The inputs' `detectMd5hash`: no hash, so that the content's own is compared with the object's."""
_FIELDS: Mapping[str, Field] = {
    "bucket": text(required=True, replace=True),
    "name": text(replace=True),
    "content": text(secret=True, null=True),
    "source": Field("asset", replace=True),
    "detectMd5hash": text(computed=True, default=_DIFFERENT, same=lambda a, b: a == b or _DIFFERENT in (a, b)),
    "sourceMd5hash": text(),
    **_METADATA,
    "contexts": record(
        {
            "customs": many(
                record(
                    {
                        "key": text(required=True),
                        "value": text(required=True),
                        "createTime": output(),
                        "updateTime": output(),
                    }
                ),
                required=True,
            )
        }
    ),
    "customerEncryption": record(
        {
            "encryptionAlgorithm": text(default="AES256", replace=True),
            "encryptionKey": text(required=True, replace=True),
        },
        secret=True,
    ),
    "forceEmptyContentType": boolean(null=True),
    "deletionPolicy": deletion_policy(),
    **_READ,
    "md5hexhash": output(),
}
_KEPT = ("content", "source", "sourceMd5hash", "customerEncryption", "forceEmptyContentType", "contexts")
_UPLOAD_AGAIN = ("content", "detectMd5hash", "sourceMd5hash", "forceEmptyContentType")
_FOLLOWS = ("crc32c", "detectMd5hash", "generation", "md5hash")
"""Properties that follow from the bytes and are shown as changes of their own; the links that follow too are not."""
_FOLLOWS_SILENTLY = ("md5hexhash", "mediaLink")
_UNSUPPORTED = ("customerEncryption", "contexts")


class BucketObject(Kind):
    """An object: a changed `content` overwrites it; other bytes, or metadata, take the place of one that goes first."""

    schema = Schema(
        _TOKEN,
        "Storage Bucket Object",
        _FIELDS,
        AutoName("name", 255),
        default_timeout=4 * 60.0,
        timeouts=dict.fromkeys(("create", "update", "delete"), 4 * 60.0),
    )

    def check(self, inputs: Properties) -> list[Failure]:
        """Return an error unless there is exactly one of content and source."""
        failures = [
            Failure(name, "the local gcp plugin does not know this property yet; leave it out or use the official one")
            for name in _UNSUPPORTED
            if name in inputs
        ]
        if ("content" in inputs) == ("source" in inputs):
            failures.append(Failure("content", "exactly one of content and source must be given"))
        return failures

    def drift(self, old: Properties, planned: Properties) -> dict[str, Any]:
        """Return the hash of the program's content: it differs when somebody else has overwritten the object."""
        source = planned.get("source")
        if is_later(source) or is_later(planned.get("content")):
            return {"detectMd5hash": COMPUTED}
        if isinstance(source, Asset) and is_elided(source):
            return {"detectMd5hash": old.get("detectMd5hash", COMPUTED)}
        hashed = md5(_data(planned))
        if hashed == old.get("md5hash"):
            return {"detectMd5hash": hashed}
        if not old:
            return dict.fromkeys((*_FOLLOWS_SILENTLY, *_FOLLOWS), COMPUTED)
        return {**dict.fromkeys(_FOLLOWS_SILENTLY, COMPUTED), **dict.fromkeys(_FOLLOWS, UNKNOWN)}

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """Upload the object, over any that has its name."""
        self._upload(cloud, planned)
        return self.reread(cloud, planned["name"], planned)

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """GET of the object's metadata; the bytes are not fetched, their hash tells."""
        body = self.fetched(cloud, _SERVICE, _path(state), state["name"], params=_QUIET)
        if body is None:
            return None
        read = {"bucket": state["bucket"], "name": state["name"]}
        read |= {name: state[name] for name in _KEPT if not is_empty(state.get(name))}
        read["deletionPolicy"] = state.get("deletionPolicy") or cloud.settings.deletion_policy or "DELETE"
        read |= from_api({**_METADATA, **_READ}, body)
        read["detectMd5hash"] = read.get("md5hash", "")
        read["md5hexhash"] = base64.b64decode(read.get("md5hash", "")).hex()
        return Found(f"{state['bucket']}-{state['name']}", read)

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """Upload again when the bytes change; holds and retention are changed on the object as it is."""
        differing = changed(self.schema, old, planned)
        if differing.intersection(_UPLOAD_AGAIN):
            # What was read is a version of the key, which the service refuses: the bucket's key counts again.
            self._upload(cloud, {**planned, "kmsKeyName": ""})
        elif differing.intersection(("eventBasedHold", "temporaryHold", "retention")):
            try:
                body = cloud.send(_SERVICE, "GET", _path(planned), params=_QUIET)
                body |= {name: bool(planned.get(name)) for name in ("eventBasedHold", "temporaryHold")}
                body["retention"] = planned.get("retention")
                cloud.send(_SERVICE, "PUT", _path(planned), params=_QUIET, body=body)
            except GoogleError as error:
                raise CloudError(f"Error updating object {planned['name']}: {error}") from error
        return self.reread(cloud, planned["name"], planned)

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """DELETE by name, whatever generation is there."""
        if guarded(self.schema.title, id, state):
            return
        try:
            cloud.send(_SERVICE, "DELETE", _path(state), params=_QUIET)
        except GoogleError as error:
            if error.code != 404:
                raise CloudError(f"Error deleting contents of object {state['name']}: {error}") from error

    def locate(self, id: str, settings: Settings) -> Found:
        """Raise an error: an object can't be imported."""
        raise ImportIdError(_TOKEN, id, ())

    def _upload(self, cloud: Cloud, planned: Properties) -> None:
        data = _data(planned)
        metadata = {"bucket": planned["bucket"], **to_api(_METADATA, planned)}
        kind = "" if planned.get("forceEmptyContentType") else str(metadata.get("contentType") or content_type(data))
        boundary = hashlib.sha256(data).hexdigest()
        head = f"--{boundary}\r\nContent-Type: application/json\r\n\r\n{json.dumps(metadata)}\r\n"
        head += f"--{boundary}\r\nContent-Type: {kind}\r\n\r\n"
        whole = b"".join((head.encode(), data, f"\r\n--{boundary}--\r\n".encode()))
        body = Body(whole, f"multipart/related; boundary={boundary}")
        path = f"/upload/storage/v1/b/{quote(planned['bucket'], safe='')}/o"
        params = {"name": planned["name"], "uploadType": "multipart", **_QUIET}
        try:
            cloud.send(_SERVICE, "POST", path, params=params, body=body)
        except GoogleError as error:
            raise CloudError(f"Error uploading object {planned['name']}: {error}") from error


def _data(planned: Properties) -> bytes:
    source = planned.get("source")
    if isinstance(source, Asset):
        return media(source)
    return str(planned.get("content", "")).encode()


def _path(state: Properties) -> str:
    return f"b/{quote(state['bucket'], safe='')}/o/{quote(state['name'], safe='')}"


def _key(name: Any) -> str:
    return str(name).split("/cryptoKeyVersions/")[0]

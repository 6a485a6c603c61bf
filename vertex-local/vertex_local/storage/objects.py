"""Objects: metadata, deletion, copies and composition. Every write is one transaction that names a finished blob."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

from ..wire import Call, Reply, Route
from . import errors, rules
from .blobs import Blob
from .guard import Guard, check_object_conditions, checked, refuse_keys, refuse_lists
from .records import OBJECTS, Records, Version, is_versioned, merged, moment, show_object

_OUTPUT_ONLY = (
    "id",
    "kind",
    "selfLink",
    "mediaLink",
    "etag",
    "generation",
    "metageneration",
    "timeCreated",
    "updated",
    "timeFinalized",
    "timeStorageClassUpdated",
    "size",
    "md5Hash",
    "crc32c",
    "bucket",
    "name",
    "owner",
    "timeDeleted",
    "componentCount",
    "softDeleteTime",
    "hardDeleteTime",
    "restoreToken",
)
_COMPOSED = 32


class Objects:
    def __init__(self, records: Records, guard: Guard) -> None:
        self._records, self._guard, self._store = records, guard, records.store

    def routes(self) -> list[Route]:
        path = "/storage/v1/b/{bucket:any}/o/{object:any}"
        to = "/b/{to_bucket:any}/o/{to_object:any}"
        return [
            Route("PATCH", path, self.patch),
            Route("PUT", path, self.update),
            Route("DELETE", path, self.delete),
            Route("POST", path + "/copyTo" + to, self.copy),
            Route("POST", path + "/rewriteTo" + to, self.rewrite),
            Route("POST", path + "/compose", self.compose),
        ]

    def find(self, call: Call, permission: str) -> Version:
        """Return the version that the call names. Raises 403, 404."""
        bucket, name = call.params["bucket"], call.params["object"]
        self._records.bucket(bucket)
        self._guard.bucket(call, permission, bucket)
        version = self._records.version(bucket, name, call.integer("generation"))
        if version is None:
            raise errors.no_object(bucket, name)
        return version

    def create(
        self,
        call: Call,
        bucket: str,
        name: str,
        metadata: Mapping[str, Any],
        blob: Blob,
        also: Callable[[dict[str, Any]], None] = lambda resource: None,
        components: int = 0,
    ) -> dict[str, Any]:
        """Put a finished blob under a name, if the call's preconditions hold, and return the new resource as it is
        stored.

        `also` runs in the same transaction; `components` is the count of a composed object. On any error the blob is
        deleted. Raises 400, 403, 404, 412.
        """
        try:
            rules.check_object(metadata)
            refuse_keys(call)
            with self._store.transaction():
                kept = self._records.bucket(bucket)
                rules.check_object_name(name)
                refuse_lists(call, metadata, kept, "insert legacy ACL for an object")
                self._guard.bucket(call, "storage.objects.create", bucket)
                current = self._records.current(bucket, name)
                check_object_conditions(call, current)
                gone = None
                if current:
                    self._guard.bucket(call, "storage.objects.delete", bucket)
                    rules.check_free(current.resource)
                    gone = self._records.retire(current, is_versioned(kept))
                generation = self._records.next_generation(current)
                resource = self._completed(kept, name, _settable(metadata), blob, generation)
                rules.check_usable(resource.get("kmsKeyName", ""), self._records.world.settings.keys_unusable)
                if components:
                    resource["componentCount"] = components
                OBJECTS.put(self._store, Version(resource, blob.name))
                also(resource)
        except BaseException:
            self._records.blobs.delete(blob.name)
            raise
        if gone:
            self._records.blobs.delete(gone)
        return resource

    def patch(self, call: Call) -> Reply:
        return self._change(call, replace=False)

    def update(self, call: Call) -> Reply:
        return self._change(call, replace=True)

    def delete(self, call: Call) -> Reply:
        with self._store.transaction():
            version = self.find(call, "storage.objects.delete")
            check_object_conditions(call, version)
            rules.check_free(version.resource)
            if call.integer("generation"):
                gone: str | None = self._records.remove(version)
            else:
                gone = self._records.retire(version, is_versioned(self._records.bucket(call.params["bucket"])))
        if gone:
            self._records.blobs.delete(gone)
        return Reply(204)

    def copy(self, call: Call) -> Reply:
        return Reply(body=show_object(self._copied(call), call))

    def rewrite(self, call: Call) -> Reply:
        if call.query.get("rewriteToken"):
            raise errors.invalid("Invalid rewrite token: every rewrite is done in its first call.")
        resource = self._copied(call)
        return Reply(
            body={
                "kind": "storage#rewriteResponse",
                "totalBytesRewritten": resource["size"],
                "objectSize": resource["size"],
                "done": True,
                "resource": show_object(resource, call),
            }
        )

    def compose(self, call: Call) -> Reply:
        bucket, name = call.params["bucket"], call.params["object"]
        body = checked(call, "ComposeRequest")
        sources = body.get("sourceObjects", [])
        if not 1 <= len(sources) <= _COMPOSED:
            raise errors.invalid(f"The number of source components must be between 1 and {_COMPOSED}.")
        self._records.bucket(bucket)
        self._guard.bucket(call, "storage.objects.get", bucket)
        versions = [self._component(bucket, source) for source in sources]
        blob = self._records.blobs.write(
            itertools.chain.from_iterable(self._records.blobs.chunks(version.blob) for version in versions)
        )
        metadata = {"contentType": versions[0].resource.get("contentType"), **body.get("destination", {})}
        count = sum(int(version.resource.get("componentCount", 1)) for version in versions)
        composed = Blob(blob.name, blob.size, "", blob.crc32c)
        sources_gone: list[str] = []

        def remove_sources(_: Mapping[str, Any]) -> None:
            self._guard.bucket(call, "storage.objects.delete", bucket)
            for key in {(version.name, version.generation): version for version in versions}.values():
                rules.check_free(key.resource)
                if self._records.version(bucket, key.resource["name"], key.generation):
                    sources_gone.append(self._records.remove(key))

        also = remove_sources if body.get("deleteSourceObjects") else lambda resource: None
        resource = self.create(call, bucket, name, metadata, composed, also, components=count)
        for gone in sources_gone:
            self._records.blobs.delete(gone)
        return Reply(body=show_object(resource, call))

    def _component(self, bucket: str, source: Mapping[str, Any]) -> Version:
        name, generation = source.get("name", ""), int(source.get("generation") or 0)
        version = self._records.version(bucket, name, generation)
        if version is None:
            raise errors.error(404, "notFound", f"Object {name} (generation: {generation}) not found.")
        wanted = source.get("objectPreconditions", {}).get("ifGenerationMatch")
        if wanted is not None and int(wanted) != version.generation:
            raise errors.condition_not_met()
        return version

    def _copied(self, call: Call) -> dict[str, Any]:
        bucket, name = call.params["bucket"], call.params["object"]
        self._records.bucket(bucket)
        self._guard.bucket(call, "storage.objects.get", bucket)
        source = self._records.version(bucket, name, call.integer("sourceGeneration"))
        if source is None:
            raise errors.no_object(bucket, name)
        check_object_conditions(call, source, source=True)
        old = source.resource
        sent = _settable(checked(call, "Object"))
        metadata = {**sent, "contentType": sent.get("contentType", old.get("contentType"))} if sent else old
        components = int(old.get("componentCount", 0))
        blob = Blob(self._records.blobs.copy(source.blob), int(old["size"]), old.get("md5Hash", ""), old["crc32c"])
        to_bucket, to_name = call.params["to_bucket"], call.params["to_object"]
        return self.create(call, to_bucket, to_name, metadata, blob, components=components)

    def _change(self, call: Call, *, replace: bool) -> Reply:
        body = _settable(checked(call, "Object"))
        with self._store.transaction():
            version = self.find(call, "storage.objects.update")
            bucket = self._records.bucket(call.params["bucket"])
            refuse_lists(call, body, bucket, "update access control for an object")
            check_object_conditions(call, version)
            fixed = {name: version.resource[name] for name in _OUTPUT_ONLY if name in version.resource}
            base = {"storageClass": version.resource["storageClass"]} if replace else version.resource
            resource = {**merged(base, body), **fixed}
            rules.check_object(resource)
            rules.check_custom_time(version.resource, resource)
            resource["metageneration"] = str(version.metageneration + 1)
            resource["updated"] = moment(self._records.world.clock.now())
            if not resource.get("metadata"):
                resource.pop("metadata", None)
            self._records.put_again(Version(resource, version.blob))
        return Reply(body=show_object(resource, call))

    def _completed(
        self, bucket: Mapping[str, Any], name: str, metadata: Mapping[str, Any], blob: Blob, generation: int
    ) -> dict[str, Any]:
        now = moment(self._records.world.clock.now())
        key = bucket.get("encryption", {}).get("defaultKmsKeyName")
        resource = {
            "storageClass": bucket["storageClass"],
            **({"eventBasedHold": True} if bucket.get("defaultEventBasedHold") else {}),
            **{key: value for key, value in metadata.items() if value not in (None, {})},
            "name": name,
            "bucket": bucket["name"],
            "generation": str(generation),
            "metageneration": "1",
            "size": str(blob.size),
            "crc32c": blob.crc32c,
            "timeCreated": now,
            "updated": now,
            "timeStorageClassUpdated": now,
            "timeFinalized": now,
            **({"kmsKeyName": f"{key}/cryptoKeyVersions/1"} if key else {}),
        }
        return {**resource, "md5Hash": blob.md5} if blob.md5 else resource


def _settable(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in _OUTPUT_ONLY}

"""The resource type `storage.Bucket`."""

from typing import Any
from urllib.parse import quote

from ..cloud import Cloud
from ..comparing import changed
from ..ids import parse
from ..kind import Found, Kind, guarded, project_of
from ..labels import read_labels
from ..schema import AutoName, Schema
from ..settings import Settings
from ..transport import CloudError, GoogleError
from ..values import Properties
from .bucket_fields import FIELDS, bucket_parts, read_bucket, with_nulls

_TOKEN = "gcp:storage/bucket:Bucket"
_SERVICE = "storage"
_QUIET = {"prettyPrint": "false"}
_KEPT = ("name", "project", "forceDestroy", "deletionPolicy")


class Bucket(Kind):
    """A bucket, whose id is its name. A change that needs no replacement is a patch of just the parts that change."""

    schema = Schema(
        _TOKEN,
        "Storage Bucket",
        FIELDS,
        AutoName("name", 222),
        default_timeout=10 * 60.0,
        timeouts={"create": 10 * 60.0, "read": 4 * 60.0, "update": 4 * 60.0},
        version=4,
    )

    def create(self, cloud: Cloud, planned: Properties) -> Found:
        """POST of the whole bucket; a retention policy is locked afterwards."""
        body = {"name": planned["name"], "location": planned["location"]}
        body |= {name: value for name, (_, value) in bucket_parts(planned).items() if value is not None}
        params = {"project": project_of(planned), **_QUIET}
        if planned.get("enableObjectRetention"):
            params["enableObjectRetention"] = "true"
        made = cloud.send(_SERVICE, "POST", "b", params=params, body=body)
        if (planned.get("retentionPolicy") or {}).get("isLocked"):
            self._lock(cloud, planned["name"], made)
        return self._read_back(cloud, planned, planned)

    def read(self, cloud: Cloud, id: str, state: Properties) -> Found | None:
        """GET of the whole bucket."""
        name = state.get("name") or id
        body = self.fetched(cloud, _SERVICE, _path(name), name, params=_QUIET)
        if body is None:
            return None
        policy = cloud.settings.deletion_policy or "DELETE"
        kept = {key: state[key] for key in _KEPT if key in state}
        read: dict[str, Any] = {"name": name, "project": cloud.settings.project, "forceDestroy": False}
        read |= {"deletionPolicy": policy, **kept, **read_bucket(body, state)}
        return Found(str(body["name"]), read | read_labels(body.get("labels"), state))

    def update(self, cloud: Cloud, id: str, old: Properties, planned: Properties) -> Found:
        """PATCH; a part that the program no longer gives, and a label that goes, are sent as null."""
        differing = changed(self.schema, old, planned)
        parts = bucket_parts(planned).items()
        patch: dict[str, Any] = {name: value for name, (for_them, value) in parts if differing.intersection(for_them)}
        if "labels" in patch:
            gone = set(old.get("effectiveLabels") or {}) - set(patch["labels"] or {})
            patch["labels"] = {**(patch["labels"] or {}), **dict.fromkeys(gone)}
        if patch:
            made = cloud.send(_SERVICE, "PATCH", _path(planned["name"]), params=_QUIET, body=patch)
            locked = (planned.get("retentionPolicy") or {}).get("isLocked")
            if locked and not (old.get("retentionPolicy") or {}).get("isLocked"):
                self._lock(cloud, planned["name"], made)
        return self._read_back(cloud, planned, old)

    def delete(self, cloud: Cloud, id: str, state: Properties) -> None:
        """DELETE; with `forceDestroy` all objects and their versions go first, without it they stop the delete."""
        name = state.get("name") or id
        if guarded(self.schema.title, name, state):
            return
        try:
            self._empty(cloud, name, force=bool(state.get("forceDestroy")))
            cloud.send(_SERVICE, "DELETE", _path(name), params=_QUIET)
        except GoogleError as error:
            if error.code != 404:
                raise

    def locate(self, id: str, settings: Settings) -> Found:
        """Parse `NAME` or `PROJECT/NAME`."""
        parts = parse(_TOKEN, id, ("{project}/{name}", "{name}"), project=settings.project)
        return Found(parts["name"], {**parts})

    def _read_back(self, cloud: Cloud, planned: Properties, known: Properties) -> Found:
        bucket = self.reread(cloud, planned["name"], planned)
        return Found(bucket.id, with_nulls(bucket.state, known))

    @staticmethod
    def _lock(cloud: Cloud, name: str, made: Any) -> None:
        params = {"ifMetagenerationMatch": str(made["metageneration"]), **_QUIET}
        cloud.send(_SERVICE, "POST", f"{_path(name)}/lockRetentionPolicy", params=params)

    @staticmethod
    def _empty(cloud: Cloud, name: str, *, force: bool) -> None:
        while items := cloud.send(_SERVICE, "GET", f"{_path(name)}/o", params={"versions": "true", **_QUIET}).get(
            "items"
        ):
            if not _lists_caches(cloud, name):
                return
            if not force:
                raise CloudError(
                    f"Error trying to delete bucket {name} containing objects without `forceDestroy` set to true"
                )
            for item in items:
                path = f"{_path(name)}/o/{quote(item['name'], safe='')}"
                params = {"generation": str(item["generation"]), **_QUIET}
                cloud.send(_SERVICE, "DELETE", path, params=params)


def _lists_caches(cloud: Cloud, name: str) -> bool:
    """Return whether the bucket's caches can be listed. Without that the provider deletes no object, and the bucket as
    it is (terraform-provider-google #25343)."""
    try:
        cloud.send(_SERVICE, "GET", f"{_path(name)}/anywhereCaches", params=_QUIET)
    except GoogleError:
        return False
    return True


def _path(name: str) -> str:
    return f"b/{quote(name, safe='')}"

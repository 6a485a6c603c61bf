"""Buckets, whose whole resource documents are kept as sent, with the service's defaults added."""

import threading
from collections.abc import Mapping
from datetime import timedelta
from operator import itemgetter
from typing import Any

from .. import organization
from ..access import policies
from ..wire import Call, Reply, Route
from ..world import World
from . import errors, rules
from .guard import (
    Guard,
    bucket_owners,
    check_conditions,
    check_tags,
    checked,
    object_owners,
    page_start,
    page_token,
    refuse_lists,
)
from .records import BUCKETS, Records, is_uniform, merged, moment, show_bucket

_OUTPUT_ONLY = (
    "id",
    "kind",
    "selfLink",
    "etag",
    "timeCreated",
    "updated",
    "metageneration",
    "generation",
    "projectNumber",
    "locationType",
    "owner",
    "satisfiesPZS",
    "satisfiesPZI",
    "softDeleteTime",
    "hardDeleteTime",
)
_SOFT_DELETION = {"retentionDurationSeconds": "604800"}
_LOCK_AFTER = timedelta(days=90)
_NAMING = threading.Lock()
"""The lock from the look at all projects for a bucket's name until the name is taken in one."""


class Buckets:
    def __init__(self, world: World, records: Records, guard: Guard) -> None:
        self._world, self._records, self._guard, self._store = world, records, guard, world.store

    def routes(self) -> list[Route]:
        base = "/storage/v1/b"
        return [
            Route("POST", base, self.insert),
            Route("GET", base, self.list_all),
            Route("GET", base + "/{bucket:any}", self.get),
            Route("PATCH", base + "/{bucket:any}", self.patch),
            Route("PUT", base + "/{bucket:any}", self.update),
            Route("DELETE", base + "/{bucket:any}", self.delete),
            Route("GET", base + "/{bucket:any}/storageLayout", self.layout),
            Route("GET", base + "/{bucket:any}/anywhereCaches", self.caches),
            Route("GET", "/storage/v1/projects/{project}/serviceAccount", self.service_account),
        ]

    def insert(self, call: Call) -> Reply:
        body = checked(call, "Bucket")
        self._guard.project(call, "storage.buckets.create", call.query.get("project", ""))
        refuse_lists(call, body, body, "use ACL API to update bucket policy")
        name = body.get("name", "")
        if not name:
            raise errors.required("name")
        rules.check_bucket_name(name)
        bucket = self._completed(_settable(body), name)
        if violation := organization.bucket_violation(self._world.settings, bucket, {}):
            raise errors.violated(violation)
        with _NAMING, self._store.transaction():
            if any(world is not self._world and BUCKETS.get(world.store, name) for world in self._world.all()):
                raise errors.conflict(
                    "The requested bucket name is not available. The bucket namespace is shared by all users."
                )
            if BUCKETS.get(self._store, name):
                raise errors.conflict(
                    "Your previous request to create the named bucket succeeded and you already own it."
                )
            BUCKETS.put(self._store, bucket)
            project = self._world.project.id
            owners = bucket_owners(project) | (object_owners(project) if is_uniform(bucket) else {})
            self._world.policies.seed(policies.bucket_name(name), owners)
        return Reply(body=show_bucket(bucket))

    def get(self, call: Call) -> Reply:
        bucket = self._records.bucket(call.params["bucket"])
        self._guard.bucket(call, "storage.buckets.get", bucket["name"])
        check_conditions(call, 0, int(bucket["metageneration"]), reading=True)
        check_tags(call, int(bucket["metageneration"]))
        return Reply(body=show_bucket(bucket))

    def list_all(self, call: Call) -> Reply:
        self._guard.project(call, "storage.buckets.list", call.query.get("project", ""))
        size = min(call.integer("maxResults", 1000) or 1000, 1000)
        after, every = page_start(call), BUCKETS.every(self._store, call.query.get("prefix", ""))
        buckets = sorted((bucket for bucket in every if bucket["name"] > after), key=itemgetter("name"))
        answer: dict[str, Any] = {"kind": "storage#buckets"}
        if buckets:
            answer["items"] = [show_bucket(bucket) for bucket in buckets[:size]]
        if len(buckets) > size:
            answer["nextPageToken"] = page_token(buckets[size - 1]["name"])
        return Reply(body=answer)

    def patch(self, call: Call) -> Reply:
        return self._change(call, replace=False)

    def update(self, call: Call) -> Reply:
        return self._change(call, replace=True)

    def delete(self, call: Call) -> Reply:
        with self._store.transaction():
            bucket = self._records.bucket(call.params["bucket"])
            self._guard.bucket(call, "storage.buckets.delete", bucket["name"])
            check_conditions(call, 0, int(bucket["metageneration"]))
            if not self._records.is_empty(bucket["name"]):
                raise errors.conflict("The bucket you tried to delete is not empty.")
            BUCKETS.remove(self._store, bucket["name"])
            self._world.policies.delete(policies.bucket_name(bucket["name"]))
        return Reply(204)

    def layout(self, call: Call) -> Reply:
        bucket = self._records.bucket(call.params["bucket"])
        self._guard.bucket(call, "storage.objects.list", bucket["name"])
        answer = {"kind": "storage#storageLayout", "bucket": bucket["name"]}
        return Reply(body={**answer, **{name: bucket[name] for name in ("location", "locationType")}})

    def caches(self, call: Call) -> Reply:
        """Return no caches: no bucket here has one."""
        bucket = self._records.bucket(call.params["bucket"])
        self._guard.bucket(call, "storage.anywhereCaches.list", bucket["name"])
        return Reply(body={"kind": "storage#anywhereCaches"})

    def service_account(self, call: Call) -> Reply:
        self._guard.project(call, "resourcemanager.projects.get", call.params["project"])
        email = f"service-{self._world.project.number}@gs-project-accounts.iam.gserviceaccount.com"
        return Reply(body={"kind": "storage#serviceAccount", "email_address": email})

    def _change(self, call: Call, *, replace: bool) -> Reply:
        body = checked(call, "Bucket")
        with self._store.transaction():
            old = self._records.bucket(call.params["bucket"])
            self._guard.bucket(call, "storage.buckets.update", old["name"])
            refuse_lists(call, body, merged(old, body), "use ACL API to update bucket policy")
            check_conditions(call, 0, int(old["metageneration"]), reading=True)
            if not body and not replace:
                return Reply(body=show_bucket(old))
            for name in ("name", "location"):
                if name in body and str(body[name]).upper() != str(old[name]).upper():
                    raise errors.invalid(f"The {name} of a bucket cannot be changed.")
            kept: dict[str, Any] = {
                name: old[name] for name in ("name", "location", "storageClass", "softDeletePolicy") if name in old
            }
            rules.check_labels(body.get("labels") or {})
            if body.get("labels", 0) == {}:
                old = {name: value for name, value in old.items() if name != "labels"}
            bucket = merged(kept if replace else old, {**_settable(body), "name": old["name"]})
            if "softDeletePolicy" not in bucket:
                bucket["softDeletePolicy"] = dict(_SOFT_DELETION)
            fixed = {name: old[name] for name in ("timeCreated", "projectNumber", "locationType", "location")}
            bucket |= fixed | {"metageneration": str(int(old["metageneration"]) + 1), "updated": self._now()}
            rules.check_bucket(bucket)
            if bucket.get("encryption") != old.get("encryption"):
                rules.check_key(bucket, bucket["location"], self._world.settings.keys_unusable)
            bucket["iamConfiguration"] = self._iam_configuration(bucket, old)
            self._stamp(bucket, old)
            bucket = _without_empty(bucket)
            if violation := organization.bucket_violation(self._world.settings, bucket, old):
                raise errors.violated(violation)
            BUCKETS.put(self._store, bucket)
        return Reply(body=show_bucket(bucket))

    def _completed(self, body: dict[str, Any], name: str) -> dict[str, Any]:
        now = self._now()
        location = str(body.get("location") or "US").upper()
        kind = rules.location_type(location, bool(body.get("customPlacementConfig")))
        rules.check_bucket(body)
        rules.check_key(body, location, self._world.settings.keys_unusable)
        bucket = {
            "storageClass": "STANDARD",
            "softDeletePolicy": dict(_SOFT_DELETION),
            **body,
            "name": name,
            "projectNumber": self._world.project.number,
            "metageneration": "1",
            "location": location,
            "locationType": kind,
            "timeCreated": now,
            "updated": now,
        }
        if kind != "region":
            bucket.setdefault("rpo", "DEFAULT")
        self._stamp(bucket, {})
        bucket["iamConfiguration"] = self._iam_configuration(bucket, {})
        return _without_empty(bucket)

    def _stamp(self, bucket: dict[str, Any], old: Mapping[str, Any]) -> None:
        """Note in policies when they began to apply: a retention first, soft deletion when changed last."""
        for policy, duration in (
            ("softDeletePolicy", "retentionDurationSeconds"),
            ("retentionPolicy", "retentionPeriod"),
        ):
            now, before = bucket.get(policy), old.get(policy, {})
            if not now:
                continue
            length = str(now.get(duration, "0"))
            stays = policy == "retentionPolicy" or length == str(before.get(duration))
            since = before.get("effectiveTime") if stays else None
            bucket[policy] = {duration: length, "effectiveTime": since or bucket["updated"]}

    def _iam_configuration(self, bucket: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
        """Return uniform access under its two names, with the time after which it can't be switched off."""
        sent = bucket.get("iamConfiguration", {})
        uniform = sent.get("uniformBucketLevelAccess") or sent.get("bucketPolicyOnly") or {}
        enabled = bool(uniform.get("enabled"))
        state: dict[str, Any] = {"enabled": enabled}
        if enabled:
            before = old.get("iamConfiguration", {}).get("uniformBucketLevelAccess", {})
            state["lockedTime"] = before.get("lockedTime") or moment(self._world.clock.now() + _LOCK_AFTER)
        prevention = sent.get("publicAccessPrevention", "inherited")
        return {
            **sent,
            "bucketPolicyOnly": state,
            "uniformBucketLevelAccess": dict(state),
            "publicAccessPrevention": "inherited" if prevention == "unspecified" else prevention,
        }

    def _now(self) -> str:
        return moment(self._world.clock.now())


def _settable(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in _OUTPUT_ONLY}


def _without_empty(bucket: dict[str, Any]) -> dict[str, Any]:
    """Return the bucket without its empty labels, rules or origins, as the service does."""
    empty: list[str] = [
        name for name in ("labels", "cors", "acl", "defaultObjectAcl") if name in bucket and not bucket[name]
    ]
    for name in ("lifecycle", "encryption", "website", "logging"):
        if name in bucket and not any(bucket[name].values()):
            empty.append(name)
    return {name: value for name, value in bucket.items() if name not in empty}

"""Permissions in Storage, the preconditions of a call, and its checked body."""

from collections.abc import Mapping
from dataclasses import replace
from functools import wraps
from typing import Any

from .. import bodies, page_tokens
from ..access import policies
from ..wire import Call, Reply, Route
from ..world import World
from . import errors
from .records import BUCKETS, Version, etag, is_uniform

_PAGES = "storage"
_PREDEFINED = ("predefinedAcl", "predefinedDefaultObjectAcl", "destinationPredefinedAcl")
_PUBLIC = {"publicRead", "publicReadWrite", "authenticatedRead"}
_TAGS = ("if-match", "if-none-match")
_OWN_KEY = "x-goog-encryption-key"


def bucket_owners(project: str) -> dict[str, tuple[str, ...]]:
    """Return the owners of a new bucket of a project."""
    return _owners(project, "Bucket")


def object_owners(project: str) -> dict[str, tuple[str, ...]]:
    """Return the owners of a bucket's objects, by its policy or by each object's own access control list."""
    return _owners(project, "Object")


def _owners(project: str, noun: str) -> dict[str, tuple[str, ...]]:
    return {
        f"roles/storage.legacy{noun}Owner": (f"projectEditor:{project}", f"projectOwner:{project}"),
        f"roles/storage.legacy{noun}Reader": (f"projectViewer:{project}",),
    }


class Guard:
    def __init__(self, world: World) -> None:
        self._access, self._store, self._world = world.access, world.store, world

    def project(self, call: Call, permission: str, project: str) -> None:
        """Raise 400 for a missing project, 403 unless the permission is granted on it."""
        if not project:
            raise errors.required("project")
        known = self._world.project.is_called(project)
        if not known or not self._access.granted(call.principal, permission):
            raise errors.forbidden(call.principal, permission, "project")

    def bucket(self, call: Call, permission: str, bucket: str) -> None:
        """Raise 403 unless the permission is granted on the bucket or by its objects' default access control."""
        of_objects = permission.startswith("storage.objects.")
        listed = of_objects and not is_uniform(BUCKETS.get(self._store, bucket) or {})
        more = object_owners(self._world.project.id) if listed else {}
        if not self._access.granted(call.principal, permission, policies.bucket_name(bucket), more=more):
            raise errors.forbidden(call.principal, permission, "object" if of_objects else "bucket")

    def tested(self, call: Call, permissions: list[str], bucket: str) -> list[str]:
        return self._access.tested(call.principal, permissions, policies.bucket_name(bucket))


def check_object_conditions(
    call: Call, version: Version | None, *, source: bool = False, reading: bool = False
) -> None:
    """Check `ifGenerationMatch` and its kin, or `ifSource…`. Raises 412, or 304 for a reader's NotMatch."""
    check_conditions(
        call,
        version.generation if version else 0,
        version.metageneration if version else 0,
        "ifSource" if source else "if",
        reading,
    )


def check_conditions(
    call: Call, generation: int, metageneration: int, prefix: str = "if", reading: bool = False
) -> None:
    """Check the preconditions of a call against the existing generation (0 when there is none)."""
    for word, actual in (("Generation", generation), ("Metageneration", metageneration)):
        match, no_match = f"{prefix}{word}Match", f"{prefix}{word}NotMatch"
        if match in call.query and call.integer(match) != actual:
            raise errors.condition_not_met()
        if no_match in call.query and call.integer(no_match) == actual:
            raise errors.error(304, "notModified", "Not Modified") if reading else errors.condition_not_met()


def check_tags(call: Call, *numbers: int) -> None:
    """Check a reader's `If-Match` and `If-None-Match` against the etag of these numbers. Raises 412, 304."""
    tag = etag(*numbers)
    wanted, known = (_tags(call, name) for name in _TAGS)
    if wanted and not wanted & {tag, "*"}:
        raise errors.condition_not_met()
    if known & {tag, "*"}:
        raise errors.error(304, "notModified", "Not Modified")


def refuse_tags(route: Route) -> Route:
    """Return a route that answers 501 to `If-Match` and `If-None-Match`: the service takes them of readers alone."""

    def handler(call: Call) -> Reply:
        for name in _TAGS:
            if _tags(call, name):
                raise errors.not_implemented(f"'{name}' where no bucket or object is read")
        return route.handler(call)

    return replace(route, handler=wraps(route.handler)(handler))


def _tags(call: Call, name: str) -> set[str]:
    tags = (tag.strip().removeprefix("W/").strip('"') for tag in call.headers.get(name, "").split(","))
    return {tag for tag in tags if tag}


def refuse_lists(call: Call, sent: Mapping[str, Any], bucket: Mapping[str, Any], what: str) -> None:
    """Refuse access control lists, and predefined ones, that a client sends: 400 in a bucket with uniform access, where
    nobody can `what`, else 501; but `private` and its like change nothing in a bucket without."""
    predefined = [name for name in _PREDEFINED if call.query.get(name)]
    lists = [name for name in ("acl", "defaultObjectAcl") if sent.get(name)]
    if is_uniform(bucket) and (predefined or lists):
        raise errors.invalid(
            f"Cannot {what} when uniform bucket-level access is enabled. Read more at "
            "https://cloud.google.com/storage/docs/uniform-bucket-level-access"
        )
    for name in (*lists, *(name for name in predefined if call.query[name] in _PUBLIC)):
        raise errors.not_implemented(f"{name} (access control lists)")


def refuse_keys(call: Call) -> None:
    """Raise 501 for a key of the client's own, since the content would not be kept encrypted by it."""
    if _OWN_KEY in call.headers:
        raise errors.not_implemented("A customer-supplied encryption key")


def page_start(call: Call) -> str:
    """Return the object after which a list goes on, "" where it begins. Raises 400 invalid."""
    token = call.query.get("pageToken", "")
    with errors.shaped():
        return str(page_tokens.position(token, _PAGES)) if token else ""


def page_token(position: str) -> str:
    return page_tokens.written(position, _PAGES)


def checked(call: Call, schema: str) -> dict[str, Any]:
    """Return the body, checked by a schema. A patch keeps its nulls, which remove fields. Raises 400 invalid."""
    sent = call.object()
    body = checked_body(sent, schema)
    return sent if call.method == "PATCH" else body


def checked_body(body: dict[str, Any], schema: str) -> dict[str, Any]:
    """Return the body without its nulls. Raises 400 invalid."""
    with errors.shaped():
        return bodies.parsed("storage.v1", schema, body)

"""The project, buckets or service account in a request's address. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

_PROJECT = re.compile(r"/(?:ui(?:/v\w+)?|(?:compute/)?v\w+|interactive_shell)/projects/([^/]+)")
_ACCOUNT = re.compile(r"/v\w+/projects/-/serviceAccounts/([^/:]+)")
_OF_STORAGE = re.compile(r"/storage/v1/projects/([^/]+)")
_BUCKETS = "/storage/v1/b"
_BUCKET = re.compile(r"/(?:storage/v1|upload/storage/v1|download/storage/v1)/b/([^/?\s]+)")
_COPY = re.compile(r"/(?:rewriteTo|copyTo)/b/([^/]+)/o/")
_ID = re.compile(r"(?:[^:]*\.[^:]*:)?[^:]*")
"""A project's id, with its domain where it has one (`acme.example:ml`), before a method (`:getIamPolicy`)."""
_IN_BODY = re.compile(rb'"projects/([^/"]+)')
_IDS_IN_BODY = re.compile(rb'"projectIds"\s*:\s*\[\s*"([^"]+)"')


@dataclass(frozen=True)
class Target:
    """The target of a request; a field that the request does not name is empty."""

    project: str = ""
    buckets: tuple[str, ...] = ()
    account: str = ""


def target(path: str, query: Mapping[str, str], body: bytes) -> Target:
    """Return the target of a request; `path` is still percent-encoded."""
    if path.rstrip("/") == _BUCKETS:
        return Target(project=query.get("project", ""))
    if path in ("/batch", "/batch/storage/v1"):
        buckets = {unquote(bucket) for bucket in _BUCKET.findall(body.decode("latin-1"))}
        return Target(buckets=tuple(sorted(buckets)))
    if bucket := _BUCKET.match(path):
        return Target(buckets=tuple(map(unquote, (bucket[1], *_COPY.findall(path)))))
    if account := _ACCOUNT.match(path):
        return Target(account=unquote(account[1]))
    if project := _OF_STORAGE.match(path) or _PROJECT.match(path):
        called = _ID.match(unquote(project[1]))
        return Target(project=called[0] if called else "")
    if path.startswith("/v2/entries:"):
        named = _IN_BODY.search(body) or _IDS_IN_BODY.search(body)
        return Target(project=unquote(named[1].decode("latin-1")) if named else "")
    return Target(buckets=(unquote(path.strip("/").partition("/")[0]),))

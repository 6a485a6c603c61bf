"""The list of objects: prefix, delimiter, offsets, versions and pages."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..wire import Call, Reply, Route
from ..world import World
from . import globs
from .guard import Guard, page_start, page_token
from .records import OBJECTS, Records, show_object

_TOP = "\U0010ffff"
_BATCH = 500


@dataclass
class _Page:
    items: list[dict[str, Any]]
    prefixes: list[str]
    last: str = ""
    more: bool = False

    def size(self) -> int:
        return len(self.items) + len(self.prefixes)


class Listing:
    def __init__(self, world: World, records: Records, guard: Guard) -> None:
        self._world, self._records, self._guard = world, records, guard

    def routes(self) -> list[Route]:
        return [
            Route("GET", "/storage/v1/b/{bucket:any}/o", self.list_all),
            Route("GET", "/storage/v1/b/{bucket:any}/managedFolders", self.managed_folders),
        ]

    def managed_folders(self, call: Call) -> Reply:
        """Return no folders: nobody can make one here. gcloud asks for them before it removes a bucket."""
        bucket = call.params["bucket"]
        self._records.bucket(bucket)
        self._guard.bucket(call, "storage.managedFolders.list", bucket)
        return Reply(body={"kind": "storage#managedFolders"})

    def list_all(self, call: Call) -> Reply:
        bucket = call.params["bucket"]
        self._records.bucket(bucket)
        self._guard.bucket(call, "storage.objects.list", bucket)
        page = self._page(call, bucket)
        answer: dict[str, Any] = {"kind": "storage#objects"}
        if page.items:
            answer["items"] = page.items
        if page.prefixes:
            answer["prefixes"] = page.prefixes
        if page.more:
            answer["nextPageToken"] = page_token(page.last)
        return Reply(body=answer)

    def _page(self, call: Call, bucket: str) -> _Page:
        prefix, delimiter = call.query.get("prefix", ""), call.query.get("delimiter", "")
        size = min(call.integer("maxResults", 1000) or 1000, 1000)
        after = page_start(call)
        start = max(prefix, call.query.get("startOffset", ""))
        stop = min(prefix + _TOP, call.query.get("endOffset") or _TOP)
        recent = self._hidden_since(call)
        page, wanted = _Page([], []), globs.test(call.query.get("matchGlob", ""))
        names = self._versions if call.flag("versions") else self._current
        for name, resource in names(bucket, start, stop, after):
            group = _group(name, prefix, delimiter)
            trailing = call.flag("includeTrailingDelimiter") and group == name
            if page.last.endswith(_TOP) and name < page.last:
                continue
            if not wanted(group or name):
                continue
            if recent and datetime.fromisoformat(resource["timeCreated"]) > recent:
                continue
            if page.size() >= size:
                page.more = True
                break
            if group:
                page.prefixes.append(group)
                page.last = group + _TOP
            if not group or trailing:
                page.items.append(show_object(resource, call))
                page.last = page.last if group else _position(name, resource)
        return page

    def _current(self, bucket: str, start: str, stop: str, after: str) -> Iterator[tuple[str, dict[str, Any]]]:
        head = f"{bucket}/"
        at, inclusive = (after.partition("\n")[0], False) if after else (start, True)
        while True:
            rows = self._records.store.scan(OBJECTS.kind, head + at, head + stop, _BATCH, inclusive=inclusive)
            for key, body in rows:
                at = key.removeprefix(head)
                yield at, body["resource"]
            if len(rows) < _BATCH:
                return
            inclusive = False

    def _versions(self, bucket: str, start: str, stop: str, after: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield all generations by name and age. The whole prefix is read at once: versions are few."""
        versions = [version.resource for version in self._records.noncurrent(bucket)]
        versions += [resource for _, resource in self._current(bucket, "", _TOP, "")]
        versions.sort(key=lambda resource: (resource["name"], int(resource["generation"])))
        for resource in versions:
            name = resource["name"]
            if start <= name < stop and (not after or _position(name, resource) > after):
                yield name, resource

    def _hidden_since(self, call: Call) -> datetime | None:
        fault = self._world.faults.take("lagging-list", call.method, call.path)
        return self._world.clock.now() - timedelta(seconds=fault.seconds) if fault else None


def _position(name: str, resource: dict[str, Any]) -> str:
    return f"{name}\n{int(resource['generation']):020d}"


def _group(name: str, prefix: str, delimiter: str) -> str:
    """Return the part of a name up to and with the first delimiter after the prefix, "" when there is none."""
    at = name.find(delimiter, len(prefix)) if delimiter else -1
    return name[: at + len(delimiter)] if at >= 0 else ""

"""Reading and writing log entries."""

import itertools
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .. import bodies, documents, page_tokens
from ..clock import bound_of, timestamp
from ..wire import ApiError, Call, Reply, Route, invalid_argument
from ..world import World
from . import query

_MOST, _LONGEST_FILTER = 1000, 20_000
_PARENT = re.compile(r"projects/[^/]+")
_LOG = re.compile(r"[A-Za-z0-9/_.%-]{1,511}")
_ORDERS = {"": False, "timestamp": False, "timestamp asc": False, "timestamp desc": True}


def write(world: World, log_name: str, resource: Mapping[str, Any], entries: Iterable[Mapping[str, Any]]) -> None:
    """Store entries of one log and resource; what an entry lacks (time, severity, id) is filled in.

    `log_name` is `projects/P/logs/L`; `resource` is `{type, labels}`; an entry has `textPayload` or `jsonPayload`,
    and may have `timestamp`, `severity`, `labels`, `insertId`. Raises sqlite3.OperationalError on a full disk.
    """
    now = world.now()
    world.logs.append(
        ({"logName": log_name, "resource": dict(resource), **_completed(entry, now)} for entry in entries),
        world.settings.log_entries_kept,
    )


class Entries:
    def __init__(self, world: World) -> None:
        self._world, self._access = world, world.access

    def routes(self) -> list[Route]:
        return [
            Route("POST", "/v2/entries:list", self.list_all),
            Route("POST", "/v2/entries:write", self.write),
            Route("GET", "/v2/projects/{project}/logs", self.logs),
        ]

    def list_all(self, call: Call) -> Reply:
        body = bodies.parsed("logging.v2", "ListLogEntriesRequest", call.object())
        names = body.get("resourceNames") or [f"projects/{name}" for name in body.get("projectIds", [])]
        if not names:
            raise invalid_argument("At least one resource name must be specified in the field 'resource_names'.")
        for name in names:
            if not _PARENT.fullmatch(name):
                raise invalid_argument(f"Invalid resource name '{name}': it is projects/PROJECT.")
            self._access.require(call.principal, "logging.logEntries.list", name.removeprefix("projects/"))
        self._world.limits.take("logs")
        if len(body.get("filter", "")) > _LONGEST_FILTER:
            raise invalid_argument(f"The filter is longer than {_LONGEST_FILTER} characters.")
        order = " ".join(str(body.get("orderBy", "")).split())
        if order not in _ORDERS:
            raise invalid_argument(f"Invalid order_by '{order}': 'timestamp asc' and 'timestamp desc' are permitted.")
        size = int(body.get("pageSize") or 50)
        if not size > 0:
            raise invalid_argument("page_size must be positive.")
        return Reply(body=self._page(body, _ORDERS[order], min(size, _MOST)))

    def write(self, call: Call) -> Reply:
        body = bodies.parsed("logging.v2", "WriteLogEntriesRequest", call.object())
        prepared: list[dict[str, Any]] = []
        refused: dict[int, ApiError] = {}
        for index, entry in enumerate(body.get("entries", [])):
            try:
                prepared.append(self._prepared(call, body, entry))
            except ApiError as error:
                if not body.get("partialSuccess"):
                    raise
                refused[index] = error
        if prepared and not body.get("dryRun"):
            self._world.logs.append(prepared, self._world.settings.log_entries_kept)
        if refused:
            first = refused[min(refused)]
            raise ApiError(first.code, first.status, first.message, [_partial(refused)])
        return Reply()

    def _prepared(self, call: Call, body: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry of a write as it is stored. Raises 400, 403."""
        log = entry.get("logName") or body.get("logName", "")
        project, _, name = log.removeprefix("projects/").partition("/logs/")
        if not _LOG.fullmatch(name):
            raise invalid_argument(f"Invalid log_name '{log}': it is projects/PROJECT/logs/NAME.")
        self._access.require(call.principal, "logging.logEntries.create", project)
        labels = {**body.get("labels", {}), **entry.get("labels", {})}
        resource = entry.get("resource") or body.get("resource") or {"type": "global"}
        whole = {**entry, "logName": log, "resource": resource}
        return _completed({**whole, "labels": labels} if labels else whole, self._world.now())

    def logs(self, call: Call) -> Reply:
        self._access.require(call.principal, "logging.logs.list", call.params["project"])
        names = documents.sliced(self._world.logs.names())
        # This method ignores a page size that is not positive.
        call = replace(call, query={**call.query, "pageSize": str(max(call.integer("pageSize"), 0))})
        return documents.without_empty(documents.listed(call, "logNames", names, str))

    def _page(self, body: Mapping[str, Any], descending: bool, size: int) -> dict[str, Any]:
        question = [body.get("filter", ""), descending, body.get("resourceNames", []), body.get("projectIds", [])]
        after = page_tokens.position(body["pageToken"], question) if body.get("pageToken") else None
        wanted = query.parse(body.get("filter", ""))
        matching = (
            (position, entry)
            for position, entry in self._world.logs.read(wanted.window, after, descending)
            if wanted.matches(entry)
        )
        entries_there = list(itertools.islice(matching, size + 1))
        page = entries_there[:size]
        answer: dict[str, Any] = {"entries": [entry for _, entry in page]} if page else {}
        if len(entries_there) > size:
            answer["nextPageToken"] = page_tokens.written(page[-1][0], question)
        return answer


def _partial(refused: Mapping[int, ApiError]) -> dict[str, Any]:
    """Return the detail of an error that says which entries of a write were not stored."""
    codes = {400: 3, 403: 7}
    return {
        "@type": "type.googleapis.com/google.logging.v2.WriteLogEntriesPartialErrors",
        "logEntryErrors": {
            str(index): {"code": codes[error.code], "message": error.message} for index, error in refused.items()
        },
    }


def _completed(entry: Mapping[str, Any], now: str) -> dict[str, Any]:
    whole = {"severity": "DEFAULT", **entry, "receiveTimestamp": now}
    whole["insertId"] = entry.get("insertId") or uuid.uuid4().hex[:16]
    whole["timestamp"] = _fixed_width(entry["timestamp"]) if entry.get("timestamp") else now
    return whole


def _fixed_width(text: str) -> str:
    try:
        return timestamp(bound_of(text))
    except ValueError as error:
        raise invalid_argument(f"Invalid timestamp '{text}'.") from error

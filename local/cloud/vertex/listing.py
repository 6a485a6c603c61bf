"""The list method that all resources with a table of their own share."""

from collections.abc import Mapping
from datetime import timedelta

from local.cloud.services import World
from local.cloud.vertex import job_filter, paging
from local.cloud.vertex.job_filter import Field
from local.cloud.vertex.messages import MESSAGES
from local.cloud.wire import Call, Reply, invalid_argument

_MAX_PAGE = 1000


def listed(
    world: World, call: Call, location: str, table: str, collection: str, kind: str, fields: Mapping[str, Field]
) -> Reply:
    """A page of a table's bodies as messages of `kind` under the key `collection`. `fields` can be filtered by.

    Raises 400 for a filter, an order or a page token that is none.
    """
    condition = job_filter.condition(call.query.get("filter", ""), fields)
    lag = world.faults.take("lagging-list", call.method, call.path)
    if lag:
        condition = condition.older_than(world.clock.now() - timedelta(seconds=lag.seconds))
    order, descending = _order(call.query.get("orderBy", ""))
    size = max(1, min(call.integer("pageSize", 100) or 100, _MAX_PAGE))
    token = call.query.get("pageToken", "")
    try:
        found, more = paging.page(world.store, table, location, condition, order, descending, token, size)
    except ValueError as error:
        raise invalid_argument("Invalid page token.") from error
    mask = call.query.get("readMask") or call.query.get("read_mask") or ""
    answers = [MESSAGES.render(call, call.params["version"], kind, body, mask) for body in found]
    return Reply(body={collection: answers} | ({"nextPageToken": more} if more else {}))


def _order(text: str) -> tuple[str, bool]:
    """The column and whether it descends; the newest first when nothing is asked."""
    if not text.strip():
        return "create_time", True
    field, _, way = text.strip().partition(" ")
    column = {"createTime": "create_time", "displayName": "display_name"}.get(field, field)
    if column not in paging.ORDERS or way.strip().lower() not in ("", "asc", "desc"):
        raise invalid_argument(f"Invalid order by: {text}; known are {', '.join(paging.ORDERS)}.")
    return column, way.strip().lower() == "desc"

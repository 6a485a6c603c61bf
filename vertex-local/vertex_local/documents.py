"""Documents in the methods of all services: lists in pages and in an order, changes by a mask."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from . import filters, page_tokens
from .document_filters import value_at
from .filter_fields import FilterFields
from .wire import Call, Reply, camel, invalid_argument

Body = dict[str, Any]
T = TypeVar("T")
Pages = Callable[[str, int], tuple[Sequence[T], str]]
"""A page's beginning ("" for the first) and size to its items and the next page's beginning ("" after the last)."""


def listed(
    call: Call,
    key: str,
    pages: Pages[T],
    shown: Callable[[T], Any],
    *,
    usual: int = 100,
    most: int = 1000,
    strict: bool = False,
) -> Reply:
    """Return the page under `key` that a call asks for. Raises 400 for a negative size or another list's token, and, if
    `strict`, for a size above the `most`."""
    size, question, token = call.integer("pageSize"), page_tokens.asked(call), call.query.get("pageToken", "")
    if size < 0:
        raise invalid_argument("The page size must not be negative.")
    if strict and size > most:
        raise invalid_argument(f"The page size must be between 1 and {most}.")
    page, more = pages(page_tokens.position(token, question) if token else "", min(size or usual, most))
    next_page = {"nextPageToken": page_tokens.written(more, question)} if more else {}
    return Reply(body={key: [shown(item) for item in page]} | next_page)


def without_empty(reply: Reply) -> Reply:
    """Return a list as services write it that leave an empty one out."""
    return Reply(body={key: value for key, value in reply.body.items() if value != []})


def sliced(items: Sequence[T], *, newest_first: bool = False) -> Pages[T]:
    """Return the pages of items that are all at hand, the oldest first. New ones that come meanwhile shift no page."""

    def page(after: str, size: int) -> tuple[Sequence[T], str]:
        if newest_first:
            stop = int(after or len(items))
            start = max(stop - size, 0)
            return items[start:stop][::-1], str(start) if start else ""
        start = int(after or 0)
        return items[start : start + size], str(start + size) if start + size < len(items) else ""

    return page


def in_order(bodies: Iterable[Body], order: str, fields: FilterFields) -> list[Body]:
    """Return documents ordered by `display_name, create_time desc`; the first field weighs most. Raises 400."""
    ordered = list(bodies)
    for part in reversed([part.split() for part in order.split(",") if part.strip()]):
        known = fields(filters.path(part[0]))
        if known is None or known.kind == "whole" or part[1:] not in ([], ["asc"], ["desc"]):
            raise invalid_argument(f"Invalid order by: {order}.")
        field = part[0]
        ordered.sort(key=lambda body: str(value_at(body, field) or ""), reverse=part[1:] == ["desc"])
    return ordered


def mask(call: Call) -> tuple[str, ...]:
    """Return the paths of a call's update mask as they were sent."""
    text = call.query.get("updateMask", "")
    return tuple(path.strip() for path in text.split(",") if path.strip())


def masked(call: Call) -> tuple[str, ...]:
    """Return the fields of a call's update mask in camelCase; `*` names none."""
    return tuple(camel(path) for path in mask(call) if path != "*")


def merged(old: Mapping[str, Any], sent: Mapping[str, Any], fields: Iterable[str]) -> Body:
    """Return a document with these fields as they were sent, and without those that were not."""
    fields = tuple(fields)
    kept = {key: value for key, value in old.items() if key not in fields}
    return kept | {key: sent[key] for key in fields if key in sent}

"""The forms of answers: Google's error body, a JSON object, a page of a list, or none of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, TypeVar

from slipway.base.codec import from_json
from slipway.base.errors import visible
from slipway.base.formatting import last_part, short
from slipway.google.failures import Answer, Call, Garbled
from slipway.google.transport import Response

Json = Mapping[str, Any]
Found = TypeVar("Found")

MISREAD = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""Python's errors for values of another type than the API's, and for JSON nested too deeply to be read."""

_LONGEST = 2000
_DATE = re.compile(r"[^,]+,[^,]+")
_PLACED = re.compile(r"projects/[^/]+/locations/([a-z](?:[a-z0-9-]*[a-z0-9])?)/")


def region_of(name: str) -> str:
    """Return us-central1 of `projects/P/locations/us-central1/…`; empty for a name that is not a full one."""
    match = _PLACED.match(name)
    return match[1] if match else ""


class Regional:
    """A resource in a region, by its full name."""

    name: str

    @property
    def id(self) -> str:
        return last_part(self.name)

    @property
    def region(self) -> str:
        return region_of(self.name)


def displayable(words: object) -> str:
    """Return a service's words fit for display: at most a page of them, control characters as code points."""
    text = str(words or "")
    return visible(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def plain(name: str) -> str:
    """Return a name fit for display: unprintable characters become question marks."""
    return name if name.isprintable() else "".join(character if character.isprintable() else "?" for character in name)


def read_answer(response: Response) -> Answer:
    """Return Google's error body, or as much of it as there is; of a forge's, its message."""
    body = _json(response)
    error = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(error, dict):
        error = {"message": str(error)}
    details = error.get("details")
    retry_after = response.headers.get("Retry-After", "")
    return Answer(
        status=response.status,
        reason=displayable(error.get("status")),
        message=displayable(error.get("message") or response.reason),
        details=tuple(detail for detail in details if isinstance(detail, dict)) if isinstance(details, list) else (),
        # HTTP's other form, a date, counts as none.
        retry_after=float(retry_after) if retry_after.isdecimal() else None,
    )


def json_object(response: Response, call: Call) -> Json:
    """Return the body as a JSON object. Raises Garbled for anything else: an empty answer of an API is `{}`."""
    value = _json(response)
    if isinstance(value, dict):
        return value
    raise _no_json(response, call, "a JSON object")


def json_list(response: Response, call: Call) -> list[Json]:
    """Return the body as a list of JSON objects. Raises Garbled for anything else."""
    value = _json(response)
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value
    raise _no_json(response, call, "a list of objects")


def _json(response: Response) -> Any:
    try:
        return from_json(response.data.decode("utf-8-sig", errors="replace"))
    except (ValueError, RecursionError):
        return None


def _no_json(response: Response, call: Call, wanted: str) -> Garbled:
    return garbled(call, f"{(response.url or '').split('?')[0]} answered with something that is not {wanted}")


def page(body: Json, key: str, call: Call) -> tuple[list[Json], str]:
    """Return the items of one page of a list, and the token of the next page. Raises Garbled for another form."""
    items, token = body.get(key, []), body.get("nextPageToken", "")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items) or not isinstance(token, str):
        raise garbled(call, f"the answer's {key} is not a list of objects")
    return items, token


def shaped(call: Call, read: Callable[[Json], Found], body: Json) -> Found:
    """Apply `read` to an answer. Raises Garbled where its values do not have the API's types."""
    try:
        value = read(body)
        _require_texts(value)
        return value
    except MISREAD as problem:
        raise garbled(call, f"the answer is not what the API's are ({type(problem).__name__}: {problem})") from problem


def _require_texts(value: object) -> None:
    if isinstance(value, tuple):
        for item in value:
            _require_texts(item)
        return
    for name, type_ in _fields_of(type(value)):
        held = getattr(value, name)
        if type_ in ("str", "MaybeText"):
            fits = isinstance(held, str)
        elif type_ == "Mapping[str, str]":
            fits = all(isinstance(text, str) for text in held.values())
        else:
            fits = True
            _require_texts(held)
        if not fits:
            raise TypeError(f"{name} is {short(repr(held))}")


def _names_and_types(kind: type) -> tuple[tuple[str, object], ...]:
    """Return the fields of a dataclass; none of anything else."""
    # Types are compared as they are written: annotations are text here, and in the modules with such classes. Tuples of
    # texts need no look: their readers make texts of whatever an answer has.
    listed = fields(kind) if is_dataclass(kind) else ()
    return tuple((field.name, field.type) for field in listed if field.type != "tuple[str, ...]")


_fields_of: Callable[[Any], tuple[tuple[str, object], ...]] = cache(_names_and_types)
"""The same, found once for each class, as lists are long."""


def garbled(call: Call, why: str) -> Garbled:
    return Garbled(call, displayable(why))


def http_date(header: str) -> datetime | None:
    """Return the time of an answer's `Date`, None without one that can be read. Of several, as a proxy adds its own to
    the service's, the first counts."""
    from email.utils import parsedate_to_datetime  # A submission needs no time, and no import that takes some.

    first = _DATE.match(header)
    try:
        time = parsedate_to_datetime(first[0]) if first else None
        return time and time.replace(tzinfo=time.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parse_timestamp(text: str | None) -> datetime | None:
    """Return the time of an RFC 3339 timestamp, cut to microseconds; None for an empty one. Raises ValueError."""
    if not text:
        return None
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return time

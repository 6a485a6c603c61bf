"""Points of time as the APIs write them."""

from __future__ import annotations

from datetime import datetime


def parse_timestamp(text: str | None) -> datetime | None:
    """An RFC 3339 timestamp as the APIs write it, with up to nine digits after the point."""
    if not text:
        return None
    whole, point, rest = text.partition(".")
    if point:
        digits = rest.rstrip("Z").split("+")[0].split("-")[0]
        text = f"{whole}.{digits[:6]}{rest[len(digits) :]}"
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found

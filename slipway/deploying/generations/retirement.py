"""The time by which a retiring cluster should be gone. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from slipway.google.clusters import PersistentResource
from slipway.model.catalog.forms import Removed
from slipway.model.cluster import ClusterSpec


def retirement(
    entry: ClusterSpec | None,
    successor: PersistentResource | None,
    rests_since: datetime | None,
    removed: Removed | None,
) -> tuple[datetime | None, timedelta | None]:
    """Return since when a cluster retires and within what time it should be gone, each None where that is not known.

    It retires from its successor's creation on, or since its entry rests; `removed` is for an entry that is gone.
    """
    if removed:
        return removed.since, removed.retire_within
    since = successor.create_time if successor else rests_since
    return since, entry.retire_within if entry else None

"""The limit in force: the service's default, the setting on top, then granted preferences; and what is beyond it."""

from collections.abc import Iterable, Mapping

from ..wire import ApiError, resource_exhausted
from ..world import World
from . import records
from .metrics import SERVICE, Quota, over, table

Granted = Mapping[tuple[str, str | None], int]
"""Limits by preference: (quota id, region), region None for all that have none of their own."""


def granted(world: World) -> Granted:
    """Return the limits that preferences have put in force until now."""
    now = world.clock.now()
    limits_by_region: dict[tuple[str, str | None], int] = {}
    for item in records.PREFERENCES.every(world.store):
        value = records.effective(item, now)
        if item.service == SERVICE and value is not None:
            limits_by_region[item.quota_id, item.dimensions.get("region")] = value
    return limits_by_region


def limit(world: World, quota: Quota, region: str, preferences: Granted) -> int:
    """Return the limit of a quota in a region; -1 is unlimited."""
    for where in (region, None):
        if (quota.quota_id, where) in preferences:
            return preferences[quota.quota_id, where]
    settings: Mapping[str, int] = world.settings.quota
    for key in (f"{quota.metric}.{region}", quota.metric):
        if key in settings:
            return settings[key]
    return quota.default(region)


def limits(world: World, metrics: Iterable[str], region: str) -> dict[str, int]:
    """Return the limits of some metrics in a region."""
    preferences = granted(world)
    return {metric: limit(world, table().by_metric(metric), region, preferences) for metric in metrics}


def beyond(world: World, region: str, needs: Mapping[str, int], used: Mapping[str, int]) -> list[str]:
    """Return the metrics whose limit in the region is below use and need together."""
    return over(needs, used, limits(world, needs, region))


def refusal(metrics: list[str]) -> ApiError:
    """Return a 429 in the service's words, all metrics named."""
    listed = ",".join(f"{SERVICE}/{metric}" for metric in metrics)
    return resource_exhausted(f"The following quota metrics exceed quota limits: {listed}")

"""More quota, asked for: what became of a request, and which requests a stack declares. Pure.

A request is a quota preference of the API: one for each quota and region, whoever made it. It is never deleted, so it
is never lowered here either.
"""

from __future__ import annotations

from collections.abc import Iterable

from slipway.cloud.quotas import QuotaPreference
from slipway.live import INCREASABLE, Live, Unknown
from slipway.quota.metrics import quota_id
from slipway.quota.report import Line
from slipway.quota.request import QuotaRequest, Requested, lacks, more
from slipway.state import StatePreference


def preference_id(quota: str, region: str) -> str:
    """The id of a new preference: the same for everybody who asks for the same."""
    return f"aiplatform_googleapis_com-{quota}_{region}"


def quota_of(live: Live, metric: str) -> str:
    """The quota's id as the service lists it, else by the pattern of the known ones; empty where neither tells."""
    limit = live.limit(metric)
    return (limit.quota_id if limit else "") or quota_id(metric) or ""


def requested(live: Live, metric: str, enough: int) -> Requested | None:
    """What became of the request for more of a metric. Without one, that there is no hope where more would be needed
    and can't be had; else None."""
    if there := preference_of(live, metric):
        return became_of(there)
    limit = live.limit(metric)
    hopeless = limit and limit.increase not in ("", INCREASABLE) and lacks(limit, enough)
    return Requested("hopeless", None, None, limit.increase) if limit and hopeless else None


def preference_of(live: Live, metric: str) -> QuotaPreference | None:
    """What was asked for of a metric's quota; None also where that could not be read."""
    return None if isinstance(live.preferences, Unknown) else live.preferences.get(quota_of(live, metric))


def became_of(there: QuotaPreference) -> Requested:
    if there.reconciling:
        return Requested("pending", there.preferred, there.granted)
    if there.granted is not None and not more(there.preferred, there.granted):
        return Requested("granted", there.preferred, there.granted)
    why = there.detail or "the service gives no reason"
    return Requested("partly" if there.granted else "hopeless", there.preferred, there.granted, why)


def outlook(live: Live, metric: str) -> str:
    """What became of the request for more of a metric; where there is none, whether more can be had. Empty where
    nobody can tell."""
    if there := preference_of(live, metric):
        return str(became_of(there))
    limit = live.limit(metric)
    return limit.increase if limit else ""


def requests(
    lines: Iterable[Line], live: Live, known: Iterable[StatePreference] = (), *, strict: bool = False
) -> tuple[QuotaRequest, ...]:
    """A request for each quota that does not suffice at most and that more can be had of; and those that the stack has
    already (`known`, as the engine has them), while it draws the quota. They are raised for what others use where
    nothing goes on without: for what is made now, and with `strict`. Else anybody's job would raise a limit for good.
    """
    by_metric: dict[str, list[Line]] = {}
    for line in lines:
        by_metric.setdefault(line.metric, []).append(line)
    found = (_request(metric, several, live, tuple(known), strict) for metric, several in by_metric.items())
    return tuple(one for one in found if one)


def _request(
    metric: str, lines: list[Line], live: Live, known: tuple[StatePreference, ...], strict: bool
) -> QuotaRequest | None:
    region, quota, there = lines[0].region, quota_of(live, metric), preference_of(live, metric)
    ours = next((one for one in known if (one.quota_id, one.region) == (quota, region)), None)
    if isinstance(live.preferences, Unknown) or live.skipped:
        return QuotaRequest(metric, region, quota, ours.id, ours.preferred, known=True) if ours else None
    limit = live.limit(metric)
    lacking = [line for line in lines if limit and lacks(limit, line.enough)]
    wanted = max((line.enough for line in lacking), default=0)
    can = limit is not None and limit.increase == INCREASABLE and bool(quota)
    if there is None:
        id_ = preference_id(quota, region)
        return QuotaRequest(metric, region, quota, id_, wanted, wanted) if wanted and can else None
    # Somebody may have made it under another id, and known is only the one that is there.
    is_ours = ours is not None and ours.id == there.id
    if not (wanted or is_ours):
        return None
    if is_ours and more(wanted, there.preferred):
        needed = (line.enough if line.short or strict else min(line.ceiling, line.enough) for line in lacking)
        wanted = wanted if more(max(needed), there.preferred) else there.preferred
    value = wanted if is_ours and can and more(wanted, there.preferred) else there.preferred
    return QuotaRequest(metric, region, quota, there.id, value, wanted, there, is_ours)

"""Limits of the region, from what the Cloud Quotas API lists."""

from __future__ import annotations

from collections.abc import Iterable

from slipway.cloud.answers import Json
from slipway.cloud.quotas import SERVICE, QuotaInfo
from slipway.live import INCREASABLE, QuotaLimit
from slipway.messages import message

_INELIGIBLE = {
    "NOT_ENOUGH_USAGE_HISTORY": "no increase: too little usage history",
    "NO_VALID_BILLING_ACCOUNT": "no increase: no valid billing account",
    "NOT_SUPPORTED": "no increase: not supported for this quota",
}


def limits(infos: Iterable[QuotaInfo], region: str) -> dict[str, QuotaLimit]:
    """The limits of a region by metric, without the service's name. A quota silent on a region is left out."""
    found: dict[str, QuotaLimit] = {}
    for info in infos:
        metric, limit = info.metric.removeprefix(f"{SERVICE}/"), info.limit(region)
        if limit is not None:
            found[metric] = QuotaLimit(metric, region, limit, _increase(info), info.id)
    return found


def _increase(info: QuotaInfo) -> str:
    if info.ineligibility is None:
        return INCREASABLE
    return _INELIGIBLE.get(info.ineligibility, "no increase can be requested")


def quota_info(body: Json) -> QuotaInfo:
    """Fields and reasons of a newer API are passed over. Raises ValueError for values of another type."""
    from google.protobuf.json_format import ParseDict, ParseError

    empty = message("google.cloud.cloudquotas_v1", "resources", "QuotaInfo")()
    try:
        info = ParseDict(dict(body), empty, ignore_unknown_fields=True)
    except ParseError as error:
        raise ValueError(str(error)) from error
    eligibility = info.quota_increase_eligibility
    return QuotaInfo(
        info.metric,
        tuple((tuple(one.applicable_locations), one.details.value) for one in info.dimensions_infos),
        None if eligibility.is_eligible else eligibility.IneligibilityReason.Name(eligibility.ineligibility_reason),
        info.quota_id,
    )

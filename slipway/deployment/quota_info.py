"""A quota that the API lists, parsed by the official message."""

from __future__ import annotations

from slipway.cloud.quotas import QuotaInfo
from slipway.cloud.resources import Json
from slipway.messages import message


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
    )

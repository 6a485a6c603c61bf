"""A quota is the same value whether the official message or the thin command line reads it. # D9 # N18"""

from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given
from hypothesis import strategies as st

from slipway.cloud.quotas import QuotaInfo
from slipway.deployment.live_reader import quota_info
from slipway.messages import message

REGIONS = ["us-central1", "europe-west4", "asia-east1"]
REASONS = [
    "INELIGIBILITY_REASON_UNSPECIFIED",
    "NO_VALID_BILLING_ACCOUNT",
    "NOT_SUPPORTED",
    "NOT_ENOUGH_USAGE_HISTORY",
    "OTHER",
]

limits = st.fixed_dictionaries(
    {},
    optional={
        "dimensions": st.dictionaries(st.just("region"), st.sampled_from(REGIONS)),
        "details": st.fixed_dictionaries({}, optional={"value": st.integers(-1, 2**63 - 1).map(str)}),
        "applicableLocations": st.lists(st.sampled_from(REGIONS)),
    },
)
infos = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text("abc", max_size=3),
        "quotaId": st.text("abc", max_size=3),
        "metric": st.text("abc/.", max_size=9),
        "dimensionsInfos": st.lists(limits, max_size=3),
        "quotaIncreaseEligibility": st.fixed_dictionaries(
            {}, optional={"isEligible": st.booleans(), "ineligibilityReason": st.sampled_from(REASONS)}
        ),
    },
)


@given(infos)
def test_both_read_every_answer_alike(body: dict[str, Any]) -> None:
    answer = MessageToDict(ParseDict(body, message("google.cloud.cloudquotas_v1", "resources", "QuotaInfo")()))
    assert QuotaInfo.read(answer) == quota_info(answer)
    assert QuotaInfo.read(body) == quota_info(body)


def test_what_a_newer_api_adds_is_passed_over() -> None:
    body = {"metric": "m", "added": {"a": 1}, "quotaIncreaseEligibility": {"ineligibilityReason": "ADDED"}}
    assert quota_info(body) == QuotaInfo("m", (), "INELIGIBILITY_REASON_UNSPECIFIED")


@pytest.mark.parametrize(
    "body", [{"metric": 3}, {"dimensionsInfos": {}}, {"dimensionsInfos": [{"details": {"value": "many"}}]}]
)
def test_what_is_no_quota_is_a_value_error(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Failed to parse"):
        quota_info(body)

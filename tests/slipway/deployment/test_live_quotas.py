"""Limits of quota, and what was asked for of them, as the reader of what lives gives them. # D2"""

from dataclasses import replace
from typing import Any

import pytest

from slipway.cloud.connection import Connection
from slipway.cloud.quotas import QuotaInfo, QuotaPreference, ReadQuota
from slipway.deployment.live_reader import quota_info
from slipway.deployment.snapshot import read
from slipway.live import Increase, QuotaLimit, Unknown

from .conftest import WANTED, Service, live


def info(metric: str, locations: list[str], value: str | None, **eligibility: Any) -> dict[str, Any]:
    details = {} if value is None else {"value": value}
    return {
        "metric": f"aiplatform.googleapis.com/{metric}",
        "dimensionsInfos": [{"details": details, "applicableLocations": locations}],
        "quotaIncreaseEligibility": eligibility,
    }


@pytest.mark.parametrize("read_quota", [QuotaInfo.read, quota_info], ids=["thin", "official"])
def test_the_training_limits_of_the_region(connection: Connection, service: Service, read_quota: ReadQuota) -> None:
    here = ["us-central1"]
    service["quotas"] = {
        "quotaInfos": [
            info("custom_model_training_cpus", here, "2200", isEligible=True),
            info("custom_model_training_a3_cpus", here, "-1"),
            info("custom_model_training_nvidia_h100_gpus", here, None, ineligibilityReason="NOT_ENOUGH_USAGE_HISTORY"),
            info("custom_model_training_c2_cpus", ["europe-west4"], "450"),
            info("custom_model_serving_cpus", here, "10"),
        ]
    }
    found, _ = read(connection, replace(WANTED, read_quota=read_quota), off_is_empty=False)
    cpus, a3, h100 = (f"custom_model_training_{name}" for name in ("cpus", "a3_cpus", "nvidia_h100_gpus"))
    assert found.limits == {
        cpus: QuotaLimit(cpus, "us-central1", 2200, Increase.POSSIBLE),
        a3: QuotaLimit(a3, "us-central1", -1, Increase.IMPOSSIBLE),
        h100: QuotaLimit(h100, "us-central1", 0, Increase.TOO_LITTLE_HISTORY),
    }


@pytest.mark.parametrize("read_quota", [QuotaInfo.read, quota_info], ids=["thin", "official"])
def test_only_what_is_drawn_is_parsed_of_all_that_is_listed(
    connection: Connection, service: Service, read_quota: ReadQuota
) -> None:
    def many(metric: str) -> dict[str, Any]:
        return {"quotaInfos": [info("custom_model_training_cpus", ["us-central1"], "7"), info(metric, [], "many")]}

    wanted = replace(WANTED, read_quota=read_quota)
    service["quotas"] = many("custom_model_training_tpu_v6e")
    found, _ = read(connection, wanted, off_is_empty=False)
    assert not isinstance(found.limits, Unknown)
    assert {metric: limit.limit for metric, limit in found.limits.items()} == {"custom_model_training_cpus": 7}
    service["quotas"] = many("custom_model_training_a3_cpus")
    found, _ = read(connection, wanted, off_is_empty=False)
    assert isinstance(found.limits, Unknown)


def preference(region: str = "us-central1", **changes: Any) -> dict[str, Any]:
    return {
        "name": "projects/1/locations/global/quotaPreferences/h100",
        "service": "aiplatform.googleapis.com",
        "quotaId": "H100",
        "dimensions": {"region": region},
        "quotaConfig": {"preferredValue": "16", "grantedValue": "0", "stateDetail": "denied"},
        "etag": "e1",
        **changes,
    }


def test_what_was_asked_for_in_this_region(connection: Connection, service: Service) -> None:
    service["preferences"] = {
        "quotaPreferences": [
            preference("europe-west4"),
            preference(dimensions={}),
            preference(service="compute.googleapis.com"),
            preference(),
            preference(quotaId="A100", reconciling=True, quotaConfig={"preferredValue": "-1"}),
        ]
    }
    assert live(connection).preferences == {
        "H100": QuotaPreference("h100", "H100", "us-central1", 16, 0, False, "denied", "e1"),
        "A100": QuotaPreference("h100", "A100", "us-central1", -1, None, True, "", "e1"),
    }


@pytest.mark.parametrize("answer", [(403, "no such luck"), (500, "no such luck"), (403, "is disabled")])
def test_what_was_asked_for_may_be_unknown(connection: Connection, service: Service, answer: tuple[int, str]) -> None:
    """Also where the API is switched off, which is said of its limits."""
    status, message = answer
    service["preferences"] = (status, {"error": {"code": status, "message": message}})
    found, warnings = read(connection, WANTED, identity="ada", off_is_empty=True)
    assert isinstance(found.preferences, Unknown)
    assert (found.preferences.why, found.preferences.identity, warnings) == (message, "ada", [])
    assert found.limits == {}


def test_a_request_that_can_not_be_read_is_unknown(connection: Connection, service: Service) -> None:
    service["preferences"] = {"quotaPreferences": [preference(quotaConfig={"preferredValue": "many"})]}
    assert isinstance(live(connection).preferences, Unknown)

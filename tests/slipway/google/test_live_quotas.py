"""Quota as it is read, with what was asked for."""

from dataclasses import replace
from typing import Any

import pytest

from slipway.google.connection import Connection
from slipway.google.live import Increase, QuotaLimit, Unknown
from slipway.google.live_reader import quota_info
from slipway.google.quotas import QuotaInfo, QuotaPreference, ReadQuota
from slipway.google.snapshot import read
from tests.slipway.google.live_service import WANTED, Service, live, preference, quota


@pytest.mark.parametrize("read_quota", [QuotaInfo.read, quota_info], ids=["thin", "official"])
def test_the_training_limits_of_the_region(connection: Connection, service: Service, read_quota: ReadQuota) -> None:
    here = ["us-central1"]
    service["quotas"] = {
        "quotaInfos": [
            quota("custom_model_training_cpus", here, "2200", isEligible=True),
            quota("custom_model_training_a3_cpus", here, "-1"),
            quota("custom_model_training_nvidia_h100_gpus", here, None, ineligibilityReason="NOT_ENOUGH_USAGE_HISTORY"),
            quota("custom_model_training_c2_cpus", ["europe-west4"], "450"),
            {**quota("custom_model_training_a2_cpus", here, "12", isEligible=True), "isFixed": True},
            quota("custom_model_serving_cpus", here, "10"),
        ]
    }
    metrics = (WANTED.metrics or frozenset()) | {"custom_model_training_a2_cpus"}
    seen, _ = read(connection, replace(WANTED, metrics=metrics, read_quota=read_quota), off_is_empty=False)
    names = ("cpus", "a3_cpus", "nvidia_h100_gpus", "a2_cpus")
    cpus, a3, h100, a2 = (f"custom_model_training_{name}" for name in names)
    assert seen.limits == {
        cpus: QuotaLimit(cpus, "us-central1", 2200, Increase.POSSIBLE),
        a3: QuotaLimit(a3, "us-central1", -1, Increase.IMPOSSIBLE),
        h100: QuotaLimit(h100, "us-central1", 0, Increase.TOO_LITTLE_HISTORY),
        a2: QuotaLimit(a2, "us-central1", 12, Increase.FIXED),
    }


@pytest.mark.parametrize("read_quota", [QuotaInfo.read, quota_info], ids=["thin", "official"])
def test_only_what_is_drawn_is_parsed_of_all_that_is_listed(
    connection: Connection, service: Service, read_quota: ReadQuota
) -> None:
    def many(metric: str) -> dict[str, Any]:
        return {"quotaInfos": [quota("custom_model_training_cpus", ["us-central1"], "7"), quota(metric, [], "many")]}

    wanted = replace(WANTED, read_quota=read_quota)
    service["quotas"] = many("custom_model_training_tpu_v6e")
    seen, _ = read(connection, wanted, off_is_empty=False)
    assert not isinstance(seen.limits, Unknown)
    assert {metric: limit.limit for metric, limit in seen.limits.items()} == {"custom_model_training_cpus": 7}
    service["quotas"] = many("custom_model_training_a3_cpus")
    seen, _ = read(connection, wanted, off_is_empty=False)
    assert isinstance(seen.limits, Unknown)


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


@pytest.mark.parametrize("answer", [(500, "no such luck"), (403, "is disabled")])
def test_what_was_asked_for_may_be_unknown(connection: Connection, service: Service, answer: tuple[int, str]) -> None:
    """Also where the API is switched off, which is said of its limits."""
    status, message = answer
    service["preferences"] = (status, {"error": {"code": status, "message": message}})
    seen, warnings = read(connection, WANTED, identity="ada", off_is_empty=True)
    assert isinstance(seen.preferences, Unknown) and seen.limits == {} and warnings == []
    assert (seen.preferences.why, seen.preferences.identity) == (message, "ada")
    service["preferences"] = {"quotaPreferences": [preference(quotaConfig={"preferredValue": "many"})]}
    assert isinstance(live(connection).preferences, Unknown)


EVERYTHING = {
    **quota("aiplatform.googleapis.com/m", ["us-central1", "asia-east1"], "9223372036854775807", isEligible=False),
    "name": "projects/1/locations/global/services/s/quotaInfos/i",
    "quotaId": "Id",
}


@pytest.mark.parametrize("absent", [None, *EVERYTHING, "details", "applicableLocations"])
@pytest.mark.parametrize("reason", [{}, *({"ineligibilityReason": f"NOT_{what}"} for what in ("SUPPORTED", "KNOWN"))])
def test_both_read_every_answer_alike(absent: str | None, reason: dict[str, str]) -> None:
    """A word that a newer API adds is passed over."""
    (inner,) = EVERYTHING["dimensionsInfos"]
    some = {"dimensions": {"region": "us-central1"}, **{key: value for key, value in inner.items() if key != absent}}
    whole = {**EVERYTHING, "dimensionsInfos": [some, {}], "quotaIncreaseEligibility": reason, "added": {"a": 1}}
    body = {key: value for key, value in whole.items() if key != absent}
    assert QuotaInfo.read(body) == quota_info(body) or reason.get("ineligibilityReason") == "NOT_KNOWN"

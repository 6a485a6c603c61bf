"""Quota as it is read, granted, and its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slipway.base.errors import PolicyError
from slipway.deploying.creation.creation_context import await_grant
from slipway.google.connection import Connection
from slipway.google.live import Increase, QuotaLimit, Unknown
from slipway.google.live_reader import quota_info
from slipway.google.quotas import QuotaInfo, QuotaPreference, ReadQuota
from slipway.google.snapshot import read

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


@pytest.mark.parametrize("answer", [(500, "no such luck"), (403, "is disabled")])
def test_what_was_asked_for_may_be_unknown(connection: Connection, service: Service, answer: tuple[int, str]) -> None:
    """Also where the API is switched off, which is said of its limits."""
    status, message = answer
    service["preferences"] = (status, {"error": {"code": status, "message": message}})
    found, warnings = read(connection, WANTED, identity="ada", off_is_empty=True)
    assert isinstance(found.preferences, Unknown) and found.limits == {} and warnings == []
    assert (found.preferences.why, found.preferences.identity) == (message, "ada")
    service["preferences"] = {"quotaPreferences": [preference(quotaConfig={"preferredValue": "many"})]}
    assert isinstance(live(connection).preferences, Unknown)


EVERYTHING = {
    **info("aiplatform.googleapis.com/m", ["us-central1", "asia-east1"], "9223372036854775807", isEligible=False),
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


H100, ID = "custom_model_training_nvidia_h100_gpus", "CustomModelTrainingH100GPUsPerProjectPerRegion"


class Cloud:
    """A service whose answers change while somebody waits: `later` are what happens at each pause, in order."""

    def __init__(self, connection: Connection, service: Service) -> None:
        self.connection, self.service = connection, service
        self.later: list[Callable[[], None]] = []
        self.now, self.said = 0.0, list[str]()

    def limit(self, value: int) -> None:
        listed = info(H100, ["us-central1"], str(value), isEligible=True)
        self.service["quotas"] = {"quotaInfos": [{**listed, "quotaId": ID}]}

    def asked(self, preferred: int, granted: int | None, **state: Any) -> None:
        config = {"preferredValue": str(preferred), "stateDetail": state.pop("detail", "")}
        config |= {} if granted is None else {"grantedValue": str(granted)}
        bodies = (preference(one, quotaId=ID, quotaConfig=config, **state) for one in ("us-central1", "europe-west4"))
        self.service["preferences"] = {"quotaPreferences": [*bodies]}

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.later:
            self.later.pop(0)()

    def wait(self, enough: int = 16, **clusters: None) -> None:
        await_grant(
            self.connection.quotas("acme"),
            "us-central1",
            {H100: enough},
            tuple(clusters) or ("h100-1a2b3c4",),
            self.said.append,
            within_s=10,
            clock=lambda: self.now,
            sleep=self.sleep,
        )


@pytest.fixture
def cloud(connection: Connection, service: Service) -> Cloud:
    return Cloud(connection, service)


@pytest.mark.parametrize(
    ("preferred", "granted", "state", "waited", "told"),
    [
        (16, 8, {"reconciling": True}, 10, ("needs 16, limit 8", "pending", "once it is granted")),
        (16, 8, {"detail": "machines are scarce"}, 0, (" 16: 8 granted (machines are scarce)", f"--request {H100}=16")),
        (16, 0, {"detail": "machines are scarce"}, 0, ("nothing granted", f"slipway quota --request {H100}=16")),
        (8, 8, {}, 0, ("which asks for more",)),
    ],
    ids=["pending", "less", "nothing", "taken over"],
)
def test_what_is_not_granted_is_told_with_what_to_do_then(
    cloud: Cloud, preferred: int, granted: int, state: dict[str, Any], waited: float, told: tuple[str, ...]
) -> None:
    cloud.limit(8)
    cloud.asked(preferred, granted, **state)
    with pytest.raises(PolicyError) as error:
        cloud.wait(a=None, b=None)
    assert cloud.now == waited and error.value.what.endswith("b are not made") and H100 in error.value.why
    assert all(word in f"{error.value.why}\n{error.value.fix}" for word in told)


def test_what_suffices_is_not_waited_for_nor_anything_read_where_nothing_was_asked_for(cloud: Cloud) -> None:
    await_grant(cloud.connection.quotas("acme"), "us-central1", {}, ("cpu",), cloud.said.append)
    assert cloud.service.asked == {}
    for limit in (16, -1):
        cloud.limit(limit)
        cloud.wait()
    assert cloud.said == []


def test_a_grant_within_seconds_is_waited_for_until_it_is_in_force(cloud: Cloud) -> None:
    cloud.limit(8)
    cloud.asked(16, 8, reconciling=True)
    cloud.later = [lambda: cloud.asked(16, 16), lambda: cloud.limit(16)]
    cloud.wait()
    assert len(cloud.said) == 1 and "10 s" in cloud.said[0] and H100 in cloud.said[0]
    assert cloud.now == 4

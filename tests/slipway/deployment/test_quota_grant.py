"""Clusters wait for the quota that their deployment asks for, a little, and are not made without it. # Z2 # D2"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slipway.cloud.connection import Connection
from slipway.creation.creation_context import await_grant
from slipway.errors import PolicyError

from .conftest import Service

H100, ID = "custom_model_training_nvidia_h100_gpus", "CustomModelTrainingH100GPUsPerProjectPerRegion"


class Cloud:
    """A service whose answers change while somebody waits: `later` are what happens at each pause, in order."""

    def __init__(self, connection: Connection, service: Service) -> None:
        self.connection, self.service = connection, service
        self.later: list[Callable[[], None]] = []
        self.now, self.said = 0.0, list[str]()

    def limit(self, value: int) -> None:
        info = {
            "metric": f"aiplatform.googleapis.com/{H100}",
            "quotaId": ID,
            "dimensionsInfos": [{"details": {"value": str(value)}, "applicableLocations": ["us-central1"]}],
            "quotaIncreaseEligibility": {"isEligible": True},
        }
        self.service["quotas"] = {"quotaInfos": [info]}

    def asked(self, preferred: int, granted: int | None, **state: Any) -> None:
        config = {"preferredValue": str(preferred), "stateDetail": state.pop("detail", "")}
        body = {
            "name": "projects/1/locations/global/quotaPreferences/h100",
            "service": "aiplatform.googleapis.com",
            "quotaId": ID,
            "dimensions": {"region": "us-central1"},
            "quotaConfig": config if granted is None else {**config, "grantedValue": str(granted)},
            **state,
        }
        elsewhere = {**body, "dimensions": {"region": "europe-west4"}}
        self.service["preferences"] = {"quotaPreferences": [body, elsewhere]}

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


def test_what_suffices_is_not_waited_for(cloud: Cloud) -> None:
    cloud.limit(16)
    cloud.wait()
    assert cloud.said == []
    cloud.limit(-1)
    cloud.wait()


def test_nothing_is_read_where_nothing_was_asked_for(cloud: Cloud) -> None:
    await_grant(cloud.connection.quotas("acme"), "us-central1", {}, ("cpu",), cloud.said.append)
    assert cloud.service.asked == {}


def test_a_grant_within_seconds_is_waited_for_until_it_is_in_force(cloud: Cloud) -> None:
    cloud.limit(8)
    cloud.asked(16, 8, reconciling=True)
    cloud.later = [lambda: cloud.asked(16, 16), lambda: cloud.limit(16)]
    cloud.wait()
    assert len(cloud.said) == 1 and "10 s" in cloud.said[0] and H100 in cloud.said[0]
    assert cloud.now == 4


def test_a_request_that_stays_pending_is_told_with_what_to_do_then(cloud: Cloud) -> None:
    cloud.limit(8)
    cloud.asked(16, 8, reconciling=True)
    with pytest.raises(PolicyError) as error:
        cloud.wait()
    assert cloud.now == 10
    assert "h100-1a2b3c4 is not made" in error.value.what
    assert H100 in error.value.why and "needs 16, limit 8" in error.value.why and "pending" in error.value.why
    assert "once it is granted" in error.value.fix


@pytest.mark.parametrize(("granted", "told"), [(8, "8 granted"), (0, "nothing granted")])
def test_one_that_was_decided_is_not_waited_for(cloud: Cloud, granted: int, told: str) -> None:
    cloud.limit(8)
    cloud.asked(16, granted, detail="machines are scarce")
    with pytest.raises(PolicyError) as error:
        cloud.wait(a=None, b=None)
    assert cloud.now == 0
    assert error.value.what.endswith("b are not made")
    assert f" 16: {told} (machines are scarce)" in error.value.why
    assert f"slipway quota --request {H100}=16" in error.value.fix


def test_one_that_was_taken_over_is_raised_by_the_next_deployment(cloud: Cloud) -> None:
    cloud.limit(8)
    cloud.asked(8, 8)
    with pytest.raises(PolicyError) as error:
        cloud.wait()
    assert cloud.now == 0
    assert "which asks for more" in error.value.fix

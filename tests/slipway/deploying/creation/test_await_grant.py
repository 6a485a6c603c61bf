"""The wait for a grant of quota before clusters are made."""

from collections.abc import Callable
from typing import Any

import pytest

from slipway.base.errors import PolicyError
from slipway.deploying.creation.creation_context import await_grant
from slipway.google.connection import Connection
from tests.slipway.google.live_service import Service, preference, quota

H100, ID = "custom_model_training_nvidia_h100_gpus", "CustomModelTrainingH100GPUsPerProjectPerRegion"


class Cloud:
    """A service whose answers change while somebody waits: `later` are what happens at each pause, in order."""

    def __init__(self, connection: Connection, service: Service) -> None:
        self.connection, self.service = connection, service
        self.later: list[Callable[[], None]] = []
        self.now, self.said = 0.0, list[str]()

    def limit(self, value: int) -> None:
        listed = quota(H100, ["us-central1"], str(value), isEligible=True)
        self.service["quotas"] = {"quotaInfos": [{**listed, "quotaId": ID}]}

    def asked(self, preferred: int, granted: int | None, **state: Any) -> None:
        config = {"preferredValue": str(preferred), "stateDetail": state.pop("detail", "")}
        config |= {} if granted is None else {"grantedValue": str(granted)}
        bodies = (preference(word, quotaId=ID, quotaConfig=config, **state) for word in ("us-central1", "europe-west4"))
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

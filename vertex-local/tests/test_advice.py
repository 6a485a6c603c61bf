"""Compute Engine's advice on Spot machines, by Google's own client. (N23)"""

from datetime import datetime
from itertools import pairwise
from typing import Any

import googleapiclient.discovery
import pytest

from vertex_local.settings import Settings, SettingsError
from vertex_local.testing.local_cloud import LocalCloud

MACHINE = "a3-highgpu-8g"
SPOT = {"scheduling": {"provisioningModel": "SPOT"}}


@pytest.fixture
def advice(cloud: LocalCloud) -> Any:
    options: Any = {"api_endpoint": f"{cloud.url}/compute/v1/"}
    credentials = cloud.credentials("owner")
    return googleapiclient.discovery.build(
        "compute", "v1", credentials=credentials, client_options=options, static_discovery=True
    ).advice()


def test_googleapiclient_asks_how_likely_spot_machines_come(advice: Any) -> None:
    selections = {"a": {"machineTypes": [MACHINE]}}
    body = {"size": 2, "instanceProperties": SPOT, "instanceFlexibilityPolicy": {"instanceSelections": selections}}
    answer = advice.capacity(project="local-project", region="us-central1", body=body).execute()
    assert answer["recommendations"][0]["scores"] == {"obtainability": 0.7, "estimatedUptime": "3600s"}


def test_googleapiclient_asks_how_many_were_taken_away_on_each_of_30_days(advice: Any) -> None:
    body = {"types": ["PREEMPTION"], "instanceProperties": {**SPOT, "machineType": MACHINE}}
    answer = advice.capacityHistory(project="local-project", region="us-central1", body=body).execute()
    days = answer["preemptionHistory"]
    assert len(days) == 30 and {day["preemptionRate"] for day in days} == {0.12}
    ends = [datetime.fromisoformat(day["interval"]["endTime"]) for day in days]
    assert ends == sorted(ends)
    assert all(day["interval"]["endTime"] == later["interval"]["startTime"] for day, later in pairwise(days))


def test_a_region_has_figures_of_its_own() -> None:
    settings = Settings().changed({"spot_advice.us-east5": "0.2 600 0.4"})
    assert settings.spot_figures("us-east5").uptime_s == 600
    assert settings.spot_figures("us-central1").obtainability == 0.7


@pytest.mark.parametrize("text", ["", "0.7", "2 3600 0.1", "0.7 -1 0.1", "0.7 3600 x"])
def test_figures_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="spot_advice"):
        Settings().changed({"spot_advice.us-east5": text})

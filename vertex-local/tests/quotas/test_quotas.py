"""Cloud Quotas (D2, D3; vertex-rules 4.3, 4.4, 6 and checklist 9)."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertex_local.quotas import metrics
from vertex_local.supply import machines
from vertex_local.supply.shape import Shape
from vertex_local.testing.bodies import cluster_body, pool
from vertex_local.testing.calling import CLUSTERS, REGION, Calling

GLOBAL = "/v1/projects/local-project/locations/global"
INFOS = f"{GLOBAL}/services/aiplatform.googleapis.com/quotaInfos"
PREFERENCES = f"{GLOBAL}/quotaPreferences"
T4 = "CustomModelTrainingT4GPUsPerProjectPerRegion"


def wish(value: int, quota: str = T4) -> dict[str, Any]:
    return {
        "service": "aiplatform.googleapis.com",
        "quotaId": quota,
        "quotaConfig": {"preferredValue": str(value)},
        "contactEmail": "ml-platform@acme.example",
        "dimensions": {"region": REGION},
    }


def ask(calling: Calling, body: dict[str, Any]) -> dict[str, Any]:
    return calling.call("POST", f"{PREFERENCES}?quotaPreferenceId=t4", body)


def limit(calling: Calling, quota: str = T4) -> int:
    info = calling.call("GET", f"{INFOS}/{quota}")
    return next(
        int(entry["details"].get("value", 0))
        for entry in info["dimensionsInfos"]
        if REGION in entry["applicableLocations"]
    )


# --- arithmetic


def test_replicas_draw_gpus_cpus_of_their_family_and_disk() -> None:
    gpu = Shape("a2-highgpu-2g", "NVIDIA_TESLA_A100", 2, "pd-ssd", 200)
    cpu = Shape("n1-standard-8", None, 0, "pd-standard", 100)
    assert metrics.drawn([(gpu, 3), (cpu, 2)]) == Counter(
        {
            "custom_model_training_nvidia_a100_gpus": 6,
            "custom_model_training_a2_cpus": 72,
            "custom_model_training_pd_ssd": 600,
            "custom_model_training_cpus": 16,
            "custom_model_training_pd_standard": 200,
        }
    )
    assert metrics.drawn([(gpu, 3)], preemptible=True) == Counter(
        {
            "custom_model_training_preemptible_nvidia_a100_gpus": 6,
            "custom_model_training_preemptible_cpus": 72,
            "custom_model_training_pd_ssd": 600,
        }
    )


@pytest.mark.parametrize("preemptible", [False, True])
@pytest.mark.parametrize("machine", list(machines.table().types))
def test_every_machine_and_accelerator_has_its_metrics(machine: str, preemptible: bool) -> None:
    known = {quota.metric for quota in metrics.table().quotas}
    fits = machines.table().types[machine].attachable
    for accelerator, counts in fits.items() or [(None, (0,))]:
        drawn = metrics.drawn([(Shape(machine, accelerator, counts[0], "pd-ssd", 100), 1)], preemptible=preemptible)
        assert drawn.keys() <= known
        assert all(drawn.values())


@given(
    used=st.dictionaries(st.sampled_from("abc"), st.integers(0, 50)),
    needs=st.dictionaries(st.sampled_from("abc"), st.integers(1, 50), min_size=1),
    limits=st.fixed_dictionaries(dict.fromkeys("abc", st.integers(-1, 100))),
)
def test_over_names_exactly_the_metrics_that_do_not_suffice(
    used: dict[str, int], needs: dict[str, int], limits: dict[str, int]
) -> None:
    over = metrics.over(needs, used, limits)
    for metric, amount in needs.items():
        fits = limits[metric] == -1 or used.get(metric, 0) + amount <= limits[metric]
        assert (metric not in over) == fits


# --- preferences over time; what else is answered: `contracts/answered_quotas.txt`


def test_a_wish_is_granted_and_takes_effect(calling: Calling) -> None:
    made = ask(calling, wish(20))
    assert made["name"] == "projects/100000000001/locations/global/quotaPreferences/t4"
    assert made["quotaConfig"]["grantedValue"] == "20"
    assert "reconciling" not in made
    assert "contactEmail" not in made, "input only"
    assert limit(calling) == 20
    gpu = {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 4}
    assert calling.cluster("gpu", resourcePools=[pool(replicas=5, machineSpec=gpu)])["state"] == "RUNNING"
    error = calling.refused(
        "POST", f"{CLUSTERS}?persistentResourceId=b", cluster_body(pool(replicas=1, machineSpec=gpu))
    )
    assert error.message.endswith("custom_model_training_nvidia_t4_gpus")


def test_granting_takes_its_time(calling: Calling) -> None:
    calling.set(quota_reconcile_seconds=60)
    pending = ask(calling, wish(20))
    assert pending["reconciling"] is True and pending["quotaConfig"]["traceId"]
    assert limit(calling) == 12
    calling.advance(60)
    done = calling.call("GET", f"{PREFERENCES}/t4")
    assert ("reconciling" in done, done["quotaConfig"]["grantedValue"]) == (False, "20")
    assert limit(calling) == 20


def test_until_a_second_request_is_decided_the_first_one_holds(calling: Calling) -> None:
    ask(calling, wish(20))
    calling.set(quota_reconcile_seconds=60, quota_grant_ceiling=24)
    pending = calling.call("PATCH", f"{PREFERENCES}/t4", wish(32))
    assert (pending["reconciling"], pending["quotaConfig"]["grantedValue"]) == (True, "20")
    assert "stateDetail" not in pending["quotaConfig"]
    assert limit(calling) == 20
    calling.advance(60)
    decided = calling.call("GET", f"{PREFERENCES}/t4")["quotaConfig"]
    assert decided["grantedValue"] == "24" and "24 of 32" in decided["stateDetail"]
    assert limit(calling) == 24


@pytest.mark.parametrize("quota", metrics.table().quotas, ids=lambda quota: quota.metric)
def test_more_can_be_asked_of_every_quota(calling: Calling, quota: metrics.Quota) -> None:
    """Of every accelerator, on demand and preemptible, of CPUs and disks: what is granted is the limit."""
    most = quota.default(REGION)
    if most == metrics.UNLIMITED:
        calling.set(**{f"quota.{quota.metric}": 0})
        most = 0
    ask(calling, wish(most + 8, quota=quota.quota_id))
    assert limit(calling, quota.quota_id) == most + 8

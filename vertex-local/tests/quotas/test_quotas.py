"""Cloud Quotas (D2, D3; vertex-rules 4.3, 4.4, 6 and checklist 9)."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vertex_local.quotas import metrics
from vertex_local.supply import machines
from vertex_local.supply.shape import Shape
from vertex_local.testing.bodies import autoscaled, cluster_body, pool
from vertex_local.testing.calling import CLUSTERS, REGION, Calling

GLOBAL = "/v1/projects/local-project/locations/global"
INFOS = f"{GLOBAL}/services/aiplatform.googleapis.com/quotaInfos"
PREFERENCES = f"{GLOBAL}/quotaPreferences"
T4 = "CustomModelTrainingT4GPUsPerProjectPerRegion"
CPUS = "CustomModelTrainingCPUsPerProjectPerRegion"


def wish(value: int, region: str | None = REGION, quota: str = T4, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "service": "aiplatform.googleapis.com",
        "quotaId": quota,
        "quotaConfig": {"preferredValue": str(value)},
        "contactEmail": "ml-platform@acme.example",
    }
    return body | ({"dimensions": {"region": region}} if region else {}) | changes


def ask(calling: Calling, name: str, body: dict[str, Any]) -> dict[str, Any]:
    return calling.call("POST", f"{PREFERENCES}?quotaPreferenceId={name}", body)


def limit(calling: Calling, quota: str = T4, region: str = REGION) -> int:
    info = calling.call("GET", f"{INFOS}/{quota}")
    return next(
        int(entry["details"].get("value", 0))
        for entry in info["dimensionsInfos"]
        if region in entry["applicableLocations"]
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


# --- infos


def test_quota_ids_have_no_vendor_in_them_and_match_by_metric(calling: Calling) -> None:
    infos = calling.call("GET", f"{INFOS}?pageSize=1000")["quotaInfos"]
    by_metric = {info["metric"]: info["quotaId"] for info in infos}
    prefix = "aiplatform.googleapis.com/custom_model_training"
    assert by_metric[f"{prefix}_nvidia_h100_gpus"] == "CustomModelTrainingH100GPUsPerProjectPerRegion"
    assert by_metric[f"{prefix}_preemptible_nvidia_a100_80gb_gpus"] == (
        "CustomModelTrainingPreemptibleA10080GBGPUsPerProjectPerRegion"
    )
    assert by_metric[f"{prefix}_preemptible_cpus"] == "CustomModelTrainingPreemptibleCPUsPerProjectPerRegion"


def test_infos_are_paged(calling: Calling) -> None:
    first = calling.call("GET", f"{INFOS}?pageSize=25")
    rest = calling.call("GET", f"{INFOS}?pageSize=25&pageToken={first['nextPageToken']}")
    ids = [info["quotaId"] for page in (first, rest) for info in page["quotaInfos"]]
    assert len(ids) == len(set(ids)) == len(metrics.table().quotas)


def test_the_most_specific_entry_comes_first_and_zero_has_no_value(calling: Calling) -> None:
    entries = calling.call("GET", f"{INFOS}/{T4}")["dimensionsInfos"]
    assert all("dimensions" in entry for entry in entries[:-1])
    assert "dimensions" not in entries[-1]
    assert limit(calling, T4, "us-central1") == 12
    assert limit(calling, T4, "us-south1") == 0
    assert limit(calling, "CustomModelTrainingA3CPUsPerProjectPerRegion") == -1


def test_settings_move_limits_of_all_regions_or_of_one(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_nvidia_t4_gpus": 5})
    calling.set(**{"quota.custom_model_training_nvidia_t4_gpus.us-west1": 7})
    assert (limit(calling), limit(calling, region="us-west1")) == (5, 7)


def test_reading_and_asking_need_their_permissions(calling: Calling) -> None:
    assert calling.refused("GET", INFOS, role="submitter").code == 403
    assert calling.call("GET", f"{INFOS}/{T4}", role="previewer")["quotaId"] == T4
    assert calling.refused("POST", f"{PREFERENCES}?quotaPreferenceId=x", wish(20), role="previewer").code == 403


def test_increases_can_be_off_the_table(calling: Calling) -> None:
    calling.set(quota_ineligible="NOT_ENOUGH_USAGE_HISTORY")
    eligibility = calling.call("GET", f"{INFOS}/{T4}")["quotaIncreaseEligibility"]
    assert eligibility == {"ineligibilityReason": "NOT_ENOUGH_USAGE_HISTORY"}
    made = ask(calling, "t4", wish(20))
    assert made["quotaConfig"]["grantedValue"] == "12"
    assert "NOT_ENOUGH_USAGE_HISTORY" in made["quotaConfig"]["stateDetail"]


# --- preferences


def test_a_wish_is_granted_and_takes_effect(calling: Calling) -> None:
    made = ask(calling, "t4", wish(20))
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
    pending = ask(calling, "t4", wish(20))
    assert pending["reconciling"] is True and pending["quotaConfig"]["traceId"]
    assert limit(calling) == 12
    calling.advance(60)
    done = calling.call("GET", f"{PREFERENCES}/t4")
    assert ("reconciling" in done, done["quotaConfig"]["grantedValue"]) == (False, "20")
    assert limit(calling) == 20


def test_less_may_be_granted_than_asked(calling: Calling) -> None:
    calling.set(quota_grant_ceiling=16)
    made = ask(calling, "t4", wish(20))
    assert made["quotaConfig"]["preferredValue"] == "20"
    assert made["quotaConfig"]["grantedValue"] == "16"
    assert "partially approved" in made["quotaConfig"]["stateDetail"]
    assert limit(calling) == 16


def test_nothing_may_be_granted_and_what_is_there_stays(calling: Calling) -> None:
    calling.set(quota_grant_ceiling=0)
    denied = ask(calling, "t4", wish(20))["quotaConfig"]
    assert (denied["preferredValue"], denied["grantedValue"]) == ("20", "12")
    assert denied["stateDetail"] == "The request was denied."
    assert limit(calling) == 12


def test_until_a_second_request_is_decided_the_first_one_holds(calling: Calling) -> None:
    ask(calling, "t4", wish(20))
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
    ask(calling, "more", wish(most + 8, quota=quota.quota_id))
    assert limit(calling, quota.quota_id) == most + 8


def test_there_is_one_preference_for_a_quota_and_region(calling: Calling) -> None:
    ask(calling, "t4", wish(20))
    assert calling.refused("POST", f"{PREFERENCES}?quotaPreferenceId=t4", wish(30, "us-west1")).code == 409
    assert calling.refused("POST", f"{PREFERENCES}?quotaPreferenceId=other", wish(30)).code == 409
    ask(calling, "west", wish(30, "us-west1"))


def test_a_patch_changes_the_wish_but_not_what_it_is_for(calling: Calling) -> None:
    made = ask(calling, "t4", wish(20))
    patched = calling.call("PATCH", f"{PREFERENCES}/t4", wish(24, etag=made["etag"]))
    assert patched["quotaConfig"]["grantedValue"] == "24"
    stale = calling.refused("PATCH", f"{PREFERENCES}/t4", wish(28, etag=made["etag"]))
    assert stale.status == "ABORTED"
    assert "immutable" in calling.refused("PATCH", f"{PREFERENCES}/t4", wish(28, "us-west1")).message
    masked = calling.refused("PATCH", f"{PREFERENCES}/t4?updateMask=quotaId", wish(28, quota=CPUS))
    assert masked.message == "Field quotaId is immutable."
    assert calling.refused("PATCH", f"{PREFERENCES}/none", wish(28, "us-west1")).code == 404


def test_a_patch_can_make_what_is_missing_or_only_try(calling: Calling) -> None:
    tried = calling.call("PATCH", f"{PREFERENCES}/t4?allowMissing=true&validateOnly=true", wish(20))
    assert tried["quotaConfig"]["preferredValue"] == "20"
    assert limit(calling) == 12
    calling.call("PATCH", f"{PREFERENCES}/t4?allowMissing=true", wish(20))
    assert limit(calling) == 20


def test_a_decrease_is_kept_from_hurting(calling: Calling) -> None:
    calling.set(**{"quota.custom_model_training_cpus": 100})
    calling.cluster("cpu", resourcePools=[autoscaled(20, 22)])
    path = f"{PREFERENCES}?quotaPreferenceId=cpus"
    below = wish(60, quota=CPUS, contactEmail="")
    assert "QUOTA_DECREASE_BELOW_USAGE" in calling.refused("POST", path, below).message
    ignoring = path + "&ignoreSafetyChecks=QUOTA_DECREASE_BELOW_USAGE"
    assert "PERCENTAGE_TOO_HIGH" in calling.refused("POST", ignoring, below).message
    calling.call("POST", ignoring + "&ignoreSafetyChecks=2", below)
    assert limit(calling, CPUS) == 60


def test_preferences_are_listed_and_filtered(calling: Calling) -> None:
    ask(calling, "a", wish(20))
    ask(calling, "b", wish(20, "us-west1"))
    found = calling.call("GET", f"{PREFERENCES}?filter=dimensions.region=us-west1 AND quotaId={T4}")["quotaPreferences"]
    assert [item["name"].rpartition("/")[2] for item in found] == ["b"]
    first = calling.call("GET", f"{PREFERENCES}?pageSize=1")
    assert len(first["quotaPreferences"]) == 1
    assert first["nextPageToken"]

"""Cloud Quotas (D2, D3; vertex-rules 4.3, 4.4, 6 and checklist 9)."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.quotas import metrics
from local.cloud.supply import machines
from local.cloud.supply.shape import Shape
from tests.local.cloud.vertex.conftest import CLUSTERS, REGION, Service, autoscaled, cluster_body, pool

GLOBAL = "/v1/projects/slipway-local/locations/global"
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


def ask(service: Service, name: str, body: dict[str, Any]) -> dict[str, Any]:
    return service.call("POST", f"{PREFERENCES}?quotaPreferenceId={name}", body)


def limit(service: Service, quota: str = T4, region: str = REGION) -> int:
    info = service.call("GET", f"{INFOS}/{quota}")
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


def test_quota_ids_have_no_vendor_in_them_and_match_by_metric(service: Service) -> None:
    infos = service.call("GET", f"{INFOS}?pageSize=1000")["quotaInfos"]
    by_metric = {info["metric"]: info["quotaId"] for info in infos}
    prefix = "aiplatform.googleapis.com/custom_model_training"
    assert by_metric[f"{prefix}_nvidia_h100_gpus"] == "CustomModelTrainingH100GPUsPerProjectPerRegion"
    assert by_metric[f"{prefix}_preemptible_nvidia_a100_80gb_gpus"] == (
        "CustomModelTrainingPreemptibleA10080GBGPUsPerProjectPerRegion"
    )
    assert by_metric[f"{prefix}_preemptible_cpus"] == "CustomModelTrainingPreemptibleCPUsPerProjectPerRegion"


def test_infos_are_paged(service: Service) -> None:
    first = service.call("GET", f"{INFOS}?pageSize=25")
    rest = service.call("GET", f"{INFOS}?pageSize=25&pageToken={first['nextPageToken']}")
    ids = [info["quotaId"] for page in (first, rest) for info in page["quotaInfos"]]
    assert len(ids) == len(set(ids)) == len(metrics.table().quotas)


def test_the_most_specific_entry_comes_first_and_zero_has_no_value(service: Service) -> None:
    entries = service.call("GET", f"{INFOS}/{T4}")["dimensionsInfos"]
    assert all("dimensions" in entry for entry in entries[:-1])
    assert "dimensions" not in entries[-1]
    assert limit(service, T4, "us-central1") == 12
    assert limit(service, T4, "us-south1") == 0
    assert limit(service, "CustomModelTrainingA3CPUsPerProjectPerRegion") == -1


def test_settings_move_limits_of_all_regions_or_of_one(service: Service) -> None:
    service.set(**{"quota.custom_model_training_nvidia_t4_gpus": 5})
    service.set(**{"quota.custom_model_training_nvidia_t4_gpus.us-west1": 7})
    assert (limit(service), limit(service, region="us-west1")) == (5, 7)


def test_an_unknown_quota_is_not_found(service: Service) -> None:
    assert service.refused("GET", f"{INFOS}/Nonsense").code == 404
    assert service.call("GET", f"{INFOS.replace('aiplatform', 'compute')}") == {"quotaInfos": []}


def test_reading_and_asking_need_their_permissions(service: Service) -> None:
    assert service.refused("GET", INFOS, role="submitter").code == 403
    assert service.call("GET", f"{INFOS}/{T4}", role="previewer")["quotaId"] == T4
    assert service.refused("POST", f"{PREFERENCES}?quotaPreferenceId=x", wish(20), role="previewer").code == 403


def test_increases_can_be_off_the_table(service: Service) -> None:
    service.set(quota_ineligible="NOT_ENOUGH_USAGE_HISTORY")
    eligibility = service.call("GET", f"{INFOS}/{T4}")["quotaIncreaseEligibility"]
    assert eligibility == {"ineligibilityReason": "NOT_ENOUGH_USAGE_HISTORY"}
    made = ask(service, "t4", wish(20))
    assert made["quotaConfig"]["grantedValue"] == "12"
    assert "NOT_ENOUGH_USAGE_HISTORY" in made["quotaConfig"]["stateDetail"]


# --- preferences


def test_a_wish_is_granted_and_takes_effect(service: Service) -> None:
    made = ask(service, "t4", wish(20))
    assert made["name"] == "projects/100000000001/locations/global/quotaPreferences/t4"
    assert made["quotaConfig"]["grantedValue"] == "20"
    assert "reconciling" not in made
    assert "contactEmail" not in made, "input only"
    assert limit(service) == 20
    gpu = {"machineType": "n1-standard-8", "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 4}
    assert service.cluster("gpu", resourcePools=[pool(replicas=5, machineSpec=gpu)])["state"] == "RUNNING"
    error = service.refused(
        "POST", f"{CLUSTERS}?persistentResourceId=b", cluster_body(pool(replicas=1, machineSpec=gpu))
    )
    assert error.message.endswith("custom_model_training_nvidia_t4_gpus")


def test_granting_takes_its_time(service: Service) -> None:
    service.set(quota_reconcile_seconds=60)
    assert ask(service, "t4", wish(20))["reconciling"] is True
    assert limit(service) == 12
    service.advance(60)
    done = service.call("GET", f"{PREFERENCES}/t4")
    assert ("reconciling" in done, done["quotaConfig"]["grantedValue"]) == (False, "20")
    assert limit(service) == 20


def test_less_may_be_granted_than_asked(service: Service) -> None:
    service.set(quota_grant_ceiling=16)
    made = ask(service, "t4", wish(20))
    assert made["quotaConfig"]["preferredValue"] == "20"
    assert made["quotaConfig"]["grantedValue"] == "16"
    assert "partially approved" in made["quotaConfig"]["stateDetail"]
    assert limit(service) == 16


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (wish(20, contactEmail=""), "contact email"),
        (wish(-2), "at least -1"),
        (wish(20, quota="Nonsense"), "does not exist"),
        (wish(20, service="compute.googleapis.com"), "has no quotas"),
        (wish(20, dimensions={"region": REGION, "user": "a"}), "Dimension user"),
        (wish(20, colour="red"), 'Unknown name "colour"'),
    ],
)
def test_a_bad_wish_is_refused(service: Service, body: dict[str, Any], words: str) -> None:
    error = service.refused("POST", f"{PREFERENCES}?quotaPreferenceId=t4", body)
    assert (error.status, words in error.message) == ("INVALID_ARGUMENT", True)


def test_there_is_one_preference_for_a_quota_and_region(service: Service) -> None:
    ask(service, "t4", wish(20))
    assert service.refused("POST", f"{PREFERENCES}?quotaPreferenceId=t4", wish(30, "us-west1")).code == 409
    assert service.refused("POST", f"{PREFERENCES}?quotaPreferenceId=other", wish(30)).code == 409
    ask(service, "west", wish(30, "us-west1"))


def test_a_patch_changes_the_wish_but_not_what_it_is_for(service: Service) -> None:
    made = ask(service, "t4", wish(20))
    patched = service.call("PATCH", f"{PREFERENCES}/t4", wish(24, etag=made["etag"]))
    assert patched["quotaConfig"]["grantedValue"] == "24"
    stale = service.refused("PATCH", f"{PREFERENCES}/t4", wish(28, etag=made["etag"]))
    assert stale.status == "ABORTED"
    assert "immutable" in service.refused("PATCH", f"{PREFERENCES}/t4", wish(28, "us-west1")).message
    assert service.refused("PATCH", f"{PREFERENCES}/none", wish(28, "us-west1")).code == 404


def test_a_patch_can_make_what_is_missing_or_only_try(service: Service) -> None:
    tried = service.call("PATCH", f"{PREFERENCES}/t4?allowMissing=true&validateOnly=true", wish(20))
    assert tried["quotaConfig"]["preferredValue"] == "20"
    assert limit(service) == 12
    service.call("PATCH", f"{PREFERENCES}/t4?allowMissing=true", wish(20))
    assert limit(service) == 20


def test_a_preference_is_never_deleted(service: Service) -> None:
    assert service.router.find("DELETE", f"{PREFERENCES}/t4") is None


def test_a_decrease_is_kept_from_hurting(service: Service) -> None:
    service.set(**{"quota.custom_model_training_cpus": 100})
    service.cluster("cpu", resourcePools=[autoscaled(20, 22)])
    path = f"{PREFERENCES}?quotaPreferenceId=cpus"
    below = wish(60, quota=CPUS, contactEmail="")
    assert "QUOTA_DECREASE_BELOW_USAGE" in service.refused("POST", path, below).message
    ignoring = path + "&ignoreSafetyChecks=QUOTA_DECREASE_BELOW_USAGE"
    assert "PERCENTAGE_TOO_HIGH" in service.refused("POST", ignoring, below).message
    service.call("POST", ignoring + "&ignoreSafetyChecks=2", below)
    assert limit(service, CPUS) == 60


def test_preferences_are_listed_and_filtered(service: Service) -> None:
    ask(service, "a", wish(20))
    ask(service, "b", wish(20, "us-west1"))
    found = service.call("GET", f"{PREFERENCES}?filter=dimensions.region=us-west1 AND quotaId={T4}")["quotaPreferences"]
    assert [item["name"].rpartition("/")[2] for item in found] == ["b"]
    first = service.call("GET", f"{PREFERENCES}?pageSize=1")
    assert len(first["quotaPreferences"]) == 1
    assert first["nextPageToken"]

"""Machines of a job's own in another region, where the stack's own has none, on the local cloud. (N23)"""

import json

import pytest

from tests.checkouts.checkout import PROJECT, REGION, Checkout

pytestmark = pytest.mark.journey

FAR = "europe-west4"
CPUS = "custom_model_training_preemptible_cpus"


def limit(checkout: Checkout, limits: dict[str, int]) -> None:
    quota = {f"{CPUS}.{region}": count for region, count in limits.items()}
    checkout.cloud.rest("POST", "/vertex-local/settings", {"quota": quota})


def test_a_job_goes_to_the_next_region_of_its_template_and_its_results_stay_there(checkout: Checkout) -> None:
    template = checkout.folder / "templates" / "nap.py"
    template.write_text(
        template.read_text()
        .replace('"pool", "spot"', '"spot",')
        .replace("capacity_types=", f'regions=("{FAR}",), capacity_types=')
    )
    checkout.write(persistentResources={})
    refused = checkout.slipway("check")
    assert refused.code == 2 and f"slipway:regions: [{FAR}]" in refused.said, refused.said
    checkout.write(persistentResources={}, regions=[FAR])
    limit(checkout, {REGION: 64, FAR: 64})
    checkout.up()
    limit(checkout, {REGION: 0, FAR: 64})
    shown = checkout.slipway("templates", "show", "nap").said
    assert f"after these, machines of its own in {FAR}: what it reads crosses regions, at $0.05 a GiB" in shown
    planned = checkout.slipway("submit", "nap", "-p", "say=far", "--dry-run").said
    assert f"spot in {FAR}: runs on 1 machine of its own" in planned, planned
    assert f"in {FAR} each machine reads package, inputs and image from {REGION}, at $0.05 a GiB" in planned
    done = checkout.slipway("submit", "nap", "-p", "say=far", "--wait", "--output", "json")
    assert done.code == 0, done.said
    job = json.loads(done.out)["job"]
    assert job["region"] == FAR and f"/locations/{FAR}/" in job["name"]
    assert checkout.cloud.every(f"/v1/projects/{PROJECT}/locations/{REGION}/customJobs", "customJobs") == []

"""One region of a program with two workspaces is down: the other one is deployed, and nothing of it changes. # N33"""

from pathlib import Path

import pytest

from tests.checkouts.checkout import PROJECT, REGION, Checkout
from tests.checkouts.shell import wait_for
from tests.end_to_end.test_own_program import job_on, write
from tests.end_to_end.test_reviewed_changes import reviewed

pytestmark = pytest.mark.journey

FAR = "europe-west4"
BOTH = """
import pulumi
import components as slipway

most = pulumi.Config("team").require_int("max")
for name, region in (("us", "us-central1"), ("eu", "europe-west4")):
    ground = slipway.Workspace(
        name, slipway.WorkspaceArgs(region=region, submitters=["group:ml-engineers@company.example"])
    )
    pools = {"all": slipway.PoolArgs(machine="n1-standard-4", replicas=slipway.ReplicasArgs(min=1, max=most))}
    cluster = slipway.PersistentResource(
        f"cpu-{name}", slipway.PersistentResourceArgs(pools=pools, workspace=ground, custom_service_account=False)
    )
    quota = slipway.QuotaCheck(f"quota-{name}", slipway.QuotaCheckArgs(clusters=[cluster]))
    slipway.Catalog(name, slipway.CatalogArgs(workspace=ground, quota=quota))
    pulumi.export(f"cluster-{name}", cluster.cluster_id)
"""
DOWN = {"kind": "unavailable", "match": f"/locations/{FAR}/"}


def clusters(checkout: Checkout, region: str) -> dict[str, str]:
    """Return the maximum of each cluster in a region."""
    place = f"/v1/projects/{PROJECT}/locations/{region}"
    found = checkout.cloud.every(f"{place}/persistentResources", "persistentResources")
    pools = {each["name"].rpartition("/")[2]: each["resourcePools"][0] for each in found}
    return {id_: pool["autoscalingSpec"]["maxReplicaCount"] for id_, pool in pools.items()}


def of_eu(checkout: Checkout) -> list[tuple[str, str]]:
    """Return the resources that the state has of the workspace that is left."""
    return sorted(
        (each["urn"], each.get("id", "")) for each in checkout.resources() if "eu" in each["urn"].split("::")[-1]
    )


def test_the_other_workspace_is_deployed_idle_and_under_a_job(tmp_path: Path, checkout: Checkout) -> None:
    write(checkout, BOTH, 2)
    checkout.up()
    for most in (3, 4):
        job = job_in_eu(checkout) if most == 4 else ""
        before, there = of_eu(checkout), clusters(checkout, FAR)
        assert before and there
        write(checkout, BOTH, most)
        checkout.cloud.rest("POST", "/vertex-local/faults", {"faults": [DOWN]})
        the_refresh_fails_and_names_the_region(checkout)
        for verb in ("preview", "up"):
            done = checkout.pulumi(verb, "--refresh=false")
            assert done.code != 0, done.said
            assert f"workspace eu ({FAR}): what to deploy can't be decided" in done.said, done.said
            assert "Traceback" not in done.said and done.said.count("what to deploy can't") == 2, done.said
        checkout.cloud.rest("DELETE", "/vertex-local/faults")
        assert str(most) in clusters(checkout, REGION).values()
        assert (of_eu(checkout), clusters(checkout, FAR)) == (before, there)
        if job:
            assert checkout.cloud.rest("GET", f"/v1/{job}")["state"] in ("JOB_STATE_RUNNING", "JOB_STATE_PENDING")
            end(checkout, job)
        checkout.up()
        assert set(clusters(checkout, FAR).values()) == set(clusters(checkout, REGION).values()) == {str(most)}
        assert checkout.pulumi("preview", "--expect-no-changes").code == 0
    removal_is_reviewed_with_its_loss(checkout, tmp_path)
    an_added_workspace_is_no_change_of_the_other(checkout, tmp_path)


def end(checkout: Checkout, job: str) -> None:
    checkout.cloud.rest("POST", f"/v1/{job}:cancel", {})
    wait_for(lambda: state_of(checkout, job) == "JOB_STATE_CANCELLED", "it has ended")


def removal_is_reviewed_with_its_loss(checkout: Checkout, folder: Path) -> None:
    write(checkout, BOTH.replace(', ("eu", "europe-west4")', ","), 4)
    review = reviewed(checkout, folder)
    (removed,) = [finding for finding in review["findings"] if finding["subject"].startswith("workspace ")]
    assert removed["grade"] == "blocking" and removed["kind"] == "resource-deleted"
    assert "`cpu-eu`" in str(removed) and "ml-engineers@company.example" in str(removed), removed
    assert review["incomplete"] == [], review["incomplete"]
    said = checkout.up()
    assert f"Workspace eu ({FAR}) is no longer in the program: it is deleted, and catalog gs://" in said, said
    assert "group:ml-engineers@company.example can no longer submit there" in said, said
    assert clusters(checkout, FAR) == {} and clusters(checkout, REGION)


def an_added_workspace_is_no_change_of_the_other(checkout: Checkout, folder: Path) -> None:
    write(checkout, BOTH, 4)
    review = reviewed(checkout, folder)
    assert review["incomplete"] == [], review
    assert "cpu-us" not in str(review["findings"]), review


def job_in_eu(checkout: Checkout) -> str:
    place = f"/v1/projects/{PROJECT}/locations/{FAR}"
    answer = checkout.cloud.call("POST", f"{place}/customJobs", json=job_on(checkout.outputs()["cluster-eu"]))
    assert answer.ok, answer.text
    job = str(answer.json()["name"])
    wait_for(lambda: state_of(checkout, job) == "JOB_STATE_RUNNING", "it runs")
    return job


def state_of(checkout: Checkout, job: str) -> str:
    found = checkout.cloud.rest("GET", f"/v1/{job}")
    assert found["state"] != "JOB_STATE_FAILED", found["error"]
    return str(found["state"])


def the_refresh_fails_and_names_the_region(checkout: Checkout) -> None:
    done = checkout.pulumi("up")
    assert done.code != 0
    (checkout.folder / "said").write_text(done.said)
    explained = checkout.slipway("explain", "said")
    (checkout.folder / "said").unlink()
    assert f"region {FAR} can't be read now" in explained.out, explained.said
    assert "pulumi up --refresh=false deploys those" in explained.out, explained.said

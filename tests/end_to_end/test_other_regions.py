"""A cluster whose machines can't be had in the stack's region is made in another one, with the real engine. (N2)"""

import re
from collections.abc import Iterator

import pytest

from tests.checkouts.checkout import MACHINE, PROJECT, REGION, Checkout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

FAR = "europe-west4"
POOLS = {"pools": {"all": {**MACHINE, "replicas": {"min": 1, "max": 2}}}}
KEEPS = "import os, pathlib\npathlib.Path(os.environ['SLIPWAY_OUTPUT'], 'word.txt').write_text('hello')\n"
OPEN = {"cpu": {**POOLS, "alternatives": [{"region": FAR}]}}


@pytest.fixture
def no_machines_at_home(checkout: Checkout) -> Iterator[None]:
    none = {"at": 0, "region": REGION, "machine": MACHINE["machine"], "strategy": "any", "machines": 0}
    checkout.cloud.rest("POST", "/vertex-local/scenario", {"supply": [none]})
    yield
    checkout.cloud.rest("DELETE", "/vertex-local/scenario")


def far_clusters(checkout: Checkout) -> dict[str, str]:
    """Those of the stack in the other region: id to state."""
    at = f"/v1/projects/{PROJECT}/locations/{FAR}/persistentResources"
    mine = [job for job in checkout.cloud.every(at, "persistentResources") if job["displayName"] == "cpu"]
    return {
        entry["name"].rsplit("/", 1)[-1]: entry["state"]
        for entry in mine
        if entry["labels"]["slipway-stack"] == f"slipway--{checkout.stack}"
    }


def test_a_cluster_is_made_in_another_region_stays_there_and_comes_back(
    checkout: Checkout, no_machines_at_home: None
) -> None:
    checkout.write(persistentResources=OPEN)
    task = next((checkout.folder / "jobs").rglob("task.py"))
    task.write_text(f"{KEEPS}{task.read_text()}")
    said = checkout.up()
    match = re.search(rf"; 1 n1-standard-4[^;]* in {FAR} may do, as (cpu-\w{{7}}) \(alternative 1\)", said)
    assert match, said
    far = match[1]
    assert f"{far} as its alternative 1 in {FAR}" in said
    assert f"what they read from {REGION} crosses regions" in said
    assert far_clusters(checkout) == {far: "RUNNING"} and checkout.clusters() == {}

    # The service takes no output in another region than the job's.
    ran = checkout.submit("--wait")
    output = checkout.cloud.rest("GET", f"/v1/{ran['name']}")["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"]
    bucket = output.split("/")[2]
    assert checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}")["location"] == FAR.upper()
    fetched = checkout.slipway("jobs", "download", ran["name"], "fetched")
    assert fetched.code == 0 and (checkout.folder / "fetched" / "word.txt").read_text() == "hello", fetched.said

    job = checkout.submit("-p", "seconds=600")
    assert f"/locations/{FAR}/customJobs/" in job["name"]
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs there")

    # Machines are there again at home, and it stays; the stack is where it was.
    checkout.cloud.rest("DELETE", "/vertex-local/scenario")
    preview = checkout.pulumi("preview", "--expect-no-changes")
    assert preview.code == 0, preview.said
    assert f"cluster cpu exists as its alternative 1 in {FAR}" in preview.said, preview.said
    assert re.search(rf"{FAR} +NOW .*\n.* pool cpu/all, 1–2 machines", preview.said), preview.said

    # Going back makes one at home beside it, which goes when its job has ended.
    checkout.write(persistentResources={"cpu": POOLS})
    said = checkout.up()
    assert list(checkout.clusters().values()) == ["RUNNING"], said
    assert far_clusters(checkout) == {far: "RUNNING"} and far in checkout.outputs()["retiring"]
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    refused = checkout.destroy()
    assert refused.code != 0 and job["displayName"] in refused.said, refused.said
    assert far_clusters(checkout) == {far: "RUNNING"}

    assert checkout.slipway("jobs", "cancel", job["name"]).code == 0
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_CANCELLED", "it has ended")
    said = checkout.up()
    assert far_clusters(checkout) == {}
    assert f"bucket gs://{bucket} is not asked for any more: it stays, with people's results" in said
    assert checkout.cloud.rest("GET", f"/storage/v1/b/{bucket}")["location"] == FAR.upper()

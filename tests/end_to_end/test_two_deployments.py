"""Two deployments of one stack's name in a Google Cloud project: neither changes anything of the other. # P5 # N1"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.backend import file_backend
from tests.checkouts.checkout import PROJECT, VERTEX, Checkout
from tests.checkouts.fixtures import NewCheckout
from tests.checkouts.shell import wait_for

pytestmark = pytest.mark.journey

Faults = Callable[..., None]
IDLE = {"pools": {"all": {"machine": "n1-standard-4", "replicas": 1}}}
EXISTS = "exists already, and the state of this run has nothing of it, so Slipway changed nothing"


def everything(checkout: Checkout) -> dict[str, Any]:
    """Return all that a deployment has in the cloud, with the times of its last changes."""
    clusters = {
        name: checkout.cloud.rest("GET", f"{VERTEX}/persistentResources/{name}") for name in checkout.clusters()
    }
    buckets = {name: checkout.cloud.rest("GET", f"/storage/v1/b/{name}") for name in checkout.buckets()}
    policies = {name: checkout.cloud.rest("GET", f"/storage/v1/b/{name}/iam") for name in buckets}
    path = f"/storage/v1/b/{checkout.catalog.removeprefix('gs://')}/o/catalog.json?alt=media"
    account = checkout.cloud.rest("GET", f"/v1/projects/{PROJECT}/serviceAccounts/{checkout.trainer}")
    for cluster in clusters.values():
        cluster.pop("resourcePools")  # the job moves the numbers of its machines
    return {
        "clusters": clusters,
        "buckets": buckets,
        "policies": policies,
        "catalog": checkout.cloud.call("GET", path).content,
        "account": account,
    }


@pytest.mark.deployed
def test_another_pulumi_project_deploys_beside_it_and_a_copy_does_not(
    tmp_path: Path, checkout: Checkout, new_checkout: NewCheckout, faults: Faults
) -> None:
    clusters = {"cpu": {"pools": {"all": {"machine": "n1-standard-4", "replicas": 1}}}, "idle": IDLE}
    checkout.write(persistentResources=clusters)
    checkout.up()
    job = checkout.submit("-p", "seconds=600", "--pool", "cpu/all")
    wait_for(lambda: checkout.job_state(job["name"]) == "JOB_STATE_RUNNING", "the job runs")
    before = everything(checkout)

    def unchanged() -> None:
        assert everything(checkout) == before
        assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
        assert checkout.slipway("templates").code == 0

    another_project_is_killed_deployed_and_destroyed(new_checkout, tmp_path, checkout, faults)
    unchanged()
    a_copied_repository_is_rejected(tmp_path, checkout)
    unchanged()
    the_owner_recovers_a_lost_state(checkout)
    assert everything(checkout)["clusters"] == before["clusters"]
    assert checkout.job_state(job["name"]) == "JOB_STATE_RUNNING"
    the_owner_moves_the_backend(checkout)


def another_project_is_killed_deployed_and_destroyed(
    new_checkout: NewCheckout, tmp_path: Path, owner: Checkout, faults: Faults
) -> None:
    speech = new_checkout(tmp_path / "speech", owner.cloud, pulumi_project="speech-infra")
    speech.write(persistentResources={"cpu": IDLE})
    faults({"kind": "hold", "match": "POST /upload/.*-catalog/o", "times": 1})
    killed = speech.begin("up")
    killed.until(lambda: len(speech.buckets()) == 2, "its buckets are created, and no catalog")
    killed.kill_tree()
    speech.clear_after_a_kill()
    faults()
    assert "speech-infra" in speech.state_file.read_text()
    speech.up()
    assert len(speech.clusters()) == 1 and not {*speech.clusters()} & {*owner.clusters()}
    assert speech.pulumi("preview", "--expect-no-changes").code == 0
    done = speech.destroy()
    assert done.code == 0 and speech.clusters() == {}, done.said


def a_copied_repository_is_rejected(tmp_path: Path, owner: Checkout) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(owner.folder, folder, symlinks=True)
    backend = tmp_path / "copied-state"
    backend.mkdir()
    copy = replace(owner, folder=folder, variables={**owner.variables, "PULUMI_BACKEND_URL": file_backend(backend)})
    made = copy.run("pulumi", "stack", "init", copy.stack, role="deployer")
    assert made.code == 0, made.said
    copy.write(persistentResources={"other": IDLE})
    for verb, recover in (("preview", ""), ("up", ""), ("up", "")):
        refused = copy.pulumi(verb, SLIPWAY_RECOVER=recover)
        assert refused.code != 0 and f"stack trial of Pulumi project slipway {EXISTS}" in refused.said, refused.said
        assert f"{owner.catalog} has its catalog" in refused.said and "published" in refused.said
        assert "choose another stack name, or another `name` in Pulumi.yaml" in refused.said
        assert "SLIPWAY_RECOVER=slipway/trial make up STACK=trial" in refused.said
    wrong = copy.pulumi("up", SLIPWAY_RECOVER="speech-infra/trial")
    assert wrong.code != 0 and "SLIPWAY_RECOVER='speech-infra/trial' is not this deployment" in wrong.said, wrong.said
    destroyed = copy.destroy()
    assert destroyed.code != 0 and EXISTS in destroyed.said, destroyed.said
    assert "SLIPWAY_RECOVER=slipway/trial" in destroyed.said and "gcloud ai" not in destroyed.said, destroyed.said


def the_owner_recovers_a_lost_state(owner: Checkout) -> None:
    owner.keep_resources([])
    refused = owner.pulumi("up")
    assert refused.code != 0 and EXISTS in refused.said, refused.said
    recovered = owner.pulumi("up", SLIPWAY_RECOVER="slipway/trial")
    assert recovered.code == 0, recovered.said
    again = owner.pulumi("preview", "--expect-no-changes")
    assert again.code == 0, again.said


def the_owner_moves_the_backend(owner: Checkout) -> None:
    file, backend = owner.state / "exported.json", owner.state / "moved"
    exported = owner.run("pulumi", "stack", "export", "--stack", owner.stack, role="deployer")
    file.write_text(exported.out)
    backend.mkdir()
    moved = {"PULUMI_BACKEND_URL": file_backend(backend)}
    for command in (("init", owner.stack), ("import", "--stack", owner.stack, "--file", str(file))):
        done = owner.run("pulumi", "stack", *command, role="deployer", **moved)
        assert done.code == 0, done.said
    done = owner.pulumi("up", **moved)
    assert done.code == 0, done.said

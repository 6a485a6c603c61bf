"""A persistent resource through the real engine: the rows of the provider's behaviour, each seen happening."""

from typing import Any

import pytest
import requests

from tests.local.conftest import LocalCloud
from tests.local.plugin.programs import Program

pytestmark = pytest.mark.journey

_CLUSTERS = "/v1/projects/slipway-local/locations/us-central1/persistentResources"
_CLUSTER = """
pool = {{
    "id": "workers",
    "machine_spec": {{"machine_type": "{machine}"}},
    "disk_spec": {{"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100}},
    "autoscaling_spec": {{"min_replica_count": "1", "max_replica_count": "3"}},
    "replica_count": "{replicas}",
}}
cluster = gcp.vertex.AiPersistentResource(
    "cpu", name={name!r}, location="us-central1", display_name="{display}", labels={labels}, resource_pools=[pool],
    deletion_policy={policy!r}, opts=pulumi.ResourceOptions({options}),
)
pulumi.export("state", cluster.state)
pulumi.export("name", cluster.name)
"""


def _cluster(
    name: str | None,
    machine: str = "n1-standard-4",
    replicas: int = 1,
    display: str = "cpu",
    labels: str = '{"slipway-stack": "dev"}',
    policy: str | None = None,
    options: str = "",
) -> str:
    return _CLUSTER.format(**locals())


def _make(cloud: LocalCloud, name: str, replicas: int = 1, labels: dict[str, str] | None = None) -> None:
    pool = {
        "id": "workers",
        "machineSpec": {"machineType": "n1-standard-4"},
        "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
        "autoscalingSpec": {"minReplicaCount": "1", "maxReplicaCount": "3"},
        "replicaCount": str(replicas),
    }
    body = {"displayName": "by hand", "labels": labels or {}, "resourcePools": [pool]}
    cloud.rest("POST", f"{_CLUSTERS}?persistentResourceId={name}", body)
    while cloud.rest("GET", f"{_CLUSTERS}/{name}")["state"] != "RUNNING":
        pass


def _remove(cloud: LocalCloud, name: str) -> None:
    cloud.rest("DELETE", f"{_CLUSTERS}/{name}")
    while _exists(cloud, name):
        pass


def _exists(cloud: LocalCloud, name: str) -> bool:
    try:
        cloud.rest("GET", f"{_CLUSTERS}/{name}")
    except requests.HTTPError as error:
        assert error.response.status_code == 404
        return False
    return True


def _paths(step: Any) -> dict[str, str]:
    return {path: change["kind"] for path, change in step["detailedDiff"].items()}


def test_a_cluster_with_a_made_name_from_create_to_destroy(program: Program, cloud: LocalCloud) -> None:
    program.write(_cluster(None))
    (create,) = program.steps().values()
    assert create["op"] == "create"
    assert "state" not in (create["newState"].get("outputs") or {})

    program.up()
    name = program.run("stack", "output", "name").strip()
    assert name.startswith("cpu-")
    assert _exists(cloud, name)
    assert program.run("stack", "output", "state").strip() == "RUNNING"
    assert program.steps() == {}
    program.run("refresh", "--yes", "--expect-no-changes")

    # Replaced: the new one first, then the old, and the name follows.
    program.write(_cluster(None, machine="n1-standard-8"))
    assert program.order() == ["create-replacement cpu", "replace cpu", "delete-replaced cpu"]
    replaced = program.steps()["replace cpu"]
    assert replaced["replaceReasons"] == ["resourcePools"]
    assert _paths(replaced) == {"resourcePools[0].machineSpec.machineType": "update-replace"}
    program.up()
    assert not _exists(cloud, name)
    assert program.run("stack", "output", "name").strip() != name

    # Any label replaces it as well, through its effective labels.
    program.write(_cluster(None, machine="n1-standard-8", labels='{"slipway-stack": "dev", "more": "x"}'))
    assert program.steps()["replace cpu"]["replaceReasons"] == ["effectiveLabels"]

    program.run("destroy", "--yes", "--skip-preview")
    assert program.state("cpu") is None


def test_an_explicit_name_deletes_first_unless_told_otherwise(program: Program) -> None:
    program.write(_cluster("named-first")).up()
    deletes_first = ["delete-replaced cpu", "replace cpu", "create-replacement cpu"]
    program.write(_cluster("named-first", machine="n1-standard-8"))
    assert program.order() == deletes_first
    program.write(_cluster("named-second"))
    assert program.order() == deletes_first
    program.write(_cluster("named-second", options="delete_before_replace=False"))
    assert program.order()[0] == "create-replacement cpu"
    program.run("destroy", "--yes", "--skip-preview")


def test_the_update_that_the_api_does_not_have_fails_until_a_refresh(program: Program) -> None:
    program.write(_cluster("updated")).up()
    program.write(_cluster("updated", display="other", replicas=2))
    assert _paths(program.steps()["update cpu"]) == {
        "displayName": "update",
        "resourcePools[0].replicaCount": "update",
    }
    for _ in range(2):
        assert "Error updating PersistentResource" in program.fails("up", "--yes", "--skip-preview")
    program.write(_cluster("updated"))
    program.run("refresh", "--yes")
    assert program.steps() == {}
    program.run("destroy", "--yes", "--skip-preview")


def test_one_that_exists_is_imported_and_stays_imported(program: Program, cloud: LocalCloud) -> None:
    _make(cloud, "adopted", labels={"slipway-stack": "dev"})
    ignored = 'import_="us-central1/adopted", ignore_changes=["resourcePools[*].replicaCount", "labels", "displayName"]'
    program.write(_cluster("adopted", options=ignored))
    assert list(program.steps()) == ["import cpu"]
    assert "1 imported" in program.up()
    assert program.steps() == {}

    # Moved by an autoscaler (here: made anew), refreshed, and edited in the three that are ignored: no change.
    _remove(cloud, "adopted")
    _make(cloud, "adopted", replicas=2, labels={"slipway-stack": "dev"})
    program.run("refresh", "--yes")
    state = program.state("cpu")
    assert state is not None
    assert state["outputs"]["resourcePools"][0]["replicaCount"] == "2"
    program.write(_cluster("adopted", replicas=3, display="edited", labels='{"a": "b"}', options=ignored))
    assert program.steps() == {}
    program.write(_cluster("adopted", replicas=3, options='ignore_changes=["*"]'))
    assert program.steps() == {}

    program.run("destroy", "--yes", "--skip-preview")
    assert not _exists(cloud, "adopted")


def test_one_deleted_by_hand_is_planned_again(program: Program, cloud: LocalCloud) -> None:
    program.write(_cluster("by-hand")).up()
    _remove(cloud, "by-hand")
    (program.folder / "Pulumi.yaml").write_text("name: trial\nruntime: python\noptions: {refresh: always}\n")
    assert "create cpu" in program.steps()
    program.up()
    assert _exists(cloud, "by-hand")
    program.run("destroy", "--yes", "--skip-preview")


def test_the_deletion_policy_prevents_and_abandons(program: Program, cloud: LocalCloud) -> None:
    program.write(_cluster("kept", policy="PREVENT")).up()
    assert 'its deletionPolicy is "PREVENT"' in program.fails("destroy", "--yes", "--skip-preview")
    program.write(_cluster("kept", policy="ABANDON")).up()
    program.run("destroy", "--yes", "--skip-preview")
    assert _exists(cloud, "kept")
    _remove(cloud, "kept")


def test_a_failed_create_leaves_no_id_and_an_error_hook_can_try_again(program: Program, cloud: LocalCloud) -> None:
    _make(cloud, "taken")
    failed = program.write(_cluster("taken")).fails("up", "--yes", "--skip-preview")
    assert "Error creating PersistentResource: googleapi: Error 409" in failed
    assert program.state("cpu") is None

    # The hook clears what is in the way; the engine then creates again.
    hook = """
import os, time, requests
def again(args):
    assert "Error 409" in args.errors[0], args.errors
    url = os.environ["GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT"] + "projects/slipway-local/locations/us-central1/"
    headers = {"Authorization": "Bearer " + os.environ["GOOGLE_OAUTH_ACCESS_TOKEN"]}
    requests.delete(url + "persistentResources/taken", headers=headers).raise_for_status()
    while requests.get(url + "persistentResources/taken", headers=headers).status_code != 404:
        time.sleep(0.05)
    return True
retry = pulumi.ErrorHook("retry-v1", again)
"""
    options = "hooks=pulumi.ResourceHookBinding(on_error=[retry])"
    program.write(hook + _cluster("taken", options=options)).up()
    assert program.state("cpu") is not None
    program.run("destroy", "--yes", "--skip-preview", "--run-program")


def test_the_attribution_label_is_there_unless_switched_off(program: Program, cloud: LocalCloud) -> None:
    (program.folder / "Pulumi.dev.yaml").write_text("config: {gcp:region: us-central1}\n")
    program.write(_cluster("attributed")).up()
    labels = cloud.rest("GET", f"{_CLUSTERS}/attributed")["labels"]
    assert labels == {"slipway-stack": "dev", "goog-pulumi-provisioned": "true"}
    assert program.steps() == {}
    program.run("destroy", "--yes", "--skip-preview")


def test_a_refusal_is_tried_again_in_silence_until_the_time_out_and_then_said_twice(program: Program) -> None:
    """gcp-provider.md, side by side. Its clock goes 1200 times as fast here."""
    program.variables["SLIPWAY_GCP_PLUGIN_SPEED"] = "1200"
    timeouts = 'custom_timeouts=pulumi.CustomTimeouts(create="1h")'
    failed = program.write(_cluster("large", "m1-ultramem-40", options=timeouts)).fails("up", "--yes", "--skip-preview")
    message = "Error creating PersistentResource: googleapi: Error 429: The following quota metrics exceed quota limits"
    lines = [line.strip() for line in failed.split("Diagnostics:")[1].splitlines()]
    first = next(line for line in lines if line.startswith("error: sdk-v2/provider2.go:571: sdk.helper_schema: "))
    assert message in first and first.endswith(": provider=google-beta@10.2.0")
    assert any(line.startswith("error: creating urn:") and line.endswith(": 1 error occurred:") for line in lines)
    assert any(line.startswith(f"* {message}") for line in lines)
    assert program.state("cpu") is None

"""Persistent resources through the real engine: the rows of the provider's behaviour, each seen happening.

Engine runs are what such a test costs, so clusters to which different things happen stand in one program.
"""

from typing import Any

import pytest
import requests

from tests.checkouts.shell import wait_for
from tests.local.conftest import LocalCloud
from tests.local.plugin.programs import Program

pytestmark = pytest.mark.journey

_CLUSTERS = "/v1/projects/local-project/locations/us-central1/persistentResources"
_CLUSTER = """
pool = {{
    "id": "workers",
    "machine_spec": {{"machine_type": "{machine}"}},
    "disk_spec": {{"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100}},
    "autoscaling_spec": {{"min_replica_count": "1", "max_replica_count": "3"}},
    "replica_count": "{replicas}",
}}
cluster = gcp.vertex.AiPersistentResource(
    {resource!r}, name={name!r}, location="us-central1", display_name="{display}", labels={labels},
    resource_pools=[pool], deletion_policy={policy!r}, opts=pulumi.ResourceOptions({options}),
)
pulumi.export({resource!r}, {{"name": cluster.name, "state": cluster.state}})
"""
_BIG = {"machine": "n1-standard-8"}
_ADOPTED = 'import_="us-central1/{}", ignore_changes=["resourcePools[*].replicaCount", "labels", "displayName"]'
_FIRST: dict[str, dict[str, Any]] = {
    "cpu": {"name": None},
    "labelled": {"name": None},
    "named": {"name": "named"},
    "renamed": {"name": "renamed-first"},
    "careful": {"name": "careful-first"},
    "updated": {"name": "updated"},
    "adopted": {"name": "adopted", "options": _ADOPTED.format("adopted")},
    "starred": {"name": "starred", "options": _ADOPTED.format("starred")},
    "by-hand": {"name": "by-hand"},
    "kept": {"name": "kept", "policy": "PREVENT"},
}
_MADE, _IMPORTED = set(_FIRST) - {"adopted", "starred"}, {"adopted", "starred"}


def _cluster(
    resource: str,
    name: str | None,
    machine: str = "n1-standard-4",
    replicas: int = 1,
    display: str = "cpu",
    labels: str = '{"slipway-stack": "dev"}',
    policy: str | None = None,
    options: str = "",
) -> str:
    return _CLUSTER.format(**locals())


def _all(**changes: dict[str, Any]) -> str:
    """The first clusters, some of them edited."""
    return "".join(_cluster(resource, **{**first, **changes.get(resource, {})}) for resource, first in _FIRST.items())


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
    wait_for(lambda: cloud.rest("GET", f"{_CLUSTERS}/{name}")["state"] == "RUNNING", "it runs")


def _remove(cloud: LocalCloud, name: str) -> None:
    cloud.rest("DELETE", f"{_CLUSTERS}/{name}")
    wait_for(lambda: not _exists(cloud, name), "it is gone")


def _exists(cloud: LocalCloud, name: str) -> bool:
    try:
        cloud.rest("GET", f"{_CLUSTERS}/{name}")
    except requests.HTTPError as error:
        assert error.response.status_code == 404
        return False
    return True


def test_clusters_from_create_to_destroy(program: Program, cloud: LocalCloud) -> None:
    _are_made_and_imported(program, cloud)
    _edits_replace_or_update(program)
    _the_update_that_the_api_does_not_have_fails_until_a_refresh(program, cloud)

    # Under `refresh: always`: one deleted by hand is planned again; what is ignored, or all, may be edited.
    _remove(cloud, "by-hand")
    (program.folder / "Pulumi.yaml").write_text("name: trial\nruntime: python\noptions: {refresh: always}\n")
    edits: dict[str, Any] = {
        "cpu": _BIG,
        "adopted": {"replicas": 3, "display": "edited", "labels": '{"a": "b"}'},
        "starred": {"replicas": 3, "options": 'ignore_changes=["*"]'},
    }
    assert set(program.write(_all(**edits)).preview().steps) == {"replace cpu", "create by-hand"}

    # The deletion policy prevents, and abandons.
    state = program.state()
    destroy = ("destroy", "--yes", "--skip-preview")
    assert 'its deletionPolicy is "PREVENT"' in program.fails(*destroy, "--target", state.urn("kept"))
    program.write(_all(**edits, kept={"policy": "ABANDON"})).up()
    assert _exists(cloud, "by-hand")
    before = state.outputs["cpu"]["name"]
    assert not _exists(cloud, before)
    assert program.state().outputs["cpu"]["name"] != before

    program.run(*destroy)
    assert program.state().names == set()
    assert not _exists(cloud, "adopted")
    assert _exists(cloud, "kept")


def _are_made_and_imported(program: Program, cloud: LocalCloud) -> None:
    for name in _IMPORTED:
        _make(cloud, name, labels={"slipway-stack": "dev"})
    planned = program.write(_all()).preview()
    assert set(planned.steps) == {f"create {name}" for name in _MADE} | {f"import {name}" for name in _IMPORTED}
    assert "state" not in (planned.steps["create cpu"]["new"].get("outputs") or {})

    assert "2 imported" in program.up()
    made = program.state().outputs["cpu"]
    assert made["name"].startswith("cpu-")
    assert _exists(cloud, made["name"])
    assert made["state"] == "RUNNING"
    assert program.preview().steps == {}
    program.run("refresh", "--yes", "--expect-no-changes")


def _edits_replace_or_update(program: Program) -> None:
    edits: dict[str, Any] = {
        "cpu": _BIG,
        "labelled": {"labels": '{"slipway-stack": "dev", "more": "x"}'},
        "named": _BIG,
        "renamed": {"name": "renamed-second"},
        "careful": {"name": "careful-second", "options": "delete_before_replace=False"},
        "updated": {"display": "other", "replicas": 2},
    }
    planned = program.write(_all(**edits)).preview()
    # With a made name the new one comes first, and the name follows.
    assert planned.order("cpu") == ["create-replacement cpu", "replace cpu", "delete-replaced cpu"]
    assert planned.steps["replace cpu"]["keys"] == ["resourcePools"]
    assert planned.kinds("replace cpu") == {"resourcePools[0].machineSpec.machineType": "update-replace"}
    # Any label replaces it as well, through its effective labels.
    assert planned.steps["replace labelled"]["keys"] == ["effectiveLabels"]
    # With an explicit name the old one goes first, unless told otherwise.
    for name in ("named", "renamed"):
        assert planned.order(name) == [f"delete-replaced {name}", f"replace {name}", f"create-replacement {name}"]
    assert planned.order("careful")[0] == "create-replacement careful"
    assert planned.kinds("update updated") == {"displayName": "update", "resourcePools[0].replicaCount": "update"}


def _the_update_that_the_api_does_not_have_fails_until_a_refresh(program: Program, cloud: LocalCloud) -> None:
    program.write(_all(updated={"display": "other", "replicas": 2}))
    for _ in range(2):
        assert "Error updating PersistentResource" in program.fails("up", "--yes", "--skip-preview")
    # The same refresh finds what an autoscaler moved (here: made anew), which is ignored.
    _remove(cloud, "adopted")
    _make(cloud, "adopted", replicas=2, labels={"slipway-stack": "dev"})
    program.write(_all()).run("refresh", "--yes")
    assert program.state()["adopted"]["resourcePools"][0]["replicaCount"] == "2"
    assert program.preview().steps == {}


def test_creates_that_fail_leave_no_id_and_an_error_hook_can_try_again(program: Program, cloud: LocalCloud) -> None:
    _make(cloud, "taken")
    program.configure({}, without="gcp:addPulumiAttributionLabel")
    timeouts = 'custom_timeouts=pulumi.CustomTimeouts(create="1h")'
    program.write(_cluster("taken", "taken") + _cluster("large", "large", "m1-ultramem-40", options=timeouts))
    # Its clock goes 1200 times as fast here.
    failed = program.fails("up", "--yes", "--skip-preview", "--continue-on-error", SLIPWAY_GCP_PLUGIN_SPEED="1200")
    assert program.state().names == set()
    assert "googleapi: Error 409" in failed

    # A lack of quota is tried again in silence until the time-out, and then said twice (gcp-provider.md, side by side).
    message = "Error creating PersistentResource: googleapi: Error 429: The following quota metrics exceed quota limits"
    lines = [line.strip() for line in failed.split("Diagnostics:")[1].splitlines()]
    first = "error: sdk-v2/provider2.go:571: sdk.helper_schema: "
    (refused,) = [line for line in lines if line.startswith(first) and "Error 429" in line]
    assert message in refused and refused.endswith(": provider=google-beta@10.2.0")
    assert "error: 1 error occurred:" in lines
    assert any(line.startswith(f"* {message}") for line in lines)

    # The hook clears what is in the way; the engine then creates again.
    hook = """
import os, time, requests
def again(args):
    assert "Error 409" in args.errors[0], args.errors
    url = os.environ["GOOGLE_VERTEX_AI_CUSTOM_ENDPOINT"] + "projects/local-project/locations/us-central1/"
    headers = {"Authorization": "Bearer " + os.environ["GOOGLE_OAUTH_ACCESS_TOKEN"]}
    requests.delete(url + "persistentResources/taken", headers=headers).raise_for_status()
    while requests.get(url + "persistentResources/taken", headers=headers).status_code != 404:
        time.sleep(0.05)
    return True
retry = pulumi.ErrorHook("retry-v1", again)
"""
    options = "hooks=pulumi.ResourceHookBinding(on_error=[retry])"
    program.write(hook + _cluster("taken", "taken", options=options)).up()
    assert program.state().names == {"taken"}

    # The attribution label is there, since this stack does not switch it off.
    labels = cloud.rest("GET", f"{_CLUSTERS}/taken")["labels"]
    assert labels == {"slipway-stack": "dev", "goog-pulumi-provisioned": "true"}
    assert program.preview().steps == {}
    program.run("destroy", "--yes", "--skip-preview", "--run-program")

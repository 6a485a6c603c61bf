"""Any edit of a cluster's arguments, with a running job: its cluster stays, or the edit is refused. # N33 # P1"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pulumi
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import components as slipway
from components import testing
from components.world import CURRENT
from slipway.base.errors import SlipwayError
from tests.components.conftest import PROJECT, REGION, Asked, declared

GENERATION = "gcp:vertex/aiPersistentResource:AiPersistentResource"
KEY = f"projects/p/locations/{REGION}/keyRings/r/cryptoKeys"
NETWORKS = "projects/123456789012/global/networks"
T4 = slipway.AcceleratorArgs(type="NVIDIA_TESLA_T4", count=1)


def pools(machine: str = "n1-standard-8", replicas: Any = 1, **more: Any) -> dict[str, slipway.PoolArgs]:
    return {"workers": slipway.PoolArgs(machine=machine, replicas=replicas, **more)}


def replicas(**bounds: int) -> slipway.ReplicasArgs:
    return slipway.ReplicasArgs(**bounds)


VALUES: Mapping[str, list[Any]] = {
    "pools": [
        pools(),
        pools("n1-standard-16"),
        pools(replicas=2),
        pools(replicas=replicas(min=1, max=4)),
        pools(replicas=replicas(min=2, max=4)),
        pools(replicas=replicas(min=1, max=6, initial=3)),
        pools(disk=slipway.DiskArgs(type="pd-standard")),
        pools(disk=slipway.DiskArgs(size_gb=300)),
        pools(accelerator=T4),
        pools(accelerator=slipway.AcceleratorArgs(type="NVIDIA_TESLA_V100", count=2)),
        {**pools(), "others": slipway.PoolArgs(machine="n1-highmem-8", replicas=1)},
        {"others": slipway.PoolArgs(machine="n1-standard-8", replicas=1)},
    ],
    "display_name": [None, "Training", "Other"],
    "network": [None, f"{NETWORKS}/training", f"{NETWORKS}/other"],
    "reserved_ip_ranges": [None, ["vertex"], ["vertex", "more"]],
    "kms_key": [None, f"{KEY}/k", f"{KEY}/other"],
    "psc_interface": [
        None,
        slipway.PscInterfaceArgs(network_attachment="training"),
        slipway.PscInterfaceArgs(
            network_attachment="training",
            dns_peering_configs=[
                slipway.DnsPeeringArgs(domain="corp.example.", target_project="acme-net", target_network="shared")
            ],
        ),
    ],
    "custom_service_account": [None, True, False],
    "labels": [None, {"team": "ml"}, {"team": "speech"}],
    "replacement": [None, "rollover", "in-place", "protect"],
    "generation": [None, 1, 2],
    "retire_within": [None, "12h", "7d"],
    "create_within": [None, "15m", "1h"],
    "alternatives": [None, [slipway.AlternativeArgs(pools=pools("n1-standard-4"))]],
    "begins": [None, "2020-01-10", "2099-01-10"],
    "ends": [None, "2020-03-01", "2099-03-01"],
    "idle_limit": [None, "1h", "3d"],
    "id": [None, "theirs-0000001"],
    "region": [None, "europe-west4"],
    "project": [None, "acme-other"],
}
"""Some values of each argument; the first is that of a plain cluster."""
REFUSED = {"region": {"europe-west4"}, "project": {"acme-other"}}
"""Edits that no busy cluster survives: they are refused. A plain edit is none of them by itself."""
ARGS = slipway.PersistentResourceArgs


def test_each_argument_of_a_cluster_is_among_them() -> None:
    assert {each.name for each in fields(ARGS)} - {"workspace"} == VALUES.keys()


def args(values: Mapping[str, Any]) -> slipway.PersistentResourceArgs:
    return ARGS(**{"pools": VALUES["pools"][0], **{key: value for key, value in values.items() if value is not None}})


def lived(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return what becomes of a busy cluster: "kept", "retiring" or "refused". Fails where it would be lost."""
    declared(lambda: None)  # names the stack
    old = testing.cluster("research", args(before), workspace="ml")
    theirs = replace(old, name=old.name.replace(old.id, "theirs-0000001"), labels={})

    def program() -> None:
        ground = slipway.Workspace("ml", slipway.WorkspaceArgs(project=PROJECT, region=REGION))
        research = slipway.PersistentResource("research", args(after))
        quota = slipway.QuotaCheck("quota", slipway.QuotaCheckArgs(clusters=[research]))
        slipway.Catalog("ml", slipway.CatalogArgs(workspace=ground, quota=quota))

    asked: list[Asked] = []
    with testing.living(old, jobs=[testing.Job("train", cluster=old.id)]):
        world = CURRENT.get()
        CURRENT.set(replace(world, live=replace(world.live, clusters=(old, theirs))))  # which the engine does not know
        try:
            asked += declared(program)
        except (pulumi.RunError, SlipwayError) as error:
            return f"refused: {error}"
    made = {each.name: each for each in asked if each.type == GENERATION}
    assert old.id in made, f"{before} → {after} would delete {old.id}, on which a job runs: {sorted(made)}"
    options = made[old.id].request
    assert options.importId.endswith(f"/{old.id}") and not options.replaceOnChanges
    if len(made) == 1 and list(options.ignoreChanges) != ["*"]:
        return "kept"
    assert list(options.ignoreChanges) == ["*"], "a retiring cluster stays as it is"
    return "retiring"


EDITS = [(key, value) for key, values in VALUES.items() for value in values[1:]]


@pytest.mark.parametrize(("key", "value"), EDITS, ids=lambda given: str(given)[:40])
def test_an_edit_of_each_argument_keeps_the_job_s_cluster(key: str, value: Any) -> None:
    needs = {"network": VALUES["network"][1]} if key == "reserved_ip_ranges" else {}
    outcome = lived(needs, {**needs, key: value})
    back = lived({**needs, key: value}, needs) if key not in ("id", "region", "project") else "kept"
    assert outcome.startswith("refused") is (value in REFUSED.get(key, ())), outcome
    assert not back.startswith("refused"), back


def some() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in VALUES.items()})


PAIRS = {"before": some(), "after": some()}


def check(before: dict[str, Any], after: dict[str, Any]) -> None:
    for key in ("id", "region", "project", "begins", "ends"):  # of a cluster that the stack has and that runs here
        before.pop(key, None)
    try:
        outcome = lived(before, after)
    except SlipwayError:
        assume(False)
        raise
    event(outcome.partition(":")[0])


@settings(max_examples=25)
@given(**PAIRS)
def test_any_pair_of_arguments_keeps_the_job_s_cluster_or_is_refused(before: Any, after: Any) -> None:
    check(before, after)


@pytest.mark.long
@settings(max_examples=500)
@given(**PAIRS)
def test_many_pairs_of_arguments_keep_the_job_s_cluster_or_are_refused(before: Any, after: Any) -> None:
    check(before, after)

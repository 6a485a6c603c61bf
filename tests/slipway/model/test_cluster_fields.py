"""Every field that makes another cluster of one, and the fingerprint that follows. # N1 # N10 # N14"""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import yaml

from slipway.base.codec import camel
from slipway.model.cluster import Alternative, ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.model.cluster_fields import CLUSTER, POOL, as_asked, compare, compare_pools, strays
from slipway.model.fingerprint import fingerprint_of
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.season import Season

T4 = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)
WORKERS = PoolSpec("workers", T4, 1, 4, autoscaled=True, replicas=1)
FIXED = PoolSpec("fixed", T4, 2, 2, autoscaled=False, replicas=2)
PEERED = (DnsPeering("a.", "p", "n"), DnsPeering("b.", "p", "n"))
SPEC = ClusterSpec("cpu", (FIXED, WORKERS), reserved_ip_ranges=("s", "r"), psc=PscInterface("training", PEERED))
NO_OTHER_CLUSTER = {
    *("replacement", "retire_within", "deletion_policy", "season", "create_within"),
    *("alternatives", "alternative", "adopted"),
}
NOT_OF_ITSELF = {"name", "region"}
"""Whoever compares two looks at those of one name, in one region."""

OF_CLUSTER: dict[str, Any] = {
    "pools": (WORKERS,),
    "display_name": "another",
    "network": "n",
    "reserved_ip_ranges": ("r",),
    "kms_key": "k",
    "psc": None,
    "custom_service_account": False,
    "labels": {"team": "a"},
    "generation": 2,
}
OF_POOL: dict[str, Any] = {"machine": MachineSpec("n1-standard-4"), "min": 2, "max": 9, "autoscaled": False}
OF_MACHINE: dict[str, Any] = {
    "type": "n1-standard-16",
    "accelerator": "NVIDIA_TESLA_V100",
    "accelerator_count": 4,
    "disk": Disk("pd-standard", 100),
}


OF_DISK: dict[str, Any] = {"type": "pd-standard", "size_gb": 200}


def of_pool(**changed: Any) -> ClusterSpec:
    return replace(SPEC, pools=(FIXED, replace(WORKERS, **changed)))


def test_no_field_is_forgotten() -> None:
    assert {field.name for field in fields(ClusterSpec)} == {*OF_CLUSTER, *NO_OTHER_CLUSTER, *NOT_OF_ITSELF}
    # A pool that grows by itself has as many machines as it needs.
    assert {field.name for field in fields(PoolSpec)} == {*OF_POOL, "name", "replicas"}
    assert {field.name for field in fields(MachineSpec)} == {*OF_MACHINE}
    assert {field.name for field in fields(Disk)} == {*OF_DISK}


def test_no_field_of_the_service_s_disk_is_forgotten() -> None:
    """The machine's other fields in the API are of TPUs, reservations and parts of GPUs, which no pool here has."""
    from google.cloud.aiplatform_v1 import DiskSpec

    service = {camel(name) for name in DiskSpec.meta.fields}
    assert {*T4.disk.request()} == service
    assert Disk.read(T4.disk.request()) == T4.disk


@pytest.mark.parametrize(
    "other",
    [
        *(replace(SPEC, **{key: value}) for key, value in OF_CLUSTER.items()),
        *(of_pool(**{key: value}) for key, value in OF_POOL.items()),
        *(of_pool(machine=replace(T4, **{key: value})) for key, value in OF_MACHINE.items()),
        *(of_pool(machine=replace(T4, disk=replace(T4.disk, **{key: value}))) for key, value in OF_DISK.items()),
        of_pool(name="others"),
        replace(SPEC, psc=PscInterface("another", PEERED)),
        replace(SPEC, psc=PscInterface("training", PEERED[:1])),
        replace(SPEC, pools=(replace(FIXED, replicas=3, min=3, max=3), WORKERS)),
        replace(SPEC, pools=(FIXED,)),
    ],
)
def test_what_makes_another_cluster_is_named_with_a_key_of_the_table(other: ClusterSpec) -> None:
    found = compare(SPEC, other)
    assert found and hashed(SPEC) != hashed(other)
    keys = {*(field.key for field in CLUSTER), *(f"pools.workers.{field.key}" for field in POOL)}
    keys |= {f"pools.{name}" for name in ("fixed", "workers", "others")} | {"labels.team", "pools.fixed.replicas"}
    assert {difference.key for difference in found} <= keys
    assert [(difference.key, difference.before, difference.after) for difference in compare(other, SPEC)] == [
        (difference.key, difference.after, difference.before) for difference in found
    ]


def test_what_lives_is_told_as_it_was_asked_for() -> None:
    full = PscInterface("projects/p/regions/r/networkAttachments/training", PEERED[::-1])
    lives = replace(SPEC, psc=full, reserved_ip_ranges=("r", "s"), labels={"goog-managed": "x"})
    assert compare(SPEC, lives) and compare(SPEC, as_asked(lives, SPEC)) == ()
    elsewhere = replace(lives, psc=replace(full, network_attachment="projects/p/other"))
    (difference,) = compare(SPEC, as_asked(elsewhere, SPEC))
    assert (difference.key, difference.after) == ("pscInterface.networkAttachment", "projects/p/other")
    labelled = replace(SPEC, labels={"goog-own": "x"})
    assert [difference.key for difference in compare(labelled, as_asked(SPEC, labelled))] == ["labels.goog-own"]


def test_numbers_that_move_mean_nothing_and_bounds_do() -> None:
    moving = replace(SPEC, pools=(replace(FIXED, replicas=1), replace(WORKERS, replicas=9)))
    assert [difference.key for difference in compare(SPEC, as_asked(moving, SPEC))] == ["pools.fixed.replicas"]
    assert compare(SPEC, as_asked(moving, SPEC, steady=False)) == ()
    assert [(stray.key, stray.after) for stray in strays(SPEC, moving)] == [("pools.workers.replicas", "more than 4")]
    assert list(strays(SPEC, SPEC)) == []


def test_a_pool_under_another_name_is_the_same_pool() -> None:
    assert compare_pools("", WORKERS, replace(WORKERS, name="others")) == ()
    (gone,) = compare_pools("workers", WORKERS, None)
    assert (gone.key, gone.before, gone.after) == ("pools.workers", "1–4 n1-standard-8 with 2 NVIDIA_TESLA_T4", "")
    (come,) = compare_pools("workers", None, WORKERS)
    assert yaml.safe_load(come.written) == {
        "machine": "n1-standard-8",
        "accelerator": {"type": "NVIDIA_TESLA_T4", "count": 2},
        "disk": {"type": "pd-ssd", "sizeGb": 100},
        "replicas": {"min": 1, "max": 4},
    }


def hashed(spec: ClusterSpec, stack: str = "prod", project: str = "acme-ml-prod", region: str = "us-central1") -> str:
    return fingerprint_of(stack, project, region, spec)


def test_name_stack_project_and_region_are_in_it() -> None:
    other = replace(SPEC, name="gpu")
    assert (
        len(
            {
                *map(hashed, (SPEC, other)),
                hashed(SPEC, "dev"),
                hashed(SPEC, "prod", "p2-acme"),
                hashed(SPEC, region="x"),
            }
        )
        == 5
    )


@pytest.mark.parametrize(
    "changed",
    [
        replace(SPEC, replacement="protect", retire_within=timedelta(days=7)),
        replace(SPEC, create_within=timedelta(hours=2)),
        replace(SPEC, season=Season(datetime(2027, 1, 10, tzinfo=UTC), idle_limit=timedelta(hours=4))),
        replace(SPEC, alternatives=(Alternative((FIXED,)),)),
        replace(SPEC, deletion_policy="PREVENT"),
        replace(SPEC, pools=(WORKERS, FIXED)),
        # The autoscaler moves the number of machines: what a pool began with is history.
        of_pool(replicas=3),
    ],
)
def test_what_may_change_keeps_the_generation_and_is_no_difference(changed: ClusterSpec) -> None:  # B3
    assert compare(SPEC, changed) == () and hashed(changed) == hashed(SPEC)


def test_the_order_of_labels_means_nothing() -> None:
    one, other = ({"team": "a", "cost": "42"}, {"cost": "42", "team": "a"})
    assert hashed(replace(SPEC, labels=one)) == hashed(replace(SPEC, labels=other))

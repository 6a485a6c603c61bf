"""What makes a cluster another generation, and what does not. The hashes themselves: tests/goldens."""

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.cluster import ClusterSpec, DnsPeering, PoolSpec, PscInterface
from slipway.fingerprint import fingerprint_of
from slipway.machines.spec import Disk, MachineSpec

H100 = PoolSpec("workers", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 1, 4, True, 1)
HEAD = PoolSpec("head", MachineSpec("n1-standard-4"), 2, 2, False, 2)
PLAIN = ClusterSpec("h100", (H100,))
FULL = ClusterSpec(
    "team-a",
    (H100, HEAD),
    display_name="Team A",
    network="projects/123456789012/global/networks/training",
    reserved_ip_ranges=("vertex",),
    kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    psc=PscInterface("attachment", (DnsPeering("corp.example.", "net", "shared"),)),
    custom_service_account=False,
    labels={"team": "a", "cost": "42"},
    generation=3,
)


def hashed(spec: ClusterSpec, stack: str = "prod", project: str = "acme-ml-prod", region: str = "us-central1") -> str:
    return fingerprint_of(stack, project, region, spec)


@pytest.mark.parametrize(
    "changed",
    [
        replace(FULL, name="team-b"),
        replace(FULL, display_name="Team B"),
        replace(FULL, network=None),
        replace(FULL, reserved_ip_ranges=()),
        replace(FULL, kms_key=None),
        replace(FULL, psc=None),
        replace(FULL, psc=PscInterface("other", FULL.psc.dns_peerings if FULL.psc else ())),
        replace(FULL, psc=PscInterface("attachment")),
        replace(FULL, custom_service_account=True),
        replace(FULL, labels={"team": "a"}),
        replace(FULL, generation=4),
        replace(FULL, pools=(H100,)),
        replace(FULL, pools=(replace(H100, name="w"), HEAD)),
        replace(FULL, pools=(replace(H100, machine=replace(H100.machine, type="a3-megagpu-8g")), HEAD)),
        replace(FULL, pools=(replace(H100, machine=replace(H100.machine, accelerator="NVIDIA_H200_141GB")), HEAD)),
        replace(FULL, pools=(replace(H100, machine=replace(H100.machine, accelerator_count=4)), HEAD)),
        replace(FULL, pools=(replace(H100, machine=replace(H100.machine, disk=Disk("pd-ssd", 501))), HEAD)),
        replace(FULL, pools=(replace(H100, machine=replace(H100.machine, disk=Disk("pd-standard", 500))), HEAD)),
        replace(FULL, pools=(replace(H100, min=2), HEAD)),
        replace(FULL, pools=(replace(H100, max=5), HEAD)),
        replace(FULL, pools=(H100, replace(HEAD, replicas=3, min=3, max=3))),
        replace(FULL, pools=(H100, replace(HEAD, autoscaled=True, max=3))),
    ],
)
def test_every_field_that_cannot_change_on_a_living_cluster_makes_a_new_generation(changed: ClusterSpec) -> None:  # N1
    assert hashed(changed) != hashed(FULL)


def test_stack_project_and_region_are_in_it() -> None:
    assert len({hashed(PLAIN), hashed(PLAIN, "dev"), hashed(PLAIN, "prod", "p2-acme"), hashed(PLAIN, region="x")}) == 4


@pytest.mark.parametrize(
    "changed",
    [
        replace(FULL, retire_within=timedelta(days=7)),
        replace(FULL, deletion_policy="PREVENT"),
        replace(FULL, pools=(HEAD, H100)),
        replace(FULL, labels={"cost": "42", "team": "a"}),
        # The autoscaler moves the number of machines: what a pool began with is history.
        replace(FULL, pools=(replace(H100, replicas=3), HEAD)),
    ],
)
def test_what_may_change_keeps_the_generation(changed: ClusterSpec) -> None:  # B3
    assert hashed(changed) == hashed(FULL)

"""Why a job beside the pools waits: its quota, who has it, and who waits as well. # N9 N6"""

from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.waiting import quota_reason
from tests.slipway.using.submission.conftest import NOW, cluster, job, pool

CPUS, ON_DEMAND = "custom_model_training_preemptible_cpus", "custom_model_training_cpus"
DISKS = "custom_model_training_pd_ssd"


def spot(name: str, machines: int = 1, minutes: float | None = 14) -> VertexJob:
    return job(name, machines, minutes=minutes, on="", strategy="SPOT")


def why(
    limits: dict[str, int], *others: VertexJob, waiting: VertexJob, there: tuple[PersistentResource, ...] = ()
) -> str:
    return quota_reason(waiting, limits, there, (waiting, *others), NOW)


WAITING = spot("mine", 2, minutes=None)


def test_a_full_quota_says_who_has_it_and_how_many_wait(snapshot: SnapshotAssertion) -> None:  # N9
    others = spot("tune", 2), spot("later", minutes=None), job("on a pool", 3)
    assert why({CPUS: 24}, *others, waiting=WAITING) == snapshot
    many = [spot(f"run-{n}", minutes=n + 1) for n in range(5)]
    assert "40 of 40 vCPUs" in why({CPUS: 40}, *many, waiting=WAITING)
    assert "and 2 more, this needs" in why({CPUS: 40}, *many, waiting=WAITING)


def test_clusters_have_on_demand_quota_as_well(snapshot: SnapshotAssertion) -> None:  # D2, N9
    on_demand, there = job("mine", 3, minutes=None, on="", strategy="STANDARD"), (cluster(pool(replicas=3)),)
    assert why({ON_DEMAND: 40}, waiting=on_demand, there=there) == snapshot


def test_with_room_in_its_quota_it_is_not_blamed() -> None:
    said = "queued by the service: quota suffices now, machines are not promised"
    assert why({CPUS: 32, DISKS: 400}, spot("tune", 2), waiting=WAITING) == said
    assert why({CPUS: -1, DISKS: -1}, spot("tune", 2), waiting=WAITING) == said


def test_quota_suffices_only_where_all_of_it_was_read() -> None:  # N9
    there = (cluster(pool(replicas=3)),)
    assert "quota of PD SSD GB" in why({CPUS: 32}, waiting=WAITING)
    assert "with cluster cpu-1" in why({CPUS: 32, DISKS: 400}, waiting=WAITING, there=there)


def test_what_is_not_known_is_not_told() -> None:
    assert why({}, spot("tune", 2), waiting=WAITING) == ""
    unknown = replace(WAITING, worker_pools=(replace(WAITING.worker_pools[0], machine=MachineSpec("x9-new-8")),))
    assert why({CPUS: 1}, waiting=unknown) == ""
    reserved = replace(WAITING, strategy="", labels={"slipway-capacity-type": "reservation"})
    assert why({CPUS: 1, ON_DEMAND: 1}, waiting=reserved) == ""

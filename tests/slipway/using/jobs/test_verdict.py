"""The verdict before sending, and why a job beside the pools waits: its quota, who has it, who waits too. # N9 # N6"""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.worker_pools import WorkerPool
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.verdict import Outcome, Verdict, on_cluster
from slipway.using.jobs.waiting import quota_reason
from tests.builders.place import NOW
from tests.builders.pools import CPU, HEAD, resource_pool
from tests.slipway.using.submission.conftest import cluster, demand, job


def verdict(wanted: Demand, there: PersistentResource, *jobs: VertexJob) -> Verdict:
    return on_cluster("cpu", wanted, there, jobs, NOW)


THREE = demand(("workers", "workers", CPU, 3))


def test_it_starts_now_when_the_machines_are_free(snapshot: SnapshotAssertion) -> None:  # P3
    judged = verdict(THREE, cluster(resource_pool(replicas=6, used=3, high=6)))
    assert judged == snapshot


def test_it_scales_up_when_the_pool_can_grow() -> None:  # P3
    judged = verdict(THREE, cluster(resource_pool(replicas=4, used=2, high=6)))
    text = "scales up: cpu/workers has 2 free, needs 3, grows 4 → 5 of 6 machines"
    assert judged == Verdict(Outcome.SCALES, text, grows=(("workers", 1),))


def test_a_full_pool_says_who_has_it_and_how_many_wait(snapshot: SnapshotAssertion) -> None:  # P3, N9
    judged = verdict(
        THREE,
        cluster(resource_pool(replicas=6, used=6, high=6)),
        job("tune", 4, user="ada", minutes=14),
        job("ddp", 2, user="ci", minutes=3),
        job("later", 1, minutes=None),
        job("elsewhere", 6, on="gpu-1"),
    )
    assert judged.outcome is Outcome.FULL and judged.queue == 1
    assert judged.text == snapshot


def test_the_queue_is_of_those_that_wait_for_the_same_pools() -> None:  # N3
    """The longer queue was of another pool, and the job was sent to a cluster where it waited behind more."""
    there = cluster(resource_pool(replicas=3, used=3, high=3), resource_pool("head", machine=HEAD))
    others = [job(f"head-{number}", 1, HEAD, minutes=None) for number in range(3)]
    judged = verdict(THREE, there, job("tune", 3), *others, job("later", 1, minutes=None))
    assert judged.queue == 1 and judged.text.endswith("this needs 3; 1 job waits as well"), judged.text


def test_a_job_that_lost_its_machines_waits_as_well() -> None:  # N3, N9
    """`slipway pools` called it waiting, and a submission knew of none that waits."""
    there, lost = cluster(resource_pool(replicas=3, used=3, high=3)), job("lost", 1, state="QUEUED")
    judged = verdict(THREE, there, job("tune", 3), lost)
    assert lost.start_time and judged.queue == 1 and judged.text.endswith("; 1 job waits as well")


ONE = demand(("workers", "workers", CPU, 1))


def test_machines_that_an_earlier_job_waits_for_are_not_promised(snapshot: SnapshotAssertion) -> None:  # P3, N9
    """The service tells no order: who waits already may start first, and then this one waits too."""
    there = cluster(resource_pool(replicas=3, used=1, high=3))
    judged = verdict(ONE, there, job("tune", 1), job("large", 3, minutes=None))
    assert judged.outcome is Outcome.MAY_WAIT
    assert judged.text == snapshot
    several = (job(f"large-{n}", 3, minutes=None) for n in range(2))
    assert verdict(ONE, there, *several).text.endswith("may start first")


def test_a_job_that_waits_for_another_pool_too_may_start_first() -> None:  # P3
    there = cluster(resource_pool("head", HEAD, used=1), resource_pool(replicas=6))
    both = replace(job(minutes=None), worker_pools=(WorkerPool(HEAD, 1), WorkerPool(CPU, 2)))
    assert verdict(ONE, there, both).outcome is Outcome.MAY_WAIT
    assert verdict(ONE, there, job(machine=HEAD, minutes=None)).text == "starts now: uses 1 of 6 machines"


@pytest.mark.parametrize(("used", "outcome"), [(0, Outcome.MAY_WAIT), (2, Outcome.STARTS)])
def test_a_job_that_gets_ready_counts_once(used: int, outcome: Outcome) -> None:
    """Whether the service counts its machines as used already, it does not tell."""
    preparing = job("soon", 2, minutes=None, state="PENDING")
    there = cluster(resource_pool(replicas=3, used=used))
    assert verdict(ONE, there, preparing).outcome is Outcome.STARTS
    assert verdict(demand(("workers", "workers", CPU, 3 - used)), there, preparing).outcome is outcome


def test_more_than_the_maximum_can_never_run(snapshot: SnapshotAssertion) -> None:  # P3
    judged = verdict(demand(("workers", "workers", CPU, 8)), cluster(resource_pool(replicas=1, high=6)))
    assert judged.outcome is Outcome.NEVER
    assert judged.text == "can never run on cpu"
    assert judged.why == snapshot


def test_roles_of_one_shape_share_a_pool() -> None:  # P4
    wanted = demand(("scheduler", "workers", CPU, 1), ("workers", "workers", CPU, 2))
    assert verdict(wanted, cluster(resource_pool(replicas=2, high=4))).outcome is Outcome.SCALES
    assert "3 of 4 machines" in verdict(wanted, cluster(resource_pool(replicas=3, high=4))).text


def test_every_pool_must_have_room(snapshot: SnapshotAssertion) -> None:  # P4
    wanted = demand(("scheduler", "head", HEAD, 1), ("workers", "workers", CPU, 2))
    head = resource_pool("head", HEAD)
    assert verdict(wanted, cluster(head, resource_pool(replicas=2))).text == snapshot
    assert verdict(wanted, cluster(replace(head, used=1), resource_pool(replicas=2))).outcome is Outcome.FULL


def test_a_mismatch_is_shown_field_by_field_with_the_nearest_pool(snapshot: SnapshotAssertion) -> None:  # P2
    wanted = demand(("workers", "workers", replace(CPU, disk=Disk("pd-standard", 200)), 1))
    judged = verdict(wanted, cluster(resource_pool("head", HEAD), resource_pool("workers", CPU, replicas=2)))
    assert judged.outcome is Outcome.NEVER
    assert judged.why == snapshot


@pytest.mark.parametrize("state", ["PROVISIONING", "REBOOTING"])
def test_a_cluster_that_does_not_run_yet_makes_the_job_wait(state: str) -> None:
    judged = verdict(THREE, cluster(resource_pool(replicas=3), state=state))
    assert judged.outcome is Outcome.WAITS and state in judged.text


def test_unreadable_jobs_leave_out_the_names_alone(snapshot: SnapshotAssertion) -> None:
    there = cluster(resource_pool(replicas=6, used=6, high=6))
    assert on_cluster("cpu", THREE, there, None, NOW).text == snapshot


@given(
    needs=st.integers(1, 20),
    live=st.integers(1, 10),
    used=st.integers(0, 10),
    most=st.integers(1, 20) | st.none(),
)
def test_the_verdict_follows_the_services_rule(needs: int, live: int, used: int, most: int | None) -> None:
    """A job needs at most what the pool can have, less what other jobs use."""
    used = min(used, live)
    ceiling = max(live, most or 0)
    there = cluster(resource_pool(replicas=live, used=used, high=most))
    found = verdict(demand(("w", "workers", CPU, needs)), there).outcome
    assert (found is Outcome.NEVER) == (needs > ceiling)
    assert (found is Outcome.STARTS) == (needs <= live - used)
    assert (found is Outcome.FULL) == (needs <= ceiling < used + needs)


CPUS, ON_DEMAND = "custom_model_training_preemptible_cpus", "custom_model_training_cpus"
DISKS = "custom_model_training_pd_ssd"


def spot(name: str, machines: int = 1, minutes: float | None = 14) -> VertexJob:
    return job(name, machines, minutes=minutes, on="", strategy="SPOT")


def reason(
    limits: dict[str, int], *others: VertexJob, waiting: VertexJob, there: tuple[PersistentResource, ...] = ()
) -> str:
    return quota_reason(waiting, limits, there, (waiting, *others), NOW)


MINE = spot("mine", 2, minutes=None)


def test_a_full_quota_says_who_has_it_and_how_many_wait(snapshot: SnapshotAssertion) -> None:  # N9
    others = spot("tune", 2), spot("later", minutes=None), job("on a pool", 3)
    assert reason({CPUS: 24}, *others, waiting=MINE) == snapshot
    many = [spot(f"run-{n}", minutes=n + 1) for n in range(5)]
    assert "40 of 40 vCPUs" in reason({CPUS: 40}, *many, waiting=MINE)
    assert "and 2 more, this needs" in reason({CPUS: 40}, *many, waiting=MINE)


def test_clusters_have_on_demand_quota_as_well(snapshot: SnapshotAssertion) -> None:  # D2, N9
    on_demand, there = job("mine", 3, minutes=None, on="", strategy="STANDARD"), (cluster(resource_pool(replicas=3)),)
    assert reason({ON_DEMAND: 40}, waiting=on_demand, there=there) == snapshot


def test_with_room_in_its_quota_it_is_not_blamed() -> None:
    said = "queued by the service: quota suffices now, machines are not promised"
    assert reason({CPUS: 32, DISKS: 400}, spot("tune", 2), waiting=MINE) == said
    assert reason({CPUS: -1, DISKS: -1}, spot("tune", 2), waiting=MINE) == said


def test_quota_suffices_only_where_all_of_it_was_read() -> None:  # N9
    there = (cluster(resource_pool(replicas=3)),)
    assert "quota of PD SSD GB" in reason({CPUS: 32}, waiting=MINE)
    assert "with cluster cpu-1" in reason({CPUS: 32, DISKS: 400}, waiting=MINE, there=there)


def test_a_limit_that_the_job_alone_exceeds_is_too_small_and_not_full() -> None:  # N9
    """A submission said that it can never run, and afterwards that the quota was full, with nothing in use."""
    assert reason({CPUS: 15}, spot("later", minutes=None), waiting=MINE) == (
        "preemptible quota is too small: the limit is 15 vCPUs, this needs 16"
    )


def test_what_draws_quota_that_nobody_knows_is_not_called_enough() -> None:  # N9
    """A submission said that the quota of hyperdisks is not known, and afterwards that quota suffices."""
    machine = MachineSpec("n1-standard-8", disk=Disk("hyperdisk-balanced", 100))
    waiting = replace(MINE, worker_pools=(replace(MINE.worker_pools[0], machine=machine),))
    assert "quota of hyperdisk-balanced was not read" in reason({CPUS: 32}, waiting=waiting)


def test_what_is_not_known_is_not_told() -> None:
    assert reason({}, spot("tune", 2), waiting=MINE) == ""
    unknown = replace(MINE, worker_pools=(replace(MINE.worker_pools[0], machine=MachineSpec("x9-new-8")),))
    assert reason({CPUS: 1}, waiting=unknown) == ""
    reserved = replace(MINE, strategy="", labels={"slipway-capacity-type": "reservation"})
    assert reason({CPUS: 1, ON_DEMAND: 1}, waiting=reserved) == ""

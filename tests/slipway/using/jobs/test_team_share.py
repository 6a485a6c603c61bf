"""Shares of a cluster: a team is kept to its own while a team below its own waits, and nobody else is. # N24"""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.jobs import VertexJob
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.team_share import TeamShare, team_share
from tests.builders.jobs import job
from tests.builders.pools import CPU

TEAMS = ("vision", "language", "")
SHARES = {"vision": 2, "language": 2}


def of(team: str, state: str = "RUNNING", machines: int = 1, name: str = "") -> VertexJob:
    made = job(name or f"{team}-{state}-{machines}", on="cpu-1", state=state, user="ada", replicas=machines)
    return replace(made, labels={**made.labels, "slipway-team": team})


def share(team: str, *jobs: VertexJob, most: int = 4) -> TeamShare:
    used = sum(each.worker_pools[0].replicas for each in jobs if each.state == "JOB_STATE_RUNNING")
    pool = ResourcePool("workers", CPU, most, used, None, None)
    return of_pools(team, *jobs, pools=(pool,))


def of_pools(team: str, *jobs: VertexJob, pools: tuple[ResourcePool, ...]) -> TeamShare:
    """Return the share for another job of these machines."""
    cluster = PersistentResource("projects/1/locations/r/persistentResources/cpu-1", "RUNNING", {}, pools)
    return team_share("h100", SHARES, cluster, jobs, team, Demand.of(of(team)))


def test_above_its_share_a_team_waits_for_one_below_its_own() -> None:
    waits = of("language", "QUEUED", name="tune-1")
    why = share("vision", of("vision", machines=2), of("language"), waits).keeps_out(1)
    assert why == (
        "team vision has 2 machines of h100, with a share of 2; this needs 1, and tune-1 (ada of team language) waits"
    )
    assert not share("vision", of("vision"), waits).keeps_out(1), "within its share"
    assert not share("vision", of("vision", machines=4)).keeps_out(1), "nobody waits"
    assert not share("vision", of("vision", machines=2), of("language", machines=2), waits).keeps_out(1)
    assert not share("vision", of("vision", machines=2), of("", "QUEUED")).keeps_out(1), "who has no share"
    assert share("", waits).keeps_out(1) and not share("").keeps_out(1)
    assert not share("vision", of("vision", machines=2), of("language", "PENDING")).keeps_out(1), "it has its machines"


def test_a_sweep_goes_above_it_on_free_machines_alone() -> None:
    of_sweep = share("vision", of("vision", machines=3))
    assert not of_sweep.keeps_out(1, queues=False)
    assert of_sweep.keeps_out(1, sent=1, queues=False) == (
        "team vision has 4 machines of h100, with a share of 2; this needs 1, and none is free"
    )
    assert not share("vision", of("language", machines=4)).keeps_out(1, sent=1, queues=False), "it waits in its turn"


def test_neither_machines_of_other_pools_nor_who_waits_for_these_count() -> None:
    others = ResourcePool("high", replace(CPU, type="n1-highmem-8"), 4, 0, None, None)
    pools = ResourcePool("workers", CPU, 2, 2, None, None), others
    of_sweep = of_pools("vision", of("vision", machines=2), pools=pools)
    assert of_sweep.free == 0 and "none is free" in of_sweep.keeps_out(1, queues=False)
    elsewhere = job("big-1", on="cpu-1", state="QUEUED", machine=others.machine)
    elsewhere = replace(elsewhere, labels={**elsewhere.labels, "slipway-team": "language"})
    assert not of_pools("vision", of("vision", machines=2), elsewhere, pools=pools).keeps_out(1)


@given(
    st.lists(
        st.builds(of, st.sampled_from(TEAMS), st.sampled_from(("RUNNING", "QUEUED")), st.integers(1, 3)), max_size=6
    ),
    st.sampled_from(TEAMS),
    st.integers(1, 3),
    st.booleans(),
)
def test_a_team_within_its_share_is_never_kept_out(jobs: list[VertexJob], team: str, needs: int, queues: bool) -> None:
    jobs = [replace(each, name=f"{each.name}{number}") for number, each in enumerate(jobs)]
    known = share(team, *jobs, most=20)
    why = known.keeps_out(needs, queues=queues)
    if known.has + needs <= known.share:
        assert not why
    if why and queues:
        assert all(waiting.team != team for waiting in known.waiting) and known.waiting

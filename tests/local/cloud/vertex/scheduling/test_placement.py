"""Which pool each replica of a job gets a machine of, and by how much pools grow for it (vertex-rules 3.4)."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from local.cloud.supply.shape import Shape
from local.cloud.vertex.clusters.records import Pool
from local.cloud.vertex.jobs.records import Demand
from local.cloud.vertex.scheduling import placement

SMALL, LARGE = (Shape(machine, None, 0, "pd-ssd", 100) for machine in ("n1-standard-4", "n1-standard-8"))

SIZES = st.lists(st.tuples(st.sampled_from([SMALL, LARGE]), st.integers(1, 5)), min_size=1, max_size=4)


@given(pools=SIZES, wanted=SIZES, taken=st.integers(0, 3))
def test_each_replica_gets_a_free_machine_of_its_shape_or_none_gets_any(
    pools: list[tuple[Shape, int]], wanted: list[tuple[Shape, int]], taken: int
) -> None:
    has = [Pool(f"p{at}", shape, size) for at, (shape, size) in enumerate(pools)]
    used = {pool.id: min(taken, pool.replicas) for pool in has}
    demands = [Demand(at, shape, count) for at, (shape, count) in enumerate(wanted)]
    placed = placement.place(demands, has, used)
    free = Counter[Shape]()
    for pool in has:
        free[pool.shape] += pool.replicas - used[pool.id]
    needs = Counter[Shape]()
    for demand in demands:
        needs[demand.shape] += demand.count
    fits = all(free[shape] >= count for shape, count in needs.items())
    assert (placed is not None) == fits
    if placed is not None:
        by_id = {pool.id: pool for pool in has}
        assert Counter(index for index, _ in placed) == Counter({item.index: item.count for item in demands})
        assert all(by_id[pool].shape == demands[index].shape for index, pool in placed)
        taken_now = Counter(pool for _, pool in placed)
        assert all(used[name] + count <= by_id[name].replicas for name, count in taken_now.items())


def test_a_job_that_does_not_fit_beside_others_makes_no_pool_grow() -> None:
    pools = [Pool("p", SMALL, 1, 1, 4)]
    assert placement.wanted([Demand(0, SMALL, 2)], pools, Counter(p=1)) == Counter(p=2)
    assert placement.wanted([Demand(0, SMALL, 4)], pools, Counter(p=1)) == Counter()

"""Machines that are given, and Spot machines that are taken. Those that exist: `contracts/answered_machines.txt`."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from vertex_local.supply.allotment import Affinity, Allotment, Supply, Want
from vertex_local.supply.preemption import Target, Victim, victims
from vertex_local.supply.scenario import Chance, Preemption, Reservation, Scenario, Strategy

# --- What a region can still give, as pure arithmetic (W1, Z6; vertex-rules 4.1, 4.2).


HELD, OTHER = (f"projects/p/zones/us-central1-a/reservations/{name}" for name in ("held", "other"))
EACH: list[Strategy] = ["standard", "spot", "flex-start"]


def want(count: int, kind: str = "m", index: int = 0, affinity: Affinity | None = None) -> Want:
    return Want(index, kind, None, 0, count, affinity or Affinity())


def reservation(path: str = HELD, kind: str = "m", count: int = 2) -> Reservation:
    return Reservation(path, kind, None, 0, count)


def test_what_is_not_listed_is_unlimited() -> None:
    assert Supply().free("m", "spot") is None
    assert len(Supply().allotted([want(1000)], "spot") or ()) == 1000


def test_a_strategy_has_its_own_bound_within_that_of_all() -> None:
    supply = Supply({("m", "any"): 4, ("m", "spot"): 3}, {("m", "standard"): 2})
    assert (supply.free("m", "spot"), supply.free("m", "flex-start"), supply.free("x", "spot")) == (2, 2, None)


def test_all_machines_of_a_job_are_given_at_once_or_none() -> None:
    supply = Supply({("m", "any"): 3})
    assert supply.allotted([want(2), want(2, index=1)], "flex-start") is None
    given = supply.allotted([want(1), want(2, index=1)], "flex-start")
    assert given == (Allotment(0, "m"), Allotment(1, "m"), Allotment(1, "m"))
    assert supply.without(given, "flex-start").free("m", "flex-start") == 0


def test_a_shortage_asks_for_spot_machines_alone() -> None:
    supply = Supply({("m", "any"): 3}, {("m", "standard"): 4, ("m", "spot"): 2})
    assert supply.excess("m") == 2
    assert Supply({("m", "spot"): 1}, {("m", "spot"): 3}).excess("m") == 2
    assert Supply({("m", "any"): 9}, {("m", "spot"): 3}).excess("m") == 0


def test_a_specific_reservation_gives_its_machines_and_no_others() -> None:
    supply = Supply(reservations={HELD: reservation(), OTHER: reservation(OTHER)})
    named = Affinity("specific", (HELD,))
    given = supply.allotted([want(2, affinity=named)], "standard")
    assert given == (Allotment(0, "m", HELD),) * 2
    left = supply.without(given, "standard")
    assert left.allotted([want(1, affinity=named)], "standard") is None
    assert left.free("m", "standard") is None, "reserved machines are none of the region's"


def test_any_reservation_that_fits_comes_first_and_then_what_the_region_has() -> None:
    supply = Supply({("m", "any"): 1}, reservations={HELD: reservation(count=1), OTHER: reservation(OTHER, "x")})
    given = supply.allotted([want(2, affinity=Affinity("any"))], "standard")
    assert given == (Allotment(0, "m", HELD), Allotment(0, "m"))
    assert supply.allotted([want(3, affinity=Affinity("any"))], "standard") is None


def test_no_reservation_is_touched_without_an_affinity() -> None:
    supply = Supply({("m", "any"): 0}, reservations={HELD: reservation()})
    assert supply.allotted([want(1)], "standard") is None


KINDS = st.sampled_from("ab")
WANTS = st.lists(
    st.builds(
        lambda kind, count, how: Want(0, kind, None, 0, count, Affinity(how, (HELD,) if how == "specific" else ())),
        KINDS,
        st.integers(1, 4),
        st.sampled_from(["none", "any", "specific"]),
    ),
    min_size=1,
    max_size=4,
)


@given(
    asked=st.lists(st.tuples(WANTS, st.sampled_from(EACH)), max_size=6),
    limits=st.dictionaries(st.tuples(KINDS, st.sampled_from(["any", *EACH])), st.integers(0, 6)),
    held=st.integers(0, 4),
)
def test_no_order_of_requests_gives_more_than_there_is(
    asked: list[tuple[list[Want], Strategy]], limits: dict[tuple[str, str], int], held: int
) -> None:
    left = Supply(limits, reservations={HELD: reservation(kind="a", count=held)})
    for wants, strategy in asked:
        given = left.allotted(wants, strategy)
        if given is None:
            continue
        needed = Counter[str]()
        for item in wants:
            needed[item.machine] += item.count
        assert Counter(item.machine for item in given) == needed
        left = left.without(given, strategy)
    for (kind, bounded), bound in limits.items():
        taken = sum(n for (name, by), n in left.used.items() if name == kind and bounded in ("any", by))
        assert taken <= bound
    assert left.reserved.get(HELD, 0) <= held


# --- Who loses a Spot machine when, as pure deciding (X2).


KIND = ("us-central1", "m")
TARGET = Target(1, "7001", "spot-training", 1, 0, ("workerpool0-0", "workerpool1-0"), 5.0, {KIND: 2})


def once(*preemptions: Preemption, target: Target = TARGET) -> tuple[Victim, ...]:
    return victims(Scenario(preemptions=preemptions), [target], {})


def test_a_job_is_preempted_when_it_has_run_so_long() -> None:
    entry = Preemption("spot", "workerpool1-0", 5, 1)
    assert once(entry) == (Victim(1, "workerpool1-0"),)
    assert once(replace(entry, after=5.1)) == ()
    assert once(replace(entry, job="digits")) == ()
    assert once(entry, target=replace(TARGET, running_s=None)) == (), "it does not run yet"
    assert once(replace(entry, replica="workerpool1-7")) == (), "it has no such replica"


def test_each_entry_counts_for_as_many_preemptions_as_it_says() -> None:
    entries = (Preemption("spot", "workerpool0-0", 1, 2), Preemption("spot", "workerpool1-0", 2, 1))
    victims = [once(*entries, target=replace(TARGET, preempted=count)) for count in range(4)]
    assert victims == [(Victim(1, "workerpool0-0"),)] * 2 + [(Victim(1, "workerpool1-0"),), ()]
    always = Preemption("spot", "workerpool0-0", 0, -1)
    assert once(always, target=replace(TARGET, preempted=1000)) == (Victim(1, "workerpool0-0"),)


def preempted_after(seed: int, target: Target, rate: float = 60.0) -> int:
    scenario = Scenario(chance=Chance(rate, seed))
    return next(s for s in range(10**6) if victims(scenario, [replace(target, running_s=float(s))], {}))


def test_the_same_seed_preempts_at_the_same_time_and_another_at_another() -> None:
    first = [preempted_after(seed, TARGET) for seed in range(5)]
    assert first == [preempted_after(seed, TARGET) for seed in range(5)]
    assert len(set(first)) > 1
    attempts = {preempted_after(1, replace(TARGET, attempt=attempt)) for attempt in range(1, 6)}
    assert len(attempts) > 1, "each attempt has a time of its own"


def test_the_rate_is_that_of_each_replica() -> None:
    times = [preempted_after(seed, TARGET, rate=36) for seed in range(300)]
    # Two replicas at 36 an hour each: every 50 seconds; the mean of 300 draws is within a fifth of that.
    assert 40 < sum(times) / len(times) < 60


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=6),
    excess=st.integers(0, 12),
    scheduled=st.booleans(),
)
def test_a_shortage_takes_from_the_newest_no_more_than_it_must(sizes: list[int], excess: int, scheduled: bool) -> None:
    targets = [replace(TARGET, number=n, machines={KIND: size}) for n, size in enumerate(sizes, 1)]
    first = replace(targets[0], display_name="first")
    entries = (Preemption("first", "workerpool0-0", 0, 1),) if scheduled else ()
    spec = victims(Scenario(preemptions=entries), [first, *targets[1:]], {KIND: excess})
    given = Counter({victim.number: sizes[victim.number - 1] for victim in spec})
    assert given.total() >= min(excess, sum(sizes))
    by_shortage = [victim.number for victim in spec if not (scheduled and victim.number == 1)]
    assert by_shortage == sorted(by_shortage, reverse=True)
    if by_shortage:
        assert given.total() - sizes[by_shortage[-1] - 1] < excess, "the last one was needed"

"""What a region can still give, as pure arithmetic (W1, Z6; vertex-rules 4.1, 4.2)."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.supply.allotment import Affinity, Allotment, Supply, Want, unfit
from local.cloud.supply.scenario import Reservation, Strategy

HELD, OTHER = (f"projects/p/zones/us-central1-a/reservations/{name}" for name in ("held", "other"))
EACH: list[Strategy] = ["standard", "spot", "flex-start"]


def want(count: int, kind: str = "m", index: int = 0, affinity: Affinity | None = None) -> Want:
    return Want(index, kind, None, 0, count, affinity or Affinity())


def reservation(path: str = HELD, kind: str = "m", count: int = 2, share: str = "ALLOW_ALL") -> Reservation:
    return Reservation(path, kind, None, 0, count, share)


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


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (reservation(), ""),
        (reservation(share="LOCAL"), "service share type is LOCAL"),
        (reservation(kind="x"), "machine type m != x"),
        (Reservation(HELD, "m", "NVIDIA_TESLA_T4", 1, 1), "accelerator type none != NVIDIA_TESLA_T4"),
    ],
)
def test_a_reservation_must_be_shared_and_of_exactly_this_machine(held: Reservation, words: str) -> None:
    assert words in unfit(held, want(1))
    assert bool(words) == bool(unfit(held, want(1)))


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

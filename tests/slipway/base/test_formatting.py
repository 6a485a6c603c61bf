"""Numbers as people say them, and the price book: dated figures, exact arithmetic, no guesses (vertex-rules 8)."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base import formatting
from slipway.base.errors import ConfigError
from slipway.model.cluster import ClusterSpec, PoolSpec
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.machines.table import machine, machine_types, regions, regions_with
from slipway.model.prices import UNKNOWN, Bounds, Price, dollars, hourly, price_in_words, total


@pytest.mark.parametrize(
    ("number", "value", "said"),
    [
        (formatting.plain, 1_234_567, "1234567"),
        (formatting.plain, 0.5, "0.5"),
        (formatting.span, 42.4, "42 s"),
        (formatting.span, 59.6, "1 min"),
        (formatting.span, 11520, "3 h 12 min"),
        (formatting.span, 7200, "2 h"),
        (formatting.span, 777600, "9 days"),
        (formatting.exact_span, 0, "0 s"),
        (formatting.exact_span, 5_400, "1 h 30 min"),
        (formatting.exact_span, 302_400, "84 h"),
        (formatting.exact_span, 302_520, "84 h 2 min"),
        (formatting.exact_span, 345_600, "4 days"),
        (formatting.exact, 2.44, "2.4 s"),
        (formatting.exact, 65, "1 min 05 s"),
        (formatting.exact, 3720, "1 h 02 min"),
        (formatting.size, 1, "1 byte"),
        (formatting.size, 999_499, "999 kB"),
        (formatting.size, 999_500, "1.0 MB"),
        (formatting.size, 10**17, "100000 TB"),
        (formatting.clock, 42, "0:42"),
        (formatting.clock, 3723, "1:02:03"),
        (formatting.usd, 0, "$0"),
        (formatting.usd, 99.5, "$99.50"),
        (formatting.usd, 27_600, "$27,600"),
    ],
)
def test_a_number_in_words(number: Callable[[float], str], value: float, said: str) -> None:
    assert number(value) == said


@given(st.integers(1, 10**7))
def test_a_limit_of_time_is_told_as_it_was_set(limit: int) -> None:
    words = formatting.exact_span(limit).replace("days", "d").split()
    units = zip(words[::2], words[1::2], strict=True)
    assert sum(formatting.seconds("".join(unit)) for unit in units) == limit


def test_a_unit_is_said_once_where_two_spans_have_no_other() -> None:
    assert (formatting.span_before(240, 540), formatting.span_before(50, 540)) == ("4", "50 s")
    assert formatting.span_before(3720, 11520) == "1 h 2 min", "as 1 of 3 h 12 min would be something else"


@pytest.mark.parametrize(
    ("count", "role", "said"),
    [(1, "workers", "1 worker"), (2, "workers", "2 workers"), (2, "trial", "2 trials"), ("1", "boss", "1 boss")],
)
def test_machines_of_a_role(count: int | str, role: str, said: str) -> None:
    assert formatting.counted(count, role) == said


def test_accelerators_are_named_where_the_machine_does_not_tell_them() -> None:
    assert str(MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)) == "n1-standard-8 with 2 NVIDIA_TESLA_T4"
    assert str(MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)) == "a3-highgpu-8g"
    assert str(MachineSpec("n1-standard-8")) == "n1-standard-8"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("a b", "'a b'"),
        ("x" * 61, f"'{'x' * 60}…'"),
        ("a\n" * 5000, f"'{'a ' * 30}…'"),
        ("\x1b[2J", r"'\x1b[2J'"),
        (10**50, "1" + "0" * 50),
        (tuple(range(100)), f"{str(tuple(range(100)))[:60]}…"),
    ],
)
def test_a_value_is_repeated_in_quotes_and_short(value: object, said: str) -> None:
    assert formatting.quoted(value) == said


@given(st.text(max_size=600))
def test_what_is_short_is_one_line(text: str) -> None:
    said = formatting.short(text)
    assert len(said) <= 61 and "\n" not in said
    assert len(text) > 60 or said == " ".join(text.split())


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("slipway:quotas", "slipway:quota"),
        ("slipway:ways", None),
        ("slipway:x", None),
        ("slpway:quota", "slipway:quota"),
    ],
)
def test_what_all_have_before_a_colon_makes_nothing_near(word: str, near: str | None) -> None:
    assert formatting.nearest(word, ("slipway:quota", "slipway:templates", "gcp:region")) == near


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("1 d", 86400)])
def test_durations(text: str, seconds: float) -> None:
    assert formatting.seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-5", "soon", "10 weeks", "1h30m", "nan", "9" * 400])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ConfigError, match="invalid duration"):
        formatting.seconds(text)


@given(st.floats(0, 1e9))
def test_no_time_is_unspeakable(seconds: float) -> None:
    assert formatting.span(seconds) and formatting.exact(seconds) and formatting.clock(seconds)


def test_lists() -> None:
    assert [formatting.join(words) for words in ([], ["a"], ["a", "b", "c"])] == ["", "a", "a, b and c"]


def test_nearest_ignores_case_and_gives_up_on_nonsense() -> None:
    assert formatting.nearest("US-Central1", regions()) == "us-central1"
    assert formatting.nearest("!!!", regions()) is None


NO_DISK = Disk("pd-ssd", 0)
WORKERS = PoolSpec("workers", MachineSpec("n1-standard-8"), 1, 4, True, 1)
EACH = Decimal("0.4369977") + 100 * Decimal("0.0002678")
IN_NO_LIST = {"a3-ultragpu-8g", "a4-highgpu-8g", "a4x-highgpu-4g"}


@pytest.mark.parametrize(
    ("machine", "region", "capacity_type", "published"),
    [
        ("n1-standard-4", "us-central1", "pool", "0.21849885"),
        ("n1-standard-4", "asia-southeast1", "pool", "0.269544"),
        ("a3-highgpu-8g", "us-central1", "pool", "101.0074"),
        ("a3-highgpu-8g", "us-central1", "flex-start", "51.4950"),
        ("a3-highgpu-1g", "us-central1", "flex-start", "6.4369"),
    ],
)
def test_published_prices_are_reproduced(machine: str, region: str, capacity_type: str, published: str) -> None:  # Z8
    text = hourly(MachineSpec(machine, disk=NO_DISK), region, capacity_type)
    assert text.complete and abs(text.known - Decimal(published)) < Decimal("0.0001")


def test_a_price_is_compute_engines_and_the_fee() -> None:
    on_demand, spot = Decimal("3.673385"), Decimal("1.92802")
    a2 = MachineSpec("a2-highgpu-1g", disk=NO_DISK)
    assert hourly(a2, "us-central1").known == Decimal("1.15") * on_demand
    assert hourly(a2, "us-central1", "spot").known == spot + Decimal("0.15") * on_demand


def test_no_fee_is_billed_on_local_ssd() -> None:
    """As the published flex-start of an a3-highgpu-8g has it: a fee of 13.1750, of 88.49 with 6,000 GB of it."""
    fee = hourly(MachineSpec("a3-highgpu-8g", disk=NO_DISK), "us-central1", "spot").known - Decimal("50.609541")
    assert round(fee, 3) == Decimal("13.175")


def test_the_disk_is_in_the_price() -> None:
    with_disk = hourly(MachineSpec("a3-highgpu-8g", disk=Disk("pd-ssd", 2000)), "us-central1")
    assert round(with_disk.known, 2) == Decimal("101.54")  # the source gives 101.543
    assert hourly(MachineSpec("n1-standard-8", disk=Disk("pd-ssd", 100)), "us-central1") == Price(EACH)
    standard = hourly(MachineSpec("n1-standard-8", disk=Disk("pd-standard", 100)), "us-central1").known
    assert Decimal("0.4369977") < standard < EACH


def test_every_machine_has_a_price_wherever_it_can_be_had_except_those_in_no_list() -> None:
    for type_ in set(machine_types()) - IN_NO_LIST:
        accelerator = machine(type_).accelerator
        priced = [region for region in regions() if not hourly(MachineSpec(type_, disk=NO_DISK), region).unknown]
        assert accelerator is None or set(regions_with(accelerator)) & set(priced), type_
    for region in regions():
        for type_ in ("n1-standard-4", "n1-standard-8", "e2-standard-4"):
            small = MachineSpec(type_, disk=NO_DISK)
            assert hourly(small, region).complete and hourly(small, region, "spot").complete
    assert all(hourly(MachineSpec(type_, disk=NO_DISK), "us-central1") == UNKNOWN for type_ in IN_NO_LIST)


@pytest.mark.parametrize(
    ("machine", "region", "capacity_type"),
    [
        ("n1-standard-4", "europe-nowhere1", "pool"),
        ("n1-standard-4", "us-central1", "flex-start"),
        ("n1-standard-4", "us-central1", "reservation"),
        ("ct5lp-hightpu-4t", "us-central1", "on-demand"),
        ("a3-megagpu-8g", "us-central1", "pool"),
    ],
)
def test_a_machine_that_the_book_does_not_hold_is_unknown_however_well_its_disk_is_known(
    machine: str, region: str, capacity_type: str
) -> None:
    assert hourly(MachineSpec(machine, disk=Disk("pd-ssd", 100)), region, capacity_type) == UNKNOWN


@pytest.mark.parametrize("type_", ["a2-highgpu-1g", "a2-ultragpu-1g", "g2-standard-12"])
def test_flex_start_costs_at_most_what_it_does_on_demand_where_no_source_has_its_price(type_: str) -> None:  # Z8, W2
    spec = MachineSpec(type_, disk=Disk("pd-ssd", 500))
    bound = hourly(spec, "us-central1", "flex-start")
    assert bound == replace(hourly(spec, "us-central1", "on-demand"), at_most=True)
    assert dollars(bound).startswith("at most $") and (Price(EACH) + bound * 3).at_most and not (bound * 0).at_most
    assert not hourly(MachineSpec("a3-highgpu-8g", disk=NO_DISK), "us-central1", "flex-start").at_most
    assert dollars(bound + UNKNOWN).endswith("/h and more"), "of what has another part it is no bound"


def test_an_unknown_part_does_not_hide_the_machine() -> None:
    with_gpu = hourly(MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 1, Disk("pd-ssd", 100)), "us-central1")
    assert with_gpu == Price(EACH, complete=False)
    machine = hourly(MachineSpec("n4-standard-4", disk=NO_DISK), "us-central1").known
    n4 = MachineSpec("n4-standard-4", disk=Disk("hyperdisk-balanced", 100))
    assert hourly(n4, "us-central1") == Price(machine, complete=False)


def test_a_capacity_type_nobody_knows_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="flex-start"):
        hourly(MachineSpec("n1-standard-4", disk=Disk()), "us-central1", "teleport")


def test_pools_have_a_floor_and_a_ceiling() -> None:  # B2, Z8
    assert total((ClusterSpec("cpu", (WORKERS,)),), "us-central1") == Bounds(Price(EACH), Price(4 * EACH))
    fixed = replace(WORKERS, name="fixed", autoscaled=False, min=2, max=2, replicas=2)
    cluster = ClusterSpec("cpu", (WORKERS, fixed))
    assert total((cluster,), "us-central1") == Bounds(Price(3 * EACH), Price(6 * EACH))
    assert total((), "us-central1") == Bounds(Price(), Price())


def test_one_unknown_price_does_not_hide_the_sum_of_what_is_known() -> None:  # Z8
    b200 = replace(WORKERS, name="b", machine=replace(WORKERS.machine, type="a4-highgpu-8g"))
    assert total((ClusterSpec("cpu", (b200,)),), "us-central1") == Bounds(UNKNOWN, UNKNOWN)
    text = total((ClusterSpec("cpu", (WORKERS, b200)),), "us-central1")
    assert text == Bounds(Price(EACH, complete=False), Price(4 * EACH, complete=False))
    assert "$0.46/h idle" in price_in_words(text) and "($339 to $1,354 a month), and" in price_in_words(text)
    fixed = replace(WORKERS, autoscaled=False, max=1)
    assert price_in_words(total((ClusterSpec("cpu", (fixed, b200)),), "us-central1")) == (
        "$0.46/h and more ($339 a month and more)"
    )


def test_money_in_words() -> None:
    assert dollars(Price(Decimal("1404.034"))) == "$1,404.03/h"
    assert dollars(Price(Decimal("1.305")), per="") == "$1.30"
    assert dollars(Price(Decimal("1.17"), complete=False)) == "$1.17/h and more"
    assert dollars(UNKNOWN) == "price unknown"
    assert Price() == UNKNOWN * 0, "no machines cost nothing, whatever one costs"

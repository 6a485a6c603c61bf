"""The price book: dated figures, exact arithmetic, and no guesses (vertex-rules 8)."""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.cluster import ClusterSpec, PoolSpec
from slipway.machines.spec import Disk, MachineSpec
from slipway.machines.table import machine, machine_types, regions, regions_with
from slipway.prices import UNKNOWN, Bounds, Price, dollars, hourly, price_in_words, total

NO_DISK = Disk("pd-ssd", 0)
WORKERS = PoolSpec("workers", MachineSpec("n1-standard-8"), 1, 4, True, 1)
EACH = Decimal("0.4369977") + 100 * Decimal("0.0002678")
IN_NO_LIST = {"a3-ultragpu-8g", "a4-highgpu-8g", "a4x-highgpu-4g"}


@pytest.mark.parametrize(
    ("machine", "region", "capacity_type", "published"),
    [
        ("n1-standard-4", "us-central1", "pool", "0.21849885"),
        ("n1-standard-4", "us-central1", "on-demand", "0.21849885"),
        ("n1-standard-4", "asia-southeast1", "pool", "0.269544"),
        ("e2-standard-4", "asia-southeast1", "pool", "0.190132"),
        ("a3-highgpu-8g", "us-central1", "pool", "101.0074"),
        ("a3-highgpu-8g", "us-central1", "flex-start", "51.4950"),
        ("a3-highgpu-1g", "us-central1", "pool", "12.6259"),
        ("a3-highgpu-1g", "us-central1", "flex-start", "6.4369"),
    ],
)
def test_published_prices_are_reproduced(machine: str, region: str, capacity_type: str, published: str) -> None:  # Z8
    found = hourly(MachineSpec(machine, disk=NO_DISK), region, capacity_type)
    assert found.complete and abs(found.known - Decimal(published)) < Decimal("0.0001")


def test_a_price_is_compute_engines_and_the_fee() -> None:
    on_demand, spot = Decimal("3.673385"), Decimal("1.92802")
    a2 = MachineSpec("a2-highgpu-1g", disk=NO_DISK)
    assert hourly(a2, "us-central1").known == Decimal("1.15") * on_demand
    assert hourly(a2, "us-central1", "spot").known == spot + Decimal("0.15") * on_demand


def test_no_fee_is_billed_on_local_ssd() -> None:
    """As the published flex-start of an a3-highgpu-8g has it: a fee of 13.1750, of 88.49 with 6,000 GB of it."""
    fee = hourly(MachineSpec("a3-highgpu-8g", disk=NO_DISK), "us-central1", "spot").known - Decimal("50.609541")
    assert round(fee, 3) == Decimal("13.175")


def test_the_formula_that_gives_the_published_n1_gives_the_larger_one() -> None:
    vcpu, gb, fee = Decimal("0.031611"), Decimal("0.004237"), Decimal("1.15")
    assert fee * (4 * vcpu + 15 * gb) == hourly(MachineSpec("n1-standard-4", disk=NO_DISK), "us-central1").known
    assert fee * (8 * vcpu + 30 * gb) == hourly(MachineSpec("n1-standard-8", disk=NO_DISK), "us-central1").known


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
        ("a4-highgpu-8g", "us-central1", "pool"),
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
    assert dollars(bound).startswith("at most $") and (bound * 3 + Price(EACH)).at_most and not (bound * 0).at_most
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
    found = total((ClusterSpec("cpu", (WORKERS, b200)),), "us-central1")
    assert found == Bounds(Price(EACH, complete=False), Price(4 * EACH, complete=False))
    assert "$0.46/h idle" in price_in_words(found) and "($339 to $1,354 a month), and" in price_in_words(found)
    fixed = replace(WORKERS, autoscaled=False, max=1)
    assert price_in_words(total((ClusterSpec("cpu", (fixed, b200)),), "us-central1")) == (
        "$0.46/h and more ($339 a month and more)"
    )


def test_money_in_words() -> None:
    assert dollars(Price(Decimal("1404.034"))) == "$1,404.03/h"
    assert dollars(Price(Decimal("1.305")), per="") == "$1.30"
    assert dollars(Price(Decimal("1.17"), complete=False)) == "$1.17/h and more"
    assert dollars(UNKNOWN) == "price unknown"


def test_no_machines_cost_nothing_whatever_one_costs() -> None:
    assert Price() == UNKNOWN * 0

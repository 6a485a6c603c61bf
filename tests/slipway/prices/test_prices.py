"""The price book: dated figures, exact arithmetic, and no guesses (vertex-rules 8)."""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.cluster import ClusterSpec, Disk, PoolSpec
from slipway.prices import Bounds, dollars, hourly, pool_price, total

NO_DISK = Disk("pd-ssd", 0)
WORKERS = PoolSpec("workers", "n1-standard-8", None, 0, Disk("pd-ssd", 100), 1, 4, True, 1)


@pytest.mark.parametrize(
    ("machine", "way", "price"),
    [
        ("n1-standard-4", "pool", "0.21849885"),
        ("n1-standard-4", "on-demand", "0.21849885"),
        ("n1-standard-8", "pool", "0.4369977"),
        ("a2-highgpu-1g", "pool", "4.2244"),
        ("a2-highgpu-1g", "spot", "1.8444"),
        ("a3-highgpu-8g", "pool", "101.0074"),
        ("a3-highgpu-8g", "flex-start", "51.4950"),
    ],
)
def test_list_prices(machine: str, way: str, price: str) -> None:  # Z8
    assert hourly(machine, "us-central1", NO_DISK, way) == Decimal(price)


def test_the_derived_price_follows_the_formula_that_gives_the_published_one() -> None:
    vcpu, gb, fee = Decimal("0.031611"), Decimal("0.004237"), Decimal("1.15")
    assert fee * (4 * vcpu + 15 * gb) == Decimal("0.21849885") == hourly("n1-standard-4", "us-central1", NO_DISK)
    assert fee * (8 * vcpu + 30 * gb) == hourly("n1-standard-8", "us-central1", NO_DISK)


def test_the_disk_is_in_the_price() -> None:
    with_disk = hourly("a3-highgpu-8g", "us-central1", Disk("pd-ssd", 2000))
    assert with_disk == Decimal("101.543")  # the total that the source gives


@pytest.mark.parametrize(
    ("machine", "region", "disk", "way", "accelerator"),
    [
        ("n1-standard-4", "us-central1", Disk(), "spot", None),
        ("n1-standard-4", "europe-west4", Disk(), "pool", None),
        ("n1-standard-4", "us-central1", Disk("pd-standard", 100), "pool", None),
        ("n1-standard-4", "us-central1", Disk(), "pool", "NVIDIA_TESLA_T4"),
        ("a4-highgpu-8g", "us-central1", Disk(), "pool", "NVIDIA_B200"),
    ],
)
def test_what_the_book_does_not_hold_is_unknown(
    machine: str, region: str, disk: Disk, way: str, accelerator: str | None
) -> None:
    assert hourly(machine, region, disk, way, accelerator=accelerator) is None


def test_a_way_nobody_knows_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="flex-start"):
        hourly("n1-standard-4", "us-central1", Disk(), "teleport")


def test_pools_have_a_floor_and_a_ceiling() -> None:  # B2, Z8
    each = Decimal("0.4369977") + 100 * Decimal("0.0002678")
    assert pool_price(WORKERS, "us-central1") == Bounds(each, 4 * each)
    fixed = replace(WORKERS, name="fixed", autoscaled=False, min=2, max=2, replicas=2)
    cluster = ClusterSpec("cpu", (WORKERS, fixed))
    assert total((cluster,), "us-central1") == Bounds(3 * each, 6 * each)
    assert total((), "us-central1") == Bounds(Decimal(0), Decimal(0))


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    b200 = replace(WORKERS, machine_type="a4-highgpu-8g")
    assert pool_price(b200, "us-central1") is None
    assert total((ClusterSpec("cpu", (WORKERS, replace(b200, name="b"))),), "us-central1") is None


def test_money_in_words() -> None:
    assert dollars(Decimal("1404.034")) == "$1,404.03/h"
    assert dollars(Decimal("1.305"), per="") == "$1.30"
    assert dollars(None) == "price unknown"

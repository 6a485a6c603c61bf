"""Costs of a journey's machines, which are never told too low (Z8)."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from journey.machines import Machines, pool_cost
from slipway.model.prices import UNKNOWN, Price

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
LITTLE, MUCH = Price(Decimal("0.60")), Price(Decimal("1.00"))


@pytest.mark.parametrize(
    ("samples", "line"),
    [
        (((2, LITTLE), (3, MUCH), (2, LITTLE)), "at most $1.00 for 2 to 3 machines over 60.0 minutes, busy or not"),
        (((2, UNKNOWN),) * 3, "price unknown for 2 machines over 60.0 minutes, busy or not"),
        (
            ((2, Price(Decimal("0.60"), complete=False)),) * 3,
            "$0.6000 and more for 2 machines over 60.0 minutes, busy or not",
        ),
    ],
)
def test_the_larger_count_between_two_samples_is_paid(samples: tuple[tuple[int, Price], ...], line: str) -> None:
    moments = (NOON + timedelta(minutes=30 * number) for number in range(3))
    assert pool_cost([Machines(when, *sample) for when, sample in zip(moments, samples, strict=True)]) == line

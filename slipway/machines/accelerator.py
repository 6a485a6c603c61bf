"""What is said of an accelerator in its row of table.json, and what follows from that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from slipway.machines.table import rows


@dataclass(frozen=True)
class Accelerator:
    """`name` is the API's enum name, or a family of TPUs; `model` what people call it (A100, of 40 and 80 GB).

    `quota` ends the name of its metric, `quota_id` is the middle of the quota's id, `label` is for people.
    `documented` is False where the metric's name is inferred. `preemptible`: it has a preemptible metric.
    `flex_start`: flex-start gives it. `reserved_only`: its machines are given to reservations alone.
    """

    name: str
    model: str
    quota: str
    quota_id: str
    label: str
    documented: bool
    preemptible: bool
    flex_start: bool
    reserved_only: bool


def accelerator(name: str) -> Accelerator:
    return _all()[name]


def all_accelerators() -> Iterator[Accelerator]:
    """GPUs in the table's order, then the chips of TPUs."""
    return iter(_all().values())


def models(*, flex_start: bool = False, reserved_only: bool = False) -> tuple[str, ...]:
    """What people call those that flex-start gives, or that only a reservation gives."""
    asked = (
        one for one in all_accelerators() if (one.flex_start and flex_start) or (one.reserved_only and reserved_only)
    )
    return tuple(dict.fromkeys(one.model for one in asked))


@cache
def _all() -> dict[str, Accelerator]:
    return {
        name: Accelerator(
            name=name,
            model=row["model"],
            quota=row["quota"],
            quota_id=row["quotaId"],
            label=row["label"],
            documented=row.get("documented", True),
            preemptible=row.get("preemptible", True),
            flex_start=row.get("flexStart", False),
            reserved_only=row.get("reservedOnly", False),
        )
        for name, row in (*rows("accelerators").items(), *rows("chips").items())
    }

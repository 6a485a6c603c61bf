"""Jobs and reservations: the affinity of a job's machines, and the reservations that it can't have."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ...supply.allotment import Affinity, Kind, Want, unfit
from ...supply.parsing import normal_path
from ...supply.scenario import Reservation
from ...supply.shape import Shape
from ...training_settings import TrainingSettings
from ..field_errors import Mistake
from ..jobs.records import Demand, demands_of
from ..jobs.strategies import affinity_of, strategy_of

_KINDS: Mapping[str, Kind] = {"ANY_RESERVATION": "any", "SPECIFIC_RESERVATION": "specific"}
_ROOT = "job_spec.worker_pool_specs"


def affinity(shape: Shape) -> Affinity:
    """Return the reservations that machines of a shape may come from."""
    given = json.loads(shape.rest)
    paths = given.get("reservationAffinity", {}).get("values", [])
    return Affinity(_KINDS.get(affinity_of(given), "none"), tuple(map(normal_path, paths)))


def wants(demands: Iterable[Demand]) -> list[Want]:
    """Return what a job wants of the supply."""
    return [
        Want(
            item.index,
            item.shape.machine_type,
            item.shape.accelerator_type,
            item.shape.accelerator_count,
            item.count,
            affinity(item.shape),
        )
        for item in demands
    ]


def mistakes(
    spec: Mapping[str, Any], region: str, reservations: Mapping[str, Reservation], rules: TrainingSettings
) -> list[Mistake]:
    """Return the reservations of a canonical job spec that it can never use, as they are."""
    problems = []
    for want in wants(demands_of(spec)):
        where = f"{_ROOT}[{want.index}].machine_spec.reservation_affinity"
        if want.affinity.kind != "none" and strategy_of(spec) == "spot" and rules.spot_reservation == "reject":
            problems.append(Mistake(where, "Reservations are not supported with strategy SPOT."))
        for at, path in enumerate(want.affinity.paths):
            why = _unusable(reservations.get(path), want, region, rules)
            if why:
                problems.append(Mistake(f"{where}.values[{at}]", f"The reservation {path} can't be used: {why}."))
    return problems


def _unusable(reservation: Reservation | None, want: Want, region: str, rules: TrainingSettings) -> str:
    if reservation is None:
        return "it does not exist"
    if reservation.region != region:
        return f"it is in zone {reservation.zone}, not in region {region}"
    if reservation.ends is not None and rules.calendar_reservations == "refused":
        return "it is of a future reservation in calendar mode, which training does not use"
    return unfit(reservation, want)

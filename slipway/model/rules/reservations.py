"""Rules of Compute Engine's reservations as the source of machines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from slipway.base.formatting import join
from slipway.model.capacity import FLEX_START, RESERVATION
from slipway.model.cluster import Reservation
from slipway.model.machines.spec import MachineSpec
from slipway.model.machines.table import Machine, accelerator, accelerators, models
from slipway.model.rules.rule import Rule, Subject, Worker, each_worker

NAME_KEY = "compute.googleapis.com/reservation-name"
NO_RESERVATION = "NO_RESERVATION"
AFFINITY_TYPES = ("SPECIFIC_RESERVATION", "ANY_RESERVATION", NO_RESERVATION)
SHARING = "the reservation must be shared: gcloud … --reservation-sharing-policy=ALLOW_ALL"
_NAME = "[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
PATH = re.compile(
    rf"projects/[^/\s]+/zones/(?P<zone>[a-z]+-[a-z]+[0-9]+-[a-z])/reservations/{_NAME}"
    rf"(/reservationBlocks/{_NAME}(/reservationSubBlocks/{_NAME})?)?"
)


def reserved_only(name: str | None) -> bool:
    """Tell whether machines with this accelerator are given to reservations alone."""
    return name in accelerators() and accelerator(name).reserved_only


def zone(path: str) -> str | None:
    """Return the zone in a reservation's full path; None when the path is invalid."""
    match = PATH.fullmatch(path)
    return match["zone"] if match else None


def _values(worker: Worker) -> tuple[str, ...]:
    values = worker.affinity.get("values") or ()
    return tuple(map(str, values)) if isinstance(values, list | tuple) else ()


@each_worker
def _well_said(worker: Worker) -> Iterator[str]:
    kind = worker.affinity.get("reservationAffinityType")
    if not worker.affinity:
        return
    if kind not in AFFINITY_TYPES:
        yield f"reservationAffinityType {kind}: use {', '.join(AFFINITY_TYPES)}"
    elif kind == "SPECIFIC_RESERVATION":
        if worker.affinity.get("key") != NAME_KEY or not _values(worker):
            yield f"a specific reservation needs key {NAME_KEY} and the reservation's path in values"
    elif worker.affinity.get("key") or _values(worker):
        yield f"key and values belong to SPECIFIC_RESERVATION, not to {kind}"
    for value in _values(worker):
        if zone(value) is None:
            yield (
                f"{value!r} is not a reservation's full path: projects/PROJECT/zones/ZONE/reservations/NAME; {SHARING}"
            )


def misfits_of(
    reserved: Reservation, region: str, shape: Machine, machines: int, now: datetime | None = None
) -> Iterator[str]:
    """Yield the reasons why so many machines of a shape can't come from a reservation. `now`: for a job that starts."""
    if now and (closed := reserved.closed(now)):
        yield closed
    reserved_zone = zone(reserved.path)
    if region and reserved_zone is not None and not reserved_zone.startswith(f"{region}-"):
        yield f"{reserved.path} is in {reserved_zone}, the job in {region}; it can't be used from there"
    if reserved.machine and reserved.machine != shape.type:
        yield f"{reserved.path} holds {reserved.machine}, the job needs {shape.type}: they must be equal"
    elif reserved.accelerator and (reserved.accelerator, reserved.accelerator_count) != (
        shape.accelerator,
        shape.accelerator_count,
    ):
        yield (
            f"{reserved.path} holds {reserved.accelerator} × {reserved.accelerator_count}, the job needs "
            f"{shape.accelerator or 'no accelerator'} × {shape.accelerator_count}: they must be equal"
        )
    if reserved.machines and machines > reserved.machines:
        yield f"{reserved.path} holds {reserved.machines} machines, the job needs {machines}; lower the replicas"


def undeclared(
    declared: Iterable[Reservation],
    region: str,
    spec: MachineSpec,
    shape: Machine,
    machines: int,
    now: datetime | None = None,
) -> str:
    """Return that no declared reservation has so many machines, so that they would be on-demand ones; else nothing."""
    fits = [each for each in declared if not tuple(misfits_of(each, region, shape, machines))]
    closed = [each.closed(now) if now else "" for each in fits]
    if fits:
        return "" if "" in closed else "; ".join(closed)
    needed = spec if machines == 1 else f"{machines} {spec}"
    return f"the stack declares no reservation of {needed}"


def _fits(subject: Subject) -> Iterator[str]:
    """Check the worker pools of one reservation together, and those of any reservation by their machines."""
    asked: dict[str, int] = {}
    for worker in subject.workers:
        shape, path = worker.shape, next(iter(_values(worker)), "")
        of_any = worker.affinity.get("reservationAffinityType") == "ANY_RESERVATION"
        if not isinstance(shape, Machine) or not (path or (of_any and subject.capacity_type == RESERVATION)):
            continue
        source = path or shape.type
        asked[source] = asked.get(source, 0) + worker.replicas * subject.parallel
        if path:
            reserved = subject.reserved.get(path, Reservation(path))
            misfits = list(misfits_of(reserved, subject.region, shape, asked[source], subject.now))
        else:
            declared = subject.reserved.values()
            misfits = [undeclared(declared, subject.region, worker.machine, shape, asked[source], subject.now)]
        yield from (f"{worker.name}: {misfit}" for misfit in misfits if misfit)


def _alone(subject: Subject) -> Iterator[str]:
    if not any(worker.reserves for worker in subject.workers):
        return
    if subject.cluster:
        yield "a reservation can't be combined with a persistent resource; take `reservation` or `pool` alone"
    if subject.is_of(FLEX_START):
        yield "a reservation can't be combined with flex-start; drop one of the two"


def _reserved_only(subject: Subject) -> Iterator[str]:
    for worker in subject.workers:
        if reserved_only(worker.machine.accelerator) and not worker.reserves:
            name = f"{worker.name} ({worker.machine.type})"
            yield f"{name}: such machines are given to reservations only; take `reservation`"


RULES = (
    Rule("reservation-affinity", "Key and values, a full path, are for SPECIFIC_RESERVATION only.", "4.2", _well_said),
    Rule(
        "reservation-fits",
        "A reservation, or any that the stack declares, is in the job's region and, between its dates, has enough "
        "machines like the job's.",
        "4.1 (shape rule, failure row), 4.2",
        _fits,
        of_place=True,
    ),
    Rule("reservation-alone", "A reservation excludes a persistent resource and flex-start.", "4.1", _alone),
    Rule(
        "reserved-only",
        f"{join(models(reserved_only=True))} machines come from a reservation.",
        "4.1, 7.1",
        _reserved_only,
    ),
)

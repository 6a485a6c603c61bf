"""The probe of a reservation in calendar mode: one costs its whole time, so the person names one that is there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from journey.probes.probe import Finding, Probe, unknown
from journey.probes.service import ENDED, Service, error_of
from slipway.base.errors import ConfigError
from slipway.model.machines.spec import MachineSpec
from slipway.model.machines.table import MachineError, machine
from slipway.model.rules.reservations import NAME_KEY, zone


def calendar(service: Service) -> Finding:
    """Run a job of one machine on the reservation, for a minute at most."""
    if service.reserved is None:
        return unknown("not asked: it needs a reservation that you have: RESERVATION=projects/… MACHINE=…")
    path, shape = service.reserved
    affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": NAME_KEY, "values": [path]}
    worker = {**service.worker("exit 0"), **shape.request()}
    worker["machineSpec"] = {**worker["machineSpec"], "reservationAffinity": affinity}
    said = service.make_job("calendar", worker, scheduling={"timeout": "60s"})
    if said.status == 400:
        return Finding("refused, for what its reason says", str(said), {"calendar_reservations": "refused"})
    if not said.ok:
        return unknown("refused for another reason", str(said))
    with service.ending(said.name):
        body = service.reaches(said.name, ENDED | {"JOB_STATE_RUNNING"}, 20)
    if body is None:
        return unknown("it still waited after 20 minutes", service.state(said.name))
    evidence = f"{body['state']} {error_of(body)}".strip()
    if body.get("startTime"):
        return Finding("taken: the job ran on it", evidence, {"calendar_reservations": "consumable"})
    return unknown("the job ended without machines: others may have them all", evidence)


def reserved(path: str, type_: str, region: str) -> tuple[str, MachineSpec] | None:
    """Return the reservation that a person names, with its machine; None where none is. Raises ConfigError."""
    if not path:
        return None
    if not (zone(path) or "").startswith(f"{region}-"):
        what = f"RESERVATION={path} is no reservation in {region}"
        raise ConfigError(what, fix=f"RESERVATION=projects/PROJECT/zones/{region}-a/reservations/NAME, or REGION=…")
    try:
        shape = machine(type_)
    except MachineError as error:
        raise ConfigError(f"MACHINE={type_}: {error}", fix="its machine type: MACHINE=a3-highgpu-8g") from error
    return path, MachineSpec(shape.type, shape.accelerator, shape.accelerator_count)


def on(held: tuple[str, MachineSpec] | None, probes: Iterable[Probe]) -> tuple[Probe, ...]:
    """Return probes with the time and the machine that a job on a named reservation may take."""
    return tuple(
        replace(probe, minutes=30, dear=held[1], dear_minutes=5) if held and probe.ask is calendar else probe
        for probe in probes
    )


PROBES = (
    Probe(
        "calendar-reservation",
        "May a training job take machines of a reservation in calendar mode?",
        "4.1, DWS calendar mode: INF",
        ("calendar_reservations",),
        "runs a job of one machine for a minute on the reservation that RESERVATION=… names, and is left out without",
        1,
        calendar,
    ),
)

"""Probes of strategies: a flex-start job that waits in vain, and a reservation's affinity on a Spot job."""

from __future__ import annotations

from journey.probes.probe import Finding, Probe, unknown
from journey.probes.service import ENDED, Service, error_of
from slipway.model.machines.spec import MachineSpec
from slipway.model.machines.table import region_has

_FLEX = MachineSpec("a2-highgpu-1g", "NVIDIA_TESLA_A100", 1)
_EXPIRED = ("JOB_STATE_FAILED", "JOB_STATE_EXPIRED")


def flex_expiry(service: Service) -> Finding:
    """Run a flex-start job that waits a minute at most for one A100, and cancel it as soon as it has one."""
    if not region_has(service.region, "NVIDIA_TESLA_A100"):
        return unknown(f"{service.region} has no A100 to ask for")
    scheduling = {"strategy": "FLEX_START", "maxWaitDuration": "60s", "timeout": "60s"}
    worker = {**service.worker("hold 1"), **_FLEX.request()}
    said = service.make_job("flex", worker, scheduling=scheduling)
    if not said.ok:
        return unknown("the job was refused", str(said))
    with service.ending(said.name):
        body = service.reaches(said.name, ENDED | {"JOB_STATE_RUNNING"}, 10)
    if body is None:
        return unknown("it still waited 10 minutes after a longest wait of one")
    evidence = f"{body['state']} {error_of(body)}"
    if body.get("startTime") or body["state"] not in _EXPIRED:
        return unknown("it got its machine, so it did not wait in vain; ask when A100s are scarce", evidence)
    return Finding(str(body["state"]), evidence, {"flex_expiry_state": str(body["state"])})


def spot_reservation(service: Service) -> Finding:
    """Send a Spot job that would take any reservation, and cancel it at once."""
    affinity = {"reservationAffinity": {"reservationAffinityType": "ANY_RESERVATION"}}
    plain = service.worker("hold 1")
    worker = {**plain, "machineSpec": {**plain["machineSpec"], **affinity}}
    said = service.make_job("spot", worker, scheduling={"strategy": "SPOT"})
    with service.ending(said.name):
        if said.ok:
            return Finding("accepted", str(said), {"spot_reservation": "ignore"})
    if said.status == 400:
        return Finding("refused", str(said), {"spot_reservation": "reject"})
    return unknown("refused for another reason", str(said))


PROBES = (
    Probe(
        "flex-expiry",
        "In which state does a flex-start job end that waited in vain?",
        "4.1, waits up to maxWaitDuration then fails; 9, EXPIRED",
        ("flex_expiry_state",),
        "asks for one A100 by flex-start with a wait of a minute at most; one that it gets it gives back at once",
        20,
        flex_expiry,
        dear=_FLEX,
        dear_minutes=5,  # The job's time-out is a minute, should this process not live to cancel it.
    ),
    Probe(
        "spot-reservation",
        "Is a reservation's affinity on a Spot job refused or ignored?",
        "4.1, with reservation: ?",
        ("spot_reservation",),
        "sends a Spot job for one small machine that would take any reservation, and cancels it",
        15,
        spot_reservation,
        machines=1,
    ),
)

"""Compute Engine's own advice on Spot machines: how likely they can be had, how long most stay, how many were taken
away. It concerns Spot VMs of a type in a region; that a job of Vertex AI gets the same ones is not documented."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from slipway.base.formatting import percent, plain, span
from slipway.google.answers import Json, shaped
from slipway.google.connection import Connection
from slipway.google.failures import Call, CloudError, Refused
from slipway.google.session import HttpPolicy
from slipway.model.machines.spec import MachineSpec, is_tpu

Found = TypeVar("Found")

_HURRIED = HttpPolicy(connect=2.0, read=4.0, attempts=1)
"""Advice decides nothing, so nothing waits for it for long."""
_MOST = 6
_LONGEST_S = 366 * 86400.0
_SPOT = {"scheduling": {"provisioningModel": "SPOT"}}


@dataclass(frozen=True)
class SpotNeed:
    """Equal Spot machines, all at once, in a region."""

    region: str
    type: str
    #: Attached to each machine, as Compute Engine names them; those that are part of its type are left out.
    accelerator: str
    accelerators: int
    machines: int

    @classmethod
    def of(cls, region: str, machine: MachineSpec, machines: int) -> SpotNeed:
        attached = machine.accelerator if machine.type.startswith("n1-") else None
        name = (attached or "").lower().replace("_", "-")
        return cls(region, machine.type, name, machine.accelerator_count if attached else 0, machines)

    @property
    def attached(self) -> Json:
        item = {"acceleratorType": self.accelerator, "acceleratorCount": self.accelerators}
        return {"guestAccelerators": [item]} if self.accelerator else {}

    def __str__(self) -> str:
        """Return `2 n1-standard-8 with 1 nvidia-tesla-t4`."""
        attached = f" with {self.accelerators} {self.accelerator}" if self.accelerator else ""
        return f"{self.machines} {self.type}{attached}"


@dataclass(frozen=True)
class SpotAdvice:
    """Google's figures on a need; None for what it does not tell."""

    need: SpotNeed
    #: From 0 to 1, higher is better.
    obtainability: float | None
    #: The seconds that most machines stay, at least.
    uptime: float | None
    #: Of the Spot machines of the type that stopped on an average day, the share that was taken away.
    preempted: float | None
    days: int

    @property
    def document(self) -> dict[str, Any]:
        return {
            "region": self.need.region,
            "machineType": self.need.type,
            "accelerator": self.need.accelerator or None,
            "machines": self.need.machines,
            "obtainability": self.obtainability,
            "uptimeSeconds": self.uptime,
            "preemptedShare": self.preempted,
            "days": self.days,
        }

    def __str__(self) -> str:
        """Return `Google: Spot obtainability 0.7 in us-central1 for 2 a3-highgpu-8g (most stay 1 h), preempted 12 % of
        those that stopped on an average day of the last 30`."""
        likely = "unknown" if self.obtainability is None else plain(self.obtainability)
        stay = "" if self.uptime is None else f" (most stay {span(self.uptime)})"
        text = f"Google: Spot obtainability {likely} in {self.need.region} for {self.need}{stay}"
        if self.preempted is None:
            return f"{text}; no history of preemptions"
        average = f"on an average day of the last {self.days}"
        return f"{text}, preempted {percent(self.preempted)} of those that stopped {average}"


@dataclass(frozen=True)
class SpotReport:
    """Google's advice on all needs of a command."""

    advice: tuple[SpotAdvice, ...] = ()
    #: Why some of it is missing; empty where all is there.
    missing: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        return (*map(str, self.advice), *filter(None, (self.missing,)))

    @property
    def document(self) -> list[dict[str, Any]]:
        return [advice.document for advice in self.advice]


NO_ADVICE = SpotReport()


def read_advice(connection: Connection, project: str, needs: Iterable[SpotNeed]) -> SpotReport:
    """Ask for each of the first needs, once. Tells what was not asked for or could not be read, and raises no
    CloudError. TPUs have none."""
    wanted = [need for need in dict.fromkeys(needs) if not is_tpu(need.type)]
    asked, more = wanted[:_MOST], len(wanted) - _MOST
    if not asked:
        return NO_ADVICE
    client = _Advice(connection.with_policy(_HURRIED), project)
    with ThreadPoolExecutor(_MOST, thread_name_prefix="advice") as threads:
        reading = [threads.submit(client.on, need) for need in asked]
    advice, missing = list[SpotAdvice](), f"Google was not asked about {more} more Spot machines" if more > 0 else ""
    for read in reading:
        try:
            advice.append(read.result())
        except CloudError as problem:
            missing = f"Google's advice on Spot was not read: {problem.brief}"
    return SpotReport(tuple(advice), missing)


class _Advice:
    def __init__(self, connection: Connection, project: str) -> None:
        self._session, self._project = connection.session, project
        self._url = f"{connection.endpoints.of('compute')}projects/{project}/regions"

    def on(self, need: SpotNeed) -> SpotAdvice:
        """Return the advice on a need. Raises CloudError."""
        selections = {"machines": {"machineTypes": [need.type], **need.attached}}
        now = {"size": need.machines, "instanceFlexibilityPolicy": {"instanceSelections": selections}}
        obtainability, uptime = self._read(need, "capacity", {"instanceProperties": _SPOT, **now}, _scores)
        past = {"instanceProperties": {**_SPOT, "machineType": need.type, **need.attached}, "types": ["PREEMPTION"]}
        try:
            rates = self._read(need, "capacityHistory", past, _rates)
        except Refused:  # Not all machines have a history.
            rates = ()
        return SpotAdvice(need, obtainability, uptime, sum(rates) / len(rates) if rates else None, len(rates))

    def _read(self, need: SpotNeed, method: str, body: Json, read: Callable[[Json], Found]) -> Found:
        on = f"project {self._project}"
        call = Call(f"ask how likely Spot machines are in {need.region}", f"compute.advice.{method}", on)
        url = f"{self._url}/{need.region}/advice/{method}"
        return shaped(call, read, self._session.post(url, call, body, idempotent=True))


def _scores(answer: Json) -> tuple[float | None, float | None]:
    """Return the obtainability, and the uptime in seconds, of the one recommendation."""
    recommendations: Sequence[Json] = answer.get("recommendations", ())
    scores: Json = recommendations[0].get("scores", {}) if recommendations else {}
    obtainability, uptime = scores.get("obtainability"), scores.get("estimatedUptime")
    return (
        None if obtainability is None else _within(obtainability, 1.0),
        None if uptime is None else _within(str(uptime).removesuffix("s"), _LONGEST_S),
    )


def _within(value: Any, most: float) -> float:
    """Return a number from 0 to `most`. Raises ValueError for another, which is no figure of Google's."""
    if not 0.0 <= float(value) <= most:
        raise ValueError(f"{value} is not within 0 and {most:g}")
    return float(value)


def _rates(answer: Json) -> tuple[float, ...]:
    """Return the rate of each day; JSON may leave out a 0."""
    return tuple(_within(day.get("preemptionRate", 0), 1.0) for day in answer.get("preemptionHistory", ()))

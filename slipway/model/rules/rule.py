"""A rule of Vertex AI training that can be checked before anything is sent, and its subject: a request's JSON with its
placeholders filled, read into values.

Reading is forgiving: a number may be a text, as int64 is in JSON, and missing values are empty. Unknown fields and
wrong types are left to the official message type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.cluster import Reservation
from slipway.model.kinds import KINDS, PIPELINE_JOB
from slipway.model.machines.spec import MachineSpec, is_tpu, machine_or_tpu
from slipway.model.machines.table import Machine, MachineError


@dataclass(frozen=True)
class Worker:
    """A used worker pool of a request. Values that the request omits are empty."""

    index: int
    body: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"worker pool {self.index}"

    @cached_property
    def spec(self) -> Mapping[str, Any]:
        return mapping(self.body.get("machineSpec"))

    @cached_property
    def machine(self) -> MachineSpec:
        """The requested machine, with its built-in accelerators and the service's defaults."""
        shape, count = self.shape, self._count
        built_in = (shape.accelerator, shape.accelerator_count) if isinstance(shape, Machine) else (None, 0)
        disk = mapping(self.body.get("diskSpec"))
        # A size that is not a number becomes 0, which its rule refuses.
        size = str(as_int(disk.get("bootDiskSizeGb", 100)))
        machine = {
            **self.spec,
            "acceleratorType": self.spec.get("acceleratorType") or built_in[0],
            "acceleratorCount": built_in[1] if count is None else count,
        }
        return MachineSpec.read({"machineSpec": machine, "diskSpec": {**disk, "bootDiskSizeGb": size}})

    @property
    def _count(self) -> int | None:
        return as_int(self.spec["acceleratorCount"]) if "acceleratorCount" in self.spec else None

    @property
    def _type(self) -> str:
        return str(self.spec.get("machineType", ""))

    @property
    def topology(self) -> str | None:
        return self.spec.get("tpuTopology")

    @property
    def is_tpu(self) -> bool:
        return is_tpu(self._type)

    @cached_property
    def shape(self) -> Machine | MachineError:
        """The machine, or the error in it."""
        try:
            return machine_or_tpu(self._type, self.spec.get("acceleratorType"), self._count, self.topology)
        except MachineError as error:
            return error

    @property
    def replicas(self) -> int:
        return as_int(self.body.get("replicaCount", 0))

    @property
    def affinity(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("reservationAffinity"))

    @property
    def reserves(self) -> bool:
        return self.affinity.get("reservationAffinityType") in ("SPECIFIC_RESERVATION", "ANY_RESERVATION")

    @property
    def code(self) -> Mapping[str, Any]:
        """The container or the package, whichever is given."""
        return mapping(self.body.get("containerSpec") or self.body.get("pythonPackageSpec"))


@dataclass(frozen=True)
class Subject:
    """A request of one kind, to be posted in `region`."""

    kind: str
    body: Mapping[str, Any]
    region: str = ""
    #: The source of its machines, empty when none is named.
    capacity_type: str = ""
    #: Known reservations, by full path.
    reserved: Mapping[str, Reservation] = field(default_factory=dict)
    #: The time at which it is posted; None for a request that is not.
    now: datetime | None = None

    @cached_property
    def spec(self) -> Mapping[str, Any]:
        """The CustomJobSpec."""
        return KINDS[self.kind].spec_of(self.body)

    @cached_property
    def scheduling(self) -> Mapping[str, Any]:
        return mapping(self.spec.get("scheduling"))

    @property
    def strategy(self) -> str:
        return str(self.scheduling.get("strategy") or "STANDARD")

    def is_of(self, capacity_type: str) -> bool:
        """Tell whether the strategy is that of a capacity type, whatever type the request is declared for."""
        return self.strategy == CAPACITY_TYPES[capacity_type].strategy

    @property
    def cluster(self) -> str:
        return str(self.spec.get("persistentResourceId", ""))

    @cached_property
    def pools(self) -> tuple[Mapping[str, Any], ...]:
        """All worker pools, skipped ones too. Each task of a pipeline is a job with one worker pool of one replica."""
        pools = tuple(mapping(pool) for pool in self.spec.get("workerPoolSpecs") or ())
        return tuple({**pool, "replicaCount": "1"} for pool in pools[:1]) if self.kind == PIPELINE_JOB.name else pools

    @cached_property
    def workers(self) -> tuple[Worker, ...]:
        """The worker pools that are used."""
        return tuple(Worker(index, body) for index, body in enumerate(self.pools) if body)

    @property
    def parallel(self) -> int:
        """The number of concurrent trials; 1 for a job without trials."""
        return as_int(self.body.get("parallelTrialCount", 0)) if KINDS[self.kind].has_trials else 1

    @property
    def study(self) -> Mapping[str, Any]:
        return mapping(self.body.get("studySpec"))


Check = Callable[[Subject], Iterable[str]]


def each_worker(check: Callable[[Worker], Iterable[str]]) -> Check:
    """Return the check of a request's worker pools one by one; each line begins with the name of its worker pool."""
    return lambda subject: (f"{worker.name}: {line}" for worker in subject.workers for line in check(worker))


@dataclass(frozen=True)
class Rule:
    """A rule of the service."""

    id: str
    text: str
    #: A section of the reference on the service's rules (docs/architecture.md), or "ours" for a team's own rule.
    source: str
    #: Yields one line for each breach, with the values and the way out.
    check: Check
    #: The rule depends on where the job runs: a template that breaks it can't run there, and may still be right.
    of_place: bool = False
    #: The only kind of job that the rule is for; empty for all.
    kind: str = ""


@dataclass(frozen=True)
class Breach:
    """A rule that a request breaks, and how."""

    rule: Rule
    text: str

    def __str__(self) -> str:
        return f"{self.text} [{self.rule.id}]"


def twice(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    return sorted(name for name, times in Counter(names).items() if times > 1)


def mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def as_int(value: Any) -> int:
    """Return the number of a JSON value; 0 when it is not a number."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


def seconds(value: Any) -> float | None:
    """Return the seconds of a JSON duration, `3600s`; None when it is invalid."""
    if not isinstance(value, str) or not value.endswith("s"):
        return None
    try:
        return float(value[:-1])
    except ValueError:
        return None

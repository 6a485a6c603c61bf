"""Combinations allowed with each strategy of getting machines (vertex-rules 4.1 and 4.2)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...supply import machines, tpus
from ...supply.scenario import Strategy
from ..field_errors import Mistake

FLEX_ACCELERATORS = (
    "NVIDIA_L4",
    "NVIDIA_TESLA_A100",
    "NVIDIA_A100_80GB",
    "NVIDIA_H100_80GB",
    "NVIDIA_H100_MEGA_80GB",
    "NVIDIA_H200_141GB",
    "NVIDIA_B200",
)
MAX_FLEX_TIMEOUT_S = 7 * 24 * 3600
DEFAULT_MAX_WAIT_S = 24 * 3600
RESERVATION_KEY = "compute.googleapis.com/reservation-name"
_STRATEGIES: Mapping[str, Strategy] = {"SPOT": "spot", "LOW_COST": "spot", "FLEX_START": "flex-start"}
_POOLS = "job_spec.worker_pool_specs"
_STRATEGY = "job_spec.scheduling.strategy"
_MAX_WAIT = "job_spec.scheduling.max_wait_duration"
_RESERVATION = re.compile(
    r"projects/[^/]+/zones/[^/]+/reservations/[^/]+(/reservationBlocks/[^/]+(/reservationSubBlocks/[^/]+)?)?"
)


def strategy_of(spec: Mapping[str, Any]) -> Strategy:
    """Return the strategy by which a canonical job spec gets its machines."""
    return _STRATEGIES.get(spec.get("scheduling", {}).get("strategy", ""), "standard")


def max_wait_s(spec: Mapping[str, Any]) -> float | None:
    """Return how long a flex-start job may wait for machines, None forever; None too for other jobs."""
    if strategy_of(spec) != "flex-start":
        return None
    text = spec.get("scheduling", {}).get("maxWaitDuration", f"{DEFAULT_MAX_WAIT_S}s")
    return _seconds(text) or None


def mistakes(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield the errors in a canonical job spec that combines what does not go together."""
    strategy = spec.get("scheduling", {}).get("strategy", "")
    if _seconds(spec.get("scheduling", {}).get("maxWaitDuration", "0s")) < 0:
        yield Mistake(_MAX_WAIT, "Max wait duration must not be negative.")
    if "maxWaitDuration" in spec.get("scheduling", {}) and strategy_of(spec) != "flex-start":
        yield Mistake(_MAX_WAIT, "Max wait duration is supported with strategy FLEX_START only.")
    yield from _affinities(spec)
    if spec.get("persistentResourceId"):
        yield from _on_cluster(spec, strategy)
    if strategy_of(spec) == "flex-start":
        yield from _flex(spec)
    for path, machine in machine_specs(spec) if strategy_of(spec) == "spot" else ():
        if tpus.is_pod(machine):
            yield Mistake(path, "TPU Pods are not supported with strategy SPOT.")


def affinity_of(machine: Mapping[str, Any]) -> str:
    """Return the reservation affinity type of a canonical machine spec; NO_RESERVATION is that of one without."""
    kind = machine.get("reservationAffinity", {}).get("reservationAffinityType", "")
    return "NO_RESERVATION" if kind in ("", "TYPE_UNSPECIFIED") else str(kind)


def machine_specs(spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return (path, canonical machine spec) of each worker pool that is not skipped."""
    pools = enumerate(spec.get("workerPoolSpecs", []))
    return [(f"{_POOLS}[{at}].machine_spec", pool.get("machineSpec", {})) for at, pool in pools if pool]


def _on_cluster(spec: Mapping[str, Any], strategy: str) -> Iterator[Mistake]:
    if strategy_of(spec) != "standard":
        yield Mistake(_STRATEGY, f"Strategy {strategy} is not supported on a persistent resource.")
    for path, machine in machine_specs(spec):
        if tpus.is_tpu(machine):
            yield Mistake(path, "TPUs are not supported on persistent resources.")
        if affinity_of(machine) != "NO_RESERVATION":
            text = "Reservations are not supported on a persistent resource."
            yield Mistake(f"{path}.reservation_affinity", text)


def _flex(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    timeout = spec.get("scheduling", {}).get("timeout")
    if timeout and _seconds(timeout) > MAX_FLEX_TIMEOUT_S:
        text = f"Timeout must be at most {MAX_FLEX_TIMEOUT_S}s (7 days) with strategy FLEX_START."
        yield Mistake("job_spec.scheduling.timeout", text)
    specs = machine_specs(spec)
    for path, machine in specs:
        accelerator = machine.get("acceleratorType", "")
        if accelerator not in FLEX_ACCELERATORS:
            known = ", ".join(FLEX_ACCELERATORS)
            text = f"Strategy FLEX_START requires one of the accelerators {known}; this is {accelerator or 'none'}."
            yield Mistake(f"{path}.accelerator_type", text)
        if affinity_of(machine) != "NO_RESERVATION":
            yield Mistake(f"{path}.reservation_affinity", "Reservations are not supported with strategy FLEX_START.")
        if _configuration(machine) != _configuration(specs[0][1]):
            text = "With strategy FLEX_START all worker pools must have the same machine configuration."
            yield Mistake(path, text)


def _affinities(spec: Mapping[str, Any]) -> Iterator[Mistake]:
    for path, machine in machine_specs(spec):
        where = f"{path}.reservation_affinity"
        given = machine.get("reservationAffinity", {})
        kind, accelerator = affinity_of(machine), machine.get("acceleratorType", "")
        if kind == "NO_RESERVATION" and accelerator in machines.RESERVED_ONLY:
            yield Mistake(where, f"Accelerator {accelerator} requires a shared reservation.")
        if kind == "SPECIFIC_RESERVATION":
            yield from _specific(where, given)
        elif given.get("key") or given.get("values"):
            yield Mistake(where, "Key and values are for SPECIFIC_RESERVATION only.")


def _specific(where: str, given: Mapping[str, Any]) -> Iterator[Mistake]:
    if given.get("key") != RESERVATION_KEY:
        yield Mistake(f"{where}.key", f'Key "{given.get("key", "")}" must be "{RESERVATION_KEY}".')
    if not given.get("values"):
        yield Mistake(f"{where}.values", "At least one reservation is required.")
    for at, value in enumerate(given.get("values", [])):
        if not _RESERVATION.fullmatch(value):
            text = f'"{value}" must be of the form projects/PROJECT/zones/ZONE/reservations/NAME.'
            yield Mistake(f"{where}.values[{at}]", text)


def _configuration(machine: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in machine.items() if key != "reservationAffinity"}


def _seconds(text: str) -> float:
    return float(text.removesuffix("s"))

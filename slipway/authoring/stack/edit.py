"""An edit of a stack by a team's own program, for what a file can't say in a loop; held to the checks of a file."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

from slipway.authoring.stack.stack import Edit, Stack, parse
from slipway.authoring.stack.yaml_file import Document
from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.model.cluster import ClusterSpec, PoolSpec, Reservation
from slipway.model.machines.spec import MachineSpec
from slipway.model.season import moment_text


def edited(stack: Stack, edit: Edit) -> Stack:
    """Return the edited stack. Raises ConfigError, with the function's name, file and line, where it fails, moves the
    stack, or returns what no stack file could declare."""
    code = inspect.unwrap(edit).__code__
    line = code.co_firstlineno
    who = f"{edit.__name__} of {Path(code.co_filename).name}"
    try:
        result = edit(stack)
        values = {"config": _config(result)}
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        at = next((frame.lineno for frame in reversed(frames) if frame.filename == code.co_filename), line)
        why = f"line {at}: {type(error).__name__}: {error}"
        raise ConfigError(f"{who} returns no stack", why=why, fix="dataclasses.replace(stack, …) makes one") from error
    if (result.name, result.project, result.region) != (stack.name, stack.project, stack.region):
        raise ConfigError(
            f"{who} moves the stack",
            why="the engine knows its resources by its name, project and region",
            fix="leave these as they are; another stack is another file",
        )
    # The checks of a stack file hold for the result too.
    declared = parse(Document(who, values, {(): line}), stack=stack.name)
    for field in fields(Stack):
        if getattr(declared, field.name) != getattr(result, field.name):
            raise ConfigError(
                f"{who} gives `{field.name}` a value that no stack file can have",
                fix="change what a stack file can say (docs/stack-file.md)",
            )
    return result


def _config(stack: Stack) -> dict[str, Any]:
    return {
        "gcp:project": stack.project,
        "gcp:region": stack.region,
        "gcp:addPulumiAttributionLabel": "false",  # as in every stack file
        "slipway:persistentResources": {cluster.name: _cluster(cluster) for cluster in stack.clusters},
        "slipway:quota": stack.quota.model_dump(by_alias=True, exclude_defaults=True),
        "slipway:policy": stack.policy.model_dump(by_alias=True, exclude_none=True),
        "slipway:templates": list(stack.templates),
        "slipway:workspace": stack.workspace.model_dump(by_alias=True, exclude_none=True),
        "slipway:reservations": {name: _reservation(reservation) for name, reservation in stack.reservations.items()},
        "slipway:trainers": {name: trainer.model_dump(by_alias=True) for name, trainer in stack.trainers.items()},
        **({"slipway:budget": codec.write(stack.budget)} if stack.budget else {}),
    }


def _cluster(spec: ClusterSpec) -> dict[str, Any]:
    season = spec.season
    entry = {
        "pools": _pools(spec.pools),
        "network": spec.network,
        "reservedIpRanges": list(spec.reserved_ip_ranges),
        "encryption": {"kmsKey": spec.kms_key} if spec.kms_key else None,
        "pscInterface": codec.write(spec.psc) if spec.psc else None,
        "serviceAccount": {"custom": spec.custom_service_account},
    }
    if spec.adopted:
        return _given({**entry, "id": spec.adopted.id})
    return _given(
        {
            **entry,
            "displayName": spec.display_name,
            "labels": dict(spec.labels),
            "replacement": spec.replacement,
            "generation": spec.generation,
            "retireWithin": _duration(spec.retire_within),
            "createWithin": _duration(spec.create_within),
            "alternatives": [
                _given({"region": alternative.region, "pools": _pools(alternative.pools, spec.pools)})
                for alternative in spec.alternatives
            ],
            "from": season.begins and moment_text(season.begins),
            "until": season.ends and moment_text(season.ends),
            "idleLimit": _duration(season.idle_limit),
        }
    )


def _pools(pools: Iterable[PoolSpec], but: Iterable[PoolSpec] = ()) -> dict[str, Any]:
    return {pool.name: _pool(pool) for pool in pools if pool not in but}


def _pool(pool: PoolSpec) -> dict[str, Any]:
    initial = {"initial": pool.replicas} if pool.replicas != pool.min else {}
    sizes = {"min": pool.min, "max": pool.max, **initial}
    return {**_machine(pool.machine), "replicas": sizes if pool.autoscaled else pool.replicas}


def _machine(spec: MachineSpec) -> dict[str, Any]:
    others = codec.write(spec)
    machine, type_, count = others.pop("type"), others.pop("accelerator", None), others.pop("acceleratorCount")
    return {"machine": machine, **_accelerator(type_, count), **others}


def _accelerator(type_: str | None, count: int) -> dict[str, Any]:
    return {"accelerator": {"type": type_, "count": count}} if type_ else {}


def _reservation(reservation: Reservation) -> dict[str, Any]:
    accelerator = _accelerator(reservation.accelerator, reservation.accelerator_count)
    return _given(
        {"path": reservation.path, "machine": reservation.machine, "machines": reservation.machines, **accelerator}
    )


def _given(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if value not in (None, "", [], {}, 0)}


def _duration(time: timedelta | None) -> str | None:
    """Return `7d`, `90m`: the time in its largest whole unit."""
    if time is None:
        return None
    seconds = time.total_seconds()
    for unit, length in (("d", 86400), ("h", 3600)):
        if seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds / 60:g}m"

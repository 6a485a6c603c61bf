"""A template on the machines of a stack, whose keys it may name in place of machine types."""

from __future__ import annotations

from dataclasses import replace

from slipway.authoring.stack.stack import Stack
from slipway.authoring.template.job_template import JobTemplate
from slipway.authoring.template.worker_pool import WorkerPool
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, nearest
from slipway.model.machines.spec import Disk
from slipway.model.machines.table import machine_types


def on_stack(template: JobTemplate, stack: Stack) -> JobTemplate:
    """Return the template with a stack's machines in place of their keys.

    Raises ConfigError for keys that the stack does not have, and for machines that the template can't have.
    """
    keys = dict.fromkeys(pool.key for pool in template.all_pools if pool.key)
    if lacking := [key for key in keys if key not in stack.machines]:
        raise _unknown(template, lacking, stack)
    if not keys:
        return template
    return replace(
        template,
        worker_pools=_pools(template.worker_pools, stack),
        variants=tuple(
            replace(variant, worker_pools=_pools(variant.worker_pools, stack)) for variant in template.variants
        ),
    )


def _pools(pools: tuple[WorkerPool, ...], stack: Stack) -> tuple[WorkerPool, ...]:
    return tuple(_pool(pool, stack) if pool.key else pool for pool in pools)


def _pool(pool: WorkerPool, stack: Stack) -> WorkerPool:
    entry = stack.machines[pool.key]
    attached, disk = entry.accelerator, entry.disk
    return replace(
        pool,
        machine=entry.machine,
        accelerator=attached.type if attached else None,
        accelerator_count=attached.count if attached else None,
        disk=Disk(disk.type or "", disk.size_gb) if disk else pool.disk,
    )


def _unknown(template: JobTemplate, lacking: list[str], stack: Stack) -> ConfigError:
    near = nearest(lacking[0], (*stack.machines, *machine_types()))
    known = f"it has {join(stack.machines)}" if stack.machines else "it has none"
    return ConfigError(
        f"template {template.name} names machine {join(map(repr, lacking))}, which stack {stack.name} does not have",
        why=f"a machine without a hyphen is a key under slipway:machines, and {known}",
        fix=f"did you mean machine={near!r}?"
        if near
        else f"declare it: slipway:machines: {{{lacking[0]}: n1-standard-8}}",
    )

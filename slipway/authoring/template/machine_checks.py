"""Checks of the machines that a template asks for: worker pools, shapes, variants, regions, waits and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.authoring.template.declaration import Declaration, Shape, Variant
from slipway.authoring.template.worker_pool import WorkerPool, places
from slipway.base.formatting import join, nearest
from slipway.model.capacity import CAPACITY_TYPES, PAID_ANYWAY
from slipway.model.catalog.placeholders import whole
from slipway.model.machines.table import MachineError, regions
from slipway.model.rules.rule import twice
from slipway.model.rules.workers import MOST_POOLS, POSITIONS


def machine_problems(template: Declaration) -> Iterator[str]:
    """Yield the mistakes in a template's worker pools, shapes, regions and variants, in this order."""
    yield from _pools(template, template.worker_pools)
    yield from _shapes(template, template.worker_pools, template.shapes)
    yield from _regions(template)
    for number, variant in enumerate(template.variants, 1):
        yield from (f"variant {number}: {problem}" for problem in _variant(template, variant))
        for other, before in enumerate(template.variants[: number - 1], 1):
            if all({*variant.values.get(name, (None,))} <= {*values} for name, values in before.values.items()):
                yield f"variant {number}: never applies, as variant {other} stands before it and fits first"


def each_once(where: str, named: tuple[str, ...], known: Mapping[str, object]) -> Iterator[str]:
    """Yield what is wrong with names of which each must be known, and stand once."""
    for name in named:
        if name not in known:
            yield f"{where}: unknown {name!r}; known: {', '.join(known)}"
    if not named or len(set(named)) < len(named):
        yield f"{where}: name each of {', '.join(known)} at most once, and at least one"


def wait_problems(template: Declaration) -> Iterator[str]:
    """Yield the waits of no capacity type of the template, and those that aren't positive."""
    of_variants = {name for variant in template.variants for name in variant.capacity_types}
    known = {
        *template.capacity_types,
        *of_variants,
        *(name for shape in template.all_shapes for name in shape.capacity_types),
    }
    for name, seconds in template.waits.items():
        if name not in known:
            yield f"waits: {name!r} is none of the capacity types {', '.join(sorted(known))}"
        elif seconds <= 0:
            yield f"waits: {name}: {seconds} is not a valid time; leave it out to wait forever"


def _variant(template: Declaration, variant: Variant) -> Iterator[str]:
    if not variant.values:
        yield "`when` is empty: what always applies are the template's own worker_pools and capacity_types"
    for name, values in variant.values.items():
        parameter = template.parameter(name)
        if parameter is None:
            yield f"unknown parameter {name}"
        elif not parameter.finite:
            yield f"parameter {name} chooses a variant, so it needs choices (or type bool), and is no list"
        elif wrong := [value for value in values if value not in parameter.finite]:
            yield f"{name} {join(map(repr, wrong), 'or')} is none of {', '.join(map(str, parameter.finite))}"
    if not variant.worker_pools and not variant.capacity_types and not variant.refusal and not variant.shapes:
        yield "neither worker_pools nor capacity_types nor shapes nor a refusal: it changes nothing"
    if variant.worker_pools:
        yield from _pools(template, variant.worker_pools)
    yield from _shapes(template, variant.worker_pools or template.worker_pools, variant.shapes)
    if variant.capacity_types:
        yield from each_once("capacity_types", variant.capacity_types, CAPACITY_TYPES)


def _shapes(template: Declaration, first: tuple[WorkerPool, ...], shapes: tuple[Shape, ...]) -> Iterator[str]:
    named: list[object] = [_machines_of(first)]
    for number, shape in enumerate(shapes, 2):
        yield from (f"shape {number}: {problem}" for problem in _pools(template, shape.worker_pools))
        if shape.capacity_types:
            checked = each_once("capacity_types", shape.capacity_types, CAPACITY_TYPES)
            yield from (f"shape {number}: {problem}" for problem in checked)
        machines = _machines_of(shape.worker_pools)
        if machines in named:
            apart = ", and no TPU topology tells them apart" * any(pool.tpu_topology for pool in shape.worker_pools)
            yield f"shape {number}: the machines of shape {named.index(machines) + 1}, in the same numbers{apart}"
        named.append(machines)


def _regions(template: Declaration) -> Iterator[str]:
    for name in template.regions:
        if name not in regions():
            yield f"regions: {name!r} has no custom training; did you mean {nearest(name, regions()) or regions()[0]}?"
    yield from (f"regions: {name} is listed twice" for name in twice(template.regions))
    types = [*template.capacity_types]
    types += [name for variant in template.variants for name in variant.capacity_types]
    types += [name for shape in template.all_shapes for name in shape.capacity_types]
    if template.regions and {*types} <= PAID_ANYWAY:
        yield "regions: none of its capacity types has machines of its own, and a pool is where its cluster is"
    if template.regions and template.at_home:
        yield f"regions: its {template.at_home} is in the stack's own region, and so must its jobs be"


def _machines_of(pools: tuple[WorkerPool, ...]) -> tuple[object, ...]:
    """Return the machines of a shape, which no other shape has, however their accelerators are written."""
    return tuple((_machine_of(pool), pool.replicas) for pool in pools)


def _machine_of(pool: WorkerPool) -> str:
    try:
        return str(pool.spec)
    except MachineError:  # A key of the stack, or a mistake that is told beside this.
        return pool.machine


def _pools(template: Declaration, pools: tuple[WorkerPool, ...]) -> Iterator[str]:
    if not 1 <= len(pools) <= MOST_POOLS:
        yield f"worker_pools: {len(pools)}; Vertex AI takes 1 to {MOST_POOLS}"
    else:
        try:
            if places(pools)[0] != 0:
                yield f"worker pool {pools[0].role!r}: the first one is the chief, whatever its `position`"
        except ValueError as error:
            yield f"worker pool {str(error)!r}: no place is left for it; the order is {', '.join(POSITIONS)}"
    if pools and pools[0].replicas != 1:
        yield f"worker pool {pools[0].role!r}: the first one is the chief and must have exactly 1 replica"
    if len({pool.role for pool in pools}) < len(pools):
        yield "worker_pools: each needs a role of its own"
    for pool in pools:
        yield from (f"worker pool {pool.role!r}: {problem}" for problem in _pool(template, pool))


def _pool(template: Declaration, pool: WorkerPool) -> Iterator[str]:
    if pool.key:  # Its machine is known once there is a stack.
        if pool.accelerator or pool.accelerator_count or pool.tpu_topology:
            yield f"machine {pool.key!r} is a key of the stack, which says its accelerators; leave them out"
    else:
        try:
            shape = pool.shape
        except MachineError as error:
            yield f"{error.what} ({error.fix})"
            return
        if pool.spec.disk.type not in shape.disks:
            yield f"disk {pool.disk.type!r} does not fit {shape.type}; fitting: {', '.join(shape.disks)}"
    yield from count_problems(template, "replicas", pool.replicas, "machines")
    if pool.code is not None:
        yield from map(": ".join, pool.code.problems())


def count_problems(template: Declaration, where: str, count: int | str, what: str) -> Iterator[str]:
    """Yield what is wrong with a number of things, or with the parameter that says it."""
    if isinstance(count, int):
        if count < 1:
            yield f"{where} {count} is below 1"
        return
    parameter = template.parameter(whole(count) or "")
    if parameter is None or parameter.type is not int:
        yield f"{where} {count!r} is neither a number nor '${{name}}' of an int parameter"
        return
    least = min(map(int, parameter.choices), default=parameter.min)
    if least is None or least < 1 or not (parameter.choices or parameter.max is not None):
        yield f"{where} {count!r}: {parameter.name} counts {what}: it needs min (1 or more) and max, or choices"

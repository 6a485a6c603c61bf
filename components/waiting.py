"""Outputs among arguments. None may wait for a component, as no component is decided about before all are known."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import pulumi
from pulumi._types import is_input_type

from .entries import ArgumentError
from .member import Member
from .namesakes import noted
from .options import resources_in
from .secret_arguments import refuse_secret

Future = asyncio.Future[Any]


async def come(component: Member, components: Collection[Member], path: str, output: pulumi.Output[Any]) -> None:
    """Wait for an output among a component's arguments. Raises ArgumentError where it waits for one of `components`,
    and for a secret that can't stay secret."""
    while not output._data.done():
        ends = _ends([output._data], own := _own(components))
        why = "the components of a program are decided about together, before any of them has outputs"
        _refuse(component, path, ends, own, why, "the value itself, or an output of a resource of your own that needs")
        # A task that waits for nothing takes its next step by itself.
        if any(isinstance(end, asyncio.Task) for end in ends):
            await asyncio.sleep(0)
        else:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    await refuse_secret(component, path, output)


def refuse_late(components: Collection[Member]) -> None:
    """Raise ArgumentError where what comes before the clusters of a workspace depends on resources that wait for them,
    or for what comes after them. `components`: those of the workspace.

    Also where all of them live: the next edit of one that is waited for could not be deployed.
    """
    own = _own(each for each in components if each.kind in ("cluster", "template", "catalog"))
    # A cluster itself is declared before it has outputs.
    own = {each: other for each, other in own.items() if other.kind != "cluster" or each is not other.urn._data}
    for component, option in product(components, ("depends_on", "parent", "provider")):
        if component.kind not in ("workspace", "quota", "cluster") or not getattr(component.options, option):
            continue
        alone = pulumi.ResourceOptions(**{option: getattr(component.options, option)})
        ends = _ends(_needed({}, alone, components), own)
        why = "the clusters of a workspace come to be together, after all that one of them depends on"
        _refuse(component, option, ends, own, why, f"leave {option} out, or name what needs")


def awaited_in(components: Collection[Member], others: Collection[Member]) -> Member | None:
    """Return one of `others` that one of the components waits for by its options."""
    own = _own(others)
    for component in components:
        ends = _ends(_needed({}, component.options, components), own)
        if awaited := next((own[end] for end in ends if end in own), None):
            return awaited
    return None


def waits_for(resource: pulumi.Resource, components: Collection[Member]) -> bool:
    """Return whether the registration of a resource waits for one of these components."""
    own = _own(components)
    return not own.keys().isdisjoint(_ends([resource.urn._data], own))


async def settled(components: Collection[Member], left: Collection[Member]) -> None:
    """Wait until all that the program declares is registered, also what these components declare by their results,
    except what waits for those that are `left`. A registration that fails ends the program by itself."""
    own = _own(left)
    await asyncio.gather(*(component.result.future() for component in components), return_exceptions=True)
    later = [component.later.future() for component in components if component.later is not None]
    await asyncio.gather(*later, return_exceptions=True)
    while True:
        urns = [each.resource.urn._data for each in noted()]
        pending = [urn for urn in urns if not urn.done() and own.keys().isdisjoint(_ends([urn], own))]
        if not pending:
            return
        await asyncio.wait(pending)


def _own(components: Iterable[Member]) -> Mapping[Future, Member]:
    return {each: other for other in components for each in (other.result._data, other.urn._data, other.children)}


def _refuse(
    component: Member, path: str, ends: Collection[Future], own: Mapping[Future, Member], why: str, fix: str
) -> None:
    if awaited := next((own[end] for end in ends if end in own), None):
        raise ArgumentError(
            f"{component.title}: {path} waits for {awaited.title}",
            why=why,
            fix=f"{fix} nothing of {awaited.pulumi_resource_name}",
        )


def _ends(futures: Collection[Future], own: Mapping[Future, Member]) -> Collection[Future]:
    """Return the futures at the ends of the chains that pending ones wait for: of tasks, and of what the program's own
    resources are given."""
    given = {output._data: args for args in noted() for output in _outputs(args.resource)}
    waiting, seen, ends = list(futures), set[Future](), list[Future]()
    while waiting:
        future = waiting.pop()
        if future in seen or future.done():
            continue
        seen.add(future)
        args = given.get(future)
        steps = [*(_needed(args.props, args.opts) if args else ())]
        steps = [each for each in steps if not each.done()] or [
            each
            for each in getattr(future, "_children", ()) or (getattr(future, "_fut_waiter", None),)
            if each is not None and not each.done()
        ]
        if future in own or not steps:
            ends.append(future)
        else:
            waiting += steps
    return ends


def _outputs(resource: pulumi.Resource) -> Iterator[pulumi.Output[Any]]:
    """Yield the outputs that the engine's answer brings. Those of a component are others', or its own matter."""
    if isinstance(resource, pulumi.CustomResource):
        yield from (each for each in vars(resource).values() if isinstance(each, pulumi.Output))
    elif not isinstance(resource, Member):
        yield resource.urn


def _needed(props: Any, options: pulumi.ResourceOptions, without: Collection[pulumi.Resource] = ()) -> list[Future]:
    """Return what the engine waits for before it makes a resource."""
    above = [each.urn._data for each in (options.parent, options.provider) if each is not None]
    return [*_within(props, ()), *_within(options.depends_on, without), *above]


def _within(value: Any, without: Collection[pulumi.Resource]) -> Iterator[Future]:
    if isinstance(value, pulumi.Output):
        yield value._data
    elif isinstance(value, pulumi.Resource):
        yield from (each.urn._data for each in resources_in(value, without))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _within(each, without)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _within(each, without)
    elif is_input_type(type(value)):
        yield from _within(vars(value), without)

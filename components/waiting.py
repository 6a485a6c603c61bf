"""Outputs among arguments. None may wait for a component, as no component is decided about before all are known."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pulumi

from .entries import ArgumentError
from .member import Member

Future = asyncio.Future[Any]


async def come(component: Member, components: Collection[Member], path: str, output: pulumi.Output[Any]) -> None:
    """Wait for an output among a component's arguments. Raises ArgumentError where it waits for one of `components`."""
    own = {each._data: other for other in components for each in (other.result, other.urn)}
    who = f"{type(component).__name__} {component.name}"
    while not output._data.done():
        ends = list(_ends(output._data, own))
        if awaited := next((own[end] for end in ends if end in own), None):
            raise ArgumentError(
                f"{who}: {path} waits for {type(awaited).__name__} {awaited.name}",
                why="the components of a program are decided about together, before any of them has outputs",
                fix="the value itself, or an output of a resource of your own",
            )
        # A task that waits for nothing takes its next step by itself.
        if any(isinstance(end, asyncio.Task) for end in ends):
            await asyncio.sleep(0)
        else:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)


def _ends(future: Future, own: Mapping[Future, Member]) -> Iterator[Future]:
    """Yield the futures at the ends of the chains of tasks that a pending one waits for."""
    waits: Collection[Future | None] = getattr(future, "_children", ()) or (getattr(future, "_fut_waiter", None),)
    below = [each for each in waits if each is not None and not each.done()]
    if future in own or not below:
        yield future
        return
    for each in below:
        yield from _ends(each, own)

"""Pulumi's options of a component, whose children come later than Pulumi looks for them: when all is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import pulumi

CONNECTION = "gcp:servicenetworking/connection:Connection"
"""The type of a network's peering with Google's services."""
ADDRESS = "gcp:compute/globalAddress:GlobalAddress"
"""The type of a range of a network's addresses."""


class ChildrenToCome(pulumi.Resource):
    """The children of a component that are not declared yet: whoever depends on the component waits for them."""

    def __init__(self, component: pulumi.Resource, declared: asyncio.Future[None]) -> None:
        super().__init__("", "", False, dependency=True)
        self.__dict__["urn"] = pulumi.Output.from_input(self._made(component, declared))

    async def _made(self, component: pulumi.Resource, declared: asyncio.Future[None]) -> pulumi.Output[str]:
        await declared
        await asyncio.gather(*(child.urn.future() for child in resources_in(component)))
        return component.urn


def resources_in(resource: pulumi.Resource, without: Collection[pulumi.Resource] = ()) -> Iterator[pulumi.Resource]:
    """Yield what Pulumi takes a dependency on a resource for: of a component all that is below it."""
    if resource in without:
        return
    if not isinstance(resource, pulumi.ComponentResource) or resource._remote:
        yield resource
        return
    for child in tuple(resource._childResources):
        yield from resources_in(child, without)


async def dependencies(options: pulumi.ResourceOptions, others: Collection[pulumi.Resource]) -> list[pulumi.Resource]:
    """Return the resources that a component depends on, but for `others`: components whose order is decided here."""
    depends: Any = options.depends_on or ()
    output = pulumi.Output.from_input([depends] if isinstance(depends, pulumi.Resource) else depends)
    listed = {*await output.resources(), *(await output.future() or ())}
    return [each for resource in listed for each in resources_in(resource, others)]


def types_before(options: pulumi.ResourceOptions) -> set[str]:
    """Return the types of the resources that a component names as those that it depends on, as far as it is plain."""
    depends: Any = options.depends_on
    listed = depends if isinstance(depends, list | tuple) else [depends]
    return {
        vars(each).get("_type", "")
        for resource in listed
        if isinstance(resource, pulumi.Resource)
        for each in resources_in(resource)
    }


def provider_of(options: pulumi.ResourceOptions) -> pulumi.ProviderResource | None:
    """Return the provider that makes a component's resources; None for the default one."""
    listed = options.providers or ()
    several: Iterable[Any] = listed.values() if isinstance(listed, Mapping) else listed
    provider: pulumi.ProviderResource | None
    for provider in (options.provider, *several):
        if provider is not None and provider.package == "gcp":
            return provider
    return options.parent.get_provider("gcp:index:Provider") if options.parent else None


def lasting_name(name: str, options: pulumi.ResourceOptions) -> str:
    """Return the name that what a component made bears for good: the former one among its aliases, where it has one."""
    for alias in options.aliases or ():
        if isinstance(alias, str):
            return alias.rpartition("::")[2]
        if isinstance(alias, pulumi.Alias) and isinstance(alias.name, str):
            return alias.name
    return name

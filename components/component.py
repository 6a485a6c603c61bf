"""A component: it joins the program's composition, and declares its children when that is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import pulumi

from .composition import composition
from .group import Group
from .member import Member


def _placed(args: Any, provider: pulumi.ProviderResource | None) -> Any:
    """Return arguments with the provider's project and region, where they name none."""
    asked = {each.name for each in fields(args)} & {"project", "region"}
    of_provider = vars(provider) if provider is not None else {}
    lacking = {key: of_provider[key] for key in asked if getattr(args, key) is None and key in of_provider}
    return replace(args, **lacking) if lacking else args


class Component(Member):
    """A component that declares its children when the program's composition is decided."""

    def __init__(self, type_: str, name: str, args: Any, opts: pulumi.ResourceOptions | None, *outputs: str) -> None:
        """Join. `outputs`: the names of those that the engine keeps."""
        self.name, self.options = name, opts or pulumi.ResourceOptions()
        self.args = _placed(args, self.options.provider)
        self.composition = composition()
        self.composition.join(self)
        self.needed = []
        # Filled once the composition is decided: the engine is sent a component when its dependencies are known.
        self._facts: dict[str, Any] = {}
        self.children: asyncio.Future[None] = asyncio.get_event_loop().create_future()
        waiting = pulumi.ResourceOptions(
            depends_on=pulumi.Output.from_input(cast(Any, self._decided())), transformations=self.composition.explained
        )
        super().__init__(type_, name, self._facts, pulumi.ResourceOptions.merge(self.options, waiting))
        self._outputs: pulumi.Output[Any] = pulumi.Output.from_input(self._declare())
        self.register_outputs({name: self.output(name) for name in outputs})

    async def facts(self, group: Group) -> Mapping[str, Any]:
        """Return the facts that a preview shows as the component's inputs."""
        return {}

    async def declare(self, group: Group) -> Mapping[str, Any]:
        """Declare the children, and return the component's outputs by name."""
        raise NotImplementedError

    def output(self, key: str) -> pulumi.Output[Any]:
        """Return one of the outputs that `declare` returns."""
        return self._outputs.apply(lambda outputs: outputs.get(key))

    async def _decided(self) -> Sequence[pulumi.Resource]:
        self._facts |= await self.facts(await self.composition.group(self))
        return ()

    async def _declare(self) -> Any:
        group = await self.composition.group(self)
        try:
            return await self.declare(group)
        finally:
            self.children.set_result(None)

"""A component: it joins the program's composition, and declares its children when that is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import pulumi

from slipway.model.facts import STACK

from .composition import composition
from .duplicates import constructed_at
from .engine import new_future
from .entries import refuse_other, refuse_unfit
from .group import Group
from .member import Member
from .namesakes import noted
from .options import ChildrenToCome, dependencies, lasting_name, provider_of


def _placed(args: Any, provider: pulumi.ProviderResource | None) -> Any:
    """Return arguments with the provider's project and region, where they name neither these nor a workspace, which has
    both."""
    if getattr(args, "workspace", None) is not None:
        return args
    asked = {each.name for each in fields(args)} & {"project", "region"}
    of_provider = vars(provider) if provider is not None else {}
    lacking = {key: of_provider[key] for key in asked if getattr(args, key) is None and key in of_provider}
    return replace(args, **lacking) if lacking else args


class Component(Member):
    """A component that declares its children when the program's composition is decided."""

    def __init__(self, type_: str, name: str, args: Any, opts: pulumi.ResourceOptions | None, *outputs: str) -> None:
        """Join. `outputs`: the names of those that the engine keeps."""
        self.options = opts or pulumi.ResourceOptions()
        self.name = lasting_name(name, self.options, noted())
        self.title = f"{type(self).__name__} {name}"
        self.constructed_at = constructed_at()
        refuse_other(type(self), name, args)
        refuse_unfit(type(self).__name__, name, self.options)
        self.args = _placed(args, provider_of(self.options))
        self.composition = composition()
        self.composition.join(self)
        self.needed = []
        # Filled once the composition is decided: the engine is sent a component when its dependencies are known.
        self._facts: dict[str, Any] = {}
        self.children: asyncio.Future[None] = new_future()
        explained = pulumi.ResourceOptions(transformations=self.composition.explained)
        waiting = pulumi.ResourceOptions.merge(self.options, explained)
        waiting.depends_on = pulumi.Output.from_input(cast(Any, self._decided()))
        waiting.aliases = [*(waiting.aliases or ()), pulumi.Output.from_input(cast(Any, self._former(type_)))]
        super().__init__(type_, name, self._facts, waiting)
        self.composition.hooks.transforms.watch_children(self)
        self._to_come = ChildrenToCome(self, self.children)
        self._childResources.add(self._to_come)
        self.result = pulumi.Output.from_input(self._declare())
        self.register_outputs({name: self.output(name) for name in outputs})

    async def facts(self, group: Group) -> Mapping[str, Any]:
        """Return the facts that a preview shows as the component's inputs."""
        return {}

    async def declare(self, group: Group) -> Mapping[str, Any]:
        """Declare the children, and return the component's outputs by name."""
        raise NotImplementedError

    def output(self, key: str) -> pulumi.Output[Any]:
        """Return one of the outputs that `declare` returns."""
        return self.result.apply(lambda outputs: outputs.get(key))

    async def _decided(self) -> Sequence[pulumi.Resource]:
        group = await self.composition.group(self)
        if group is None:
            return ()
        self._facts |= await self.facts(group)
        if self._facts and group.name != pulumi.get_stack():
            self._facts[STACK] = group.name
        return [*await dependencies(self.options, group.components), *self.composition.foundations]

    async def _former(self, type_: str) -> str | pulumi.Alias:
        """Return the engine's name of the component wherever it was: below another parent it keeps what it made, with
        an alias or without. Otherwise what it made would be deleted behind its back, by the same names."""
        await self.composition.group(self)
        return self.composition.former(type_, self.name) or pulumi.Alias()

    async def _declare(self) -> Any:
        try:
            group = await self.composition.group(self)
            outputs = await self.declare(group) if group else self.composition.left_as_they_are(self)
        except Exception as error:
            self.children.set_exception(error)  # Whoever waits for them ends too.
            raise
        self._childResources.discard(self._to_come)
        self.children.set_result(None)
        return outputs

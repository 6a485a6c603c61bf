"""Pulumi's options of a component, whose children come later than Pulumi looks for them: when all is decided."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pulumi

STACK = "slipway:index:Stack"
"""The type of the component that programs in other languages have."""


class Effect(Enum):
    """The effect of one of Pulumi's options on a component."""

    HONORED = "honored"
    """The option does what Pulumi documents, for the component and for what it declares."""
    IGNORED = "ignored"
    """The option changes nothing, and docs/your-program.md says so."""
    REJECTED = "rejected"
    """The component raises an error for the option."""


@dataclass(frozen=True)
class Option:
    """An option of Pulumi: its effect, the reason, and the fix that a rejection shows."""

    effect: Effect
    why: str
    fix: str = ""
    #: The classes of components that reject it; every class if empty.
    rejected_by: frozenset[str] = frozenset()


def _honored(why: str) -> Option:
    return Option(Effect.HONORED, why)


def _ignored(why: str) -> Option:
    return Option(Effect.IGNORED, why)


def _rejected(why: str, fix: str, *kinds: str) -> Option:
    return Option(Effect.REJECTED, why, fix, frozenset(kinds))


_NEVER_REPLACED = "Pulumi replaces no resource that a component declares: a cluster has `generation` for that"
_NOT_OF_COMPONENTS = "the option is for resources of a provider, and Pulumi passes it to no child of a component"

OPTIONS: Mapping[str, Option] = {
    "parent": _honored("the component moves below the parent and keeps its resources"),
    "depends_on": _honored("the resources of the component wait for the listed resources"),
    "protect": _honored("buckets, accounts, the catalog and the current generation of a cluster are protected"),
    "provider": _honored("the provider creates the resources of the component"),
    "providers": _honored("the provider of package gcp creates the resources of the component"),
    "aliases": _honored("a renamed component keeps its resources"),
    "transformations": _honored("Pulumi calls them for each child"),
    "transforms": _honored("Pulumi calls them for each child"),
    "hooks": _honored("Pulumi calls them for the component, and for none of its children"),
    "hide_diffs": _honored("a preview hides these fields of the component itself, and none of its children"),
    "ignore_changes": _rejected(
        "each edit of its arguments makes a new generation, whatever the engine ignores",
        'leave the argument as it is; `replacement="protect"` refuses an edit',
        "PersistentResource",
    ),
    "retain_on_delete": _rejected(
        "the old generation of an edited cluster would run on, and cost, for good",
        "leave it out; `protect=True` refuses a deletion",
        "PersistentResource",
    ),
    "deleted_with": _rejected(
        "Pulumi would not delete its resources, which would keep running, billed and with all their roles",
        "leave it out; `depends_on` sets the order of deletions",
    ),
    "replacement_trigger": _rejected(
        "a component is never replaced, so another trigger would have no effect",
        "leave it out; raise `generation` of a PersistentResource to get a new cluster",
    ),
    "replace_with": _rejected(
        "a component is never replaced, so the replacement of another resource would have no effect",
        "leave it out; raise `generation` of a PersistentResource to get a new cluster",
    ),
    "id": _rejected(
        "a component can't be read from a cloud", "leave it out; a PersistentResource has the argument `id`"
    ),
    "urn": _rejected("a component can't be read from the state", "leave it out; read the outputs by a StackReference"),
    "state_migrations": _rejected(
        "Slipway reads the state of its own components as it wrote it", "leave it out; `aliases` names a former name"
    ),
    "import_": _ignored("existing resources are adopted by their names; a cluster has the argument `id`"),
    "delete_before_replace": _ignored(_NEVER_REPLACED),
    "replace_on_changes": _ignored(_NEVER_REPLACED),
    "custom_timeouts": _ignored("the time limits are Slipway's; a cluster has `create_within`"),
    "additional_secret_outputs": _ignored(_NOT_OF_COMPONENTS),
    "version": _ignored(f"{_NOT_OF_COMPONENTS}; the program's packages set the provider's version"),
    "plugin_download_url": _ignored(_NOT_OF_COMPONENTS),
    "env_var_mappings": _ignored("the option is for providers"),
}
"""Each of Pulumi's options, and its effect on a component. A test requires an entry for every option of Pulumi's."""


def rejected(options: pulumi.ResourceOptions, kind: str) -> Iterator[tuple[str, Option]]:
    """Yield the options that a component of a class rejects, with their names."""
    for name, option in OPTIONS.items():
        value = getattr(options, name, None)
        is_set = value is not None and value is not False and not (isinstance(value, list) and not value)
        of_kind = not option.rejected_by or kind in option.rejected_by
        if option.effect is Effect.REJECTED and is_set and of_kind:
            yield name, option


def parent_with_deleted_with(
    options: pulumi.ResourceOptions, declared: Iterable[pulumi.ResourceTransformationArgs]
) -> str:
    """Return the name of the nearest parent with `deleted_with`, which Pulumi passes to every child; empty if none.
    `declared`: what the program has declared so far."""
    by_resource = {args.resource: args for args in declared}
    above = by_resource.get(options.parent) if options.parent else None
    while above:
        if above.opts.deleted_with:
            return above.name
        above = by_resource.get(above.opts.parent) if above.opts.parent else None
    return ""


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


def provider_of(options: pulumi.ResourceOptions) -> pulumi.ProviderResource | None:
    """Return the provider that makes a component's resources; None for the default one."""
    listed = options.providers or ()
    several: Iterable[Any] = listed.values() if isinstance(listed, Mapping) else listed
    provider: pulumi.ProviderResource | None
    for provider in (options.provider, *several):
        if provider is not None and provider.package == "gcp":
            return provider
    return options.parent.get_provider("gcp:index:Provider") if options.parent else None


def lasting_name(
    name: str, options: pulumi.ResourceOptions, declared: Iterable[pulumi.ResourceTransformationArgs] = ()
) -> str:
    """Return the name that what a component made has for good: the former one among its aliases, if it has one.

    Pulumi's rule for aliases of a parent holds: if the name begins with the parent's, it began with the parent's former
    name before. `declared`: what the program has declared so far.
    """
    for alias in options.aliases or ():
        if isinstance(alias, str):
            return alias.rpartition("::")[2]
        if isinstance(alias, pulumi.Alias) and isinstance(alias.name, str):
            return alias.name
    by_resource = {args.resource: args for args in declared}
    parent = by_resource.get(options.parent) if options.parent else None
    # The components below a Stack have the names of its arguments.
    if parent is None or parent.type_ == STACK or not name.startswith(parent.name):
        return name
    return lasting_name(parent.name, parent.opts, by_resource.values()) + name.removeprefix(parent.name)

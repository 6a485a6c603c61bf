"""The names by which the state may have a resource of the program: its own one, and the former ones of its aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pulumi

from slipway.model.state import StateEntry

Declared = Sequence[pulumi.ResourceTransformationArgs]
"""The declarations of the program so far."""
_STACK = "pulumi:pulumi:Stack"


def parent_type(args: pulumi.ResourceTransformationArgs) -> str:
    """Return the type of the component around a resource, as entries of the state have it; empty without one."""
    type_: str = getattr(args.opts.parent, "pulumi_resource_type", "")
    return "" if type_ == _STACK else type_


def is_entry_of(args: pulumi.ResourceTransformationArgs, entry: StateEntry) -> bool:
    """Return whether the state has a resource by this entry, under the resource's own name."""
    return (entry.type, entry.logical, entry.parent) == (args.type_, args.name, parent_type(args))


def former_names(args: pulumi.ResourceTransformationArgs, declared: Declared) -> frozenset[str]:
    """Return the names that aliases give a resource, its own and those of the components around it. A resource whose
    name begins with that of its component has the same beginning in a former name, as in Pulumi."""
    names = {_name_in(alias, args) for alias in args.opts.aliases or ()}
    parent = next((each for each in declared if each.resource is args.opts.parent), None)
    if parent is not None:
        rest = args.name.removeprefix(parent.name)
        begins_alike = args.name.startswith(parent.name)
        names |= {f"{former}{rest}" if begins_alike else args.name for former in former_names(parent, declared)}
    return frozenset(names - {""})


def has_unknown_alias(args: pulumi.ResourceTransformationArgs) -> bool:
    """Return whether an alias of a resource is an output."""
    return any(not isinstance(alias, str | pulumi.Alias) for alias in args.opts.aliases or ())


def may_be_entry_of(args: pulumi.ResourceTransformationArgs, entry: StateEntry, declared: Declared) -> bool:
    """Return whether Pulumi may find this entry for a resource by an alias."""
    return has_unknown_alias(args) or entry.logical in former_names(args, declared)


def _name_in(alias: object, args: pulumi.ResourceTransformationArgs) -> str:
    """Return the name in an alias, which may be of another parent or type alone; empty for an output, and for a former
    type of a resource of a provider, as the provider gives it one itself."""
    if isinstance(alias, str):
        return alias.rpartition("::")[2]
    if not isinstance(alias, pulumi.Alias):
        return ""
    if isinstance(alias.name, str):
        return alias.name
    parent: Any = alias.parent
    is_of_provider = isinstance(args.resource, pulumi.CustomResource) and parent is ...
    return "" if is_of_provider else args.name

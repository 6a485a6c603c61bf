"""Components of one kind and name in a workspace: rejected with both places, before anything is registered.

Pulumi separates two components by their parents, and Slipway by their names alone: both would become one cluster.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pulumi

from slipway.base.errors import ConfigError

from .member import Member
from .namesakes import noted

_Key = tuple[object, ...]
_PACKAGE = Path(__file__).parent
_PULUMI = Path(pulumi.__file__).parent
_ONE_URN = "Pulumi identifies a component by its type, its name and the types of its parents"
_EFFECTS = {
    "workspace": "their buckets, account and catalog would have the same names",
    "cluster": "both would become one cluster, and removing one would delete the cluster of the other",
    "template": "users submit a template by its name, and the catalog has one entry for each name",
    "quota": _ONE_URN,
    "catalog": "a workspace has one catalog object, and each would overwrite the other",
}


def constructed_at() -> str:
    """Return file and line of the program where a component is being constructed; empty if no frame tells."""
    frame = sys._getframe(1)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if _PACKAGE not in file.parents and _PULUMI not in file.parents:
            return f"{file.name}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return ""


def refuse_duplicates(components: Sequence[Member]) -> None:
    """Raise ConfigError if two components of one kind have the same name in a workspace, or one name for Pulumi."""
    seen: dict[_Key, Member] = {}
    for component in components:
        keys = frozenset(_keys(component, components))
        both = keys & seen.keys()
        if both:
            first = seen[min(both, key=str)]
            raise _error(first, component, _other_workspace(first, component, components))
        seen |= dict.fromkeys(keys, component)


def _keys(component: Member, components: Sequence[Member]) -> Iterator[_Key]:
    """Yield what no two components have in common."""
    yield "urn", _urn(component)
    kind = component.kind
    if kind == "workspace":
        yield kind, component.name
        return
    workspace = _workspace(component, components)
    if kind == "catalog":
        yield kind, workspace
        return
    yield kind, workspace, component.name
    yield kind, workspace, component.template or component.name


def _workspace(component: Member, components: Sequence[Member]) -> Member | None:
    """Return the workspace that a component names, or else the only one of the program."""
    workspaces = [other for other in components if other.kind == "workspace"]
    only = workspaces[0] if len(workspaces) == 1 else None
    return next(component.workspaces, only)


def _other_workspace(first: Member, second: Member, components: Sequence[Member]) -> Member | None:
    """Return the workspace of the second component; None if the first one has the same, and for workspaces."""
    if second.kind == "workspace":
        return None
    workspace = _workspace(second, components)
    return None if workspace is _workspace(first, components) else workspace


def _urn(component: Member) -> tuple[str, ...]:
    """Return the parts of a component's URN: its name, its type, and the types of its parents, the nearest first, as
    far as Pulumi's SDK keeps them."""
    parts = [component.pulumi_resource_name, component.pulumi_resource_type]
    above = {args.resource: args.opts.parent for args in noted()}
    parent = component.options.parent
    while parent is not None:
        parts.append(parent.pulumi_resource_type)
        parent = parent.options.parent if isinstance(parent, Member) else above.get(parent)
    return tuple(parts)


def _error(first: Member, second: Member, other: Member | None) -> ConfigError:
    """Return the error of two components. `other`: the second one's workspace, if the first one has another."""
    is_one_template = bool(second.template) and first.template == second.template
    name = second.template if is_one_template else second.name
    what = f"{type(second).__name__} {name} is declared twice"
    if first.name != second.name and second.kind == "catalog":
        what = f"a workspace has two Catalogs: {first.pulumi_resource_name} and {second.pulumi_resource_name}"
    effect = _EFFECTS[second.kind] if other is None else _ONE_URN
    return ConfigError(
        f"{what}, so nothing was changed",
        why=f"{_place(first)}\n{_place(second)}\n{effect}",
        fix=_fix(second, name, other),
    )


def _place(component: Member) -> str:
    """Return a component with its parent, and the file and line that construct it."""
    place = f"{type(component).__name__} {component.pulumi_resource_name}"
    parent = component.options.parent
    if parent is not None:
        place += f" below {parent.pulumi_resource_type} {parent.pulumi_resource_name}"
    if component.constructed_at:
        place += f", {component.constructed_at}"
    return place


def _fix(component: Member, name: str, workspace: Member | None) -> str:
    if workspace is not None:
        named = f'{type(component).__name__}("{workspace.pulumi_resource_name}-{name}", …)'
        return f"put the workspace into the name: {named}"
    if component.kind == "catalog":
        return "list all templates of the workspace in one Catalog"
    if name not in (component.name, component.pulumi_resource_name):
        return f"copy {component.folder / name}.py to a file of another name for one of them"
    prefix = "TEAM"
    parent = component.options.parent
    if parent is not None:
        prefix = parent.pulumi_resource_name
    return f'put the team into the name: {type(component).__name__}("{prefix}-{name}", …)'

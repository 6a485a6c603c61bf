"""The grouping of a program's components: by their workspaces, and those without one by their places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.google.live import Unknown
from slipway.model.state import State

from .group import Group, Setting, prefix
from .member import Member
from .resolution import Given

Key = tuple[Member | None, tuple[str, str]]


def groups_of(composition: Setting) -> tuple[Group, ...]:
    """Return the groups of a program's components. Raises ConfigError for a component whose workspace can't be told."""
    workspaces: list[Any] = [component for component in composition.components if component.kind == "workspace"]
    members: dict[Key, list[Member]] = {}
    given = composition.given
    for component in composition.components:
        workspace: Any = component if component.kind == "workspace" else _workspace_of(component, workspaces)
        place = _place(composition, workspace or component, given)
        if workspace and component is not workspace and _place(composition, component, given, place) != place:
            raise ConfigError(
                f"{component.name} is not in {place[1]} of {place[0]}, as workspace {workspace.name} is",
                why="jobs write to a bucket in their own region, and a catalog offers one region",
                fix=f"a Workspace of its own for that region: `workspace=…` of {component.name}",
            )
        members.setdefault((workspace, place), []).append(component)
    state = composition.engine.state
    return tuple(
        Group(composition, workspace, some, place, _part_of_state(state, (workspace, place), members))
        for (workspace, place), some in members.items()
    )


def _workspace_of(component: Member, workspaces: Sequence[Member]) -> Member | None:
    """Return the workspace that a component names, itself or by its clusters and templates; else the only one."""
    named = list(dict.fromkeys(component.workspaces))
    if len(named) == 1:
        return named[0]
    if not named and len(workspaces) <= 1:
        return workspaces[0] if workspaces else None
    raise ConfigError(
        f"the workspace of {type(component).__name__} {component.name} can't be told",
        why=f"the program has {join(workspace.name for workspace in workspaces)}"
        + (f", and it belongs to {join(workspace.name for workspace in named)}" if named else ""),
        fix="`workspace=…` among its arguments",
    )


def _place(
    composition: Setting,
    component: Member,
    given: Mapping[Member, Given],
    usual: tuple[str, str] | None = None,
) -> tuple[str, str]:
    """Return a component's project and region, which are its own, its provider's or the stack's."""
    engine, values = composition.engine, given[component].values
    project, region = usual or (engine.project, engine.region)
    return str(values.get("project") or project), str(values.get("region") or region)


def _part_of_state(state: State | Unknown, key: Key, keys: Collection[Key]) -> State | Unknown:
    """Return what one of the groups, known by workspace and place, has of the engine's state."""
    if isinstance(state, Unknown):
        return state
    others = [other for other in keys if other != key]
    own, *prefixes = (prefix(workspace.name) if workspace else "" for workspace, _ in (key, *others))
    places = [place for _, place in others if place != key[1]]
    return state.part(own, [text for text in prefixes if text], places)

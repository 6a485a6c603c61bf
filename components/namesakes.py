"""The program's own buckets and accounts, by their names.

A workspace that is given one by its name alone would declare it a second time. The engine's state tells of those that
are deployed, the program's own calls of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import pulumi
from pulumi.runtime.settings import get_monitor, get_root_resource

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError
from slipway.deploying.deployment.live_plan import asked_for
from slipway.deploying.deployment.workspace_plan import FIELDS
from slipway.model.state import ACCOUNT, BUCKET, State

from .member import Member

_NAMED_BY = {BUCKET: "name", ACCOUNT: "account_id"}
_WATCHED: WeakSet[Any] = WeakSet()
_DECLARED: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()
"""By the program, names of buckets and ids of accounts, with the names of the resources."""


def watch() -> None:
    """Note from now on what the running program declares, where one runs."""
    root = get_root_resource()
    if root is not None and root not in _WATCHED:
        _WATCHED.add(root)
        pulumi.runtime.register_stack_transformation(_note)


def forget() -> None:
    """Begin anew: the mocks of a test may serve several programs."""
    _DECLARED.pop(get_monitor(), None)


def _note(args: pulumi.ResourceTransformationArgs) -> None:
    name = args.props.get(_NAMED_BY.get(args.type_, ""))
    if isinstance(name, str) and not isinstance(args.opts.parent, Member):
        _DECLARED.setdefault(get_monitor(), {})[name] = args.name


def refuse_namesakes(workspace: str, stack: Stack, own: Collection[str], state: State) -> None:
    """Raise ConfigError where a workspace was given a resource of the program by its name alone. `own`: the roles of
    those that it was given as resources."""
    declared: Mapping[str, str] = _DECLARED.get(get_monitor(), {})
    for role, name in asked_for(stack).items():
        logical = state.others.get(name) or declared.get(name.partition("@")[0])
        if role in FIELDS and role not in own and logical:
            raise ConfigError(
                f"Workspace {workspace}: {FIELDS[role]}: {name} is the program's resource {logical}",
                why="by its name alone the workspace would declare it a second time, and nothing would wait for it",
                fix=f"{FIELDS[role]}=<the variable of resource {logical}>",
            )

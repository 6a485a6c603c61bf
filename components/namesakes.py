"""The program's own resources, of which a bucket or an account may be given by its name alone.

A workspace would declare that a second time. The engine's state tells of those that are deployed, the program's own
calls of the others. A cluster of a component is rejected as a resource of the program, before Pulumi is sent it.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import pulumi
from pulumi.runtime.settings import get_monitor, get_root_resource

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError
from slipway.deploying.deployment.live_plan import asked_for
from slipway.deploying.deployment.takeover import VARIABLE
from slipway.deploying.deployment.workspace_plan import FIELDS, TRAINER
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, GENERATION, State

from .engine import fail
from .existing import refuse_existing
from .lent import keep_lent
from .member import Member
from .own_clusters import refuse_cluster

_NAMED_BY = {BUCKET: "name", ACCOUNT: "account_id"}
_WATCHED: WeakSet[Any] = WeakSet()
_DECLARED: WeakKeyDictionary[Any, list[pulumi.ResourceTransformationArgs]] = WeakKeyDictionary()
"""By the program, its calls."""


def watch() -> None:
    """Note from now on what the running program declares, where one runs."""
    root = get_root_resource()
    if root is not None and root not in _WATCHED:
        _WATCHED.add(root)
        pulumi.runtime.register_stack_transformation(_note)


def forget() -> None:
    """Begin anew: the mocks of a test may serve several programs."""
    _DECLARED.pop(get_monitor(), None)


def _note(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    _DECLARED.setdefault(get_monitor(), []).append(args)
    if args.type_ == BUCKET and args.props.get("name") is None and os.environ.get(VARIABLE, "").strip():
        fail(_nameless(args.name))
    if args.type_ == CLUSTER and getattr(args.opts.parent, "pulumi_resource_type", "") != GENERATION:
        refuse_cluster(args)
    if isinstance(args.opts.parent, Member):
        return None
    refuse_existing(args, noted())
    return keep_lent(args)


def _nameless(bucket: str) -> ConfigError:
    """Return the error of a recovery with a bucket that Pulumi names. It comes before Pulumi is sent the bucket: Pulumi
    would mark the imported one for deletion, and the next `up` would delete it."""
    return ConfigError(
        f"bucket {bucket} has no name in the program, so nothing was done with it",
        why=f"in a recovery ({VARIABLE}) Pulumi would give it a new name, and delete the bucket that exists",
        fix=f'write `name="…"`, the name that exists, into the program\nif the state is not lost: unset {VARIABLE}',
    )


def noted() -> Sequence[pulumi.ResourceTransformationArgs]:
    """Return what the running program has declared so far, with what it gave each."""
    return _DECLARED.get(get_monitor(), ())


def retained() -> frozenset[tuple[str, str]]:
    """Return the types and names of the program's resources that Pulumi leaves in the cloud: by `retain_on_delete` of
    their own or of a parent, or because the program reads them alone, as by `Bucket.get`."""
    by_resource = {args.resource: args for args in noted()}
    found: set[tuple[str, str]] = set()
    for args in noted():
        above: pulumi.ResourceTransformationArgs | None = args
        while above is not None and above.opts.retain_on_delete is None:
            above = by_resource.get(above.opts.parent) if above.opts.parent else None
        is_left = above is not None and above.opts.retain_on_delete
        if is_left or args.opts.id is not None:
            found.add((args.type_, args.name))
    return frozenset(found)


def names_of(own: Mapping[str, pulumi.Resource], state: State) -> dict[str, str]:
    """Return the names that the state has for resources of the program, by their roles. `own`: the resources."""
    names: dict[str, str] = {}
    for role, resource in own.items():
        for name, logical in state.others.items():
            is_account = "@" in name
            if logical == resource._name and is_account == (role == TRAINER):
                names[role] = name
    return names


def refuse_namesakes(workspace: str, stack: Stack, own: Collection[str], state: State) -> None:
    """Raise ConfigError where a workspace was given a resource of the program by its name alone. `own`: the roles of
    those that it was given as resources."""
    declared = {
        each.props.get(_NAMED_BY[each.type_]): each.name
        for each in noted()
        if each.type_ in _NAMED_BY and not isinstance(each.opts.parent, Member)
    }
    for role, name in asked_for(stack).items():
        logical = state.others.get(name) or declared.get(name.partition("@")[0])
        if role in FIELDS and role not in own and logical:
            raise ConfigError(
                f"Workspace {workspace}: {FIELDS[role]}: {name} is the program's resource {logical}",
                why="by its name alone the workspace would declare it a second time, and nothing would wait for it",
                fix=f"{FIELDS[role]}=<the variable of resource {logical}>",
            )

"""The program's own resources that Pulumi may not replace: buckets and accounts that a workspace uses, and in a
recovery all that a person has imported.

Pulumi creates the program's resources before Slipway decides. A replacement would leave the old resource in the state
as a pending deletion, which a later `up` carries out.
"""

from __future__ import annotations

import os
from copy import copy
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import pulumi
from pulumi.runtime.settings import get_monitor

from slipway.deploying.deployment.replacement import lent_replacement_rejected
from slipway.deploying.deployment.takeover import VARIABLE, import_replacement_rejected
from slipway.google.live import Unknown
from slipway.model.state import ACCOUNT, BUCKET, State

from .engine import destroys, in_thread, known
from .live_reading import exists

NAME = "slipway-lent-v1"
_HOOKS: WeakKeyDictionary[Any, pulumi.ResourceHook] = WeakKeyDictionary()
"""By the program, its hook."""


def keep_lent(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
    """Bind the hook that rejects a replacement to a resource that a workspace has used since an earlier deployment, or
    that was imported for a recovery."""
    if destroys() or not _is_at_risk(args):
        return None
    state = known()
    if isinstance(state, Unknown) or not (_is_lent(args, state) or _is_imported(args.type_, args.name, state)):
        return None
    hooks = copy(args.opts.hooks or pulumi.ResourceHookBinding())
    hooks.before_create = [*(hooks.before_create or ()), _hook(state)]
    args.opts.hooks = hooks
    args.opts.delete_before_replace = False  # The hook rejects the creation of the new one, so nothing is deleted.
    return pulumi.ResourceTransformationResult(args.props, args.opts)


def _is_at_risk(args: pulumi.ResourceTransformationArgs) -> bool:
    """Return whether the state has to be read for a resource."""
    if args.type_ in (BUCKET, ACCOUNT):
        return True
    is_real = isinstance(args.resource, pulumi.CustomResource) and not isinstance(
        args.resource, pulumi.ProviderResource
    )
    return is_real and _recovers()


def _recovers() -> bool:
    return bool(os.environ.get(VARIABLE, "").strip())


def _is_lent(args: pulumi.ResourceTransformationArgs, state: State) -> bool:
    end = f"{args.type_}::{args.name}"
    return any(urn.endswith(end) for urn in state.lent)


def _is_imported(type_: str, name: str, state: State) -> bool:
    """Return whether this run recovers a deployment, and the state has a resource already."""
    return _recovers() and not state.catalog_bucket and (type_, name) in state.names


def _hook(state: State) -> pulumi.ResourceHook:
    """Return the hook of the running program, which is registered once."""
    monitor = get_monitor()
    if monitor not in _HOOKS:
        _HOOKS[monitor] = _rejecting(state)
    return _HOOKS[monitor]


def _rejecting(state: State) -> pulumi.ResourceHook:
    stack = pulumi.get_stack()

    async def before_create(args: pulumi.ResourceHookArgs) -> None:
        if _is_imported(args.type, args.name, state):
            raise import_replacement_rejected(args.type, args.name)
        name = state.lent.get(args.urn)
        project = str((args.new_inputs or {}).get("project") or "")
        if name is not None and await in_thread(partial(_may_exist, args.type, name, project)):
            raise lent_replacement_rejected(args.urn, args.type, name, stack)

    return pulumi.ResourceHook(NAME, before_create, pulumi.ResourceHookOptions(on_dry_run=True))


def _may_exist(type_: str, name: str, project: str) -> bool:
    """Return whether a resource exists, or can't be read. One that was deleted by hand is created again."""
    return exists(type_, name, project) is not False

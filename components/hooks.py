"""The hooks of the engine: one explains its errors, one makes clusters, one may refuse a deletion (`guard.py`).

Each is registered once in a deployment, always, by a name that never changes: the state keeps it with every resource.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import copy
from typing import Any, cast

import pulumi

from slipway.base.errors import Fault
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.replacement import replacement_rejected
from slipway.deploying.deployment.shared_grants import right_of
from slipway.google.failures import CloudError
from slipway.google.live import Unknown
from slipway.google.provider_errors import Places, meaning_of
from slipway.model.state import CLUSTER, State, StateGrant

from .engine import in_thread
from .guard import guard
from .transforms import TransformCheck

MAKES = "slipway-create-v1"
KEEPS = "slipway-keep-v1"
TROUBLE = "slipway-trouble-v1"
_DONE = {"create": "made", "update": "changed", "delete": "deleted"}

Transformation = Callable[[pulumi.ResourceTransformationArgs], pulumi.ResourceTransformationResult | None]


class Hooks:
    """The hooks of a program."""

    def __init__(
        self,
        stacks: Callable[[], Sequence[StackGuard]],
        state: State | Unknown,
        may_try_again: Callable[[str, str], bool],
        places: Places,
    ) -> None:
        """Register them, with the program's stacks and the engine's state as in `guard`, the others as in
        `explaining`."""
        #: Bound to all that jobs need: asks for them before a deletion.
        self.guard = guard(stacks, state, self._registered_as, self._granted)
        #: The URNs of the clusters that the program registers, by id.
        self.clusters: dict[str, pulumi.Output[str]] = {}
        #: The changes by transforms of the program.
        self.transforms = TransformCheck()
        #: The URNs of the grants that the program registers.
        self.grants: dict[StateGrant, pulumi.Output[str]] = {}
        #: Bound to what is written or made when a cluster comes to be; calls the maker of the engine's name of that.
        self.making = pulumi.ResourceHook(MAKES, self._make)
        keeps = keeping(pulumi.get_stack())
        #: The options of a resource that exists and that the engine knows. Such a resource needs no import, with which
        #: the engine would reject a replacement and give advice that no program can follow. The replacement is created
        #: first, and the hook rejects that.
        self.kept = pulumi.ResourceOptions(
            hooks=pulumi.ResourceHookBinding(before_create=[keeps]), delete_before_replace=False
        )
        self._places = places
        self.makers: dict[str, Callable[[], Awaitable[None]]] = {}
        trouble = explaining(os.environ, may_try_again, places)
        #: Binds the explanation of errors to a resource.
        self.explained = bound(trouble)
        every: Sequence[Any] = (trouble, self.making, keeps, *(self.guard.before_delete or ()))
        self.registered = pulumi.Output.from_input(cast(Any, registered(every)))

    def _registered_as(self, id_: str) -> str:
        urn = self.clusters.get(id_)
        # Not awaited: Pulumi may delete a resource before it replaces it, and answers the registration after that.
        if urn is None or not urn._data.done() or urn._data.exception():
            return ""
        return urn._data.result().value or ""

    def _granted(self, grant: StateGrant) -> bool | None:
        """Tell whether the engine has answered the registration of a grant; None where there is none."""
        return next((urn._data.done() for each, urn in self.grants.items() if is_same(each, grant)), None)

    async def _make(self, args: pulumi.ResourceHookArgs) -> None:
        if maker := self.makers.get(args.name):
            try:
                await maker()
            except CloudError as error:
                if error.reason:
                    error.fix = error.reason.way_out(self._places(error.reason.keys))
                raise


def is_same(one: StateGrant, other: StateGrant) -> bool:
    """Tell whether two grants have one name, and give one member the same."""
    return one.name == other.name and right_of(one) == right_of(other)


def keeping(stack: str) -> pulumi.ResourceHook:
    """Register the hook that rejects the replacement of a resource, in a preview as well. The engine creates the
    replacement first, so nothing is deleted."""

    async def before_create(args: pulumi.ResourceHookArgs) -> None:
        raise replacement_rejected(args.urn, args.type, args.name, stack)

    return pulumi.ResourceHook(KEEPS, before_create, pulumi.ResourceHookOptions(on_dry_run=True))


def explaining(
    environ: Mapping[str, str], may_try_again: Callable[[str, str], bool], places: Places
) -> pulumi.ErrorHook:
    """Register the hook that explains a provider's error, whose words name no way out. Each way out is told once,
    however many errors lead to it. `may_try_again` is asked first where the provider could not make a cluster, by its
    id and the error; `places` names the lines of the stack file that a reason is about.

    Errors of the engine's own reading never reach the hook: `slipway explain` is for those.
    """
    said: set[str] = set()

    async def on_error(args: pulumi.ErrorHookArgs) -> bool:
        member, project = (str((args.new_inputs or {}).get(key, "")) for key in ("member", "project"))
        meaning = meaning_of(args.errors[0] if args.errors else "", environ, places, member, project)
        creates = args.type == CLUSTER and args.failed_operation == "create"
        if creates and await in_thread(lambda: may_try_again(args.name, meaning.what)):
            return True
        if meaning.fix not in said:
            said.add(meaning.fix)
            pulumi.log.error(words(args.name, args.type, args.failed_operation, meaning))
        return False  # The provider has repeated the request for long enough.

    return pulumi.ErrorHook(TROUBLE, on_error)


async def registered(hooks: Sequence[pulumi.ErrorHook | pulumi.ResourceHook]) -> None:
    """Wait until the engine knows these hooks: the interpreter crashes where the program ends in an error before."""
    await asyncio.gather(*(hook._registered for hook in hooks))


def bound(hook: pulumi.ErrorHook) -> Transformation:
    """Return the transformation that binds a hook to resources, once to each."""

    def transformed(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not isinstance(args.resource, pulumi.CustomResource):
            return None
        # Resources share a binding, so it stays unchanged.
        hooks = copy(args.opts.hooks or pulumi.ResourceHookBinding())
        if any(each.name == hook.name for each in hooks.on_error or () if isinstance(each, pulumi.ErrorHook)):
            return None
        hooks.on_error = [*(hooks.on_error or ()), hook]
        args.opts.hooks = hooks
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    return transformed


def words(name: str, type_: str, operation: str, fault: Fault) -> str:
    done = _DONE.get(operation, operation)
    what = f"{type_.rsplit(':', 1)[-1]} {name} could not be {done}: {fault.what}"
    return str(fault._replace(what=what))

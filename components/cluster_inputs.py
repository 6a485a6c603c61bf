"""The inputs of clusters, which no transform of the program can change.

A cluster's id is made from its settings, and its machines are requested before Pulumi registers it. A change by a
transform would come too late and be lost, so it is undone and reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pulumi
from pulumi.runtime._callbacks import _CallbackServicer
from pulumi.runtime.settings import _get_callbacks, get_root_resource

from slipway.base.formatting import join
from slipway.model.state import CLUSTER

from .entries import ArgumentError
from .namesakes import noted


class ClusterInputs:
    """The inputs of a program's clusters, before and after its transforms."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        #: By id, the inputs that transforms have changed.
        self.changed: dict[str, list[str]] = {}
        self._declared: dict[str, dict[str, Any]] = {}
        #: Whether Pulumi calls transforms of the program, and so those of this class.
        self._has_transforms = False

    async def watch(self) -> None:
        """Have Pulumi call `_last_transform` after all transforms of the program, if it has any."""
        # A program in another language has transforms that this process does not know.
        may_have = get_root_resource() is None or _has_transforms()
        callbacks = await _get_callbacks() if may_have else None
        if callbacks is not None:
            self._has_transforms = True
            callbacks.register_stack_transform(self._last_transform)

    def options(self, parent: pulumi.ComponentResource, options: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
        """Return the options of a cluster's resource. `parent`: the component around it, which has no other child."""
        parent._transformations = [*(parent._transformations or []), self._last_transformation]
        first = pulumi.ResourceOptions(transformations=[self._first_transformation])
        if self._has_transforms:
            first.transforms = [self._first_transform]
        return pulumi.ResourceOptions.merge(options, first)

    def refuse(self, clusters: Mapping[str, str]) -> None:
        """Raise ArgumentError for changes by a transform. `clusters`: by id, the components of the current clusters."""
        for id_, inputs in self.changed.items():
            component = clusters.get(id_)
            if component is not None:
                raise ArgumentError(
                    f"{component}: a transform changes {join(inputs)} of its cluster, which has no effect",
                    why="a cluster is created before Pulumi registers it, from the arguments of its component",
                    fix=f"set {join(inputs)} among the arguments of {component}, and leave resources of type {CLUSTER} "
                    "as they are in the transform",
                )

    def _first_transformation(self, args: pulumi.ResourceTransformationArgs) -> None:
        self._declared[args.name] = deepcopy(dict(args.props))

    def _last_transformation(
        self, args: pulumi.ResourceTransformationArgs
    ) -> pulumi.ResourceTransformationResult | None:
        declared = self._restored(args.name, args.props)
        return pulumi.ResourceTransformationResult(declared, args.opts) if declared else None

    def _first_transform(self, args: pulumi.ResourceTransformArgs) -> None:
        self._declared[args.name] = deepcopy(dict(args.props))

    def _last_transform(self, args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if args.type_ != CLUSTER:
            return None
        declared = self._restored(args.name, args.props)
        return pulumi.ResourceTransformResult(declared, args.opts) if declared else None

    def _restored(self, id_: str, inputs: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the declared inputs of a cluster that transforms have changed; None if they have not."""
        declared = self._declared.get(id_)
        if declared is None:  # The program's own cluster, which is no component's.
            return None
        changed = sorted(key for key in declared.keys() | inputs.keys() if declared.get(key) != inputs.get(key))
        if not changed:
            return None
        self.changed[id_] = changed
        return declared


def _has_transforms() -> bool:
    """Return whether the program has transforms: of the stack, or of a resource."""
    loop = asyncio.get_running_loop()
    servers = [server for server in _CallbackServicer._servicers if server._loop is loop]
    return any(server._transforms for server in servers) or any(args.opts.transforms for args in noted())

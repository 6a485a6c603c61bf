"""Creation: clusters are made by a hook, and then taken over by the provider as ones that exist.

The provider's own create retries a refusal in silence until its time-out, and forgets a cluster that failed. The hook
says what happens, goes on after a lost answer and clears failed clusters away.

It sits on an object of the catalog bucket, rewritten whenever clusters are to be made: the engine calls the hooks of a
cloud's resource in `up` alone. Those of a component it calls in `refresh` and `destroy --run-program` as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import pulumi

from components.engine import in_thread
from components.gcp import storage

HOOK = "slipway-create-v1"
NAME = "creation"  # the logical name, by which the state knows it
OBJECT = "clusters/asked-for.json"

Make = Callable[[Sequence[str]], Mapping[str, str]]
"""Makes the clusters of these ids, or alternatives of them, and returns when all run: their ids, by those that were
asked for. Raises what the person is to read."""


class Creation:
    """Makes `ids` before the object that lists them is written, and after what they need. Without any, the object stays
    as it is."""

    object: storage.BucketObject

    def __init__(
        self,
        ids: Sequence[str],
        make: Make,
        *,
        bucket: pulumi.Input[str],
        workspace: pulumi.Resource,
        now: datetime,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        self._ids, self._make = tuple(ids), make
        self._made: frozenset[str] = frozenset()
        hook = pulumi.ResourceHook(HOOK, self._before)
        content = {"clusters": sorted(self._ids), "at": now.isoformat(timespec="seconds")}
        self.object = storage.BucketObject(
            NAME,
            bucket=bucket,
            name=OBJECT,
            content=json.dumps(content, indent=1) + "\n",
            content_type="application/json",
            opts=pulumi.ResourceOptions(
                parent=workspace,
                depends_on=list(after),
                hooks=pulumi.ResourceHookBinding(before_create=[hook], before_update=[hook]),
                ignore_changes=[] if self._ids else ["content"],
            ),
        )

    def taken_over(self, id: str, full: str) -> pulumi.ResourceOptions:
        """The options by which a cluster comes after this, and is imported by its full name where the hook made it."""

        def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            if id not in self._made:  # in preview, and where nothing is to be made
                return None
            args.opts.import_ = full
            return pulumi.ResourceTransformResult(args.props, args.opts)

        return pulumi.ResourceOptions(depends_on=[self.object], transforms=[transform])

    async def _before(self, _: pulumi.ResourceHookArgs) -> None:
        self._made = frozenset((await in_thread(lambda: self._make(self._ids))).values())

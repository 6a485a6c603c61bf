"""Clusters: made by a hook, declared as generations that come and go, and never updated or replaced by the provider."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pulumi

from slipway.deploying.generations.action import Action
from slipway.model.cluster import PROTECT, CurrentCluster

from .engine import in_thread
from .gcp import storage, vertex

HOOK = "slipway-create-v1"
NAME = "creation"  # the logical name, by which the state knows it
OBJECT = "clusters/asked-for.json"

Make = Callable[[Sequence[str]], Mapping[str, str]]
"""A function that makes the clusters of these ids, or alternatives of them, and returns when all run: their ids, by the
first ids. Raises errors for the person."""


class Creation:
    """The hook that makes `ids` before the object that lists them is written, and after their dependencies; the
    provider then takes them over as existing clusters. Without any, the object stays unchanged.

    The provider's own create repeats refused requests in silence until its time-out, and forgets a failed cluster. The
    object is in the catalog bucket, as the engine calls the hooks of a cloud's resource in `up` alone. Those of a
    component it calls in `refresh` and `destroy --run-program` as well.
    """

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
        """Return the options by which a cluster comes after this, and is imported by its full name where the hook made
        it."""

        def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            if id not in self._made:  # in preview, and without any creation
                return None
            args.opts.import_ = full
            return pulumi.ResourceTransformResult(args.props, args.opts)

        return pulumi.ResourceOptions(depends_on=[self.object], transforms=[transform])

    async def _before(self, _: pulumi.ResourceHookArgs) -> None:
        self._made = frozenset((await in_thread(lambda: self._make(self._ids))).values())


TYPE, REGIONS = "slipway:components:PersistentResource", "slipway:components:OtherRegions"
# A GPU cluster may take a long time; the provider's default time-out is 20 minutes.
_TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# The autoscaler moves the counts. Labels and name can't be changed in the API, yet the provider would try.
_MOVES = ["resourcePools[*].replicaCount", "labels", "displayName"]


class PersistentResource(pulumi.ComponentResource):
    """A current cluster, on `gcp.vertex.AiPersistentResource`, with every default made explicit.

    Its logical name is its id, so another id is another resource and never a replacement.
    """

    id: pulumi.Output[str]
    resource: vertex.AiPersistentResource

    def __init__(
        self,
        current: CurrentCluster,
        *,
        project: str,
        region: str,
        facts: Mapping[str, Any],
        hooks: pulumi.ResourceHookBinding | None = None,
        creation: Creation | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare a cluster. An existing one (`current.import_`) is taken over unchanged; `hooks` guard its deletion.
        `region` is the stack's.

        A missing one is made by `creation`; without that, or where its hook is not called, by the provider.
        """
        spec, id = current.spec, current.id
        super().__init__(TYPE, id, dict(facts), opts)
        location = spec.region or region
        full = resource_id(project, location, id)
        # One body for the hook and the provider: otherwise it would plan to replace the imported cluster.
        body = current.request(pulumi.get_stack())
        inputs = {re.sub(r"(?=[A-Z])", "_", key).lower(): value for key, value in body.items()}
        options = pulumi.ResourceOptions(import_=full if current.import_ else None, ignore_changes=_MOVES, hooks=hooks)
        if creation and not current.import_:
            options = pulumi.ResourceOptions.merge(options, creation.taken_over(id, full))
        self.resource = _declared(self, full, options, deletion_policy=spec.deletion_policy, **inputs)
        self.id = self.resource.name
        # The state tells it where the published catalog is lost.
        kept = {"protected": spec.name} if spec.replacement == PROTECT else {}
        self.register_outputs({"id": self.id, **kept, **_elsewhere(location, region)})


class RetiringResource(pulumi.ComponentResource):
    """A cluster of an earlier generation that still has work. It stays unchanged until a later deployment drops it.

    The same type and name as when it was current, so that the state knows it again.
    """

    def __init__(
        self,
        retiring: Action,
        *,
        project: str,
        region: str,
        facts: Mapping[str, Any],
        hooks: pulumi.ResourceHookBinding | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        cluster = retiring.living
        assert cluster, "what retires lives"
        location = cluster.region or region
        pools: list[Any] = [pool.request() for pool in cluster.spec.pools]
        super().__init__(TYPE, cluster.id, dict(facts), opts)
        full = resource_id(project, location, cluster.id)
        options = pulumi.ResourceOptions(import_=full, ignore_changes=["*"], hooks=hooks)
        self.resource = _declared(self, full, options, resource_pools=pools)
        self.id = self.resource.name
        self.register_outputs({"id": self.id, **_elsewhere(location, region)})


class AdoptedResource(pulumi.ComponentResource):
    """A cluster that somebody else made: facts, no resource of a cloud. So the engine can't change or delete it, and a
    destruction, a rename or a lost state leaves it alone.

    The provider's import would protect it less: it keeps the fields as inputs, against which each version of it may
    plan a replacement, and only options of the program prevent a deletion, which the same pull request may edit.
    """

    id: str

    def __init__(self, id: str, *, facts: Mapping[str, Any], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(TYPE, id, dict(facts), opts)
        self.id = id
        self.register_outputs({"id": id, "adopted": True})


class OtherRegions(pulumi.ComponentResource):
    """The other regions where clusters of the stack are, or may come to be: recorded in the state before any is asked
    for there. So a killed deployment's cluster is found when the stack file no longer names its region."""

    def __init__(self, regions: Iterable[str]) -> None:
        facts = {"regions": sorted(regions)}
        super().__init__(REGIONS, "other-regions", facts)
        self.register_outputs(facts)


def resource_id(project: str, region: str, id: str) -> str:
    """Return the provider's id of a cluster."""
    return f"projects/{project}/locations/{region}/persistentResources/{id}"


def _declared(
    parent: pulumi.Resource, full: str, options: pulumi.ResourceOptions, **inputs: Any
) -> vertex.AiPersistentResource:
    _, project, _, location, _, id = full.split("/")
    every = pulumi.ResourceOptions(parent=parent, custom_timeouts=_TIMEOUTS)
    merged = pulumi.ResourceOptions.merge(every, options)
    return vertex.AiPersistentResource(id, name=id, project=project, location=location, opts=merged, **inputs)


def _elsewhere(location: str, region: str) -> dict[str, str]:
    """Return outputs that tell the state that the cluster is outside its stack's region, which is no move of the
    stack."""
    return {"region": location} if location != region else {}

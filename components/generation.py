"""Generations of clusters, which come and go: made by a hook, and never updated or replaced by the provider."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, Unpack

import pulumi

from slipway.model.cluster import PROTECT, ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.state import GENERATION, REGIONS

from .engine import in_thread
from .gcp import storage, vertex

NAME = "creation"  # the logical name, by which the state knows it
OBJECT = "clusters/asked-for.json"


class Creation:
    """The hook that makes `ids` before the object that lists them is written, and after their dependencies; the
    provider then takes them over as existing clusters. Without any, the object stays unchanged. `make` makes them, or
    alternatives of them, and returns when all run: their ids, by the first ids.

    The provider's own create repeats refused requests in silence until its time-out, and forgets a failed cluster. The
    object is in the catalog bucket, as the engine calls the hooks of a cloud's resource in `up` alone. Those of a
    component it calls in `refresh` and `destroy --run-program` as well.
    """

    object: storage.BucketObject

    def __init__(
        self,
        name: str,
        ids: Sequence[str],
        make: Callable[[Sequence[str]], Mapping[str, str]],
        *,
        hook: pulumi.ResourceHook,
        bucket: pulumi.Input[str],
        workspace: pulumi.Resource,
        now: datetime,
        after: Sequence[pulumi.Resource] = (),
    ) -> None:
        self._ids, self._make = tuple(ids), make
        self._made: frozenset[str] = frozenset()
        content = {"clusters": sorted(self._ids), "at": now.isoformat(timespec="seconds")}
        self.object = storage.BucketObject(
            name,
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
        """Return the options by which a cluster comes after this, imported by its full name if the hook made it."""

        def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
            if id not in self._made:  # in preview, and without any creation
                return None
            args.opts.import_ = full
            return pulumi.ResourceTransformResult(args.props, args.opts)

        return pulumi.ResourceOptions(depends_on=[self.object], transforms=[transform])

    async def run(self) -> None:
        """Make the clusters, when the hook is called for the object."""
        self._made = frozenset((await in_thread(lambda: self._make(self._ids))).values())


# A GPU cluster may take a long time; the provider's default time-out is 20 minutes.
_TIMEOUTS = pulumi.CustomTimeouts(create="2h", update="2h", delete="2h")
# The autoscaler moves the counts. Labels and name can't be changed in the API, yet the provider would try; and for
# another label of its own it would replace the cluster.
_MOVES = ["resourcePools[*].replicaCount", "labels", "effectiveLabels", "pulumiLabels", "displayName"]


class Generation(pulumi.ComponentResource):
    """A generation of a cluster, on `gcp.vertex.AiPersistentResource`, with every default made explicit.

    The API changes no field of a living cluster, so an edit is another resource by another name, no replacement.
    """

    id: pulumi.Output[str]
    resource: vertex.AiPersistentResource

    def __init__(
        self,
        name: str,
        cluster: ClusterSpec,
        *,
        project: str,
        region: str,
        exists: bool = False,
        facts: Mapping[str, Any] | None = None,
        hooks: pulumi.ResourceHookBinding | None = None,
        creation: Creation | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare a cluster.

        `name`: its id in Vertex AI, and its logical name.
        `cluster`: its pools, and the other fields of the service.
        `project`, `region`: where it is, but for a `cluster` with a region of its own.
        `exists`: it is taken over, unchanged.
        `facts`: what a preview shows of the component itself.
        `hooks`: asked before it is deleted. Without any it is deleted whoever uses it.
        `creation`: makes it; without that, or where its hook is not called, the provider does.
        `opts`: Pulumi's options of the component.
        """
        super().__init__(GENERATION, name, dict(facts or {}), opts)
        location = cluster.region or region
        full = resource_id(project, location, name)
        # One body for the hook and the provider: otherwise it would plan to replace the imported cluster.
        inputs = {re.sub(r"(?=[A-Z])", "_", key).lower(): value for key, value in cluster.request().items()}
        options = pulumi.ResourceOptions(import_=full if exists else None, ignore_changes=_MOVES, hooks=hooks)
        if creation and not exists:
            options = pulumi.ResourceOptions.merge(options, creation.taken_over(name, full))
        self.resource = _declared(self, full, options, deletion_policy=cluster.deletion_policy, **inputs)
        self.id = self.resource.name
        # The state tells it where the published catalog is lost.
        kept = {"protected": cluster.name} if cluster.replacement == PROTECT else {}
        self.register_outputs({"id": self.id, **kept, **_elsewhere(location, region)})


class Guarded(TypedDict):
    """Arguments that the clusters of a stack have in common, as those of `Generation`."""

    project: str
    region: str
    hooks: pulumi.ResourceHookBinding
    opts: pulumi.ResourceOptions


def current_resource(
    cluster: CurrentCluster,
    *,
    stack: str,
    facts: Mapping[str, Any],
    creation: Creation | None,
    **guarded: Unpack[Guarded],
) -> Generation | AdoptedResource:
    """Declare the cluster of a name from now on, which may be somebody else's."""
    if cluster.spec.adopted:
        return AdoptedResource(cluster.id, facts=facts, opts=guarded["opts"])
    return Generation(
        cluster.id, cluster.marked(stack), exists=cluster.import_, facts=facts, creation=creation, **guarded
    )


class RetiringResource(pulumi.ComponentResource):
    """A cluster of an earlier generation that still has work. It stays unchanged until a later deployment drops it.

    The same type and name as when it was current, so that the state knows it again.
    """

    id: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        pools: Sequence[PoolSpec],
        *,
        project: str,
        region: str,
        location: str = "",
        facts: Mapping[str, Any] | None = None,
        hooks: pulumi.ResourceHookBinding | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Declare a living cluster. The arguments are those of `Generation`; `pools` as they are now, and
        `location` is the cluster's own region, where that is not the stack's."""
        super().__init__(GENERATION, name, dict(facts or {}), opts)
        location = location or region
        full = resource_id(project, location, name)
        options = pulumi.ResourceOptions(import_=full, ignore_changes=["*"], hooks=hooks)
        now: list[Any] = [pool.request() for pool in pools]
        self.resource = _declared(self, full, options, resource_pools=now)
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
        """Publish `facts` of the cluster of this id."""
        super().__init__(GENERATION, id, dict(facts), opts)
        self.id = id
        self.register_outputs({"id": id, "adopted": True})


class OtherRegions(pulumi.ComponentResource):
    """The other regions where clusters of the stack are, or may come to be: recorded in the state before any is asked
    for there. So a killed deployment's cluster is found when the stack file no longer names its region."""

    def __init__(self, name: str, regions: Iterable[str]) -> None:
        """Record the names of `regions`."""
        facts = {"regions": sorted(regions)}
        super().__init__(REGIONS, name, facts)
        self.register_outputs(facts)


def resource_id(project: str, region: str, id: str) -> str:
    return f"projects/{project}/locations/{region}/persistentResources/{id}"


def _declared(
    parent: pulumi.Resource, full: str, options: pulumi.ResourceOptions, **inputs: Any
) -> vertex.AiPersistentResource:
    _, project, _, location, _, id = full.split("/")
    every = pulumi.ResourceOptions(parent=parent, custom_timeouts=_TIMEOUTS)
    merged = pulumi.ResourceOptions.merge(every, options)
    return vertex.AiPersistentResource(id, name=id, project=project, location=location, opts=merged, **inputs)


def _elsewhere(location: str, region: str) -> dict[str, str]:
    """Return outputs that tell the state that the cluster is outside its stack's region."""
    return {"region": location} if location != region else {}
